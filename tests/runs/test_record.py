"""A record comes back as it was, says what ran, and leads to the same results again."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file

import smgrnn
from smgrnn import Run, evaluate
from smgrnn.batch import Store
from smgrnn.errors import ConfigError, FileFormatError, SmgrnnError
from smgrnn.runs.distillation import STUDENTS
from smgrnn.runs.folder import write_results
from smgrnn.runs.plan import Plan
from smgrnn.runs.record import Record
from smgrnn.runs.record_file import Times
from smgrnn.runs.smallest import Search
from smgrnn.storage import write_arrays
from smgrnn.view.timeline import Timeline
from support.runs import settings, trained

MODEL = "model.safetensors"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a short run with many edits that chooses among its students."""
    folder = tmp_path_factory.mktemp("runs")
    trained(folder, checkpoint_every=5, seed=5, select="return")
    return folder / "run"


def content_of(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the plain values and the arrays in a record's file, with one of its students."""
    with safe_open(path, framework="numpy") as file:
        content = json.loads(file.metadata()["smgrnn"])["content"]
    content["checkpoints"] = content["checkpoints"][:1]
    words = "checkpoints.0. episodes edits held students snapshots resume stage_scores"
    kept = tuple(words.split())
    return content, {name: a for name, a in load_file(path).items() if name.startswith(kept)}


@pytest.mark.parametrize("select", ["return", "final"])
def test_a_record_comes_back_as_it_was(folder: Path, tmp_path: Path, select: str) -> None:
    if select == "final":
        trained(tmp_path, checkpoint_every=5, seed=5)
    record = Record.load(folder if select == "return" else tmp_path / "run")
    record.save(tmp_path / "copy.safetensors")
    copy = Record.load(tmp_path / "copy.safetensors")
    assert (copy.plan, copy.times, copy.versions) == (record.plan, record.times, record.versions)
    assert copy.fingerprint == record.fingerprint
    assert copy.summary() == record.summary()
    for part in ("episodes", "edits", "snapshots"):
        ours, theirs = (getattr(each, part) for each in (record, copy))
        for name, column in ours._asdict().items():
            assert np.array_equal(column, getattr(theirs, name)), name
            assert np.asarray(column).dtype == np.asarray(getattr(theirs, name)).dtype, name
    assert copy.final.graph == record.final.graph
    assert copy.selected.policy.graph == record.selected.policy.graph
    assert ("best" in copy.students) == (select == "final")
    for name, student in copy.students.items():
        assert student.graph == record.students[name].graph
    assert (len(copy.checkpoints) > 1) == (select == "return")
    for ours, theirs in zip(copy.checkpoints, record.checkpoints, strict=True):
        assert (ours.policy.graph, ours.rank) == (theirs.policy.graph, theirs.rank)
        assert ours.returns.tolist() == theirs.returns.tolist()
    assert copy.resume is not None
    assert record.resume is not None
    assert {n: a.tobytes() for n, a in copy.resume.items()} == {
        n: a.tobytes() for n, a in record.resume.items()
    }


def test_a_folder_and_a_file_of_the_store_hold_the_same(folder: Path, tmp_path: Path) -> None:
    record, store = Record.load(folder), Store(tmp_path)
    store.save(replace(record, resume=None))
    path = store.path(record.plan.key())
    assert Record.load(path).fingerprint == record.fingerprint
    assert np.array_equal(evaluate(Record.load(path), 3), evaluate(record, 3))
    assert smgrnn.load(path).graph == smgrnn.load(folder).graph
    assert Record.load(path).resume is None
    with pytest.raises(ConfigError, match="it cannot continue"):
        Run.resume(path)
    Run.resume(folder).save(tmp_path / "whole")
    assert Run.resume(tmp_path / "whole").train().fingerprint == record.fingerprint


def test_times_and_versions_are_no_results_and_the_rest_is(folder: Path) -> None:
    record = Record.load(folder)
    same = replace(record, times=Times(1.0, 2.0, 3.0), versions={"python": "4"}, resume=None)
    assert same.fingerprint == record.fingerprint
    first, *rest = record.checkpoints
    others = [
        replace(record, held_out=record.held_out + 1),
        replace(record, best_score=0.5),
        replace(record, students={**record.students, "best": record.students["final"]}),
        replace(record, episodes=record.episodes._replace(loss=record.episodes.loss + 1e-9)),
        replace(record, plan=replace(record.plan, seed=6)),
        replace(record, search=Search.start(0.9, 10.0, 0.0)),
        replace(record, checkpoints=tuple(rest)),
        replace(record, checkpoints=(first._replace(episode=1), *rest)),
        replace(record, checkpoints=(first._replace(returns=np.ones(4)), *rest)),
    ]
    assert len({each.fingerprint for each in (record, *others)}) == 10


CONTRADICTIONS: dict[str, tuple[Any, ...]] = {
    "run": ("dream",),
    "plan": ([],),
    "plan.seed": (-1,),
    "plan.episodes": (None,),
    "plan.network": ([1, 2],),
    "plan.network.n_outputs": (3,),
    "plan.plasticity": ("rules",),
    "plan.task": (None,),
    "plan.task.id": (["CartPole-v1"], None, "Cart\x1b[31mPole"),
    "plan.task.n_inputs": ("four", 3),
    "plan.task.is_discrete": (False,),
    "plan.task.reward_threshold": ("high",),
    "students": ([], {}),
    "students.final": ([],),
    "students.final.n_inputs": (9,),
    "students.other": ({},),
    "started": ([1], [1.5, 2], ["1", "2"]),
    "best_score": ("high", "5", True, 1e400),
    "times": ({"began": "noon"}, {"began": 1e400}, {"colour": 1.0}, [1.0, 2.0]),
    "warnings": (3, "one", [["one"]], ["\x1b[31m"]),
    "versions": ({"numpy": 3}, ["numpy"]),
    "checkpoints": (3, [[]], [{}]),
    "checkpoints.0.episode": (61, "two", 0),
    "checkpoints.0.network": ({},),
}
"""Values that a record cannot have, by their places in it."""


@pytest.mark.parametrize("place", CONTRADICTIONS)
def test_a_record_that_contradicts_itself_is_refused(
    folder: Path, tmp_path: Path, place: str
) -> None:
    """Such a file has a digest that fits: it was made on purpose."""
    *parts, last = place.split(".")
    path = tmp_path / "a.safetensors"
    for value in CONTRADICTIONS[place]:
        content, arrays = content_of(folder / MODEL)
        inner: Any = content
        for part in parts:
            inner = inner[int(part) if part.isdigit() else part]
        inner[last] = value
        write_arrays(path, "run", content, arrays)
        with pytest.raises(SmgrnnError):
            Run.resume(path)


WRONG: dict[str, Callable[[Any], Any]] = {
    "other numbers": lambda array: array.astype(np.float16),
    "flags": lambda array: array.astype(np.bool_),
    "one more axis": lambda array: array[..., None],
    "text": lambda array: np.frombuffer(b"text", np.uint8),
    "one too many": lambda array: np.concatenate([array, array[:1]]) if array.ndim else array[None],
    "negative": lambda array: -array - 1,
    "no numbers": lambda array: np.full(array.shape, np.nan),
    "none": lambda array: array[:0] if array.ndim else np.zeros(0),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_arrays_of_wrong_types_are_refused_or_harmless(
    folder: Path, tmp_path: Path, wrong: str
) -> None:
    """Of 62 such records, 30 loaded and then failed in a report with a traceback."""
    content, arrays = content_of(folder / MODEL)
    path, n_refused = tmp_path / "a.safetensors", 0
    for name, array in arrays.items():
        spoiled = np.ascontiguousarray(WRONG[wrong](array))
        write_arrays(path, "run", content, arrays | {name: spoiled})
        try:
            record = Record.load(path)
        except FileFormatError:
            n_refused += 1
            continue
        if record.episodes.n:
            write_results(tmp_path, record)
        Timeline.of(record)
        with suppress(SmgrnnError):
            Run.resume(path)
    assert n_refused > 15


LACKING = (
    *("episodes.loss", "edits.rows", "snapshots.weight", "held_out", "checkpoints.0.graph.source"),
    *("students.final.graph.weight", "resume.trace", "resume.rng"),
)
SHORTENED = (
    *("resume.moments", "resume.watched.history.blocks", "resume.watched.history.running"),
    *("resume.watched.history.born", "resume.calls", "resume.aim"),
)


def test_arrays_that_cannot_be_are_refused(folder: Path, tmp_path: Path) -> None:
    """Compiled code does not check bounds: such a file would let it write anywhere."""
    content, arrays = content_of(folder / MODEL)
    slot = "resume.watched.history.slot"
    odd: list[dict[str, Any]] = [
        *({name: None} for name in LACKING),
        *({name: arrays[name][..., :1].copy()} for name in SHORTENED),
        {slot: arrays[slot] + 10**6},
        *({"checkpoints.0.returns": np.array(each)} for each in ([], [np.nan], [1])),
        {"checkpoints.0.graph.weight": np.frombuffer(b"x", np.uint8)},
    ]
    for column, code in ((0, -1), (0, 99), (1, -1), (1, 99)):  # an operation, a cause
        rows = arrays["edits.rows"].copy()
        rows[3, column] = code
        odd.append({"edits.rows": rows})
    for each in odd:
        whole = {name: array for name, array in (arrays | each).items() if array is not None}
        write_arrays(tmp_path / "a.safetensors", "run", content, whole)
        with pytest.raises(SmgrnnError):
            Run.resume(tmp_path / "a.safetensors")


# --- the same again, from the record alone --------------------------------------------------------


CASES: list[tuple[str, dict[str, Any]]] = [
    *(("CartPole-v1", {"episodes": 8, "student": student}) for student in STUDENTS),
    ("CartPole-v1", {"episodes": 8, "env_backend": "gymnasium"}),
    ("CartPole-v1", {"preset": "frugal", "episodes": 40, "keep": 0.9}),
    ("Acrobot-v1", {"episodes": 2}),
    ("Pendulum-v1", {"episodes": 2, "normalise": True}),
    ("LunarLander-v3", {"episodes": 1, "student": "mlp-pruned", "budget": 40}),
    ("CartPole-v1,hide=velocities", {"episodes": 6}),
    ("CartPole-v1,mirrored", {"episodes": 6, "preset": "frugal"}),
    ("recall", {"episodes": 30, "preset": "frugal"}),
    ("xor", {"episodes": 6, "student": "growth-only"}),
    ("choices.npz", {"episodes": 6, "normalise": True}),
    ("moves.npz", {"episodes": 6, "normalise": True, "preset": "frugal"}),
]
"""A run of every student, backend and kind of task."""


@pytest.mark.parametrize(("task", "changes"), CASES)
def test_a_run_rebuilt_from_its_record_alone_ends_bit_identical(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: str, changes: dict[str, Any]
) -> None:
    rng = np.random.default_rng(0)
    observations = rng.normal(size=(40, 3))
    actions = {"choices": rng.integers(0, 2, 40), "moves": rng.normal(size=(40, 2))}
    for name, column in actions.items():
        np.savez(tmp_path / f"{name}.npz", observations=observations, actions=column)
    monkeypatch.chdir(tmp_path)
    trained(tmp_path, task, held_out=2, **changes)
    monkeypatch.chdir("/")  # the record has the whole path of a recording
    record = Record.load(tmp_path / "run")
    assert isinstance(record.plan, Plan)
    assert Run(record.plan).train().fingerprint == record.fingerprint


def test_a_run_with_a_function_is_rebuilt_when_it_is_given_again(tmp_path: Path) -> None:
    def lean(observation: Any) -> int:
        return int(observation[2] > 0)

    few: dict[str, Any] = {"episodes": 3, "held_out": 2, "select": "final"}
    run = smgrnn.distill("CartPole-v1", expert=lean, out=tmp_path / "run", **few)
    plan = Record.load(tmp_path / "run").plan
    assert isinstance(plan, Plan)
    assert Run(plan, expert=lean).train().fingerprint == run.record.fingerprint


def test_warnings_are_on_record_whether_a_run_has_a_folder_or_not(tmp_path: Path) -> None:
    with pytest.warns(smgrnn.errors.GrowthLimitWarning):
        run = trained(tmp_path, max_parameters=9)
    assert run.record.warnings == Record.load(tmp_path / "run").warnings
    assert "max_edges=9" in run.record.warnings[0]
    assert settings(tmp_path).max_parameters is None
