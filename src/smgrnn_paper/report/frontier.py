"""Frontier: return against parameters, for runs of any kind side by side, beside MLPs.

Runs that differ in no setting but their seed are a group.  Returns are those of the selected
network on held-out episodes; a group is compared with the MLPs on its task.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, cycle
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from matplotlib.transforms import ScaledTranslation

from smgrnn.arrays import Floats
from smgrnn.batch import Experiment, Store
from smgrnn.commands.compare import describe_table
from smgrnn.commands.flags import STORE
from smgrnn.commands.output import Output
from smgrnn.errors import ConfigError, suggest
from smgrnn.pages import figure as drawing
from smgrnn.pages.page import Cell, Column, DataTable
from smgrnn.pages.settings import alike, stated_settings
from smgrnn.runs.folder import load_runs
from smgrnn.runs.plan import AnyPlan, Plan
from smgrnn.runs.record import Record
from smgrnn.text import MISSING, number, quantity
from smgrnn_paper.report.figures import style
from smgrnn_paper.report.paper import WORDS, Paper, load_paper
from smgrnn_paper.report.results import Results, describe_shortness, find_results
from smgrnn_paper.report.statistics import (
    UNKNOWN,
    Estimate,
    Interval,
    estimate,
    mean_difference,
    mean_estimate,
    student,
)
from smgrnn_paper.report.tables import bounds, estimate_text, report_table

MLP, PRINTED = "MLP", "as printed*"
KINDS = {
    "static": "static",
    "growth-only": "growth only",
    "mlp-100": MLP,
    "mlp-200": MLP,
    "mlp-pruned": "MLP, pruned",
}
"""Kinds of students that do not grow and prune."""
LOOKS: dict[str, tuple[str, str]] = {
    "frugal": ("#0072b2", "o"),
    "kept 95 %": ("#7a1f5c", "s"),
    "paper": ("#56b4e9", "v"),
    MLP: ("#e69f00", "^"),
    "MLP, pruned": ("#8a5a00", "D"),
    "NEAT": ("#009e73", "p"),
    "NDP": ("#cc79a7", "X"),
}
"""Colour and marker of each kind of student."""
OTHER_LOOKS = (("#d55e00", "P"), ("#000000", "<"), ("#a89500", ">"), ("#31688e", "h"))
STAR: Any = {"color": drawing.GREY, "linestyle": "", "marker": "*", "mfc": "white", "markersize": 9}
"""The look of what the paper prints."""
N_SETTINGS = 2
"""Most settings in the name of a kind."""
BEYOND = 10.0
"""Factor by which a size beyond those that were measured counts as larger or smaller."""
WIDE = 20.0
"""Width of an interval from which on a decimal says nothing."""
COLUMNS = {
    "n_parameters": "Parameters",
    "runs": "Runs",
    "held_out_mean": "Held-out return",
    "std": "Std",
    "worst": "Worst",
    "mlp_as_good": "MLP as good",
    "nearest_mlp": "Nearest MLP",
    "difference": "Above nearest MLP",
}
LEFT_OUT = ("std", "nearest_mlp")
"""Columns for which a terminal has no room."""


def kind_of(plan: AnyPlan) -> str:
    """Return the kind of student that a run trains, in a word or two."""
    if not isinstance(plan, Plan):
        return plan.student.upper()
    if plan.student in KINDS:
        return KINDS[plan.student]
    if plan.episodes.keep is not None:
        return f"kept {100 * plan.episodes.keep:g} %"
    name = getattr(plan.plasticity.growth, "name", "none")
    return "paper" if name == "relay" else name


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
    """Parameters of each run's selected network."""
    returns: tuple[float, ...]
    """Mean held-out return of each run's selected network."""

    @classmethod
    def of(cls, kind: str, records: Sequence[Record]) -> "Group":
        """Return the group of these runs; the size of an MLP is one that was asked for."""
        plan = records[0].plan
        sizes = tuple(record.handed_over.n_parameters for record in records)
        limit = plan.parameters if isinstance(plan, Plan) else None
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
    groups = []
    for group, plan in found:
        own, name = stated_settings(plan), (group.task, group.name)
        namesakes = [stated_settings(other) for it, other in found if (it.task, it.name) == name]
        differing = (name for name in own if any(it.get(name) != own[name] for it in namesakes))
        words = [f"{name.rpartition('.')[2]} {own[name]}" for name in differing]
        groups.append(replace(group, kind=", ".join((group.kind, *words[:N_SETTINGS]))))
    tasks, kinds = ([getattr(each, name) for each in groups] for name in ("task", "kind"))
    return sorted(
        groups, key=lambda it: (tasks.index(it.task), kinds.index(it.kind), it.n_parameters)
    )


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
        smallest, largest = self.measured
        value, low, high = (
            f">{largest:g}"
            if size > largest
            else f"≤{smallest:g}"
            if size <= smallest
            else number(size, 0)
            for size in (self.parameters.value, *self.parameters.interval)
        )
        is_point = self.parameters.interval == UNKNOWN or value == low == high
        return value if is_point else f"{value} [{low}, {high}]"

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain values; None where they are beyond the measured sizes."""
        values = {"parameters": self.parameters.value, **bounds(self.parameters.interval)}
        smallest, largest = self.measured
        known = {n: v if v and smallest <= v <= largest else None for n, v in values.items()}
        return known | {"smallest": smallest, "largest": largest, "text": self.text()}


def mlps_of(task: str, groups: Iterable[Group]) -> list[Group]:
    """Return the MLPs on a task, from the smallest."""
    found = (each for each in groups if (each.task, each.kind) == (task, MLP))
    return sorted(found, key=lambda each: each.n_parameters)


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

    def distance(mlp: Group) -> float:
        return abs(math.log(mlp.n_parameters / group.n_parameters))

    mlps = [] if group.kind == MLP else mlps_of(group.task, groups)
    return min(mlps, key=distance, default=None)


def beside_mlps(
    group: Group, groups: Sequence[Group]
) -> tuple[EqualSize | None, Group | None, Estimate | None]:
    """Return the MLP as good, the MLP nearest in size, and how far the group is above that."""
    nearest = nearest_mlp(group, groups)
    above = None if nearest is None else mean_difference(nearest.returns, group.returns)
    return mlp_as_good(group, groups), nearest, above


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
            assert late.mean is not None and late.std is not None and size.mean is not None  # noqa: PT018
            variance = late.std**2 * n / (n - 1)
            mean = student(late.mean, [variance], [n])
            found.append(PrintedPoint(str(row.task), size.mean, mean, math.sqrt(variance)))
    return found


def frontier_tables(experiment: Experiment, results: Results, paper: Paper) -> list[DataTable]:
    """Return the table on the runs of an experiment; none if nothing has run."""
    runs = (results.runs(experiment, name).records for name in experiment.conditions)
    groups = group_runs(chain.from_iterable(runs))
    return [frontier_table(groups, paper)] if groups else []


def frontier_table(groups: Sequence[Group], paper: Paper) -> DataTable:
    """Return a row for each group, and below those of a task for what the paper prints."""
    printed = printed_points(paper, (each.task for each in groups))
    rows = []
    for task in dict.fromkeys(each.task for each in groups):
        own = [((task, each.name), _texts(each, groups)) for each in groups if each.task == task]
        for point in (each for each in printed if each.task == task):
            known = (f"{point.n_parameters:g}", MISSING, _text(point.mean), number(point.std, 1))
            own.append(((task, PRINTED), (*known, *[MISSING] * (len(COLUMNS) - len(known)))))
        rows += [(labels, [Cell(text) for text in texts]) for labels, texts in own]
    columns = tuple(map(Column, COLUMNS, COLUMNS.values()))
    note, title = WORDS["notes"]["frontier"], "Returns by size, beside MLPs"
    note += f" {WORDS['notes']['printed']}" if printed else ""
    return report_table("frontier", title, ("Task", "Student"), columns, rows, note=note)


def _texts(group: Group, groups: Sequence[Group]) -> tuple[str, ...]:
    equal, nearest, difference = beside_mlps(group, groups)
    signed = "+" if difference and difference.value > 0 else ""
    return (
        f"{group.n_parameters:g}",
        str(len(group.seeds)),
        _text(group.mean),
        MISSING if group.std is None else number(group.std, 1),
        number(min(group.returns), 1),
        MISSING if equal is None else equal.text(),
        MISSING if nearest is None else f"{nearest.n_parameters:g}",
        MISSING if difference is None else signed + _text(difference),
    )


def _text(found: Estimate) -> str:
    """Return a return with its interval, without a decimal where the interval is wide."""
    low, high = found.interval
    return estimate_text(found, 0 if WIDE <= high - low < math.inf else 1)


def frontier_numbers(groups: Sequence[Group], paper: Paper) -> dict[str, Any]:
    """Return every number as plain values."""
    printed = printed_points(paper, (each.task for each in groups))
    return {
        "groups": [_numbers(each, groups) for each in groups],
        "paper": [
            {
                "task": each.task,
                "parameters": each.n_parameters,
                "late_return": {"mean": each.mean.value, **bounds(each.mean.interval)},
                "std": each.std,
            }
            for each in printed
        ],
    }


def _numbers(group: Group, groups: Sequence[Group]) -> dict[str, Any]:
    equal, nearest, difference = beside_mlps(group, groups)
    beside = None
    if nearest is not None and difference is not None:
        size = {"parameters": nearest.n_parameters, "difference": difference.value}
        beside = size | bounds(difference.interval)
    return {
        "task": group.task,
        "student": group.kind,
        "asked": group.asked,
        "seeds": group.seeds,
        "parameters": {"median": group.n_parameters, "each": group.parameters},
        "held_out": {
            "mean": group.mean.value,
            **bounds(group.mean.interval),
            "std": group.std,
            "worst": min(group.returns),
            "each": group.returns,
        },
        "mlp_as_good": None if equal is None else equal.to_dict(),
        "nearest_mlp": beside,
    }


def draw_frontier(records: style.Records) -> Figure:
    """Draw the runs of an experiment."""
    return draw_groups(group_runs(chain.from_iterable(records.values())), load_paper())


def draw_self_tuning(records: style.Records) -> Figure:
    """Draw a point for each choice of settings: by hand, tuned on one task, following progress."""
    groups = [Group.of(name.rpartition("/")[2], runs) for name, runs in records.items() if runs]
    return draw_groups(groups, load_paper())


@drawing.styled
def draw_groups(groups: Sequence[Group], paper: Paper) -> Figure:
    """Draw a panel for each task: mean and interval of each group, asked-for sizes connected."""
    tasks = list(dict.fromkeys(each.task for each in groups))
    printed, spare = printed_points(paper, tasks), cycle(OTHER_LOOKS)
    looks: dict[str, Any] = {}
    for kind in dict.fromkeys(each.kind for each in groups):
        colour, marker = LOOKS[kind] if kind in LOOKS else next(spare)
        looks[kind] = {"color": colour, "marker": marker, "markersize": 4}
    n_columns = 2 if len(tasks) == 4 else min(len(tasks), 3)
    n_rows = -(-len(tasks) // n_columns)
    figure, body = drawing.new_figure(0.8 + 2.7 * n_rows)
    axes, is_clipped = body.subplots(n_rows, n_columns, squeeze=False).ravel(), False
    for place, (ax, task) in enumerate(zip(axes, tasks, strict=False)):
        own = [each for each in groups if each.task == task]
        is_clipped |= _draw_task(ax, own, [each for each in printed if each.task == task], looks)
        if len(tasks) == 1:
            ax.set_title(style.task_name(task))
        else:
            drawing.name_panel(ax, place, style.task_name(task))
        ticks = (1, 1.5, 2, 3, 4, 5, 6, 8) if n_columns == 1 else (1, 2, 3, 5)
        ax.xaxis.set_major_locator(LogLocator(subs=ticks))
    for ax in axes[len(tasks) :]:
        ax.set_axis_off()
    for ax in axes[::n_columns]:
        ax.set_ylabel("held-out return")
    keys = [Line2D([], [], label=kind, **look) for kind, look in looks.items()]
    keys += [Line2D([], [], label="the paper, as printed", **STAR)] if printed else []
    n_letters = sum(len(str(key.get_label())) + 5 for key in keys)
    drawing.add_legend(body, keys, 1 + n_letters // 96)
    counts = sorted({len(each.seeds) for each in groups})
    runs = f"{counts[0]} to " * (len(counts) > 1) + quantity(counts[-1], "run")
    drawing.add_note(
        figure,
        f"Mean over {runs} of each group at the median of their parameters; bars: 95 % interval of",
        "the mean. Lines join sizes that were asked for.",
        "Arrows: means below the panel, with their values." if is_clipped else "",
        "Star: late return and parameters in Table II of the paper." if printed else "",
    )
    return figure


def _draw_task(
    ax: Axes, groups: Sequence[Group], printed: Sequence[PrintedPoint], looks: dict[str, Any]
) -> bool:
    """Draw all there is on a task; return whether some of it is below the panel."""

    def draw(points: Sequence[Group | PrintedPoint], look: Any) -> None:
        if points:
            bars = np.transpose([_bar(it.mean) for it in points])
            xs, ys = [it.n_parameters for it in points], [it.mean.value for it in points]
            ax.errorbar(xs, ys, bars, elinewidth=0.9, capsize=2, **look)

    for place, (kind, look) in enumerate(looks.items()):
        shift = (place - (len(looks) - 1) / 2) * 0.7 / 72  # kinds of one size stand side by side
        moved = ax.transData + ScaledTranslation(shift, 0, ax.figure.dpi_scale_trans)
        for line in ("-", ""):
            own = [it for it in groups if it.kind == kind and (it.asked is None) != bool(line)]
            draw(own, look | {"linestyle": line, "transform": moved})
    draw(printed, STAR)
    points = [(it.n_parameters, it.mean, looks[it.kind]["color"]) for it in groups]
    points += [(it.n_parameters, it.mean, STAR["color"]) for it in printed]
    sizes = [size for size, *_ in points]
    margin = max((max(sizes) / min(sizes)) ** 0.06, 1.05)
    low, high = _limits([mean for _, mean, _ in points])
    ax.set(xscale="log", xlim=(min(sizes) / margin, max(sizes) * margin), ylim=(low, high))
    ax.set_xlabel("parameters")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    drawing.limit_ticks([ax], 6)
    below = sorted(each for each in points if each[1].value < low)
    for place, (size, mean, colour) in enumerate(below):
        ax.annotate(
            number(mean.value, 0),
            xy=(size, 0.0),
            xytext=(size, 0.08 + 0.07 * (place % 3)),
            xycoords=("data", "axes fraction"),
            textcoords=("data", "axes fraction"),
            arrowprops={"arrowstyle": "-|>", "color": colour, "shrinkA": 0, "shrinkB": 0},
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
            color=colour,
            fontsize=7.5,
            ha="center",
        )
    return bool(below)


def _bar(mean: Estimate) -> tuple[float, float]:
    """Return how far an interval reaches below and above its mean; nowhere if it is unknown."""
    low, high = mean.interval
    return (0.0, 0.0) if mean.interval == UNKNOWN else (mean.value - low, high - mean.value)


def _limits(means: Sequence[Estimate]) -> Interval:
    """Return the bottom and the top of a panel that a few poor groups do not squeeze.

    Means that are outliers below are left out, and long bars reach out of the panel.  A panel has
    at least 4 % of the best return.
    """
    values = np.array([each.value for each in means])
    below, above = np.transpose([_bar(each) for each in means])
    first, third = np.percentile(values, [25, 75])
    nearly = values.max() - 0.04 * abs(values.max())
    is_shown = values >= min(first - 1.5 * (third - first), nearly)
    worst, best = min(values[is_shown].min(), nearly), values.max()
    room = (best - worst) / 2
    low = max(min((values - below)[is_shown].min(), worst), worst - room)
    high = min((values + above).max(), best + room)
    margin = 0.06 * (high - low) or 1.0
    return Interval(float(low - margin), float(high + margin))


def frontier_command(
    paths: Iterable[Path], store_folder: Path, out: Path | None, task: str | None, output: Output
) -> None:
    """Compare runs, or the experiment in a store: print a table or JSON, and draw a picture."""
    if out is not None and out.suffix not in (".svg", ".png"):
        raise ConfigError(f"A picture is an .svg or a .png file. Got {out} instead.")
    shortness, paths = "", list(paths)
    if paths:
        if store_folder != STORE:
            raise ConfigError("--store is for the experiment: leave it out where runs are named.")
        records = list(load_runs(paths).values())
        refusal = "None of these runs is finished: only then is a network selected and judged."
    else:
        results = find_results(Store(store_folder), ["frontier"])
        records = results.all_records()
        shortness = f"{said}\n" if (said := describe_shortness(results.chosen)) else ""
        refusal = (
            f"{store_folder} has no finished run of the experiment frontier; name runs, or run "
            "`smgrnn reproduce frontier` first."
        )
    groups = group_runs(records)
    if not groups:
        raise ConfigError(refusal)
    if task is not None:
        known = {each.task: None for each in groups}
        if task not in known:
            raise ConfigError(f"There is no run of {task}. {suggest(task, known)}".strip())
        groups = [each for each in groups if each.task == task]
    paper = load_paper()
    if out is not None:
        out.write_bytes(drawing.save_figure(draw_groups(groups, paper), out.suffix[1:]))
    output.result(
        f"{shortness}{describe_table(frontier_table(groups, paper), LEFT_OUT)}"
        + ("" if out is None else f"\nThe picture is in {out}."),
        {**frontier_numbers(groups, paper), "picture": None if out is None else str(out)},
    )
