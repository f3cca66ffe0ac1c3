"""Record: the plan and results of a run, of which run folders and stores hold one file."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from smgrnn.arrays import Arrays, Floats, to_arrays
from smgrnn.episodes.table import Episodes, Snapshots
from smgrnn.errors import ConfigError, known_arguments, short
from smgrnn.graph.log import EditLog, Edits
from smgrnn.policy import NETWORK_KINDS, Policy, policy_of, read_network, read_policy
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
from smgrnn.runs.plan import AnyPlan, Plan
from smgrnn.runs.polish import Polish
from smgrnn.runs.record_file import KIND, RESUME, Spent, Times, read_record, record_file
from smgrnn.runs.smallest import Search
from smgrnn.runs.stage_scores import NO_SCORES, sequence_figures
from smgrnn.storage import digest, kind_of, write_arrays


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
    edits: Edits = field(default_factory=lambda: EditLog().columns)
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
        write_arrays(record_file(Path(path)), KIND, content, arrays, is_durable=is_durable)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read the record in a run folder or in a file; it needs neither task nor teacher."""
        return cls(**read_record(Path(path)))


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
