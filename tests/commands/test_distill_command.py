"""`smgrnn distill` and `smgrnn evaluate`: what they print where, and what they refuse."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from smgrnn import runs
from smgrnn.commands.display import RunDisplay, describe, describe_all, describe_teacher
from smgrnn.commands.output import say
from smgrnn.experts import FunctionExpert, load_expert
from smgrnn.runs import Plan, Record, load
from smgrnn.runs.run import Run
from smgrnn.seeding import episode_seed
from smgrnn.tasks import find_task
from smgrnn_paper.evolution.evolution import Evolution
from support.commands import Command, Said, refused
from support.runs import contents, teacher, trained


@pytest.fixture
def distill(smgrnn: Command, tmp_path: Path) -> Command:
    """Return `smgrnn distill CartPole-v1` with a short run and a small teacher."""
    fixed = ["distill", "CartPole-v1", "--expert", teacher(tmp_path, "CartPole-v1")]
    return lambda *arguments: smgrnn(*fixed, "--episodes", 8, *arguments)


# --- what is printed where -----------------------------------------------------------------------


def test_the_last_line_on_stdout_is_one_json_object(distill: Command) -> None:
    said = distill("--json")
    assert said.code == 0
    assert set(json.loads(said.out)) >= {
        *("task", "student", "engine", "seed", "episodes", "steps", "late_return", "best_return"),
        *("convergence_episode", "n_nodes", "n_hidden", "n_edges", "n_parameters"),
        *("net_growth_nodes", "net_growth_edges", "churn_ratio", "agreement", "seconds", "run_dir"),
    }
    assert said.out.count("\n") == 1


def test_quiet_prints_nothing_but_the_json(distill: Command) -> None:
    assert distill("--quiet", "--out", "a") == Said(0, "", "")
    said = distill("--quiet", "--json", "--out", "b")
    assert said.err == ""
    assert json.loads(said.out)["run_dir"] == "b"


def test_results_go_to_stdout_and_progress_to_stderr(distill: Command) -> None:
    """`smgrnn distill > file` left an empty file."""
    said = distill()
    assert said.out.startswith("Held-out return ")
    folder = "runs/CartPole-v1-smgrnn-0"
    assert said.out.endswith(
        f"Everything is in {folder}; {folder}/topology.png shows the network.\n"
    )
    assert "8/8" in said.err
    assert "Held-out" not in said.err


def test_the_first_line_is_the_size_of_the_expert(distill: Command) -> None:
    said = distill("--seeds", 2)
    line = "The expert has 0 hidden units and 10 parameters."
    assert said.err.splitlines()[0] == line
    assert said.err.count(line) == 1


def test_the_size_of_an_expert_is_told_if_it_is_known() -> None:
    assert describe_teacher(load_expert("CartPole-v1")) == (
        "The expert has 2,048 hidden units and 14,338 parameters."  # 4 · 2048 + 2048 · 2 + biases
    )
    task = find_task("CartPole-v1")
    assert describe_teacher(FunctionExpert(lambda observation: 0, task, "zero")) == ""
    assert describe_teacher(None) == ""


@pytest.mark.parametrize(
    ("share", "bound", "line"),
    [
        (
            0.95,
            493.21,
            "It keeps 95% of what the expert returns beyond chance: at least 493.2 (lower bound), "
            "where 476.1 was asked for.",
        ),
        (
            0.995,
            None,
            "No student kept 99.5% of what the expert returns beyond chance, 476.1: the best one "
            "is handed over.",
        ),
    ],
)
def test_the_second_line_says_whether_the_share_was_kept(
    tmp_path: Path, share: float, bound: float | None, line: str
) -> None:
    summary = trained(tmp_path, episodes=2, held_out=1).summary()
    before = describe(summary).splitlines()
    kept = {"share": share, "bar": 476.14, "lower_bound": bound, "is_reached": bound is not None}
    assert describe({**summary, "kept": kept}).splitlines() == [before[0], line, *before[1:]]


def test_the_bar_of_a_run_that_ends_early_is_full() -> None:
    run = runs.distill("xor", held_out=1)
    assert run.is_finished
    assert run.episodes.n < run.plan.n_episodes
    display = RunDisplay("xor", run.plan.n_episodes, is_quiet=True)
    display(run)
    assert display.tasks[0].finished


@pytest.mark.parametrize(
    ("settings", "note"),
    [
        ({}, "choosing the student to hand over …"),
        ({"handover": "final"}, "judging the student to hand over …"),
    ],
)
def test_the_display_says_what_goes_on_after_the_last_episode(
    settings: dict[str, Any], note: str
) -> None:
    notes = []
    with RunDisplay("xor", 4) as display:

        def watch(run: Run) -> None:
            display(run)
            notes.append((run.is_finished, display.note))

        runs.distill("xor", episodes=4, checkpoint_every=2, watch=watch, **settings)
    assert (notes[0], notes[-1]) == ((False, ""), (True, note))
    assert display.note == ""


def test_a_run_that_was_stopped_before_it_was_judged_shows_a_full_bar(
    smgrnn: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(self: Run) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Run, "_choose", interrupt)
        assert smgrnn("distill", "xor", "--episodes", 8, "--out", "a").code == 130
    said = smgrnn("distill", "--resume", "a")
    assert said.code == 0
    assert "8/8" in said.err
    assert "compiling" not in said.err


@pytest.mark.parametrize(
    "command",
    [
        ("distill", "xor", "--episodes", 2, "--out", "a"),
        ("evolve", "CartPole-v1", "--rollouts", 8, "--population", 4, "--out", "a"),
    ],
)
def test_a_finished_run_shows_no_bar(smgrnn: Command, command: tuple[object, ...]) -> None:
    first, again = smgrnn(*command), smgrnn(*command)
    assert again.out == first.out
    (line,) = again.err.splitlines()
    assert re.fullmatch(r"This (run|search) is in a already, and finished\.", line)


def test_the_time_that_is_told_is_that_of_training(distill: Command) -> None:
    summary = json.loads(distill("--json").out)
    assert f" steps in {summary['seconds']:.1f} s of training.\n" in distill().out


def test_lines_of_a_terminal_are_broken_between_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    text = "A sentence of several words, and [brackets]."
    say(text)
    assert capsys.readouterr().err == f"{text}\n"
    monkeypatch.setenv("FORCE_COLOR", "1")
    say(text)
    broken = [line.rstrip() for line in capsys.readouterr().err.splitlines()]
    assert broken == ["A sentence of", "several words, and", "[brackets]."]


def test_progress_shows_everything_in_80_columns(
    distill: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    line = " ".join(distill().err.splitlines()[1:3])
    assert all(word in line for word in ("8/8", "return", "nodes", "edges", "agrees", "steps/s"))


def test_one_of_a_kind_is_told_as_one(distill: Command) -> None:
    summary = json.loads(distill("--json").out)
    one = {"net_growth_nodes": 1, "net_growth_edges": -1, "episodes": 1, "n_edges": 1}
    words = describe({**summary, **one})
    assert "and 1 edge, a change of +1 node and -1 edge, with" in words
    assert "seed 0: 1 episode, " in words


def test_the_summary_in_words_says_what_the_json_says(distill: Command) -> None:
    summary = json.loads(distill("--json").out)
    words = distill().out  # the run is there already
    assert words == f"{describe(summary)}\n"
    numbers = re.findall(r"-?\d+\.?\d*", describe({**summary, "run_dir": None}))
    for name in ("late_return", "best_return", "held_out_mean", "held_out_std"):
        assert f"{summary[name]:.1f}" in numbers, name
    for name in ("n_nodes", "n_hidden", "n_edges", "net_growth_nodes", "net_growth_edges"):
        assert str(summary[name]) in numbers, name
    assert f"{summary['agreement']:.1%}" in words


@pytest.mark.parametrize("handover", ["best", "final"])
def test_the_first_line_is_what_load_gives_on_held_out_episodes(
    distill: Command, tmp_path: Path, handover: str
) -> None:
    flags = ("--handover", handover, "--episodes", 60, "--out", "a")
    summary = json.loads(distill(*flags, "--json").out)
    given = summary["handed_over"]
    policy = load(tmp_path / "a")
    env, returns = gym.make("CartPole-v1"), []
    for number in range(100):
        observation, _ = env.reset(seed=episode_seed(0, number, "held_out"))
        policy.reset()
        total, is_over = 0.0, False
        while not is_over:
            observation, reward, is_terminal, is_truncated, _ = env.step(policy(observation))
            total, is_over = total + float(reward), is_terminal or is_truncated
        returns.append(total)
    assert given == {
        "n_parameters": policy.graph.n_edges,
        "n_nodes": policy.graph.n_nodes,
        "held_out_mean": np.mean(returns),
        "held_out_std": np.std(returns),
        "episode": given["episode"],
    }
    first, second, *_ = distill(*flags).out.splitlines()
    assert first == (
        f"Held-out return {np.mean(returns):.1f} ± {np.std(returns):.1f} (over 100 episodes) of "
        f"what it hands over: {given['n_parameters']} parameters, {given['n_nodes']} nodes, from "
        f"episode {given['episode']}."
    )
    assert second.startswith(f"Late return {summary['late_return']:.1f} ")
    assert (given["episode"] == 60) == (handover == "final")


def test_the_json_is_the_summary_in_the_folder(distill: Command, tmp_path: Path) -> None:
    summary = json.loads(distill("--json", "--out", "a").out)
    assert json.loads((tmp_path / "a" / "run.json").read_text())["summary"] == summary
    assert np.isfinite(summary["held_out_mean"])
    assert summary["best_checkpoint_score"] is None  # the family takes its place


@pytest.mark.parametrize("episodes", [1, 8])
def test_a_run_leaves_two_pictures(distill: Command, tmp_path: Path, episodes: int) -> None:
    assert distill("--out", "a", "--episodes", episodes).code == 0
    for name in ("curves.png", "topology.png"):
        data = (tmp_path / "a" / name).read_bytes()
        assert data.startswith(b"\x89PNG")
        assert len(data) > 5000


def test_several_seeds_give_a_list_and_a_folder_for_each(distill: Command, tmp_path: Path) -> None:
    flags = ("--seeds", 3, "--seed", 5, "--out", "a")
    summaries = json.loads(distill(*flags, "--json").out)
    assert [summary["seed"] for summary in summaries] == [5, 6, 7]
    words = distill(*flags).out
    assert words.endswith(f"{describe_all(summaries)}\n")
    late, held_out, size = (
        [summary[name] for summary in summaries]
        for name in ("late_return", "held_out_mean", "n_parameters")
    )
    assert words.splitlines()[-1] == (
        f"3 seeds: held-out return {np.mean(held_out):.1f} ± {np.std(held_out):.1f}, "
        f"{np.mean(size):.0f} ± {np.std(size):.0f} parameters; "
        f"late return {np.mean(late):.1f} ± {np.std(late):.1f}."
    )
    for summary in summaries:
        assert Run.resume(tmp_path / summary["run_dir"]).plan.seed == summary["seed"]


def test_one_of_several_seeds_is_the_run_of_that_seed_alone(
    distill: Command, tmp_path: Path
) -> None:
    distill("--seeds", 2, "--out", "both", "--quiet")
    distill("--seed", 1, "--out", "alone", "--quiet")
    both = tmp_path / "both" / "CartPole-v1-smgrnn-1"
    assert contents(both) == contents(tmp_path / "alone")


def test_every_setting_is_a_flag(distill: Command, tmp_path: Path) -> None:
    flags = ("--student", "growth-only", "--n-hidden", 2, "--iterations", 2, "--out", "a")
    assert distill(*flags, "--learning.optimizer", "sgd", "--plasticity.prune-period", 50).code == 0
    plan = Run.resume(tmp_path / "a").plan
    network = plan.network
    assert (plan.student, network.n_hidden, network.iterations) == ("growth-only", 2, 2)
    assert (plan.learning.optimizer, plan.plasticity.prune_period) == ("sgd", 50)


# --- the plan, and nothing else -------------------------------------------------------------------


def test_a_dry_run_prints_the_plan_and_runs_nothing(distill: Command, tmp_path: Path) -> None:
    said = distill("--dry-run", "--json", "--out", "a")
    assert (said.code, said.err) == (0, "")
    assert not (tmp_path / "a").exists()
    assert not (tmp_path / "runs").exists()
    distill("--out", "a", "--quiet")
    assert Plan.from_dict(json.loads(said.out)) == Record.load(tmp_path / "a").plan
    assert distill("--dry-run", "--json", "--out", "a") == said  # a folder that is there or not


def test_the_plan_of_an_mlp_is_what_is_trained(smgrnn: Command) -> None:
    """The report said of MLPs that they had one iteration, tanh outputs and carried states."""
    said = smgrnn("distill", "CartPole-v1", "--student", "mlp-100", "--dry-run", "--json")
    plan = json.loads(said.out)
    assert set(plan) >= {
        *("task", "student", "seed", "network", "learning", "plasticity", "episodes", "teacher")
    }
    network = plan["network"]
    assert (network["iterations"], network["output_activation"]) == (2, "identity")
    assert (network["carry_state"], network["n_inputs"], network["n_hidden"]) == (False, 5, 13)
    assert (plan["plasticity"]["growth"], plan["plasticity"]["pruning"]) == ("none", "none")
    assert plan["first_graph"] == "layered"


def test_several_seeds_have_several_plans(distill: Command) -> None:
    plans = json.loads(distill("--dry-run", "--json", "--seeds", 3).out)
    assert [plan["seed"] for plan in plans] == [0, 1, 2]


def test_a_plan_in_words_has_every_setting(smgrnn: Command) -> None:
    words = smgrnn("distill", "xor", "--dry-run").out
    rows = dict(line.split(maxsplit=1) for line in words.splitlines() if " " in line.strip())
    assert rows["learning.loss"] == "mse"
    assert rows["network.iterations"] == "2"
    assert rows["episodes.backend"] == "examples"


def test_a_run_that_cannot_be_planned_is_refused_by_a_dry_run_too(smgrnn: Command) -> None:
    flags = ("--student", "mlp-100", "--iterations", 3, "--dry-run")
    assert refused(smgrnn("distill", "CartPole-v1", *flags)) == (
        "--iterations 3 contradicts the student mlp-100: it must be 2."
    )


def test_the_plan_of_a_run_to_resume_is_its_own(smgrnn: Command, tmp_path: Path) -> None:
    run = trained(tmp_path, episodes=2)
    said = smgrnn("distill", "--resume", "run", "--dry-run", "--json")
    assert Plan.from_dict(json.loads(said.out)) == run.plan


# --- resume and evaluate -------------------------------------------------------------------------


def test_a_run_is_resumed_from_its_folder_alone(smgrnn: Command, tmp_path: Path) -> None:
    trained(tmp_path)
    before = contents(tmp_path / "run")
    said = smgrnn("distill", "--resume", "run", "--json")
    assert said.code == 0
    assert json.loads(said.out)["episodes"] == 30
    assert contents(tmp_path / "run") == before


def test_evaluate_scores_the_student_that_it_is_asked_for(smgrnn: Command, tmp_path: Path) -> None:
    run = trained(tmp_path, handover="best", seed=5)
    smallest = min(each.n_parameters for each in run.record.family)
    seen = set()
    for options, which in (
        ((), {}),
        (("--final",), {"final": True}),
        (("--parameters", smallest), {"parameters": smallest}),
    ):
        said = smgrnn("evaluate", "run", "--episodes", 7, "--json", *options)
        returns, student = run.score(7, **which), run.record.student(**which)
        figures = json.loads(said.out)
        assert (figures["mean"], figures["std"]) == (returns.mean(), returns.std())
        assert figures["episodes"] == 7
        words = smgrnn("evaluate", "run", "--episodes", 7, *options).out
        assert words == (
            f"CartPole-v1, {student.n_parameters} parameters, episode {student.episode} of run: "
            f"{returns.mean():.1f} ± {returns.std():.1f} over 7 held-out episodes\n"
        )
        seen.add(words)
    assert len(seen) == 3


@pytest.mark.parametrize("command", [("evaluate",), ("view", "--no-open"), ("export", "--to", "c")])
def test_a_student_that_there_is_not_is_refused(
    smgrnn: Command, tmp_path: Path, command: tuple[str, ...]
) -> None:
    n = trained(tmp_path, episodes=2).graph.n_edges
    sentence = f"The smallest student of the run has {n} parameters, more than {n - 1}."
    assert refused(smgrnn(*command, "run", "--parameters", n - 1)) == sentence
    both = "Take the final student or the best of few parameters, not both."
    assert refused(smgrnn(*command, "run", "--parameters", n, "--final")) == both


def test_the_final_score_in_the_summary_is_what_evaluate_gives(
    smgrnn: Command, tmp_path: Path
) -> None:
    run = trained(tmp_path, episodes=4)
    figures = json.loads(smgrnn("evaluate", "run", "--json").out)
    summary = run.summary()
    assert (figures["mean"], figures["std"]) == (summary["held_out_mean"], summary["held_out_std"])


def test_evaluate_changes_nothing_in_the_folder(smgrnn: Command, tmp_path: Path) -> None:
    trained(tmp_path, episodes=4)
    before = contents(tmp_path / "run")
    smgrnn("evaluate", "run", "--episodes", 3)
    assert contents(tmp_path / "run") == before


def test_a_run_is_evaluated_without_its_expert(smgrnn: Command, tmp_path: Path) -> None:
    trained(tmp_path, episodes=2)
    (tmp_path / "CartPole-v1.safetensors").unlink()
    assert smgrnn("evaluate", "run", "--episodes", 2).code == 0


def test_a_run_is_resumed_from_anywhere(
    smgrnn: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    teacher(tmp_path, "CartPole-v1")
    options = ("--expert", "CartPole-v1.safetensors", "--episodes", 2, "--out", "a")
    assert smgrnn("distill", "CartPole-v1", *options).code == 0
    monkeypatch.chdir(tmp_path.parent)
    assert smgrnn("distill", "--resume", tmp_path / "a").code == 0


def test_an_interrupt_in_one_of_several_seeds_leaves_no_folder_that_cannot_be_resumed(
    distill: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(self: Run, *watches: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Run, "train", interrupt)
    assert distill("--seeds", 2, "--out", "a").code == 130
    for folder in (tmp_path / "a").glob("*"):
        assert (folder / "model.safetensors").exists()


@pytest.mark.parametrize(
    ("kind", "command"),
    [
        (Run, ("distill", "xor", "--out", "a")),
        (Evolution, ("evolve", "CartPole-v1", "--rollouts", 8, "--population", 4, "--out", "a")),
    ],
)
def test_a_run_that_is_stopped_says_how_it_goes_on(
    smgrnn: Command, monkeypatch: pytest.MonkeyPatch, kind: type, command: tuple[object, ...]
) -> None:
    def interrupt(self: object, *watches: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(kind, "train", interrupt)
    alone = smgrnn(*command).err.splitlines()[-1]
    assert alone == f"Stopped. Go on with: smgrnn {command[0]} --resume a"
    several = smgrnn(*command[:-1], "b", "--seeds", 2).err.splitlines()[-1]
    assert several == "Stopped. The same command goes on with all 2 runs."


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("options", [("--episodes", 99), ("--seeds", 2), ("--out", "b")])
def test_settings_beside_resume_are_refused(
    smgrnn: Command, tmp_path: Path, options: tuple[object, ...]
) -> None:
    trained(tmp_path, episodes=2)
    refused(smgrnn("distill", "--resume", "run", *options))


def test_an_unknown_task_is_met_with_a_suggestion(smgrnn: Command, tmp_path: Path) -> None:
    sentence = refused(smgrnn("distill", "CartPol-v1", "--out", "a"))
    assert sentence == "There is no task 'CartPol-v1'. Did you mean 'CartPole-v1'?"
    assert not (tmp_path / "a").exists()


class Camera(gym.Env[Any, Any]):
    observation_space, action_space = spaces.Box(0, 255, (8, 8, 3), np.uint8), spaces.Discrete(2)


@pytest.fixture
def camera() -> Iterator[str]:
    before = dict(gym.registry)
    entry: Any = Camera
    gym.register("Camera-v0", entry_point=entry)
    yield "Camera-v0"
    gym.registry.clear()
    gym.registry.update(before)


def test_image_observations_are_refused(smgrnn: Command, camera: str) -> None:
    assert "must be a flat Box" in refused(smgrnn("distill", camera))


def test_an_expert_of_another_shape_is_refused(smgrnn: Command, tmp_path: Path) -> None:
    expert = teacher(tmp_path, "Acrobot-v1")
    sentence = refused(smgrnn("distill", "CartPole-v1", "--expert", expert))
    assert "6 inputs and gives 3 outputs" in sentence
    assert not (tmp_path / "runs").exists()


def test_a_task_without_an_expert_is_refused(smgrnn: Command, tmp_path: Path) -> None:
    (tmp_path / "Pendulum-v1").touch()  # no file stands for an expert that is not asked for
    sentence = "The package has no expert for Pendulum-v1; give one with --expert."
    assert refused(smgrnn("distill", "Pendulum-v1")) == sentence


def test_a_folder_that_exists_is_refused_before_anything_is_made(
    distill: Command, tmp_path: Path
) -> None:
    (tmp_path / "a" / "CartPole-v1-smgrnn-2").mkdir(parents=True)
    (tmp_path / "a" / "CartPole-v1-smgrnn-2" / "notes.txt").touch()
    assert "exists and holds no run" in refused(distill("--seeds", 3, "--out", "a"))
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["CartPole-v1-smgrnn-2"]


@pytest.mark.parametrize("command", [("distill", "--resume"), ("evaluate",)])
def test_a_folder_that_is_missing_or_damaged_is_refused(
    smgrnn: Command, tmp_path: Path, command: tuple[str, ...]
) -> None:
    assert "no run folder" in refused(smgrnn(*command, "nowhere"))
    trained(tmp_path, episodes=2)
    (tmp_path / "run" / "model.safetensors").write_bytes(b"\x00" * 100)
    assert "damaged" in refused(smgrnn(*command, "run"))


def test_a_folder_below_a_file_is_refused(distill: Command, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "cannot be made" in refused(distill("--out", "file/run"))


def test_a_folder_that_vanishes_is_one_sentence(
    distill: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last thing written is a picture, by a library of its own."""
    monkeypatch.setattr(
        "smgrnn.commands.distill.draw_curves", lambda run, path: shutil.rmtree(path.parent)
    )
    assert "cannot be written" in refused(distill("--out", "a", "--quiet"))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("distill",), "Name a task"),
        (("distill", "xor", "--episodes", 0), "The 'episodes' parameter of RunConfig must be"),
        (("distill", "CartPole-v1", "--seeds", 0), "The number of seeds must be at least 1"),
        (("evaluate", "run", "--episodes", 0), "The number of episodes must be at least 1"),
    ],
)
def test_impossible_numbers_are_refused(
    smgrnn: Command, arguments: tuple[object, ...], sentence: str
) -> None:
    assert refused(smgrnn(*arguments)).startswith(sentence)


@pytest.mark.parametrize("flag", [("--density", 2), ("--student", "x"), ("--plasticity.window", 0)])
def test_settings_out_of_range_exit_with_2_and_no_traceback(
    smgrnn: Command, flag: tuple[str, object]
) -> None:
    said = smgrnn("distill", "CartPole-v1", *flag)
    assert said.code == 2
    assert "Traceback" not in said.err
