"""The page on a study of settings: its trials, the front and the best settings."""

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from smgrnn.config import setting_of
from smgrnn.errors import plain
from smgrnn.pages import figure as style
from smgrnn.pages.page import DataTable, Illustration, Page
from smgrnn.text import MISSING, number
from smgrnn.tuning.study import Found, Point, Trial

TRIAL, STOPPED, FRONT, PRESET = "#56b4e9", "#c8c8c8", "#0072b2", "#d55e00"
"""Colours of trials with all seeds, of those that were stopped, of the front and the preset."""
CAPTION = "Trials with all seeds, those that were stopped early as small dots, and the front."
NOTE = (
    "Return: mean held-out return of the selected networks over seeds. Best: {}. The seeds here "
    "chose the settings, so expect less on other seeds. Importance: for being among the best tenth "
    "of the trials (PED-ANOVA)."
)


def describe_point(point: Point) -> str:
    """Return a return and a number of parameters in words.

    >>> describe_point(Point(-81.04, 21.5))
    'return −81.0 with 21.5 parameters'
    """
    size = number(point.parameters, 1)
    return f"return {number(point.mean_return, 1)} with {size} parameters"


def describe_best(found: Found) -> str:
    """Return which settings are the best, in a sentence."""
    if not found.front:
        floor = number(found.worst.mean_return, 1)
        return f"No trial returns {floor} or more: the settings are those of the preset."
    which = "the preset itself" if found.best is found.start else f"trial {found.best.number}"
    return f"The best settings: {describe_point(found.best.point)}, {which}."


def tuning_page(found: Found, importances: Mapping[str, float]) -> Page:
    """Return the page of a study."""
    question, picture = found.question, style.take_picture(draw_tuning(found))
    trials = {"Preset": found.start, "Best": found.best}
    trials |= {f"Trial {it.number}": it for it in found.front if it not in trials.values()}
    points = [trial.point for trial in trials.values()]
    rows = [
        ("return", "", "", *(number(it.mean_return, 1) for it in points)),
        ("parameters", "", "", *(number(it.parameters, 1) for it in points)),
    ]
    for each in question.space:
        before, share = setting_of(question.start, each.name), importances.get(each.name)
        values = (trial.settings.get(each.name, before) for trial in trials.values())
        texts = (f"{it:.3g}" if isinstance(it, float) else plain(str(it)) for it in values)
        importance = MISSING if share is None else number(share, 2)
        rows.append((each.name, each.text.partition("=")[2], importance, *texts))
    best = "fewest parameters that return no less than the preset"
    if question.price is not None:
        best = f"highest return less {question.price:g} for each parameter"
    heads = ("Setting", "Range", "Importance", *trials)
    title, note = "The best settings and the front", NOTE.format(best)
    return Page(
        f"Settings tuned on {plain(question.task)}",
        (
            describe_best(found),
            Illustration("tuning", "Return against parameters", CAPTION, picture),
            DataTable.of(title, heads, rows, note=note),
        ),
    )


@style.styled
def draw_tuning(found: Found) -> Figure:
    """Draw the front, and the trials that return no less than the worst that counts."""
    figure, body = style.new_figure(3.4)
    ax, ring = body.subplots(), {"facecolors": "none", "edgecolors": FRONT}
    stopped = [it for it in found.trials if it.returns and not it.is_whole and not it.error]

    def add(draw: Any, trials: list[Trial], **look: Any) -> None:
        points = [trial.point for trial in trials]
        draw([it.parameters for it in points], [it.mean_return for it in points], **look)

    add(ax.scatter, stopped, s=6, label="stopped early", color=STOPPED)
    add(ax.scatter, found.whole[1:], s=16, label="all seeds", color=TRIAL)
    add(ax.scatter, [found.start], s=50, label="the preset", color=PRESET, zorder=3)
    add(ax.scatter, [found.best], s=120, label="the best settings", zorder=4, **ring)
    add(ax.plot, found.front, color=FRONT, marker="o", markersize=4, label="front")
    low = min(found.worst.mean_return, found.start.point.mean_return)
    high = max(trial.point.mean_return for trial in found.whole)
    room = 0.08 * (high - low) or 1.0
    style.scale_sizes(ax, (1, 2, 5))
    ax.set(ylabel="held-out return", ylim=(low - room, high + room))
    ax.legend(fontsize=7)
    return figure
