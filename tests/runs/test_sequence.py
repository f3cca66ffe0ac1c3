"""Sequences: stages that go on with one student, exactly, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import smgrnn
from smgrnn.errors import ConfigError
from smgrnn.graph import Operation
from smgrnn.runs import Plan, Record, Run
from smgrnn.runs.sequences import Sequence
from smgrnn.view.timeline import Timeline

PLAIN, MIRRORED = "CartPole-v1", "CartPole-v1,mirrored"
SHORT: dict[str, Any] = {
    "preset": "paper",
    "episodes": 30,
    "held_out": 5,
    "iterations": 2,
    "checkpoint_every": 10,
}


def learned(*tasks: str, **changes: Any) -> Sequence:
    return smgrnn.sequence(tasks, **{**SHORT, **changes})


def fingerprints(sequence: Sequence) -> list[str]:
    return [record.fingerprint for record in sequence.records]


@pytest.mark.parametrize("preset", ["paper", "frugal"])
def test_a_sequence_of_one_task_is_a_plain_run_bit_for_bit(preset: str, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"preset": preset, "episodes": 40, "held_out": 5, "seed": 3}
    run = smgrnn.distill(PLAIN, **settings, out=tmp_path / "run")
    alone = smgrnn.sequence([PLAIN], **settings, out=tmp_path / "sequence")
    assert alone.record.plan.key() == run.plan.key()
    assert alone.record.fingerprint == run.record.fingerprint
    assert Record.load(tmp_path / "sequence" / "stage-1").fingerprint == run.record.fingerprint


def test_a_stage_goes_on_with_the_student_of_the_one_before() -> None:
    first, second = learned(PLAIN, MIRRORED).records
    graph = first.handed_over.policy.graph
    assert second.started == (graph.n_nodes, graph.n_edges)
    assert isinstance(second.plan, Plan)
    assert second.plan.origin == first.plan
    assert second.plan.ancestor is not None
    assert second.plan.ancestor.graph == graph
    added = second.edits.rows[second.edits.rows[:, 0] == Operation.ADD_EDGE, 2]
    assert (added >= graph.next_edge_id).all()
    assert second.course[:4].tolist() == first.course.tolist()


def test_the_first_stage_learns_what_a_run_of_its_own_does() -> None:
    first = learned(PLAIN, MIRRORED).records[0]
    alone = smgrnn.distill(PLAIN, **SHORT)
    assert first.episodes.returns.tolist() == alone.episodes.returns.tolist()
    assert first.graph == alone.graph


def test_scores_are_held_out_returns_and_those_on_its_own_task_are_the_runs_own() -> None:
    sequence = learned(PLAIN, MIRRORED, PLAIN)
    assert sequence.returns.shape == (4, 2)
    for stage, task in enumerate((0, 1, 0), start=1):
        record = sequence.records[stage - 1]
        assert sequence.returns[stage, task] == record.held_out.mean()
    assert sequence.record.course[1].tolist() == [500, 500]  # the teacher, mirrored too


class KilledError(Exception):
    pass


@pytest.mark.parametrize("episode", [10, 30, 50])
def test_a_sequence_that_is_killed_goes_on_exactly(episode: int, tmp_path: Path) -> None:
    seen: list[int] = []

    def kill(run: Run) -> None:
        seen.append(1)
        stage = 0 if run.plan.origin is None else 30
        if stage + run.episodes.n >= episode:
            raise KilledError

    settings = {"protect": 0.5, "cue": True}
    with pytest.raises(KilledError):
        learned(PLAIN, MIRRORED, out=tmp_path / "run", watch=kill, **settings)
    again = learned(PLAIN, MIRRORED, out=tmp_path / "run", **settings)
    whole = learned(PLAIN, MIRRORED, **settings)
    assert seen
    assert fingerprints(again) == fingerprints(whole)
    assert again.returns.tolist() == whole.returns.tolist()


def test_other_settings_are_refused_in_a_folder_that_holds_a_sequence(tmp_path: Path) -> None:
    learned(PLAIN, MIRRORED, episodes=4, out=tmp_path / "run")
    with pytest.raises(ConfigError, match="holds another run"):
        learned(PLAIN, "CartPole-v1,gravity=20", episodes=4, out=tmp_path / "run")


def test_a_cue_is_an_input_for_each_task_that_says_which_it_is() -> None:
    first, second = learned(PLAIN, MIRRORED, episodes=5, cue=True).records
    assert (first.plan.task.id, second.plan.task.id) == (
        "CartPole-v1,cue=1of2",
        "CartPole-v1,mirrored,cue=2of2",
    )
    assert first.graph.n_inputs == 6


def test_protected_edges_stay_and_move_less() -> None:
    graphs = {}
    for share in (0.0, 1.0):
        first, second = learned(PLAIN, MIRRORED, episodes=60, protect=share).records
        before = dict(zip(first.graph.edge_ids, first.graph.weight, strict=True))
        after = dict(zip(second.graph.edge_ids, second.graph.weight, strict=True))
        graphs[share] = (first.graph, before, after)
    graph, before, after = graphs[1.0]
    strongest = {int(graph.edge_ids[_strongest(graph, node)]) for node in set(graph.target)}
    for edge in strongest:
        assert after[edge] == pytest.approx(before[edge], abs=1e-9)
    moved = [abs(graphs[0.0][2].get(edge, 0.0) - before[edge]) for edge in strongest]
    assert max(moved) > 0.01


def _strongest(graph: Any, node: int) -> int:
    into = np.flatnonzero(graph.target == node)
    return int(into[np.abs(graph.weight[into]).argmax()])


def test_all_stages_are_watched_as_one_run(tmp_path: Path) -> None:
    sequence = learned(PLAIN, MIRRORED, PLAIN, out=tmp_path / "run")
    joined = Sequence.read(tmp_path / "run").joined()
    assert joined.episodes.n == 90
    timeline = Timeline.of(joined)
    last = timeline.frame(int(timeline.ends[-1]))
    graph = sequence.record.graph
    assert sorted(timeline.edges.id[last.edges]) == sorted(graph.edge_ids)
    first = sequence.records[0].graph
    n_updates = int(sequence.records[0].episodes.steps.sum())
    then = timeline.frame(n_updates)
    assert sorted(timeline.edges.id[then.edges]) == sorted(first.edge_ids)


@pytest.mark.parametrize(
    ("tasks", "settings", "sentence"),
    [
        ([], {}, "A sequence needs at least one task."),
        (
            [PLAIN, "Acrobot-v1"],
            {},
            "One student cannot learn CartPole-v1, of 4 inputs and 2 actions, and Acrobot-v1, of 6 "
            "and 3.",
        ),
        ([PLAIN, "CartPole-v1,hide=velocities"], {}, "One student cannot learn CartPole-v1, of 4"),
        ([PLAIN], {"cue": True}, "A cue tells tasks apart, and CartPole-v1 is the only one"),
        ([PLAIN, PLAIN], {"cue": True}, "A cue tells tasks apart, and CartPole-v1 is the only one"),
        ([PLAIN, "CartPole-v1,cue=2of2"], {}, "CartPole-v1,cue=2of2 has a cue of its own"),
        ([PLAIN], {"protect": 0.5}, "--protect is for what was learned before"),
        ([PLAIN, MIRRORED], {"normalise": True}, "A sequence has no one scale to normalise by"),
        ([PLAIN, MIRRORED], {"expert": PLAIN}, "A sequence takes the expert of each of its tasks"),
        (["xor", "xor"], {}, "The tasks of a sequence are played, and xor is not."),
        ([lambda: None], {}, "The tasks of a sequence are given by their names."),
    ],
)
def test_what_cannot_be_a_sequence_is_refused(
    tasks: Any, settings: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        smgrnn.sequence(tasks, **settings)
    assert str(caught.value).startswith(sentence)


def test_a_run_of_its_own_has_nothing_to_protect() -> None:
    with pytest.raises(ConfigError, match="says nothing to a run that starts anew"):
        smgrnn.distill(PLAIN, episodes=2, protect=0.5)
