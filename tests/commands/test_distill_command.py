"""`smgrnn distill` and `smgrnn evaluate`: what they print where, and what they refuse."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from smgrnn import load
from smgrnn.experts import load_expert
from smgrnn.runs.plan import Plan
from smgrnn.runs.record import Record
from smgrnn.runs.run import Run
from smgrnn.runs.words import describe_all
from smgrnn.seeding import episode_seed
from smgrnn_paper.evolution.evolution import Evolution
from support.commands import Command, refused
from support.runs import contents, teacher, trained


@pytest.fixture
def distill(smgrnn: Command, tmp_path: Path) -> Command:
    """Return `smgrnn distill CartPole-v1` with a short run and a small teacher."""
    fixed = ["distill", "CartPole-v1", "--expert", teacher(tmp_path, "CartPole-v1")]
    return lambda *arguments: smgrnn(*fixed, "--episodes", 8, *arguments)


# --- what is printed where -----------------------------------------------------------------------


def test_results_go_to_stdout_and_progress_to_stderr(
    distill: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`smgrnn distill > file` left an empty file."""
    monkeypatch.setenv("COLUMNS", "80")
    said = distill("--seeds", 2)
    assert said.out.startswith("Return: ")
    assert "Return" not in said.err
    first, *rest = said.err.splitlines()
    assert first == "The expert has 0 hidden units and 10 parameters."
    assert first not in rest
    shown = " ".join(rest[:2])
    assert all(word in shown for word in ("8/8", "return", "nodes", "edges", "agrees", "steps/s"))


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
    assert re.fullmatch(r"The (run|search) in a is finished\.", line)


@pytest.mark.parametrize("select", ["return", "final"])
def test_the_summary_compares_the_selected_network_with_the_expert_on_held_out_episodes(
    distill: Command, tmp_path: Path, select: str
) -> None:
    """Gymnasium plays the same episodes: the student, the expert, and the student beside it."""
    flags = ("--select", select, "--episodes", 60, "--out", "a")
    summary = json.loads(distill(*flags, "--json").out)
    policy = load(tmp_path / "a")
    env, expert = gym.make("CartPole-v1"), load_expert(teacher(tmp_path, "CartPole-v1"))

    def play(act: Callable[[Any], Any]) -> list[float]:
        totals = []
        for number in range(100):
            observation, _ = env.reset(seed=episode_seed(0, number, "held_out"))
            policy.reset()
            total, is_over = 0.0, False
            while not is_over:
                observation, reward, is_terminal, is_truncated, _ = env.step(act(observation))
                total, is_over = total + float(reward), is_terminal or is_truncated
            totals.append(total)
        return totals

    agreed = []

    def act(observation: Any) -> Any:
        agreed.append(policy(observation) == expert.action(observation))
        return policy(observation)

    returns = play(act)
    assert summary["agreement"] == pytest.approx(np.mean(agreed))
    assert summary["expert_return"] == np.mean(play(expert.action))
    chance = summary["random_return"]
    assert 10 < chance < 40
    kept = (np.mean(returns) - chance) / (summary["expert_return"] - chance)
    assert summary["kept"] == pytest.approx(kept)
    assert summary["below_threshold"] == np.mean(np.array(returns) < 475)
    assert (summary["selection_episodes"] > 0) == (select == "return")
    assert (summary["held_out_mean"], summary["held_out_std"]) == (
        np.mean(returns),
        np.std(returns),
    )
    assert (summary["n_parameters"], summary["n_nodes"]) == (
        policy.graph.n_edges,
        policy.graph.n_nodes,
    )
    first, second, third, fourth, *_ = distill(*flags).out.splitlines()
    assert first == (
        f"Return: {np.mean(returns):.1f} ± {np.std(returns):.1f} over 100 new episodes; expert "
        f"{summary['expert_return']:.1f}, random policy {chance:.1f}: {100 * kept:.0f} % kept; "
        f"{100 * summary['below_threshold']:.0f} % of episodes below the threshold of 475."
    )
    assert f"Parameters: {policy.graph.n_edges} (" in second
    assert "the expert 10;" in second
    assert f"{100 * np.mean(agreed):.0f} % of steps" in third
    assert "60 episodes" in fourth
    assert "Saved in a." in fourth
    run = Run.resume(tmp_path / "a")
    assert (run.kept, run.comparison.agreement) == (summary["kept"], summary["agreement"])
    taught = run.comparison.expert_return
    assert str(run) == (
        f"{np.mean(returns):.1f} (expert {taught:.1f}, {100 * kept:.0f} % kept) · "
        f"10 → {run.n_parameters} parameters · agrees {100 * np.mean(agreed):.0f} %"
    )
    assert (summary["selected_episode"] == 60) == (select == "final")
    for name in ("curves.png", "topology.png"):
        assert (tmp_path / "a" / name).read_bytes().startswith(b"\x89PNG")


