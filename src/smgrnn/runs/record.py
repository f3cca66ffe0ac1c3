"""Record: what a run leaves behind, a distillation and an evolution alike, in one file.

A run folder and an entry of the store hold the same format.  It has no code in it and names none
that loading would run.
"""

import platform
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.config import NetworkConfig
from smgrnn.episodes.table import Edits, Episodes
from smgrnn.errors import ConfigError, FileFormatError, SmgrnnError
from smgrnn.graph.edit import Cause, Operation
from smgrnn.graph.state import Graph
from smgrnn.policy import Normalisation, Policy
from smgrnn.runs.metrics import (
    best_of_generations,
    evolution_figures,
    held_out_figures,
    summarise,
)
from smgrnn.runs.plan import AnyPlan, EvolutionPlan, Plan
from smgrnn.runs.snapshots import Snapshots
from smgrnn.storage import Arrays, digest, pack, read_arrays, unpack, write_arrays, writing

MODEL = "model.safetensors"
"""The record in a run folder."""
KIND = "run"
_PLANS: dict[str, type[AnyPlan]] = {"distillation": Plan, "evolution": EvolutionPlan}
_RESUME = "resume."


class Times(NamedTuple):
    """When a run was and how long it took."""

    began: float = 0.0
    """Seconds since 1970."""
    training: float = 0.0
    """Seconds of training."""
    total: float = 0.0
    """Seconds from first to last, evaluation included."""


def versions() -> dict[str, str]:
    """Return the versions of all that a result depends on."""
    found = {name: version(name) for name in ("smgrnn", "numpy", "numba", "gymnasium")}
    return found | {"python": platform.python_version()}


@dataclass(frozen=True, kw_only=True)
class Record:
    """A run so far: its plan and all that came of it.

    Examples
    --------
    >>> import smgrnn
    >>> run = smgrnn.distill("xor", episodes=20, out="kept")
    >>> record = Record.load("kept")
    >>> record.plan.learning.loss, record.summary()["episodes"]
    ('mse', 20)
    >>> smgrnn.Run(record.plan).train().fingerprint == record.fingerprint
    True
    >>> record.save("copy.safetensors")
    >>> smgrnn.load("copy.safetensors").graph == record.graph
    True
    """

    plan: AnyPlan
    """The settings that ran."""
    episodes: Episodes
    """One row per episode, or per candidate of an evolution, in order; candidates that were too
    small to play have no steps and no nodes."""
    edits: Edits
    """Every structural change."""
    snapshots: Snapshots
    """The weights on the way; none of a run without a folder."""
    students: Mapping[str, Policy]
    """Networks by role: "final" is as the run left it, or the champion of an evolution; "best"
    scored best among the checkpoints."""
    started: tuple[int, int]
    """Nodes and edges before the first episode; of an evolution, those of the first best."""
    held_out: Floats = field(default_factory=lambda: np.empty(0))
    """Returns of the finished student on held-out episodes; none before it is finished."""
    best_score: float | None = None
    """Score of the best checkpoint, if any was scored."""
    warnings: tuple[str, ...] = ()
    """Warnings, such as of a limit that stopped growth."""
    versions: Mapping[str, str] = field(default_factory=versions)
    """The packages that it was computed with."""
    times: Times = field(default_factory=Times)
    """When it was, and how long it took."""
    resume: Arrays | None = None
    """State of the learner, while the run can go on."""

    @property
    def is_evolved(self) -> bool:
        """Whether it is of an evolution."""
        return isinstance(self.plan, EvolutionPlan)

    @property
    def graph(self) -> Graph:
        """The final graph with its weights, or the champion's."""
        return self.students["final"].graph

    @property
    def is_finished(self) -> bool:
        """Whether no episode is still to come."""
        return self.episodes.n >= self.plan.n_episodes or self._is_solved

    @property
    def _is_solved(self) -> bool:
        """Whether the task's threshold was reached often enough in a row to stop."""
        n = self.plan.episodes.stop_after if isinstance(self.plan, Plan) else 0
        threshold = self.plan.task.reward_threshold
        if n == 0 or threshold is None or self.episodes.n < n:
            return False
        return bool((self.episodes.returns[-n:] >= threshold).all())

    @property
    def changes(self) -> dict[str, int]:
        """Structural changes by operation and cause, such as "add_node relay"."""
        pairs = Counter(map(tuple, self.edits.rows[:, :2].tolist()))
        return {
            f"{Operation(operation).name} {Cause(cause).name}".lower(): n
            for (operation, cause), n in sorted(pairs.items())
        }

    @property
    def generations(self) -> Episodes | None:
        """The best candidate of each generation, the first of equals; None if nothing evolved."""
        if not isinstance(self.plan, EvolutionPlan):
            return None
        return best_of_generations(self.episodes, self.plan.population)

    def summary(self) -> dict[str, Any]:
        """Return every figure of the run so far, by name.

        Of an evolution the late return is over the best of each of the final quarter of the
        generations, and growth is from the first generation's best to the champion.
        """
        return dict(self._summary)

    @cached_property
    def _summary(self) -> dict[str, Any]:
        if not self.episodes.n:
            raise ConfigError("The run has no episodes yet, and so no figures.")
        plan, graph = self.plan, self.graph
        head = {"task": plan.task.id, "student": plan.student, "engine": "compiled"}
        n_fixed, threshold = graph.n_inputs + graph.n_outputs, plan.task.reward_threshold
        if isinstance(plan, EvolutionPlan):
            own = evolution_figures(self.episodes, plan.population, graph, threshold)
        else:
            own = summarise(
                self.episodes,
                self.edits,
                n_fixed,
                self.started,
                threshold,
                has_agreement=plan.task.has_agreement,
            )
        checked = {} if self.is_evolved else {"best_checkpoint_score": self.best_score}
        held_out = held_out_figures(plan.task, self.held_out)
        return {
            **head,
            "seed": plan.seed,
            **own,
            **held_out,
            **checked,
            "seconds": self.times.training,
        }

    @property
    def fingerprint(self) -> str:
        """SHA-256 of plan and results; times, versions and the weights on the way do not count."""
        content = {"plan": self.plan.key(), **self._facts()}
        return digest("results", content, self._results())

    def _facts(self) -> dict[str, Any]:
        return {
            "students": {role: each.config.to_dict() for role, each in self.students.items()},
            "started": list(self.started),
            "best_score": self.best_score,
        }

    def _results(self) -> Arrays:
        arrays = pack("episodes", self.episodes) | pack("edits", self.edits)
        for role, policy in self.students.items():
            arrays |= pack(f"students.{role}.graph", policy.graph)
            if policy.normalisation is not None:
                arrays |= pack(f"students.{role}.normalisation", policy.normalisation)
        return arrays | {"held_out": self.held_out}

    def save(self, path: str | Path) -> None:
        """Write the record to a file, or to its place in a run folder; whole or not at all."""
        content = {
            "run": "evolution" if self.is_evolved else "distillation",
            "plan": self.plan.to_dict(),
            **self._facts(),
            "warnings": list(self.warnings),
            "versions": dict(self.versions),
            "times": self.times._asdict(),
        }
        arrays = self._results() | pack("snapshots", self.snapshots)
        arrays |= {f"{_RESUME}{name}": each for name, each in (self.resume or {}).items()}
        file = record_file(Path(path))
        with writing(file):
            write_arrays(file, KIND, content, arrays)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read the record in a run folder or in a file; it needs neither task nor teacher."""
        file = record_file(Path(path))
        if file != Path(path) and not Path(path).is_dir():
            raise FileFormatError(f"There is no run folder {path}.")
        content, arrays = read_arrays(file, KIND)
        try:
            return cls(**_read(content, arrays))
        except (SmgrnnError, KeyError, ValueError, TypeError, AttributeError) as error:
            raise FileFormatError(f"{file} does not describe a run ({error}).") from error


def record_file(path: Path) -> Path:
    """Return the file that a path means: a name without an ending is a folder's."""
    return path if path.suffix == Path(MODEL).suffix and not path.is_dir() else path / MODEL


