"""The page on a study of settings: its trials, the Pareto front and the best settings."""

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from smgrnn.config import setting_of
from smgrnn.errors import plain
from smgrnn.pages import figure as style
from smgrnn.pages.page import DataTable, Illustration, Page
from smgrnn.text import MISSING, number
from smgrnn.tuning.study import Point, Study, Trial

TRIAL, STOPPED, FRONT, PRESET = "#56b4e9", "#c8c8c8", "#0072b2", "#d55e00"
"""Colours of trials with all seeds, of those that were stopped, of the front and the preset."""
CAPTION = "Trials with all seeds, those that were stopped early as small dots, and the front."
NOTE = (
    "Return: mean held-out return of the selected networks over seeds. Best: fewest parameters "
    "that return no less than the preset. The seeds here chose the settings, so expect less on "
    "other seeds. Importance: for being among the best tenth of the trials (PED-ANOVA)."
)


def describe_point(point: Point) -> str:
    """Return a return and a number of parameters in words.

    >>> describe_point(Point(-81.04, 21.5))
    'return −81.0 with 21.5 parameters'
    """
    return f"return {number(point.mean_return, 1)} with {number(point.parameters, 1)} parameters"


def describe_best(study: Study) -> str:
    """Return in a sentence which settings are the best."""
    if not study.front:
        floor = number(study.worst.mean_return, 1)
        return f"No trial returns {floor} or more: the settings are those of the preset."
    best = study.best
    which = f"trial {best.number}" if best.number else "the preset itself"
    return f"The best settings: {describe_point(best.point)}, {which}."


def tuning_page(study: Study, importances: Mapping[str, float]) -> Page:
    """Return the page of a study."""
    trials = {"Preset": study.trials[0], "Best": study.best}
    trials |= {f"Trial {it.number}": it for it in study.front if it not in trials.values()}
    points = [trial.point for trial in trials.values()]
    rows = [
        ("return", "", "", *(number(it.mean_return, 1) for it in points)),
        ("parameters", "", "", *(number(it.parameters, 1) for it in points)),
    ]
    for name, range, _ in study.space:
        before = setting_of(study.start, name)
        values = (trial.settings.get(name, before) for trial in trials.values())
        texts = (f"{it:.3g}" if isinstance(it, float) else plain(str(it)) for it in values)
        importance = number(importances[name], 2) if name in importances else MISSING
        rows.append((name, range, importance, *texts))
    heads, title = ("Setting", "Range", "Importance", *trials), "The best settings and the front"
    picture = style.take_picture(draw_tuning(study))
    return Page(
        f"Settings tuned on {plain(study.task)}",
        (
            describe_best(study),
            Illustration("tuning", "Return against parameters", CAPTION, picture),
            DataTable.of(title, heads, rows, note=NOTE),
        ),
    )


@style.styled
def draw_tuning(study: Study) -> Figure:
    """Draw the front, and the trials that return at least the floor."""
    figure, body = style.new_figure(3.4)
    ax, ring = body.subplots(), {"facecolors": "none", "edgecolors": FRONT}
    stopped = [it for it in study.trials if it.returns and not it.is_whole and not it.error]

    def add(draw: Any, trials: list[Trial], **look: Any) -> None:
        points = [trial.point for trial in trials]
        draw([it.parameters for it in points], [it.mean_return for it in points], **look)

    add(ax.scatter, stopped, s=6, label="stopped early", color=STOPPED)
    add(ax.scatter, study.whole[1:], s=16, label="all seeds", color=TRIAL)
    add(ax.scatter, [study.trials[0]], s=50, label="the preset", color=PRESET, zorder=3)
    add(ax.scatter, [study.best], s=120, label="the best settings", zorder=4, **ring)
    add(ax.plot, study.front, color=FRONT, marker="o", markersize=4, label="front")
    low = min(study.worst.mean_return, study.trials[0].point.mean_return)
    high = max(trial.point.mean_return for trial in study.whole)
    margin = 0.08 * (high - low) or 1.0
    style.scale_sizes(ax, (1, 2, 5))
    ax.set(ylabel="held-out return", ylim=(low - margin, high + margin))
    ax.legend(fontsize=7)
    return figure
