"""Record: the plan and results of a run in one file.

Run folders and stores use the same format.  A file may be forged: it holds no code, loading runs
none that it names, and every array is checked against `SCHEMA`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from smgrnn.arrays import Arrays, Floats, from_arrays, to_arrays
from smgrnn.config import NetworkConfig
from smgrnn.episodes.table import Edits, Episodes
from smgrnn.errors import ConfigError, FileFormatError, known_arguments, plain, reason, short
from smgrnn.graph.edit import Cause, Operation
from smgrnn.graph.log import EditLog
from smgrnn.graph.state import Graph
from smgrnn.policy import NETWORK_KINDS, Normalisation, Policy, policy_of, read_network, read_policy
from smgrnn.runs.checkpoints import Checkpoint, Checkpoints, best
from smgrnn.runs.metrics import (
    Comparison,
    final_quarter,
    held_out_figures,
    missed_growth,
    pruning_period,
    size_figures,
    summarise,
)
from smgrnn.runs.plan import AnyPlan, Plan, find_plan, require
from smgrnn.runs.polish import Polish
from smgrnn.runs.smallest import Search
from smgrnn.runs.snapshots import Snapshots
from smgrnn.runs.stage_scores import NO_SCORES, check_stage_scores, sequence_figures
from smgrnn.storage import digest, kind_of, read_arrays, write_arrays, writing
from smgrnn.validation import Finite, NonNegative, Whole, checked

MODEL = "model.safetensors"
"""File name of the record in a run folder."""
KIND = "run"
ROLES = {"final", "best"}
"""Roles of a record's students."""


class Times(NamedTuple):
    """When a run began, and what it took."""

    began: float = 0.0
    """Seconds since 1970."""
    training: float = 0.0
    """Seconds of training."""
    choosing: float = 0.0
    """Seconds of selection."""
    polishing: float = 0.0
    """Seconds of polishing."""
    choosing_episodes: float = 0.0
    """Episodes that were played for selection."""
    choosing_steps: float = 0.0
    """Environment steps of selection."""
    total: float = 0.0
    """Seconds from first to last, evaluation included."""


class Spent(NamedTuple):
    """The effort of earlier stages, in a sequence of which only the last is kept."""

    steps: int = 0
    """Environment steps of training."""
    seconds: float = 0.0
    """Seconds from first to last, evaluation included."""


class Column(NamedTuple):
    """Type, number of axes and least value of an array; all values are finite."""

    dtype: Any
    n_axes: int = 1
    least: float = -np.inf


