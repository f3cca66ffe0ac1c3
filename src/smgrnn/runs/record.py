"""Record: the plan and results of a run, a distillation or an evolution, in one file.

A run folder and an entry of the store hold the same format.  It has no code in it and names none
that loading would run.
"""

import platform
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import numpy as np

from smgrnn.arrays import Arrays, Floats, to_arrays
from smgrnn.episodes.table import Edits, Episodes
from smgrnn.errors import ConfigError, FileFormatError, reason
from smgrnn.graph.edit import Cause, Operation
from smgrnn.graph.state import Graph
from smgrnn.policy import NETWORK_KINDS, Policy, policy_of, read_network
from smgrnn.runs.course import EMPTY_COURSE, FIRST_STAGE, course_figures
from smgrnn.runs.family import Family, Member, best
from smgrnn.runs.keep import has_ended, lower_bound, smallest_kept
from smgrnn.runs.metrics import (
    best_of_generations,
    evolution_figures,
    held_out_figures,
    late_share,
    pruning_period,
    summarise,
)
from smgrnn.runs.plan import AnyPlan, EvolutionPlan, Plan
from smgrnn.runs.reading import RESUME, read_fields
from smgrnn.runs.snapshots import Snapshots
from smgrnn.runs.times import Spent, Times
from smgrnn.storage import digest, kind_of, read_arrays, write_arrays, writing

MODEL = "model.safetensors"
"""File name of the record in a run folder."""
KIND = "run"


PACKAGES = ("smgrnn", "numpy", "numba", "gymnasium")
"""Packages that every result depends on."""
OF_STUDENTS = {"neat": ("neat-python",), "ndp": ("cma",)}
"""Packages that only some results depend on, by student; those of a task are in its facts."""


