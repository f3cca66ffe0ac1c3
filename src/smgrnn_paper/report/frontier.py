"""Frontier: return against parameters, for runs of any kind side by side.

Runs that differ in no setting but their seed are a group.  Returns are those of what a run hands
over on held-out episodes; a group is compared with the MLPs on its task.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.pages.settings import alike, stated_settings
from smgrnn.runs.plan import AnyPlan, EvolutionPlan
from smgrnn.runs.record import Record
from smgrnn.text import number
from smgrnn_paper.report.paper import Paper
from smgrnn_paper.report.statistics import (
    UNKNOWN,
    Estimate,
    Interval,
    estimate,
    mean_estimate,
    student,
)
from smgrnn_paper.report.tables import bounds

MLP = "MLP"
KINDS = {
    "static": "static",
    "growth-only": "growth only",
    "mlp-100": MLP,
    "mlp-200": MLP,
    "mlp-pruned": "MLP, pruned",
}
"""Kinds of students that do not grow and prune."""
N_SETTINGS = 2
"""Most settings in the name of a kind."""
BEYOND = 10.0
"""Factor by which a size beyond those that were measured counts as larger or smaller."""


def kind_of(plan: AnyPlan) -> str:
    """Return the kind of student that a run trains, in a word or two."""
    if isinstance(plan, EvolutionPlan):
        return plan.method.upper()
    if plan.student in KINDS:
        return KINDS[plan.student]
    if plan.episodes.keep is not None:
        return f"kept {100 * plan.episodes.keep:g} %"
    return "paper" if plan.plasticity.growth == "relay" else plan.plasticity.growth


@dataclass(frozen=True)
class Group:
    """Runs that differ in no setting but their seed."""

    task: str
    kind: str
    """The kind of student."""
    asked: int | None
    """Parameters that were asked for; None if the run chose them."""
    seeds: tuple[int, ...]
    parameters: tuple[int, ...]
    """Parameters of what each run hands over."""
    returns: tuple[float, ...]
    """Mean held-out return of what each run hands over."""

    @classmethod
    def of(cls, kind: str, records: Sequence[Record]) -> "Group":
        """Return the group of these runs; the size of an MLP is one that was asked for."""
        plan = records[0].plan
        sizes = tuple(record.handed_over.n_parameters for record in records)
        limit = None if isinstance(plan, EvolutionPlan) else plan.parameters
        return cls(
            task=plan.task.id,
            kind=kind,
            asked=sizes[0] if kind == MLP else limit,
            seeds=tuple(record.plan.seed for record in records),
            parameters=sizes,
            returns=tuple(float(record.held_out.mean()) for record in records),
        )

    @property
    def name(self) -> str:
        """The kind, and the parameters that were asked for."""
        return self.kind if self.asked is None else f"{self.kind} {self.asked}"

    @property
    def n_parameters(self) -> float:
        """The median of the parameters."""
        return float(np.median(self.parameters))

    @property
    def mean(self) -> Estimate:
        """The mean return over runs, with its interval."""
        return mean_estimate(self.returns)

    @property
    def std(self) -> float | None:
        """The standard deviation over runs, over n - 1; None of a single run."""
        return float(np.std(self.returns, ddof=1)) if len(self.returns) > 1 else None


def group_runs(records: Iterable[Record]) -> list[Group]:
    """Return the groups of all finished runs, in the order of tasks and kinds, then by size.

    Where a task has several groups of one kind and size, the kind says in which settings they
    differ.
    """
    finished = [record for record in records if record.held_out.size]
    samples = [list(runs.values()) for runs in alike(dict(enumerate(finished)))]
    found = [(Group.of(kind_of(runs[0].plan), runs), runs[0].plan) for runs in samples]
    groups = [_distinct(*each, found) for each in found]
    tasks, kinds = ([getattr(each, name) for each in groups] for name in ("task", "kind"))
    return sorted(
        groups, key=lambda it: (tasks.index(it.task), kinds.index(it.kind), it.n_parameters)
    )


def _distinct(group: Group, plan: AnyPlan, found: Sequence[tuple[Group, AnyPlan]]) -> Group:
    """Return a group whose kind has the first settings that set it apart from its namesakes."""
    own = stated_settings(plan)
    namesakes = [
        stated_settings(other)
        for each, other in found
        if (each.task, each.name) == (group.task, group.name)
    ]
    differing = (name for name in own if any(each.get(name) != own[name] for each in namesakes))
    words = [f"{name.rpartition('.')[2]} {own[name]}" for name in differing]
    return replace(group, kind=", ".join((group.kind, *words[:N_SETTINGS])))


class EqualSize(NamedTuple):
    """Parameters of an MLP that returns as much as a group."""

    parameters: Estimate
    """Beyond the measured sizes it is not known how far."""
    measured: Interval
    """Parameters of the smallest and of the largest MLP."""

    def text(self) -> str:
        """Return it in words.

        >>> EqualSize(Estimate(70.2, Interval(56.0, 900.0)), Interval(43.0, 108.0)).text()
        '70 [56, >108]'
        """
        value, low, high = map(self._size, (self.parameters.value, *self.parameters.interval))
        if self.parameters.interval == UNKNOWN or value == low == high:
            return value
        return f"{value} [{low}, {high}]"

    def _size(self, parameters: float) -> str:
        smallest, largest = self.measured
        if parameters > largest:
            return f">{largest:g}"
        return f"≤{smallest:g}" if parameters <= smallest else number(parameters, 0)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain values; None where they are beyond the measured sizes."""
        values = {"parameters": self.parameters.value, **bounds(self.parameters.interval)}
        smallest, largest = self.measured
        known = {n: v if v and smallest <= v <= largest else None for n, v in values.items()}
        return known | {"smallest": smallest, "largest": largest, "text": self.text()}


