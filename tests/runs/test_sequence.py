"""Sequences: stages that go on with one student, exactly, and what is refused."""

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import smgrnn
from smgrnn import Run
from smgrnn.engine.protection import protection
from smgrnn.errors import ConfigError, FileFormatError
from smgrnn.graph import Operation
from smgrnn.pages.comparison import stated_settings
from smgrnn.runs.plan import Plan
from smgrnn.runs.record import Record
from smgrnn.runs.sequences import Sequence
from support.commands import call

PLAIN, MIRRORED = "CartPole-v1", "CartPole-v1,mirrored"
SHORT: dict[str, Any] = {"preset": "paper", "episodes": 30, "held_out": 5, "iterations": 2}
SHORT |= {"checkpoint_every": 10}


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
    graph = first.selected.policy.graph
    assert second.started == (graph.n_nodes, graph.n_edges)
    assert isinstance(second.plan, Plan)
    assert second.plan.origin == first.plan
    assert second.plan.ancestor is not None
    assert second.plan.ancestor.graph == graph
    added = second.edits.rows[second.edits.rows[:, 0] == Operation.ADD_EDGE, 2]
    assert (added >= graph.next_edge_id).all()
    assert second.stage_scores[:4].tolist() == first.stage_scores.tolist()


def test_scores_are_held_out_returns(tmp_path: Path) -> None:
    sequence = learned(PLAIN, MIRRORED, PLAIN, out=tmp_path / "run")
    assert sequence.returns.shape == (4, 2)
    for stage, task in enumerate((0, 1, 0), start=1):
        record = sequence.records[stage - 1]
        assert sequence.returns[stage, task] == record.held_out.mean()
    assert sequence.record.stage_scores[1].tolist() == [500, 500]  # the teacher, mirrored too


CHILD = """
import os, signal, sys
import smgrnn
from smgrnn.runs.sequences import Sequence

place, moment, settings = sys.argv[1], sys.argv[2], eval(sys.argv[3])


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def watch(run):
    stage = 1 if run.plan.origin is None else 2
    if f"{stage} {run.episodes.n}" == moment:
        die()


if moment == "between":
    usual = Sequence.train_next
    Sequence.train_next = lambda made, *rest: die() if made.records else usual(made, *rest)
smgrnn.sequence(**settings, out=place, watch=watch)
"""
"""Learns a sequence, and kills itself when a stage is at an episode, or between two stages."""


def killed(folder: Path, moment: str, settings: dict[str, Any]) -> bool:
    words = [sys.executable, "-c", CHILD, str(folder), moment, repr(settings)]
    return subprocess.run(words, check=False).returncode == -signal.SIGKILL


def test_a_sequence_that_is_killed_goes_on_exactly(tmp_path: Path) -> None:
    settings = {**SHORT, "tasks": [PLAIN, MIRRORED], "protect": 0.5, "cue": True}
    whole, place = smgrnn.sequence(**settings), tmp_path / "run"
    for moment, last in {"1 20": 1, "between": 1, "2 10": 2}.items():
        assert killed(place, moment, settings)
        call("view", place / f"stage-{last}", "--no-open")
        assert (place / "stage-2").exists() == (last == 2)
        page = (place / f"stage-{last}" / "growth.html").read_text(encoding="utf-8")
        assert ("interrupted" in page) == (moment != "between")
    again = smgrnn.sequence(**settings, out=place)
    assert fingerprints(again) == fingerprints(whole)
    assert again.returns.tolist() == whole.returns.tolist()


def test_one_process_at_a_time_learns_a_sequence(tmp_path: Path) -> None:
    settings = {**SHORT, "tasks": [PLAIN, MIRRORED], "episodes": 4}
    place = tmp_path / "run"

    def ask(_: Run) -> None:
        with pytest.raises(ConfigError, match="is in use: another process"):
            smgrnn.sequence(**settings, out=place)

    smgrnn.sequence(**settings, out=place, watch=ask)
    files = [each for each in place.rglob("*") if each.is_file()]
    before = {each: each.stat().st_mtime_ns for each in files}
    again = smgrnn.sequence(**settings, out=place)  # finished stages are read and left as they are
    assert {each: each.stat().st_mtime_ns for each in files} == before
    assert fingerprints(again) == fingerprints(smgrnn.sequence(**settings))


def test_a_folder_of_something_else_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    run, other, longer = tmp_path / "run", tmp_path / "other", tmp_path / "longer"
    smgrnn.distill(PLAIN, episodes=2, held_out=1, out=run)
    other.mkdir()
    (other / "letter.txt").touch()
    for folder in (run, other):
        before = sorted(folder.iterdir())
        with pytest.raises(ConfigError, match="exists and holds no sequence"):
            learned(PLAIN, MIRRORED, out=folder)
        assert sorted(folder.iterdir()) == before
    learned(PLAIN, MIRRORED, PLAIN, episodes=2, out=longer)
    with pytest.raises(ConfigError, match="holds a sequence of more than 2 stages"):
        learned(PLAIN, MIRRORED, episodes=2, out=longer)
    with pytest.raises(ConfigError, match="holds another run"):
        learned(PLAIN, "CartPole-v1,gravity=20", PLAIN, episodes=2, out=longer)


