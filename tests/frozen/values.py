"""The numbers of a run in a fixed order, whatever their fields are called, and their digest."""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import smgrnn
import smgrnn_paper
from frozen.runs import RUNS
from smgrnn import Graph
from smgrnn.graph import Operation
from smgrnn.runs.record import Record
from support.runs import nested, trained

DIGESTS = Path(__file__).with_name("digests.json")
HELD_OUT = 3
ROWS = np.random.default_rng(0).normal(size=(600, 3))
CHOICES = (ROWS[:, 0] * ROWS[:, 1] > 0).astype(np.int64)
TARGETS = np.stack([np.tanh(ROWS[:, 0] * ROWS[:, 1]), np.tanh(ROWS[:, 2])], axis=1)
"""Examples, by choices and by numbers."""
RECORDINGS = {"choices.npz": CHOICES, "targets.npz": TARGETS}
Values = Iterator[Any]


def digest(values: Iterable[Any]) -> str:
    """Return the digest of arrays: of the kind, the shape and the bytes of each, in their order."""
    found = hashlib.sha256()
    for value in values:
        array = np.asarray(value)
        array = np.ascontiguousarray(array, np.float64 if array.dtype.kind == "f" else np.int64)
        found.update(f"{array.dtype.kind}{array.shape}".encode() + array.tobytes())
    return found.hexdigest()[:16]


def values_of_graph(graph: Graph) -> Values:
    """Yield sizes, nodes, edges and weights, and the ids that come next."""
    yield from (graph.n_inputs, graph.n_outputs, graph.node_ids)
    yield from (graph.source, graph.target, graph.weight, graph.edge_ids)
    yield from (graph.next_node_id, graph.next_edge_id)


def values_of_edits(edits: Any) -> Values:
    """Yield times, calls, rows and weights of structural changes."""
    yield from (edits.update, edits.call, edits.rows, edits.weight)


def values_of(record: Record) -> Values:
    """Yield all results of a run or an evolution; a number that there is not is NaN."""
    episodes, chosen, snapshots = record.episodes, record.selected, record.snapshots
    yield from (episodes.returns, episodes.steps, episodes.agreed, episodes.loss)
    yield from (episodes.n_nodes, episodes.n_edges)
    yield from values_of_edits(record.edits)
    yield from record.started
    for role in ("final", "best"):
        if role in record.students:
            yield from values_of_graph(record.students[role].graph)
    for checkpoint in (chosen, *record.checkpoints):
        yield from values_of_graph(checkpoint.policy.graph)
        yield from (checkpoint.episode, checkpoint.returns)
    yield record.held_out
    target = None if record.search is None else record.search.target
    yield from (np.nan if each is None else each for each in (record.best_score, target))
    yield from (record.stage_scores, len(record.warnings))
    yield from (snapshots.episode, snapshots.n_edges, snapshots.edge_ids, snapshots.weight)


def records(folder: Path, name: str, **changes: Any) -> tuple[Record, ...]:
    """Make a run of the table and return its record, or those of all stages of a sequence."""
    task, options = RUNS[name]
    options = nested(options | changes)
    own = {key: options.pop(key, None) for key in ("start", "folder")}
    if not isinstance(task, str):
        return tuple(smgrnn.sequence(task, held_out=HELD_OUT, **options).records)
    if task in RECORDINGS:
        np.savez(folder / task, observations=ROWS, actions=RECORDINGS[task])
        task = str(folder / task)
    if "method" in options:
        return (
            smgrnn_paper.evolve(task, rollouts=20, population=10, held_out=2, **options).record,
        )
    if own["start"] is not None:
        (before,) = records(folder, own["start"])
        return (smgrnn.distill(task, start=before, held_out=HELD_OUT, **options).record,)
    return (trained(folder, task, own["folder"], held_out=HELD_OUT, **options).record,)


def frozen(made: Iterable[Record]) -> dict[str, Any]:
    """Return what is kept of a run: its digest, and how much it added and removed."""
    stages = tuple(made)
    kinds = np.concatenate([record.edits.rows[:, 0] for record in stages])
    return kept((value for record in stages for value in values_of(record)), kinds)


def kept(values: Iterable[Any], kinds: Any) -> dict[str, Any]:
    """Return a digest, and how many of the structural changes add and how many remove."""
    n_added = int(np.isin(kinds, (Operation.ADD_NODE, Operation.ADD_EDGE)).sum())
    return {"digest": digest(values), "added": n_added, "removed": len(kinds) - n_added}
