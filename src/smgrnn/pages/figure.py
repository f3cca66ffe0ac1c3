"""Figures: their common style, curves over episodes, and pictures as bytes."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from smgrnn.plotting import mpl, save_figure  # first: or matplotlib reads a stranger's settings

# isort: split
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure, FigureBase, SubFigure
from matplotlib.gridspec import GridSpec
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter
from numpy.typing import ArrayLike

from smgrnn.arrays import Floats
from smgrnn.errors import plain
from smgrnn.pages.page import Picture
from smgrnn.runs.pictures import find_done
from smgrnn.runs.record import Record

styled = mpl.rc_context(fname=Path(__file__).with_name("smgrnn.mplstyle"))
"""Lets a function draw with our fonts, lines and grids in place of the user's."""
GREY = "#6b6b6b"
"""Color of notes, thresholds and guides."""
THRESHOLD: Any = {"color": GREY, "linestyle": (0, (4, 3)), "linewidth": 0.9, "zorder": 1}
BAND_OPACITY = 0.2
POINTS = 50  # most points of a curve; they are closer together than the width of a moving mean
SMOOTHED = 40  # a moving mean spans the number of episodes divided by this
LIMIT = 300_000  # most bytes of an SVG; a larger figure becomes a PNG
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#e69f00", "#cc79a7", "#56b4e9", "#8a5a00", "#7a1f5c")
LETTERS, MOST_LETTERS = 84, 40
"""Most letters in a row of the legend, and in one name, whose last ones are kept."""


class Look(NamedTuple):
    """The label, colour and line of a curve."""

    label: str
    colour: str
    line: Literal["-", "--", ":"] = "-"

    def key(self, **changes: Any) -> Line2D:
        """Return its entry in a legend."""
        return Line2D([], [], color=self.colour, linestyle=self.line, label=self.label, **changes)


def literal(name: str) -> str:
    """Return a name in which $ does not start a formula."""
    return plain(name).replace("$", r"\$")


def new_figure(height: float) -> tuple[Figure, SubFigure]:
    """Return an empty figure of the common width, and its part for panels and legend."""
    figure = Figure(figsize=(7.2, height), layout="constrained")
    return figure, figure.add_subfigure(GridSpec(1, 1, figure)[0])


def name_panel(panel: Axes | FigureBase, number: int, text: str) -> None:
    """Title a panel with its letter, counted from 0, and a text."""
    title = f"({chr(ord('a') + number)}) {text}"
    if isinstance(panel, Axes):
        panel.set_title(title)
    else:
        panel.suptitle(title, x=0.02, ha="left", fontsize=9, fontweight="bold")


def limit_ticks(axes: Iterable[Axes], n: int = 4) -> None:
    """Limit the ticks of each axis to about `n`, at round numbers."""
    for ax in axes:
        for axis in (ax.xaxis, ax.yaxis):
            if axis.get_scale() == "linear":
                axis.set_major_locator(MaxNLocator(n, steps=[1, 2, 2.5, 5, 10]))


def say_empty(ax: Axes) -> None:
    """Mark a panel that has no runs yet."""
    ax.text(0.5, 0.5, "not run", color=GREY, ha="center", va="center", transform=ax.transAxes)
    ax.grid(visible=False)


