"""Reading a record: its content may be a stranger's, so everything in it is looked at.

A file whose digest fits was not damaged, but it may have been made on purpose.  What is read here
has the types, the shapes and the ranges that the rest of the package takes for granted; an error of
any kind means that the file is wrong.
"""

from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smgrnn.arrays import Arrays, Floats, from_arrays
from smgrnn.config import RECORDINGS, NetworkConfig
from smgrnn.episodes.table import Edits, Episodes
from smgrnn.errors import plain
from smgrnn.graph.edit import Cause, Operation
from smgrnn.graph.state import Graph
from smgrnn.policy import Normalisation, Policy
from smgrnn.runs.course import EMPTY_COURSE, FIRST_STAGE
from smgrnn.runs.family import Member
from smgrnn.runs.plan import AnyPlan, EvolutionPlan, Plan
from smgrnn.runs.snapshots import Snapshots
from smgrnn.runs.times import Spent, Times

RESUME = "resume."
"""Beginning of the names of arrays that a run is resumed from."""
ROLES = ("final", "best")
"""Roles that a student of a record can have."""
_PLANS: dict[str, type[AnyPlan]] = {"distillation": Plan, "evolution": EvolutionPlan}


def read_fields(content: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    """Return the fields of a record."""
    plan = _PLANS[content["run"]].from_dict(content["plan"])
    nodes, edges = content["started"]
    episodes = _episodes(plan, arrays)
    resume = {
        name.removeprefix(RESUME): each for name, each in arrays.items() if name.startswith(RESUME)
    }
    return {
        "plan": plan,
        "episodes": episodes,
        "edits": _edits(arrays),
        "snapshots": _snapshots(arrays, episodes.n),
        "students": _students(plan, content["students"], arrays),
        "family": tuple(
            _member(plan, f"family.{number}", each, arrays, episodes.n)
            for number, each in enumerate(content.get("family", []))
        ),
        "started": (_whole(nodes), _whole(edges)),
        "held_out": _floats(arrays["held_out"], "held-out returns"),
        "best_score": _number(content["best_score"]),
        "bar": _number(content.get("bar")),
        "course": _course(plan, arrays),
        "warnings": tuple(_text(each) for each in _list(content["warnings"])),
        "versions": {_text(name): _text(each) for name, each in content["versions"].items()},
        "times": _times(content["times"]),
        "before": _before(content.get("before", {})),
        "resume": resume or None,
    }


def _episodes(plan: AnyPlan, arrays: Arrays) -> Episodes:
    found = from_arrays(Episodes, arrays, "episodes.")
    for name, column in found._asdict().items():
        if name in ("returns", "loss"):
            _floats(column, f"{name} of its episodes")
        else:
            _counts(column, f"{name} of its episodes")
    _require(len({column.size for column in found}) == 1, "the columns of its episodes differ")
    if isinstance(plan, EvolutionPlan):
        _require(found.n % plan.population == 0, "its last generation is not whole")
    return found


def _edits(arrays: Arrays) -> Edits:
    found = from_arrays(Edits, arrays, "edits.")
    update, call, rows, weight = found
    n = _counts(update, "its edits").size
    _counts(call, "its edits")
    _require(rows.shape == (n, 5) and rows.dtype == np.int64, "its edits are no table")
    _require(call.size == _floats(weight, "weights of its edits").size == n, "its edits differ")
    for place, kind in enumerate((Operation, Cause)):
        codes = rows[:, place]
        is_known = (codes >= 0) & (codes < len(kind))
        _require(is_known.all(), f"its edits have an unknown {kind.__name__.lower()}")
    return found


def _snapshots(arrays: Arrays, n_episodes: int) -> Snapshots:
    found = from_arrays(Snapshots, arrays, "snapshots.")
    episode, n_edges, edge_ids, weight, spacing = found
    for column in (episode, n_edges, edge_ids):
        _counts(column, "its snapshots")
    fits = (
        episode.size == n_edges.size
        and (episode <= n_episodes).all()
        and (np.diff(episode) > 0).all()
        and int(n_edges.sum()) == edge_ids.size == weight.size
        and weight.ndim == 1
        and weight.dtype == np.float32
        and np.isfinite(weight).all()
        and spacing >= 1
    )
    _require(fits, "its snapshots do not fit together")
    return found


def _students(plan: AnyPlan, networks: dict[str, Any], arrays: Arrays) -> dict[str, Policy]:
    found = {
        role: _student(plan, f"students.{role}", network, arrays)
        for role, network in networks.items()
    }
    _require(set(found) <= set(ROLES), "it has a student of an unknown role")
    _require(isinstance(plan, EvolutionPlan) or "final" in found, "it has no student")
    return found


def _course(plan: AnyPlan, arrays: Arrays) -> Floats:
    found = arrays.get("course", EMPTY_COURSE)
    names = plan.episodes.course if isinstance(plan, Plan) else ()
    is_right = found.ndim == 2 and found.dtype == np.float64 and np.isfinite(found).all()
    _require(is_right and found.shape[1] == len(names), "its scores on other tasks are no table")
    for name in names:  # all of which are looked up when the run goes on
        is_code = ":" in _text(name) or name.endswith(RECORDINGS)
        _require(not is_code, "a task of its sequence is code or a file")
    if isinstance(plan, Plan) and names:
        n_before = FIRST_STAGE + len(plan.stages) - 1
        is_known = all(stage.task.id in names for stage in plan.stages)
        _require(is_known, "a stage of its sequence is not among the tasks of that")
        _require(len(found) in (n_before, n_before + 1), "its scores are of other stages")
    return found


def _member(plan: AnyPlan, place: str, facts: dict[str, Any], arrays: Arrays, n: int) -> Member:
    returns = _floats(arrays[f"{place}.returns"], "returns of its family")
    episode = _whole(facts["episode"])
    _require(returns.size > 0, "a student of its family has no returns")
    _require(0 < episode <= n, "a student of its family is of no episode")
    return Member(_student(plan, place, facts["network"], arrays), episode, returns)


def _student(plan: AnyPlan, place: str, network: dict[str, Any], arrays: Arrays) -> Policy:
    graph: Graph = from_arrays(Graph, arrays, f"{place}.graph.")
    for column in (graph.node_ids, graph.source, graph.target, graph.edge_ids):
        _counts(column, "its graph")
    _floats(graph.weight, "its weights")
    normalisation = None
    if isinstance(plan, Plan) and plan.episodes.normalise:
        normalisation = from_arrays(Normalisation, arrays, f"{place}.normalisation.")
        for values in normalisation:
            _floats(values, "its normalisation")
    config = NetworkConfig.from_dict(network)
    return Policy(graph, config, plan.task, student=plan.student, normalisation=normalisation)


def _times(values: dict[str, Any]) -> Times:
    found = Times(**values)
    for each in found:
        _require(_number(each) is not None and each >= 0, "its times are no numbers")
    return Times(*map(float, found))


def _before(values: dict[str, Any]) -> Spent:
    found = Spent(**values)
    is_right = _whole(found.steps) >= 0 and (_number(found.seconds) or 0.0) >= 0.0
    _require(is_right, "the effort of the stages before is no number")
    return found


def _floats(column: NDArray[Any], what: str) -> Floats:
    is_right = column.ndim == 1 and column.dtype == np.float64 and np.isfinite(column).all()
    _require(is_right, f"{what} are not finite numbers")
    return column


def _counts(column: NDArray[Any], what: str) -> NDArray[Any]:
    is_right = column.ndim == 1 and column.dtype == np.int64 and (column >= 0).all()
    _require(is_right, f"{what} are not whole numbers")
    return column


def _whole(value: Any) -> int:
    is_right = type(value) is int and abs(value) < 2**63
    _require(is_right, "it has no whole number where one belongs")
    return int(value)


def _number(value: Any) -> float | None:
    is_right = value is None or (type(value) in (int, float) and isfinite(value))
    _require(is_right, "it has no number where one belongs")
    return None if value is None else float(value)


def _text(value: Any) -> str:
    _require(isinstance(value, str) and plain(value) == value, "it has no text where some belongs")
    return str(value)


def _list(value: Any) -> list[Any]:
    _require(isinstance(value, list), "it has no list where one belongs")
    return list(value)


def _require(holds: Any, fact: str) -> None:
    if not holds:
        raise ValueError(fact)