def versions(plan: AnyPlan) -> dict[str, str]:
    """Return the versions of Python and of the packages that the results of a plan depend on."""
    others = (*OF_STUDENTS.get(plan.student, ()), *plan.task.facts.packages)
    found = {name: version(name) for name in (*PACKAGES, *others)}
    return found | {"python": platform.python_version()}


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
    """Weights at moments during training; none for a run without a folder."""
    students: Mapping[str, Policy]
    """Networks by role: "final" is as the run left it, or the champion of an evolution, which has
    none before a candidate has played; "best" scored best among the checkpoints of a run that hands
    over its final student."""
    started: tuple[int, int]
    """Nodes and edges before the first episode; of an evolution, those of the first best."""
    held_out: Floats = field(default_factory=lambda: np.empty(0))
    """Returns of what is handed over on held-out episodes; none before the run is finished."""
    family: Family = ()
    """The best students of every size, if the run hands over the best; the best of all is first."""
    best_score: float | None = None
    """Score of the best checkpoint, if any was scored."""
    bar: float | None = None
    """Mean return that keeps the share which the plan asks for, if it asks for one."""
    course: Floats = field(default_factory=lambda: EMPTY_COURSE)
    """Mean returns on each task of a sequence: of a random policy, of its teacher, of the student
    before the first stage and after each; see `runs.course` (n_rows, n_tasks)."""
    warnings: tuple[str, ...] = ()
    """Warnings, such as of a limit that stopped growth."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Versions of Python and of the packages that it was computed with."""
    times: Times = field(default_factory=Times)
    """The time at which it began, and how long it took."""
    before: Spent = field(default_factory=Spent)
    """The effort of the stages before, if those of a sequence are not kept themselves."""
    resume: Arrays | None = None
    """State of the learner to resume from; None if the run cannot be resumed."""

    @property
    def is_evolved(self) -> bool:
        """Whether the run is an evolution."""
        return isinstance(self.plan, EvolutionPlan)

    @property
    def graph(self) -> Graph:
        """The final graph with its weights, or the champion's."""
        return self._final.graph

    @property
    def _final(self) -> Policy:
        if "final" not in self.students:
            raise ConfigError("The search has no champion yet: no candidate of it has played.")
        return self.students["final"]

    def student(self, *, final: bool = False, parameters: int | None = None) -> Member:
        """Return the student that is handed over, the final one, or the best of few parameters.

        An evolution hands over its champion, and an unfinished run the best student so far.

        >>> import smgrnn
        >>> record = smgrnn.distill("xor", episodes=60, handover="best").record
        >>> record.student().episode <= record.student(final=True).episode
        True
        >>> record.student(parameters=1)
        Traceback (most recent call last):
        smgrnn.errors.ConfigError: The smallest student of the run has 3 parameters, more than 1.
        """
        if final and parameters is not None:
            raise ConfigError("Take the final student or the best of few parameters, not both.")
        last = Member(self._final, self.episodes.n, np.empty(0))
        members = self.family if self.family and not final else (last,)
        found = best(members, np.inf if parameters is None else parameters)
        if self.bar is not None and parameters is None and not final:
            found = smallest_kept(members, self.bar) or found
        if found is None:
            smallest = min(member.n_parameters for member in members)
            raise ConfigError(
                f"The smallest student of the run has {smallest} parameters, more than "
                f"{parameters}."
            )
        return found

    @property
    def handed_over(self) -> Member:
        """The student that the run hands over."""
        return self.student()

    def until(self, student: Member) -> Self:
        """Return the record as it would be if the run had ended with one of its students.

        >>> import smgrnn
        >>> record = smgrnn.distill("xor", episodes=60, handover="best").record
        >>> record.until(record.handed_over).episodes.n == record.handed_over.episode
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
            family=(),
            resume=None,
        )

    @property
    def spent(self) -> Spent:
        """Environment steps and seconds of the run, with those of the stages before."""
        steps, seconds = self.before
        return Spent(steps + int(self.episodes.steps.sum()), seconds + self.times.total)

    @property
    def is_finished(self) -> bool:
        """Whether no episode is still to come."""
        is_small = self.bar is not None and has_ended(self.family, self.bar)
        return self.episodes.n >= self.plan.n_episodes or self._is_solved or is_small

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

    @property
    def pruning_period(self) -> int:
        """Episodes from one pruning call to the next, about; 1 if nothing prunes."""
        if not isinstance(self.plan, Plan):
            return 1
        late = late_share(self.episodes.n)
        return pruning_period(self.plan.plasticity, self.episodes.steps[late])

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
                period=self.pruning_period,
                has_agreement=plan.task.has_agreement,
            )
        held_out = held_out_figures(plan.task, self.held_out)
        given = {} if self.is_evolved else self._handover_figures(held_out)
        return {
            **head,
            "seed": plan.seed,
            **own,
            **held_out,
            **given,
            **self._course_figures(),
            "seconds": self.times.training,
        }

    def _handover_figures(self, held_out: dict[str, Any]) -> dict[str, Any]:
        given = self.handed_over
        figures = {
            "n_parameters": given.n_parameters,
            "n_nodes": given.policy.graph.n_nodes,
            "held_out_mean": held_out["held_out_mean"],
            "held_out_std": held_out["held_out_std"],
            "episode": given.episode,
        }
        return {
            "handed_over": figures,
            **self._share_figures(given),
            "best_checkpoint_score": self.best_score,
        }

    def _course_figures(self) -> dict[str, Any]:
        """Return the figures of a sequence up to this stage, if it is one that has ended."""
        if not isinstance(self.plan, Plan) or len(self.course) != FIRST_STAGE + len(
            self.plan.stages
        ):
            return {}
        return course_figures(self.plan, self.course)

    def _share_figures(self, given: Member) -> dict[str, Any]:
        """Return whether a student keeps the share that the plan asks for, if it asks for one."""
        if not isinstance(self.plan, Plan) or self.bar is None:
            return {}
        bound = lower_bound(given)
        figures = {
            "share": self.plan.episodes.keep,
            "bar": self.bar,
            "lower_bound": bound if np.isfinite(bound) else None,  # None: it was not judged
            "is_reached": bound >= self.bar,
        }
        return {"kept": figures}

    @property
    def fingerprint(self) -> str:
        """SHA-256 of plan and results; times, versions and snapshots do not count."""
        content = {"plan": self.plan.key(), **self._facts()}
        return digest("results", content, self._results())

    def _facts(self) -> dict[str, Any]:
        facts = {
            "students": {role: each.config.to_dict() for role, each in self.students.items()},
            "started": list(self.started),
            "best_score": self.best_score,
        }
        family = [
            {"network": each.policy.config.to_dict(), "episode": each.episode}
            for each in self.family
        ]
        later = {"family": family} if family else {}  # earlier records have none of these
        return facts | later | ({} if self.bar is None else {"bar": self.bar})

    def _results(self) -> Arrays:
        arrays = to_arrays(self.episodes, "episodes.") | to_arrays(self.edits, "edits.")
        places = {f"students.{role}.": policy for role, policy in self.students.items()}
        for number, member in enumerate(self.family):
            places[f"family.{number}."] = member.policy
            arrays[f"family.{number}.returns"] = member.returns
        for place, policy in places.items():
            arrays |= to_arrays(policy.graph, f"{place}graph.")
            if policy.normalisation is not None:
                arrays |= to_arrays(policy.normalisation, f"{place}normalisation.")
        course = {"course": self.course} if self.course.size else {}  # earlier records have none
        return arrays | {"held_out": self.held_out} | course

    def save(self, path: str | Path, *, is_durable: bool = True) -> None:
        """Write the record to a file, or to its place in a run folder; whole or not at all.

        When this returns it is on the disk, unless that is not asked for.
        """
        content = {
            "run": "evolution" if self.is_evolved else "distillation",
            "plan": self.plan.to_dict(),
            **self._facts(),
            "warnings": list(self.warnings),
            "versions": dict(self.versions),
            "times": self.times._asdict(),
            **({"before": self.before._asdict()} if any(self.before) else {}),
        }
        arrays = self._results() | to_arrays(self.snapshots, "snapshots.")
        arrays |= {f"{RESUME}{name}": each for name, each in (self.resume or {}).items()}
        file = record_file(Path(path))
        with writing(file):
            write_arrays(file, KIND, content, arrays, is_durable=is_durable)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read the record in a run folder or in a file; it needs neither task nor teacher."""
        file = record_file(Path(path))
        if file != Path(path) and not Path(path).is_dir():
            raise FileFormatError(f"There is no run folder {path}.")
        if file != Path(path) and not file.is_file():
            where = "here" if Path(path) == Path() else f"in {path}"
            raise FileFormatError(f"There is no run {where}.")
        content, arrays = read_arrays(file, KIND)
        try:
            return cls(**read_fields(content, arrays))
        except Exception as error:  # a stranger may have made it, so anything can be in it
            raise FileFormatError(f"{file} does not describe a run ({reason(error)}).") from error