def add_legend(body: SubFigure, handles: Sequence[Artist], n_rows: int = 1) -> None:
    """Put one legend above all panels."""
    n_columns = -(-len(handles) // n_rows)
    body.legend(handles=handles, loc="outside upper left", ncols=n_columns, columnspacing=1.4)


def scale_sizes(ax: Axes, ticks: Sequence[float]) -> None:
    """Show parameters on a logarithmic scale with these ticks in each decade."""
    ax.set(xscale="log", xlabel="parameters")
    ax.xaxis.set_major_locator(LogLocator(subs=ticks))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


def add_note(figure: Figure, *sentences: str) -> None:
    """Write a note below the panels; empty sentences are left out."""
    text = fill(" ".join(filter(None, sentences)), 126)
    figure.supxlabel(text, x=0.01, ha="left", fontsize=7.5, color=GREY)


class Curve(NamedTuple):
    """The mean over runs and the bounds of the band around it."""

    x: Floats
    mean: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(
        cls,
        runs: Sequence[ArrayLike],
        width: int = 1,
        band: Literal["std", "range", ""] = "std",
        length: int = 0,
    ) -> Self:
        """Smooth each run by a moving mean, then take mean and band over the runs, without NaN.

        A run that stopped early keeps its last value, at least to `length`.  Episodes count from 1;
        a mean is drawn in the middle of its episodes.
        """
        each = [np.asarray(run, dtype=np.float64) for run in runs]
        n = max(length, *(run.size for run in each))
        width = min(width, n)
        padded = (np.pad(run, (0, n - run.size), mode="edge") for run in each)
        rows = np.ma.masked_invalid([moving_mean(run, width) for run in padded])
        mean = rows.mean(axis=0)
        std = rows.std(axis=0) if band == "std" else 0.0
        low, high = mean - std, mean + std
        if band == "range":
            low, high = rows.min(axis=0), rows.max(axis=0)
        kept = np.unique(np.linspace(0, mean.size - 1, min(mean.size, POINTS)).round().astype(int))
        columns = (np.ma.filled(each, np.nan)[kept] for each in (mean, low, high))
        return cls(kept.astype(np.float64) + (width + 1) / 2, *columns)

    def within(self, bounds: tuple[float, float]) -> Self:
        """Return the curve with a band that stays within bounds."""
        return self._replace(low=np.clip(self.low, *bounds), high=np.clip(self.high, *bounds))

    def plot(self, ax: Axes, look: Look, **changes: Any) -> None:
        """Draw the curve and its band."""
        ax.plot(self.x, self.mean, **{"color": look.colour, "linestyle": look.line, **changes})
        if (self.high > self.low).any():
            band: Any = {"color": look.colour, "alpha": BAND_OPACITY, "linewidth": 0}
            ax.fill_between(self.x, self.low, self.high, **band)


def moving_mean(values: ArrayLike, width: int) -> Floats:
    """Return the mean over every `width` values in a row (n - width + 1), without NaN values.

    >>> moving_mean([0.0, 3.0, 6.0, 0.0], 3).tolist()
    [3.0, 3.0]
    """
    row = np.asarray(values, dtype=np.float64)
    there = np.isfinite(row)
    sums, counts = (np.append(0.0, np.cumsum(each)) for each in (np.where(there, row, 0), there))
    n = counts[width:] - counts[:-width]
    means = np.full(n.size, np.nan)
    np.divide(sums[width:] - sums[:-width], n, out=means, where=n > 0)
    return means


@styled
def draw_run_curves(records: Mapping[str, Sequence[Record]]) -> Figure:
    """Return a figure of return, nodes and agreement, with a column for each task."""
    tasks = list(dict.fromkeys(runs[0].plan.task.id for runs in records.values()))
    figure, body = new_figure(6.4)
    axes = body.subplots(3, len(tasks), sharex="col", squeeze=False)
    keys = []
    for index, (name, runs) in enumerate(records.items()):
        label = name if len(name) <= MOST_LETTERS else f"…{name[-MOST_LETTERS:]}"
        line: Any = ("-", "--", ":")[index // len(COLOURS) % 3]
        look = Look(literal(label), COLOURS[index % len(COLOURS)], line)
        keys.append(look.key())
        task, curves = runs[0].plan.task, []
        for run in runs:
            steps, n_nodes = run.episodes.steps, run.episodes.n_nodes.astype(np.float64)
            has_agreement = task.has_agreement and not run.is_evolved
            agreement = np.where(has_agreement, run.episodes.agreed / np.maximum(steps, 1), np.nan)
            curves.append((np.where(steps > 0, run.episodes.returns, np.nan), n_nodes, agreement))
        column = axes[:, tasks.index(task.id)]
        for ax, each in zip(column, zip(*curves, strict=True), strict=True):
            if there := [curve for curve in each if np.isfinite(curve).any()]:
                width = max(max(curve.size for curve in there) // SMOOTHED, 1)
                Curve.of(there, width=width).plot(ax, look)
        if task.reward_threshold is not None:
            column[0].axhline(task.reward_threshold, **THRESHOLD)
            done = [found for run in runs if (found := find_done(run)) is not None]
            if done:  # an empty unclipped plot would break the layout
                heights = [task.reward_threshold] * len(done)
                column[0].plot(done, heights, "o", color=look.colour, markersize=4, clip_on=False)
    for index, task_id in enumerate(tasks):
        name_panel(axes[0, index], index, literal(task_id))
        axes[1, index].set_ylim(0, None)
        axes[2, index].set_xlabel("episode")
    for ax, label in zip(axes[:, 0], ("return", "nodes", "agreement"), strict=True):
        ax.set_ylabel(label)
    for ax in axes.ravel():
        if not ax.lines:
            say_empty(ax)
    limit_ticks(axes.ravel())
    for ax in axes[1]:
        ax.locator_params(axis="y", integer=True, steps=[1, 2, 4, 5, 10])
    if len(keys) <= len(COLOURS):
        add_legend(body, keys, 1 + sum(len(str(key.get_label())) + 6 for key in keys) // LETTERS)
    add_note(
        figure,
        f"Moving means over one part in {SMOOTHED} of a run's episodes; of several runs, mean",
        "and standard deviation. In an evolution each candidate plays one episode.",
    )
    return figure


def take_picture(figure: Figure, limit: int = LIMIT) -> Picture:
    """Return a figure as an SVG, or as a PNG where that takes more than `limit` bytes."""
    data, suffix = save_figure(figure, "svg"), "svg"
    if len(data) > limit:
        data, suffix = save_figure(figure, "png"), "png"
    return Picture(suffix, data, float(figure.get_size_inches()[0]))