def test_several_seeds_give_a_list_and_a_folder_for_each(distill: Command, tmp_path: Path) -> None:
    flags = ("--seeds", 3, "--seed", 5, "--out", "a")
    summaries = json.loads(distill(*flags, "--json").out)
    assert [summary["seed"] for summary in summaries] == [5, 6, 7]
    words = distill(*flags).out
    assert words.endswith(f"{describe_all(summaries)}\n")
    held_out = [summary["held_out_mean"] for summary in summaries]
    assert f"{np.mean(held_out):.1f} ± {np.std(held_out):.1f}" in words.splitlines()[-1]
    for summary in summaries:
        assert Run.resume(tmp_path / summary["run_dir"]).plan.seed == summary["seed"]
    distill("--seed", 6, "--out", "alone", "--quiet")
    assert contents(tmp_path / summaries[1]["run_dir"]) == contents(tmp_path / "alone")


# --- the plan, and nothing else -------------------------------------------------------------------


def test_a_dry_run_prints_the_plan_and_runs_nothing(
    distill: Command, smgrnn: Command, tmp_path: Path
) -> None:
    said = distill("--dry-run", "--json", "--out", "a")
    assert (said.code, said.err) == (0, "")
    assert not (tmp_path / "a").exists()
    assert not (tmp_path / "runs").exists()
    distill("--out", "a", "--quiet")
    assert Plan.from_dict(json.loads(said.out)) == Record.load(tmp_path / "a").plan
    again = smgrnn("distill", "--resume", "a", "--dry-run", "--json")
    assert again.out == said.out
    words = distill("--dry-run").out.splitlines()
    rows = dict(line.split(maxsplit=1) for line in words)
    assert (rows["learning.loss"], rows["network.iterations"]) == ("cross_entropy", "2")
    assert distill("--dry-run", "--json", "--out", "a") == said  # a folder that is there or not
    plans = json.loads(distill("--dry-run", "--json", "--seeds", 3).out)
    assert [plan["seed"] for plan in plans] == [0, 1, 2]


# --- resume and evaluate -------------------------------------------------------------------------


def test_evaluate_scores_the_student_that_it_is_asked_for(smgrnn: Command, tmp_path: Path) -> None:
    run = trained(tmp_path, select="return", seed=3)
    (tmp_path / "CartPole-v1.safetensors").unlink()  # it does without its expert
    before, summary = contents(tmp_path / "run"), run.summary()
    figures = json.loads(smgrnn("evaluate", "run", "--json").out)
    assert (figures["mean"], figures["std"]) == (summary["held_out_mean"], summary["held_out_std"])
    smallest = min(each.n_parameters for each in run.record.checkpoints)
    seen = set()
    for options, which in (
        ((), {}),
        (("--final",), {"final": True}),
        (("--max-parameters", smallest), {"max_parameters": smallest}),
    ):
        said = smgrnn("evaluate", "run", "--episodes", 7, "--json", *options)
        returns, student = run.score(7, **which), run.record.student(**which)
        figures = json.loads(said.out)
        assert (figures["mean"], figures["std"]) == (returns.mean(), returns.std())
        assert figures["episodes"] == 7
        words = smgrnn("evaluate", "run", "--episodes", 7, *options).out
        assert words == (
            f"CartPole-v1, {student.n_parameters} parameters, episode {student.episode} of run: "
            f"{returns.mean():.1f} ± {returns.std():.1f} over 7 new episodes\n"
        )
        seen.add(words)
    assert len(seen) == 3
    assert contents(tmp_path / "run") == before


