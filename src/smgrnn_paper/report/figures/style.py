"""Style that all figures share: sizes, and one colour and one name for each condition and task.

Colours are Okabe and Ito's, or dark steps of viridis for tasks, which are ordered by difficulty:
both can be told apart by colour-blind readers, and in grey.  Sizes are for a page's full width and
still readable at half of it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from textwrap import fill
from typing import Literal, NamedTuple, ParamSpec

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure, FigureBase, SubFigure
from matplotlib.gridspec import GridSpec
from matplotlib.ticker import MaxNLocator

from smgrnn.errors import plain
from smgrnn.runs.record import Record

P = ParamSpec("P")
Records = Mapping[str, Sequence[Record]]
"""The runs of each condition, by the condition's name in its experiment: task, "/", variant."""

WIDTH = 7.2
"""Width of all figures, in inches."""
BAND_OPACITY = 0.2
GREY = "#6b6b6b"
"""Colour of everything that is not data: notes, thresholds, guides."""
SETTINGS = Path(__file__).with_name("smgrnn.mplstyle")
"""Fonts, lines and grids, which replace the user's own."""


class Look(NamedTuple):
    """The label, colour and line of a condition or a task, the same in every figure."""

    label: str
    colour: str
    line: Literal["-", "--", ":"] = "-"


CONDITIONS: dict[str, Look] = {
    "smgrnn": Look("SMGrNN", "#0072b2"),
    "static": Look("static graph", "#d55e00"),
    "growth-only": Look("growth only", "#d55e00"),
    "mlp-100": Look("MLP (100 %)", "#e69f00"),
    "mlp-100-no-bias": Look("MLP (100 %) without biases", "#f0e442"),
    "mlp-200": Look("MLP (200 %)", "#8a5a00"),
    "neat": Look("NEAT", "#009e73"),
    "ndp": Look("NDP", "#cc79a7"),
    "n_hidden=0": Look("0 hidden nodes at the start", "#0072b2"),
    "n_hidden=5": Look("5", "#e69f00"),
    "n_hidden=10": Look("10", "#7a1f5c"),
}
"""The look of each condition, by the part of its name after the task."""
KINDS: dict[str, tuple[str, str]] = {
    "frugal": ("#0072b2", "o"),
    "kept 95 %": ("#7a1f5c", "s"),
    "paper": ("#56b4e9", "v"),
    "MLP": ("#e69f00", "^"),
    "MLP, pruned": ("#8a5a00", "D"),
    "NEAT": ("#009e73", "p"),
    "NDP": ("#cc79a7", "X"),
}
"""Colour and marker of each kind of student where return is drawn against parameters."""
OTHER_KINDS = (("#d55e00", "P"), ("#000000", "<"), ("#a89500", ">"), ("#31688e", "h"))
"""Those of other kinds, in their order."""
TASKS: dict[str, Look] = {
    "xor": Look("XOR", "#a89500"),
    "CartPole-v1": Look("CartPole", "#35a07a"),
    "Acrobot-v1": Look("Acrobot", "#31688e", "--"),
    "LunarLander-v3": Look("LunarLander", "#440154", ":"),
}
"""The look of each task by id, from the easiest to the hardest."""


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Let a function draw with our `SETTINGS`, and leave the user's as they are."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with mpl.rc_context(fname=SETTINGS):
            return draw(*args, **kwargs)

    return drawn


def literal(name: str) -> str:
    """Return a name that is not taken for a formula, though it may have two $ in it."""
    return plain(name).replace("$", r"\$")


def task_name(task: str) -> str:
    """Return the name of a task, and what it hides, in few words.

    >>> task_name("CartPole-v1,hide=velocities"), task_name("recall")
    ('CartPole without velocities', 'recall')
    """
    base, _, hidden = task.partition(",hide=")
    name = TASKS[base].label if base in TASKS else literal(base)
    return f"{name} without {literal(hidden)}" if hidden else name


def new_figure(height: float) -> tuple[Figure, SubFigure]:
    """Return an empty figure of the common width, in inches, and its body.

    Panels and legend belong in the body, so that the title of the figure stays above them.
    """
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    return figure, figure.add_subfigure(GridSpec(1, 1, figure)[0])


def add_title(figure: Figure, text: str) -> None:
    """Put a title above all else, on as many lines as it takes."""
    figure.suptitle(fill(text, 84), x=0.01, ha="left", fontsize=10.5, fontweight="bold")


def name_panel(panel: Axes | FigureBase, number: int, text: str) -> None:
    """Title a panel with its letter, counted from 0, and a text.

    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> name_panel(ax, 1, "Acrobot")
    >>> ax.get_title()
    '(b) Acrobot'
    """
    title = f"({chr(ord('a') + number)}) {text}"
    if isinstance(panel, Axes):
        panel.set_title(title)
    else:
        panel.suptitle(title, x=0.02, ha="left", fontsize=9, fontweight="bold")


def limit_ticks(axes: Iterable[Axes], n: int = 4) -> None:
    """Limit the numbers at each axis to about `n`, at round places."""
    for ax in axes:
        for axis in (ax.xaxis, ax.yaxis):
            if axis.get_scale() == "linear":
                axis.set_major_locator(MaxNLocator(n, steps=[1, 2, 2.5, 5, 10]))


def say_empty(ax: Axes) -> None:
    """Mark a panel that has no runs yet."""
    ax.text(0.5, 0.5, "not run", color=GREY, ha="center", va="center", transform=ax.transAxes)
    ax.grid(visible=False)


def add_legend(body: SubFigure, handles: Sequence[Artist], n_rows: int = 1) -> None:
    """Put one legend above all panels, where it covers nothing."""
    n_columns = -(-len(handles) // n_rows)
    body.legend(handles=handles, loc="outside upper left", ncols=n_columns, columnspacing=1.4)


def add_note(figure: Figure, *sentences: str) -> None:
    """Write a note below the panels; empty sentences are left out."""
    text = fill(" ".join(filter(None, sentences)), 126)
    figure.supxlabel(text, x=0.01, ha="left", fontsize=7.5, color=GREY)


def runs_each(records: Records) -> str:
    """Return in words how many runs each condition has, leaving out those without any.

    >>> runs_each({}), runs_each({"a": [None]}), runs_each({"a": [None] * 3, "b": [None] * 10})
    ('no runs', '1 run', '3 to 10 runs')
    """
    counts = sorted({len(runs) for runs in records.values() if runs})
    if not counts:
        return "no runs"
    if counts == [1]:
        return "1 run"
    return f"{counts[0]} to {counts[-1]} runs" if len(counts) > 1 else f"{counts[0]} runs"