COUNTS, VALUES, COUNT = Column(np.int64, 1, 0), Column(np.float64), Column(np.int64, 0, 0)
SCHEMA = {
    "episodes.returns": VALUES,
    "episodes.loss": VALUES,
    "episodes.*": COUNTS,
    "edits.rows": Column(np.int64, 2, -1),
    "edits.weight": VALUES,
    "edits.*": COUNTS,
    "snapshots.weight": Column(np.float32),
    "snapshots.spacing": Column(np.int64, 0, 1),
    "snapshots.*": COUNTS,
    "*.graph.weight": VALUES,
    "*.graph.n_*": COUNT,
    "*.graph.next_*": COUNT,
    "*.graph.*": COUNTS,
    "*.normalisation.*": VALUES,
    "checkpoints.*.returns": VALUES,
    "held_out": VALUES,
    "polish.generation": COUNT,
    "polish.step": Column(np.float64, 0, 0.0),
    "polish.offered": Column(np.float64, 2),
    "polish.compared": Column(np.float64, 2),
    "polish.judged": Column(np.float64, 2),
    "polish.*": VALUES,
    "search.chance": Column(np.float64, 0),
    "search.target": Column(np.float64, 0),
    "search.failed": Column(np.float64, 2),
    "search.judged": VALUES,
    "stage_scores": Column(np.float64, 2),
}
"""The arrays of a record; the first pattern that matches a name applies."""
RESUME = "resume."
"""Prefix of the arrays that a learner is restored from; it checks them itself."""
FACTS = {
    "started": tuple[Whole, ...],
    "best_score": Finite | None,
    "warnings": tuple[str, ...],
}
"""The plain values of a record."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """A run so far: its plan and all its results.

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
    >>> smgrnn.load("copy.safetensors").graph == record.selected.graph
    True
    """

    plan: AnyPlan
    """The settings that ran."""
    episodes: Episodes = field(default_factory=lambda: Episodes.start(0))
    """One row per episode, or per candidate of an evolution, in order; candidates that were too
    small to play have no steps and no nodes."""
    edits: Edits = field(default_factory=lambda: Edits.of(EditLog()))
    """Every structural change."""
    snapshots: Snapshots = field(default_factory=Snapshots.start)
    """Weights during training; empty for a run without a folder."""
    students: Mapping[str, Policy] = field(default_factory=dict)
    """Networks by role: "final" is the last one, or the champion of an evolution, once a candidate
    has played; "best" scored best among the checkpoints of a run that selects its final network."""
    started: tuple[int, int] = (0, 0)
    """Nodes and edges before the first episode; of an evolution, those of the first best."""
    held_out: Floats = field(default_factory=lambda: np.empty(0))
    """Returns of the selected network on held-out episodes; empty before the end."""
    comparison: Comparison = field(default_factory=Comparison)
    """The selected network beside its expert; empty before the end."""
    checkpoints: Checkpoints = ()
    """The best networks of every size, if the run selects the best; the best of all is first."""
    polish: Polish | None = None
    """The search for better weights of the selected network, if the plan asks for one."""
    best_score: float | None = None
    """Score of the best checkpoint, if any was scored."""
    search: Search | None = None
    """The search for the smallest network, if the plan asks to keep a fraction of a return."""
    stage_scores: Floats = field(default_factory=lambda: NO_SCORES)
    """Mean returns on each task of a sequence: of a random policy, of its teacher, of the student
    before the first stage and after each; see `runs.stage_scores` (n_rows, n_tasks)."""
    warnings: tuple[str, ...] = ()
    """Warnings, such as of a limit that stopped growth."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Versions of Python and of the packages that computed it."""
    times: Times = field(default_factory=Times)
    """When it began, and how long it took."""
    before: Spent = field(default_factory=Spent)
    """The effort of earlier stages, if their records are not kept."""
    resume: Arrays | None = None
    """State of the learner to resume from; None if the run cannot be resumed."""

    @property
    def is_evolved(self) -> bool:
        """Whether the run is an evolution."""
        return not isinstance(self.plan, Plan)

    @property
    def selected(self) -> Checkpoint:
        """The selected network, with its episode; of an evolution, the champion."""
        return self.student()

    @property
    def final(self) -> Checkpoint:
        """The network at the end of training, or now; of an evolution, the champion."""
        return self.student(final=True)

    def student(self, *, final: bool = False, max_parameters: int | None = None) -> Checkpoint:
        """Return the selected network, the final one, or the best with at most some parameters.

        An evolution selects its champion; an unfinished run has the best network so far.

        >>> import smgrnn
        >>> record = smgrnn.distill("xor", episodes=60, select="return").record
        >>> record.selected.episode <= record.final.episode
        True
        >>> record.student(max_parameters=1)
        Traceback (most recent call last):
        smgrnn.errors.ConfigError: The smallest network of the run has 3 parameters, more than 1.
        """
        if final and max_parameters is not None:
            raise ConfigError("Ask for the final network or a maximum of parameters, not both.")
        if "final" not in self.students:
            raise ConfigError("The search has no champion yet: no candidate has played.")
        checkpoints = self.checkpoints
        if final or not checkpoints:
            checkpoints = (Checkpoint(self.students["final"], self.episodes.n, np.empty(0)),)
        found = selected = best(checkpoints)
        if max_parameters is not None:
            found = best(checkpoints, max_parameters)
        if self.polish is not None and found is selected and not final:
            assert found is not None
            policy = found.policy.with_weights(self.polish.weight)
            return found._replace(policy=policy)
        if found is None:
            smallest = min(checkpoint.n_parameters for checkpoint in checkpoints)
            raise ConfigError(
                f"The smallest network of the run has {smallest} parameters, more than "
                f"{max_parameters}."
            )
        return found

    def until(self, student: Checkpoint) -> Self:
        """Return the record as if the run had ended with one of its networks.

        >>> import smgrnn
        >>> record = smgrnn.distill("xor", episodes=60, select="return").record
        >>> record.until(record.selected).episodes.n == record.selected.episode
        True
        """
        n = student.episode
        is_made = self.edits.update <= self.episodes.steps[:n].sum()
        episodes: Any = (column[:n] for column in self.episodes)
        edits: Any = (column[is_made] for column in self.edits)
        return replace(
            self,
            episodes=Episodes(*episodes),
            edits=Edits(*edits),
            snapshots=self.snapshots.until(n),
            students={"final": student.policy},
            checkpoints=(),
            polish=None,
            resume=None,
        )

    @property
    def spent(self) -> Spent:
        """Environment steps and seconds of the run, with those of the stages before."""
        steps, seconds = self.before
        return Spent(steps + int(self.episodes.steps.sum()), seconds + self.times.total)

    @property
    def is_finished(self) -> bool:
        """Whether training is over: no episode left, or the task solved."""
        plan, n = self.plan, self.episodes.n
        if n >= plan.n_episodes:
            return True
        n_solved, threshold = getattr(plan, "stop_after", 0), plan.task.reward_threshold
        if threshold is None or not 0 < n_solved <= n:
            return False
        return bool((self.episodes.returns[-n_solved:] >= threshold).all())

    @property
    def notes(self) -> tuple[str, ...]:
        """Warnings of the run, and whether it was too short to grow."""
        missed = None
        if isinstance(self.plan, Plan) and self.episodes.n:
            missed = missed_growth(self.plan.plasticity, int(self.episodes.steps.sum()))
        return self.warnings if missed is None else (*self.warnings, missed)

    @property
    def pruning_period(self) -> int:
        """Episodes from one pruning call to the next, about; 1 if nothing prunes."""
        if not isinstance(self.plan, Plan):
            return 1
        late = final_quarter(self.episodes.n)
        return pruning_period(self.plan.plasticity, self.episodes.steps[late])

    @property
    def extent(self) -> tuple[int, ...]:
        """How far it is: failed sizes, episodes, generations of polish, episodes after that."""
        n_tries = 0 if self.search is None else len(self.search.failed)
        parts = (0, 0) if self.polish is None else (self.polish.generation, self.polish.n_choosing)
        return n_tries, self.episodes.n, *parts

    def summary(self) -> dict[str, Any]:
        """Return every figure of the run so far, by name."""
        return dict(self._summary)

    @cached_property
    def _summary(self) -> dict[str, Any]:
        if not self.episodes.n:
            raise ConfigError("The run has no episodes yet.")
        plan, task = self.plan, self.plan.task
        facts = {"task": task.id, "student": plan.student, "engine": "compiled", "seed": plan.seed}
        held_out = held_out_figures(task, self.held_out, self.comparison)
        seconds = {"seconds": self.times.training}
        if not isinstance(plan, Plan):
            return facts | plan.figures(self) | held_out | seconds
        figures = summarise(
            self.episodes,
            self.edits,
            self.started,
            task.reward_threshold,
            period=self.pruning_period,
            has_agreement=task.has_agreement,
        )
        selected = self.selected
        figures |= held_out | size_figures(selected.graph)
        figures |= {"selected_episode": selected.episode, "final": size_figures(self.final.graph)}
        source, n_inputs = selected.graph.source, selected.graph.n_inputs
        figures["n_constants"] = int(((source >= task.n_inputs) & (source < n_inputs)).sum())
        if (search := self.search) is not None:
            columns = ("size", "n_parameters", "mean", "error")
            figures["keep"] = {
                "share": plan.keep,
                "target_return": search.target,
                "lower_bound": search.lower_bound if search.judged.size else None,
                "is_reached": search.is_reached,
                "failed": [dict(zip(columns, row, strict=True)) for row in search.failed.tolist()],
            }
        if self.polish is not None:
            figures["polish"] = self._polish_figures(self.polish)
        figures["best_checkpoint_score"] = self.best_score
        figures["notes"] = list(self.notes)
        seconds["selection_seconds"] = self.times.choosing
        figures["selection_episodes"] = int(self.times.choosing_episodes)
        figures["selection_steps"] = int(self.times.choosing_steps)
        return facts | figures | sequence_figures(plan, self.stage_scores) | seconds

    def _polish_figures(self, polish: Polish) -> dict[str, Any]:
        """Return what polishing cost, and the held-out returns that it began and ended with."""
        threshold, found = self.plan.task.reward_threshold, {}
        for when, returns in (("before", polish.before), ("after", self.held_out)):
            below = None if threshold is None else float((returns < threshold).mean())
            if returns.size:
                found[when] = {
                    "held_out_mean": float(returns.mean()),
                    "held_out_std": float(returns.std()),
                    "share_below": below,
                }
        return {
            "objective": getattr(self.plan, "polish_for", None),
            "episodes": polish.n_searched,
            "choosing_episodes": polish.n_choosing,
            "seconds": self.times.polishing,
        } | found

    @property
    def fingerprint(self) -> str:
        """SHA-256 of plan and results; times, versions and snapshots do not count."""
        return digest("results", {"plan": self.plan.key(), **self._facts()}, self._arrays())

    def _facts(self) -> dict[str, Any]:
        """Return the plain values of the results."""
        return {
            "students": {role: each.config.to_dict() for role, each in self.students.items()},
            "checkpoints": [
                {"network": each.policy.config.to_dict(), "episode": each.episode}
                for each in self.checkpoints
            ],
            "started": list(self.started),
            "best_score": self.best_score,
        }

    def _arrays(self) -> Arrays:
        """Return the arrays of the results by the names in `SCHEMA`."""
        arrays = to_arrays(self.episodes, "episodes.") | to_arrays(self.edits, "edits.")
        places = {f"students.{role}.": policy for role, policy in self.students.items()}
        for number, checkpoint in enumerate(self.checkpoints):
            places[f"checkpoints.{number}."] = checkpoint.policy
            arrays[f"checkpoints.{number}.returns"] = checkpoint.returns
        for place, policy in places.items():
            arrays |= to_arrays(policy.graph, f"{place}graph.")
            if policy.normalisation is not None:
                arrays |= to_arrays(policy.normalisation, f"{place}normalisation.")
        if self.polish is not None:
            arrays |= to_arrays(self.polish, "polish.")
        if self.search is not None:
            arrays |= to_arrays(self.search, "search.")
        return arrays | {"held_out": self.held_out, "stage_scores": self.stage_scores}

    def save(self, path: str | Path, *, is_durable: bool = True) -> None:
        """Write the record to a file, or to its place in a run folder; whole or not at all.

        When this returns it is on the disk, unless `is_durable` is False.
        """
        content = {
            "run": self.plan.kind,
            "plan": self.plan.to_dict(),
            **self._facts(),
            "warnings": list(self.warnings),
            "versions": dict(self.versions),
            "times": self.times._asdict(),
            "before": self.before._asdict(),
            "comparison": self.comparison._asdict(),
        }
        arrays = self._arrays() | to_arrays(self.snapshots, "snapshots.")
        arrays |= {f"{RESUME}{name}": each for name, each in (self.resume or {}).items()}
        file = record_file(Path(path))
        with writing(file):
            write_arrays(file, KIND, content, arrays, is_durable=is_durable)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read the record in a run folder or in a file; it needs neither task nor teacher."""
        file, folder = record_file(Path(path)), Path(path)
        if file != folder and not folder.is_dir():
            raise FileFormatError(f"There is no run folder {path}.")
        if file != folder and not file.is_file():
            where = "here" if folder == Path() else f"in {path}"
            raise FileFormatError(f"There is no run {where}.")
        content, arrays = read_arrays(file, KIND)
        try:
            return cls(**_read_fields(content, arrays))
        except Exception as error:  # the file may be forged
            raise FileFormatError(f"{file} does not describe a run ({reason(error)}).") from error


def _read_fields(content: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    """Return the fields of a record; raise an error for any that is wrong."""
    resume = {name: each for name, each in arrays.items() if name.startswith(RESUME)}
    _check_arrays({name: each for name, each in arrays.items() if name not in resume})
    facts = {name: checked(content[name], hint, name) for name, hint in FACTS.items()}
    texts = (*facts["warnings"], *content["versions"], *content["versions"].values())
    require(all(plain(text) == text for text in texts), "a text has invalid characters")
    require(len(facts["started"]) == 2, "it has no size at the start")
    times = {name: checked(each, NonNegative, name) for name, each in content["times"].items()}
    compared = {
        name: checked(each, Whole | Finite | None, name)
        for name, each in content.get("comparison", {}).items()
    }
    steps, seconds = content["before"]["steps"], content["before"]["seconds"]
    plan = find_plan(content["run"]).from_dict(content["plan"])
    episodes = from_arrays(Episodes, arrays, "episodes.")
    require(plan.admits(episodes.n), "its last generation is incomplete")
    snapshots = from_arrays(Snapshots, arrays, "snapshots.")
    require(snapshots.fit(episodes.n), "its snapshots do not fit together")
    check_stage_scores(plan, arrays["stage_scores"])

    normalises = isinstance(plan, Plan) and plan.normalise

    def policy(place: str, network: dict[str, Any]) -> Policy:
        config, scales = NetworkConfig.from_dict(network), None
        if normalises:
            scales = from_arrays(Normalisation, arrays, f"{place}.normalisation.")
        graph = from_arrays(Graph, arrays, f"{place}.graph.")
        about: Any = {"student": plan.student, "normalisation": scales}
        return Policy(graph, config, plan.task, **about, names=getattr(plan, "names", None))

    students = {role: policy(f"students.{role}", it) for role, it in content["students"].items()}
    require(students.keys() <= ROLES, "it has a student of an unknown role")
    require("final" in students or not isinstance(plan, Plan), "it has no student")
    checkpoints = []
    for number, each in enumerate(content["checkpoints"]):
        place, episode = f"checkpoints.{number}", checked(each["episode"], Whole, "The episode")
        returns = arrays[f"{place}.returns"]
        has_played = returns.size > 0 and 0 < episode <= episodes.n
        require(has_played, "one of its checkpoints did not play")
        checkpoints.append(Checkpoint(policy(place, each["network"]), episode, returns))
    polish = from_arrays(Polish, arrays, "polish.") if "polish.weight" in arrays else None
    require(polish is None or polish.is_valid, "the arrays of its polish do not fit together")
    search = from_arrays(Search, arrays, "search.") if "search.target" in arrays else None
    require(search is None or search.failed.shape[1] == 4, "its search has other columns")
    return facts | {
        "plan": plan,
        "episodes": episodes,
        "edits": from_arrays(Edits, arrays, "edits."),
        "snapshots": snapshots,
        "students": students,
        "checkpoints": tuple(checkpoints),
        "held_out": arrays["held_out"],
        "polish": polish,
        "search": search,
        "stage_scores": arrays["stage_scores"],
        "versions": content["versions"],
        "times": Times(**times),
        "comparison": Comparison(**compared),
        "before": Spent(checked(steps, Whole, "steps"), checked(seconds, NonNegative, "seconds")),
        "resume": {name.removeprefix(RESUME): each for name, each in resume.items()} or None,
    }


def _check_arrays(arrays: Arrays) -> None:
    """Refuse an array that does not match `SCHEMA`, and a table with columns of unequal length."""
    for name, array in arrays.items():
        column = next((c for pattern, c in SCHEMA.items() if fnmatchcase(name, pattern)), None)
        if column is None:
            raise ConfigError(f"no run has an array {name}")
        is_like = array.dtype == column.dtype and array.ndim == column.n_axes
        is_right = is_like and np.isfinite(array).all() and (array >= column.least).all()
        require(is_right, f"{name} has a wrong type, shape or value")
    for table in ("episodes", "edits"):
        lengths = {len(each) for name, each in arrays.items() if name.startswith(f"{table}.")}
        require(len(lengths) == 1, f"the columns of its {table} differ in length")
    rows = arrays["edits.rows"]
    require(rows.shape[1] == 5, "its edits have not five columns")
    is_known = (rows[:, :2] >= 0) & (rows[:, :2] < (len(Operation), len(Cause)))
    require(is_known.all(), "its edits have an unknown operation or cause")


def record_file(path: Path) -> Path:
    """Return the file of a record: `path` if it has its suffix, else the one in that folder."""
    return path if path.suffix == Path(MODEL).suffix and not path.is_dir() else path / MODEL


@known_arguments
def load(path: str | Path, *, final: bool = False, max_parameters: int | None = None) -> Policy:
    """Return the selected network of a run; it needs neither its environment nor its expert.

    Parameters
    ----------
    path
        A run folder, a file of a store, or what `Policy.save`, `SMGrNN.save` or `Learner.save`
        wrote.
    final
        Return the final network instead.
    max_parameters
        Return the best network with at most this many parameters instead.

    Examples
    --------
    >>> import smgrnn
    >>> run = smgrnn.distill("CartPole-v1", episodes=5, held_out=1, out="another-run")
    >>> smgrnn.load("another-run").graph == run.graph
    True
    >>> smgrnn.SMGrNN(4, 2).save("own.safetensors")
    >>> smgrnn.load("own.safetensors").task.id
    'network'
    """
    if not isinstance(path, str | Path):
        raise ConfigError(f"load takes a path. Got {short(path)} instead.")
    if kind_of(path) in NETWORK_KINDS:
        if final or max_parameters is not None:
            raise ConfigError(f"{path} holds one network, not a run with several.")
        return read_policy(path) if kind_of(path) == "policy" else policy_of(read_network(path))
    return Record.load(path).student(final=final, max_parameters=max_parameters).policy