@pytest.mark.parametrize("command", [("evaluate",), ("view", "--no-open"), ("export", "--to", "c")])
def test_a_student_that_there_is_not_is_refused(
    smgrnn: Command, tmp_path: Path, command: tuple[str, ...]
) -> None:
    n = trained(tmp_path, episodes=2).graph.n_edges
    sentence = f"The smallest network of the run has {n} parameters, more than {n - 1}."
    assert refused(smgrnn(*command, "run", "--max-parameters", n - 1)) == sentence
    both = "Ask for the final network or a maximum of parameters, not both."
    assert refused(smgrnn(*command, "run", "--max-parameters", n, "--final")) == both


@pytest.mark.parametrize(
    ("kind", "command"),
    [
        (Run, ("distill", "xor", "--out", "a")),
        (Evolution, ("evolve", "CartPole-v1", "--rollouts", 8, "--population", 4, "--out", "a")),
    ],
)
def test_a_run_that_is_stopped_says_how_to_resume_it(
    smgrnn: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: type,
    command: tuple[object, ...],
) -> None:
    def interrupt(self: object, *watches: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(kind, "train", interrupt)
    alone = smgrnn(*command).err.splitlines()[-1]
    assert alone == f"Stopped. Resume with: smgrnn {command[0]} --resume a"
    several = smgrnn(*command[:-1], "b", "--seeds", 2)
    assert several.code == 130
    assert several.err.splitlines()[-1] == "Stopped. Repeat the command to resume all 2 runs."
    for folder in (tmp_path / "b").glob("*"):  # none is left that cannot be resumed
        assert (folder / "model.safetensors").exists()


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("distill", "Name a task"),
        ("distill CartPol-v1 --out a", "no task 'CartPol-v1'. Did you mean 'CartPole-v1'?"),
        ("distill xor --episodes 0", "The 'episodes' parameter of RunConfig must be"),
        ("distill xor --seeds 0", "--seeds must be an int in [1, inf). Got 0 instead"),
        ("distill xor --out file/run", "cannot be made"),
        ("distill CartPole-v1 --student mlp-100 --set iterations=3 --dry-run", "it must be 2."),
        ("distill CartPole-v1 --expert Acrobot-v1.safetensors", "6 inputs and gives 3 outputs"),
        ("distill Pendulum-v1", "No bundled expert for Pendulum-v1"),
        ("distill --resume run --episodes 99", "A run is resumed with its own settings."),
        ("distill --resume run --seeds 2", "A run is resumed with its own settings."),
        ("distill --resume run --set gain=2", "A run is resumed with its own settings."),
        ("distill --resume run --out b", "A run is resumed with its own settings."),
        ("distill CartPole-v1 --from run --student static", "contradicts the student static."),
        ("evaluate run --episodes 0", "--episodes must be an int in [1, inf). Got 0 instead"),
    ],
)
def test_what_cannot_be_is_refused_and_leaves_nothing(
    smgrnn: Command, tmp_path: Path, arguments: str, sentence: str
) -> None:
    (tmp_path / "Pendulum-v1").touch()  # no file stands for an expert that is not asked for
    (tmp_path / "file").touch()
    teacher(tmp_path, "Acrobot-v1")
    if "run" in arguments.split():
        trained(tmp_path, episodes=2)
    before = set(tmp_path.iterdir())
    assert sentence in refused(smgrnn(*arguments.split()))
    assert set(tmp_path.iterdir()) == before


def test_a_folder_that_exists_is_refused_before_anything_is_made(
    distill: Command, tmp_path: Path
) -> None:
    (tmp_path / "a" / "CartPole-v1-smgrnn-2").mkdir(parents=True)
    (tmp_path / "a" / "CartPole-v1-smgrnn-2" / "notes.txt").touch()
    assert "exists and holds no run" in refused(distill("--seeds", 3, "--out", "a"))
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["CartPole-v1-smgrnn-2"]


def test_a_folder_that_vanishes_is_one_sentence(
    distill: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last thing written is a picture, by a library of its own."""
    monkeypatch.setattr(
        "smgrnn.runs.pictures.draw_curves", lambda run, path: shutil.rmtree(path.parent)
    )
    assert "cannot be written" in refused(distill("--out", "a", "--quiet"))
