"""A run goes on from another: as a new run that knows its ancestor, and is as exact as any."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import smgrnn
import smgrnn_paper
from smgrnn import Run
from smgrnn.config import RunConfig
from smgrnn.errors import ConfigError, FileFormatError
from smgrnn.policy import Policy
from smgrnn.runs.plan import Plan
from smgrnn.runs.record import Record
from smgrnn.runs.start import new_run, start_from
from support.commands import Command

SHORT: dict[str, Any] = {"episodes": 30, "held_out": 3, "checkpoint_every": 10}
FINAL: dict[str, Any] = {"select": "final"}


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("runs") / "first"
    return smgrnn.distill("CartPole-v1", out=folder, seed=3, **SHORT)


def asked(run: Run) -> RunConfig:
    assert run.plan.asked is not None
    return run.plan.asked


def answers(policy: Policy) -> Any:
    policy.reset()
    return policy.answer(np.random.default_rng(0).normal(size=(200, 4)))


def test_a_run_starts_as_the_student_that_was_handed_over(first: Run) -> None:
    run = new_run("CartPole-v1", asked(first), start=start_from(first))
    given = first.selected.policy
    assert run.final.graph.edge_ids.tolist() == given.graph.edge_ids.tolist()
    assert np.allclose(run.final.graph.weight, given.graph.weight, rtol=1e-12)
    assert np.array_equal(answers(run.record.students["final"]), answers(given))


def test_it_has_the_settings_and_changes_and_is_rebuilt_from_its_own_record(
    first: Run, tmp_path: Path
) -> None:
    run = smgrnn.distill("CartPole-v1", start=first, out=tmp_path / "second", episodes=12, seed=8)
    assert run.plan.ancestor is not None
    assert (run.plan.ancestor.run, run.plan.ancestor.seed) == (first.plan.key(), 3)
    same = replace(run.plan, ancestor=None, seed=3, asked=first.plan.asked)
    same = replace(same, episodes=first.plan.episodes)
    assert same == first.plan
    assert replace(same, ancestor=run.plan.ancestor).key() != first.plan.key()
    assert (asked(run).episodes, asked(run).seed, asked(run).gain) == (12, 8, asked(first).gain)
    assert run.episodes.n == 12
    record = Record.load(tmp_path / "second")
    assert record.plan == run.plan
    assert Run(record.plan).train().fingerprint == record.fingerprint


def test_a_stopped_run_goes_on_exactly(first: Run, tmp_path: Path) -> None:
    whole = smgrnn.distill("CartPole-v1", start=first, episodes=30)

    def stop(run: Run) -> None:
        if run.episodes.n >= 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        smgrnn.distill("CartPole-v1", start=first, episodes=30, out=tmp_path / "cut", watch=stop)
    assert Record.load(tmp_path / "cut").episodes.n < 30
    assert Run.resume(tmp_path / "cut").train().fingerprint == whole.record.fingerprint


def test_what_normalises_goes_on_normalising_as_it_did(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(5, 3, (60, 2))
    np.savez(tmp_path / "a.npz", observations=rows, actions=(rows[:, 0] > 5).astype(int))
    np.savez(tmp_path / "b.npz", observations=rows + 9, actions=(rows[:, 1] > 5).astype(int))
    one = smgrnn.distill(tmp_path / "a.npz", episodes=3, normalise=True, **FINAL)
    two = smgrnn.distill(tmp_path / "b.npz", episodes=3, start=one)
    before, after = (run.record.students["final"].normalisation for run in (one, two))
    assert before is not None
    assert after is not None
    assert np.array_equal(before.mean, after.mean)
    with pytest.raises(ConfigError, match=r"^A run continues with observations normalised"):
        smgrnn.distill(tmp_path / "b.npz", episodes=3, start=one, normalise=False)


@pytest.mark.parametrize(
    ("task", "changes", "sentence"),
    [
        (
            "Acrobot-v1",
            {},
            "only continue on a task of the same shape: CartPole-v1 has 4 inp",
        ),
        ("CartPole-v1", {"iterations": 3}, "^iterations 3 contradicts the run to continue"),
        ("CartPole-v1", {"n_hidden": 5}, "contradicts the run to continue, whose network has"),
        ("CartPole-v1", {"weight_std": 3.0}, "contradicts the run to continue, whose network"),
        ("CartPole-v1", {"preset": "paper"}, "leave preset out"),
    ],
)
def test_what_the_run_before_contradicts_is_refused(
    first: Run, task: str, changes: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence):
        smgrnn.distill(task, start=first, **changes)


def test_an_evolution_has_no_settings_to_go_on_with() -> None:
    search = smgrnn_paper.evolve("CartPole-v1", rollouts=4, population=2, held_out=1)
    with pytest.raises(ConfigError, match=r"^A run can only continue a distillation\."):
        smgrnn.distill("CartPole-v1", start=search.record)


def test_a_record_whose_ancestor_is_no_graph_is_refused(first: Run, tmp_path: Path) -> None:
    run = new_run("CartPole-v1", asked(first), start=start_from(first))
    content = run.plan.to_dict()
    content["ancestor"]["source"] = [99] * len(content["ancestor"]["source"])
    with pytest.raises(smgrnn.SmgrnnError, match=r"ends in a node that does not exist"):
        Plan.from_dict(content)
    with pytest.raises(FileFormatError):
        smgrnn.distill("CartPole-v1", start=tmp_path / "nothing")


def test_the_command_line_goes_on_from_a_run(smgrnn: Command, first: Run) -> None:
    said = smgrnn("distill", "CartPole-v1", "--from", first.folder, "--episodes", 4, "--json")
    assert said.code == 0, said.err
    summary = json.loads(said.out.splitlines()[-1])
    key = first.plan.key()
    assert summary["run_dir"] == f"runs/CartPole-v1-smgrnn-from-{key[:8]}-3"
    plan = json.loads((Path(summary["run_dir"]) / "run.json").read_text())["plan"]
    assert plan["ancestor"]["run"] == key
    assert plan["episodes"] == 4
    both = smgrnn("distill", "CartPole-v1", "--from", first.folder, "--preset", "paper")
    assert (both.code, "neither --preset" in both.err) == (2, True)
    resumed = smgrnn("distill", "--resume", first.folder, "--dry-run", "--episodes", 777)
    assert (resumed.code, "resumed with its own settings" in resumed.err) == (2, True)


def test_a_function_that_taught_must_be_given_again() -> None:
    def lean(observation: Any) -> int:
        return int(observation[2] > 0)

    taught = smgrnn.distill("CartPole-v1", expert=lean, **SHORT, **FINAL)
    with pytest.raises(ConfigError, match=r"learned from .*lean>, which is your own code\. Pass"):
        smgrnn.distill("CartPole-v1", start=taught)
    assert smgrnn.distill("CartPole-v1", start=taught, expert=lean, **SHORT).episodes.n == 30