def _read(content: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    """Return the fields of a record, or raise whatever is wrong with the file."""
    plan = _PLANS[content["run"]].from_dict(content["plan"])
    nodes, edges = content["started"]
    resume = {
        name.removeprefix(_RESUME): each
        for name, each in arrays.items()
        if name.startswith(_RESUME)
    }
    best_score = content["best_score"]
    return {
        "plan": plan,
        "episodes": _table(Episodes, "episodes", arrays),
        "edits": _table(Edits, "edits", arrays),
        "snapshots": unpack(Snapshots, "snapshots", arrays),
        "students": {
            role: _student(plan, role, network, arrays)
            for role, network in content["students"].items()
        },
        "started": (int(nodes), int(edges)),
        "held_out": arrays["held_out"],
        "best_score": None if best_score is None else float(best_score),
        "warnings": tuple(map(str, content["warnings"])),
        "versions": {str(name): str(each) for name, each in content["versions"].items()},
        "times": Times(**{name: float(each) for name, each in content["times"].items()}),
        "resume": resume or None,
    }


def _table(kind: Any, prefix: str, arrays: Arrays) -> Any:
    found = unpack(kind, prefix, arrays)
    if len({len(column) for column in found}) != 1:
        raise ValueError(f"the columns of its {prefix} differ in length")
    return found


def _student(plan: AnyPlan, role: str, network: dict[str, Any], arrays: Arrays) -> Policy:
    place = f"students.{role}"
    graph: Graph = unpack(Graph, f"{place}.graph", arrays)
    for column in (graph.node_ids, graph.source, graph.target, graph.edge_ids):
        if column.dtype != np.int64:
            raise ValueError("its graph is not numbered")
    if graph.weight.dtype != np.float64:
        raise ValueError("its weights are not numbers")
    normalisation = None
    if isinstance(plan, Plan) and plan.episodes.normalise:
        normalisation = unpack(Normalisation, f"{place}.normalisation", arrays)
    config = NetworkConfig.from_dict(network)
    return Policy(graph, config, plan.task, student=plan.student, normalisation=normalisation)


def load(path: str | Path, *, best: bool = False) -> Policy:
    """Return the policy that a run ended with, or with `best` the one that scored best.

    It needs neither the task's environment nor its expert.

    Parameters
    ----------
    path
        A run folder, as `distill`, `evolve` or the command line left it, or a file of the store.
    best
        Take the checkpoint that scored best instead of the final student.

    Examples
    --------
    >>> import smgrnn
    >>> run = smgrnn.distill("CartPole-v1", episodes=5, held_out=1, out="another-run")
    >>> smgrnn.load("another-run").graph == run.graph
    True
    """
    return find_student(Record.load(path), best=best)


def find_student(record: Record, *, best: bool = False) -> Policy:
    """Return the final student, or the best; the champion of an evolution is both."""
    return (
        record.students.get("best", record.students["final"]) if best else record.students["final"]
    )