def record_file(path: Path) -> Path:
    """Return the file of a record: `path` if it is named like one, else the one in that folder."""
    return path if path.suffix == Path(MODEL).suffix and not path.is_dir() else path / MODEL


def load(path: str | Path, *, final: bool = False, parameters: int | None = None) -> Policy:
    """Return the policy that a run hands over.

    It needs neither the task's environment nor its expert.

    Parameters
    ----------
    path
        A run folder, as `distill`, `evolve` or the command line left it, a file of the store, or
        one that `SMGrNN.save` or `Learner.save` wrote, which has but one network.
    final
        Take the student that the run ended with instead.
    parameters
        Take the best student with at most this many parameters instead.

    Examples
    --------
    >>> import smgrnn
    >>> run = smgrnn.distill("CartPole-v1", episodes=5, held_out=1, out="another-run")
    >>> smgrnn.load("another-run").graph == run.handed_over.policy.graph
    True
    >>> smgrnn.SMGrNN(4, 2).save("own.safetensors")
    >>> smgrnn.load("own.safetensors").task.id
    'network'
    """
    if kind_of(path) in NETWORK_KINDS:
        if final or parameters is not None:
            raise ConfigError(f"{path} holds one network, not a run with students to choose from.")
        return policy_of(read_network(path))
    return Record.load(path).student(final=final, parameters=parameters).policy
