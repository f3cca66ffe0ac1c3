"""Polish: the search finds what there is, raises returns, and is exact wherever it is played."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import smgrnn
from smgrnn import Graph, Policy, Run
from smgrnn.arrays import Floats
from smgrnn.errors import ConfigError
from smgrnn.runs import polish
from smgrnn.runs.plan import Plan
from smgrnn.runs.polish import Polish, ranking
from smgrnn.runs.start import new_run
from support.runs import contents, settings

TINY: dict[str, Any] = {"preset": "frugal", "episodes": 30, "max_parameters": 4, "select": "return"}


def tiny(folder: Path, name: str | None = None, task: str = "CartPole-v1", **changes: Any) -> Run:
    """Return a finished run of a network with few weights."""
    config = settings(folder, task, **{**TINY, "held_out": 50, **changes})
    run = new_run(task, config, None if name is None else folder / name)
    run.train()
    return run


def test_the_search_finds_the_top_of_a_slope_that_differs_by_coordinate() -> None:
    top, steepness = np.array([1.0, -2.0, 0.5, 0.0]), np.array([1.0, 10.0, 0.1, 1.0])

    def play(weights: Floats, seeds: list[int]) -> Floats:
        heights = -(steepness * (weights - top) ** 2).sum(axis=1)
        return np.repeat(heights[:, None], len(seeds), axis=1)

    zeros, none = np.zeros(4), np.zeros((0, 0))
    paths = zeros, zeros + 1.0, zeros, zeros
    found: Polish | None = Polish(
        zeros, zeros + 1.0, 0, 0.1, *paths, zeros[None], none, none, np.zeros(0)
    )
    while found is not None:
        last, found = found, found.advanced(play, 0, 12_000, ranking("mean", None))
    assert last.weight == pytest.approx(top, abs=1e-3)
    assert last.n_searched <= 12_010


def test_a_polish_raises_the_return_and_keeps_the_graph(tmp_path: Path) -> None:
    run = tiny(tmp_path)
    before, graph = run.held_out.mean(), run.selected.policy.graph
    figures = run.polish(2000).summary()["polish"]
    assert figures["before"]["held_out_mean"] == before
    assert figures["after"]["held_out_mean"] == run.held_out.mean() > before + 20
    after = run.selected.policy.graph
    assert after._replace(weight=graph.weight) == graph
    assert run.final.graph != after
    assert run.score(50).mean() == run.held_out.mean()
    assert figures["before"]["share_below"] >= figures["after"]["share_below"]


def test_a_polish_asked_for_later_or_in_two_parts_is_the_one_asked_for_at_once(
    tmp_path: Path,
) -> None:
    tiny(tmp_path, "once", polish=1500)
    tiny(tmp_path, "later").polish(600).polish(1500)
    assert contents(tmp_path / "later") == contents(tmp_path / "once")
    assert tiny(tmp_path, "later").held_out.size  # the command without it finds its run
    tiny(tmp_path, "later", polish=1500)
    assert contents(tmp_path / "later") == contents(tmp_path / "once")
    record = smgrnn.runs.record.Record.load(tmp_path / "later")
    assert record.polish is not None
    assert smgrnn.load(tmp_path / "later").graph.weight.tolist() == record.polish.weight.tolist()


@pytest.mark.parametrize(
    ("task", "changes"),
    [("CartPole-v1", {"env_backend": "gymnasium"}), ("Pendulum-v1", {"preset": "paper"})],
)
def test_processes_and_compiled_code_find_the_same_weights(
    tmp_path: Path, task: str, changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {"polish": 200, "episodes": 5, "held_out": 3, **changes}
    if task == "Pendulum-v1":
        asked |= {"max_parameters": None, "select": "final"}
    found = []
    for n_cores in (1, 2):
        monkeypatch.setattr(polish, "usable_cores", lambda n=n_cores: n)
        found.append(tiny(tmp_path, task=task, **asked).selected.policy.graph)
    if task == "CartPole-v1":
        found.append(tiny(tmp_path, **{**asked, "env_backend": "compiled"}).selected.policy.graph)
    assert all(each == found[0] for each in found)


@pytest.mark.parametrize("objective", ["worst", "share-above"])
def test_another_objective_begins_a_search_again(tmp_path: Path, objective: Any) -> None:
    run = tiny(tmp_path, polish=300)
    at_once = tiny(tmp_path, polish=300, polish_for=objective)
    assert run.polish(300, objective=objective).record.fingerprint == at_once.record.fingerprint


def test_a_network_without_weights_has_nothing_to_polish(tmp_path: Path) -> None:
    record = tiny(tmp_path, "run", select="final", max_parameters=None).record
    last, plan = record.final.policy, record.plan
    assert isinstance(plan, Plan)
    plan = replace(plan, polish=300)
    graph = Graph.from_edges(last.graph.n_inputs, last.graph.n_outputs)
    bare = Policy(graph, last.config, last.task, student=last.student)
    empty = replace(record, plan=plan, students={"final": bare}, held_out=np.zeros(0))
    assert "polish" not in Run(plan, record=empty).train().summary()


def test_what_has_no_return_or_no_threshold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--polish needs returns, and xor has examples"):
        smgrnn.distill("xor", episodes=5, polish=100)
    with pytest.raises(ConfigError, match="needs a threshold, and Pendulum-v1 has none"):
        tiny(tmp_path, task="Pendulum-v1", polish_for="share-above", max_parameters=None)