def mlp_as_good(group: Group, groups: Iterable[Group]) -> EqualSize | None:
    """Return the parameters of an MLP of equal return; None for an MLP, or if there is none."""
    mlps = mlps_of(group.task, groups)
    if not mlps or group.kind == MLP:
        return None
    sizes = np.array([mlp.n_parameters for mlp in mlps])

    def first_reaching(*strata: Floats, axis: int) -> Any:
        goal, *means = (runs.mean(axis=axis) for runs in strata)
        return first_size(sizes, np.array(means), goal)

    samples = [group.returns, *(mlp.returns for mlp in mlps)]
    found = estimate(samples, first_reaching, np.random.default_rng(0))
    return EqualSize(found, Interval(float(sizes[0]), float(sizes[-1])))


def first_size(sizes: Floats, means: Floats, goal: Any) -> Any:
    """Return the least size at which the line through the means (n_sizes, …) reaches a goal (…).

    >>> first_size(np.array([10.0, 40.0]), np.array([1.0, 3.0]), 2.0).round(6).item()
    20.0
    """
    found = np.full(np.shape(goal), BEYOND * sizes[-1])
    for place in reversed(range(1, len(sizes))):
        low, high = means[place - 1 : place + 1]
        is_between = (low < goal) & (goal <= high)
        share = np.divide(goal - low, high - low, out=np.ones(np.shape(goal)), where=is_between)
        size = sizes[place - 1] * (sizes[place] / sizes[place - 1]) ** share
        found = np.where(is_between, size, found)
    return np.where(means[0] >= goal, sizes[0] / BEYOND, found)


def nearest_mlp(group: Group, groups: Iterable[Group]) -> Group | None:
    """Return the MLP nearest in size, by ratio; None for an MLP, or if there is none."""
    if group.kind == MLP:
        return None

    def distance(mlp: Group) -> float:
        return abs(math.log(mlp.n_parameters / group.n_parameters))

    return min(mlps_of(group.task, groups), key=distance, default=None)


def mlps_of(task: str, groups: Iterable[Group]) -> list[Group]:
    """Return the MLPs on a task, from the smallest."""
    found = (each for each in groups if (each.task, each.kind) == (task, MLP))
    return sorted(found, key=lambda each: each.n_parameters)


class PrintedPoint(NamedTuple):
    """A return and a number of parameters that the paper prints."""

    task: str
    n_parameters: float
    mean: Estimate
    """The late return, with the interval that follows from the printed deviation."""
    std: float
    """Its deviation over n - 1."""


def printed_points(paper: Paper, tasks: Iterable[str]) -> list[PrintedPoint]:
    """Return the paper's growing network on those of the tasks that it has."""
    table, n = paper.tables["II"], paper.settings["seeds"].value
    assert isinstance(n, int)
    found, wanted = [], set(tasks)
    for row in table.rows:
        if row.task in wanted and row.condition == "smgrnn":
            late, size = (table.cell(row.name, each) for each in ("late_return", "n_edges"))
            assert late.mean is not None
            assert late.std is not None
            assert size.mean is not None
            variance = late.std**2 * n / (n - 1)
            mean = student(late.mean, [variance], [n])
            found.append(PrintedPoint(str(row.task), size.mean, mean, math.sqrt(variance)))
    return found