def test_a_sequence_that_fails_at_once_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail(run: Run) -> None:
        raise ConfigError("Enough.")

    plans = learned(PLAIN, MIRRORED, episodes=2).plans
    wrong = replace(plans[0], teacher=replace(plans[0].teacher, digest="0" * 64))
    with pytest.raises(ConfigError, match="began with another expert"):
        Sequence([wrong], tmp_path / "run").train()
    assert not (tmp_path / "run").exists()
    with pytest.raises(ConfigError, match=r"Enough\."):
        Sequence(plans, tmp_path / "run").train(fail)
    assert (tmp_path / "run" / "stage-1").is_dir()


def test_a_stage_of_another_student_is_refused(tmp_path: Path) -> None:
    """Two sequences that differ in nothing but a weight have stages of the same settings."""
    one, other = (learned(PLAIN, MIRRORED, episodes=3, out=tmp_path / n) for n in ("a", "b"))
    second = other.records[1]
    assert isinstance(second.plan, Plan)
    ancestor = second.plan.ancestor
    assert ancestor is not None
    replace(second, plan=replace(second.plan, ancestor=replace(ancestor, episode=1))).save(
        tmp_path / "a" / "stage-2"
    )
    with pytest.raises(ConfigError, match="continues another student"):
        learned(PLAIN, MIRRORED, episodes=3, out=tmp_path / "a")
    assert one.record.episodes.n == 3


@pytest.mark.parametrize(
    "stage_scores",
    [
        ("my_trap:Env-v0", PLAIN),
        ("my_trap.npz", PLAIN),
        (f"{PLAIN}\x1b[31m", PLAIN),
        (MIRRORED, "CartPole-v1,gravity=20"),
        (PLAIN,),
    ],
)
def test_a_course_that_a_stranger_wrote_imports_nothing(
    stage_scores: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_trap.py").write_text("raise SystemExit('caught')")
    monkeypatch.syspath_prepend(tmp_path)
    made = learned(PLAIN, MIRRORED, episodes=2, out=tmp_path / "run")
    first = made.records[0]
    assert isinstance(first.plan, Plan)
    plan = replace(first.plan, task_sequence=stage_scores, episodes=9)
    replace(first, plan=plan).save(tmp_path / "run" / "stage-1")
    with pytest.raises(FileFormatError, match=r"a task of its sequence|its scores are of other"):
        Run.resume(tmp_path / "run" / "stage-1").train()
    replace(first, stage_scores=np.zeros((9, 2))).save(tmp_path / "a.safetensors")
    with pytest.raises(FileFormatError, match="its scores are of other tasks or stages"):
        Record.load(tmp_path / "a.safetensors")


def test_a_cue_is_an_input_for_each_task_that_says_which_it_is() -> None:
    first, second = learned(PLAIN, MIRRORED, episodes=5, cue=True).records
    assert (first.plan.task.id, second.plan.task.id) == (
        "CartPole-v1,cue=1of2",
        "CartPole-v1,mirrored,cue=2of2",
    )
    assert first.final.graph.n_inputs == 6
    shown = stated_settings(second.plan)
    assert shown["after"] == first.plan.task.id
    assert not any(text.startswith("{") for text in shown.values())


def test_protected_edges_stay_and_move_less() -> None:
    graphs = {}
    for share in (0.0, 1.0):
        first, second = learned(PLAIN, MIRRORED, episodes=60, protect=share).records
        before = dict(zip(first.final.graph.edge_ids, first.final.graph.weight, strict=True))
        after = dict(zip(second.final.graph.edge_ids, second.final.graph.weight, strict=True))
        graphs[share] = (first.final.graph, before, after)
    graph, before, after = graphs[1.0]
    strongest = set(graph.edge_ids[protection(graph, 1.0)[0] == 1.0].tolist())
    for edge in strongest:
        assert after[edge] == pytest.approx(before[edge], abs=1e-9)
    moved = [abs(graphs[0.0][2].get(edge, 0.0) - before[edge]) for edge in strongest]
    assert max(moved) > 0.01


@pytest.mark.parametrize(
    ("tasks", "settings", "sentence"),
    [
        ([], {}, "A sequence needs at least one task."),
        ([PLAIN, "Acrobot-v1"], {}, "One student cannot learn CartPole-v1, of 4 inputs and 2 act"),
        ([PLAIN, "CartPole-v1,hide=velocities"], {}, "One student cannot learn CartPole-v1, of 4"),
        ([PLAIN], {"cue": True}, "A cue tells tasks apart"),
        ([PLAIN, PLAIN], {"cue": True}, "A cue tells tasks apart"),
        ([PLAIN, "CartPole-v1,cue=2of2"], {}, "CartPole-v1,cue=2of2 has a cue already"),
        ([PLAIN], {"protect": 0.5}, "protect needs an earlier stage"),
        ([PLAIN, MIRRORED], {"normalise": True}, "Tasks of a sequence differ in scale"),
        ([PLAIN, MIRRORED], {"expert": PLAIN}, "A sequence uses the expert of each task"),
        (["xor", "xor"], {}, "The tasks of a sequence need an environment, and xor has none."),
        ([lambda: None], {}, "The tasks of a sequence are given by their names."),
    ],
)
def test_what_cannot_be_a_sequence_is_refused(
    tasks: Any, settings: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        smgrnn.sequence(tasks, **settings)
    assert str(caught.value).startswith(sentence)
