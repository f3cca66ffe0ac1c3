"""The page on a study of settings: the front, the importance of each setting, the best settings."""

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from smgrnn.config import setting_of
from smgrnn.errors import plain
from smgrnn.pages import figure as style
from smgrnn.pages.page import DataTable, Facts, Illustration, Page
from smgrnn.text import MISSING, number
from smgrnn.tuning.study import Found, Point, area

TRIAL, STOPPED, FRONT, PRESET = "#56b4e9", "#c8c8c8", "#0072b2", "#d55e00"
"""Colours of trials with all seeds, of those that were stopped, of the front and the preset."""
CAPTION = "Every trial with all seeds, those that were stopped early as small dots, and the front"
JUDGED = (
    "A trial is a choice of settings. It is judged by what its runs hand over: the mean held-out "
    "return over seeds, and the mean number of parameters. Half of a batch is stopped after each "
    "seed, after two and after four, and so on; only trials with all seeds can be {}."
)
BEST = (
    "The best settings are those {}. The seeds here chose them, so that the same settings return "
    "less on other seeds, in the mean."
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
    question, task = found.question, plain(found.question.task)
    points = {"The preset": found.start.point, "The best settings": found.best.point}
    facts = [("Trials", str(len(found.trials) - 1), f"{len(found.front)} on the front")]
    facts += [
        (name, number(it.mean_return, 1), f"return, with {number(it.parameters, 1)} parameters")
        for name, it in points.items()
    ]
    words = "on the front", "with the fewest parameters that return no less than the preset"
    if question.price is not None:
        words = "the best", f"that return most, less {question.price:g} for each parameter"
    elif found.front:
        alone = number(area([found.start.point], found.worst), 1)
        low, most = number(found.worst.mean_return, 1), number(found.worst.parameters, 1)
        ends = f"from return {low} and {most} parameters (log10); the preset alone {alone}"
        facts.append(("Hypervolume of the front", number(found.area, 1), ends))
    title, caption = "Return against parameters", f"{CAPTION}."
    if importances:
        title += ", and what matters"
        caption = f"(a) {CAPTION}; (b) importance for being among the best tenth (PED-ANOVA)."
    picture = style.take_picture(draw_tuning(found, importances))
    return Page(
        f"Settings tuned on {task}",
        (
            describe_best(found),
            Facts(tuple(facts)),
            Illustration("tuning", title, caption, picture),
            _settings_table(found, importances),
            JUDGED.format(words[0]),
            BEST.format(words[1]),
        ),
    )


def _settings_table(found: Found, importances: Mapping[str, float]) -> DataTable:
    """Return the settings of the preset, the best trial and the front, side by side."""
    trials = {"Preset": found.start, "Best": found.best}
    trials |= {f"Trial {it.number}": it for it in found.front if it not in trials.values()}
    points = [trial.point for trial in trials.values()]
    shares = ("Importance",) if importances else ()
    rows = [
        ("return", "", *(MISSING for _ in shares), *(number(it.mean_return, 1) for it in points)),
        (
            "parameters",
            "",
            *(MISSING for _ in shares),
            *(number(it.parameters, 1) for it in points),
        ),
    ]
    for each in found.question.space:
        before, share = setting_of(found.question.start, each.name), importances.get(each.name)
        importance = MISSING if share is None else number(share, 2)
        values = (trial.settings.get(each.name, before) for trial in trials.values())
        texts = (f"{it:.3g}" if isinstance(it, float) else plain(str(it)) for it in values)
        span = each.text.partition("=")[2]
        rows.append((each.name, span, *(importance for _ in shares), *texts))
    heads = ("Setting", "Range", *shares, *trials)
    return DataTable.of("The best settings and the front", heads, rows)


@style.styled
def draw_tuning(found: Found, importances: Mapping[str, float]) -> Figure:
    """Draw the trials and their front on the left, and the importances, if any, on the right."""
    figure, body = style.new_figure(3.4)
    if not importances:
        _draw_trials(body.subplots(), found)
        return figure
    left, right = body.subplots(1, 2, width_ratios=(3, 2))
    _draw_trials(left, found)
    style.name_panel(left, 0, "Trials")
    names = sorted(importances, key=lambda name: importances[name])
    right.barh([style.literal(name) for name in names], [importances[name] for name in names])
    right.set_xlabel("importance")
    right.tick_params(axis="y", labelsize=7)
    style.name_panel(right, 1, "Importance")
    return figure


def _draw_trials(ax: Axes, found: Found) -> None:
    """Draw the trials that return no less than the worst that counts."""
    stopped = [it for it in found.trials if it.returns and not it.is_whole and not it.error]
    ring: Any = {"facecolors": "none", "edgecolors": FRONT}
    kinds: tuple[tuple[Any, int, str, Any], ...] = (
        (stopped, 6, "stopped early", {"color": STOPPED}),
        (found.whole[1:], 16, "all seeds", {"color": TRIAL}),
        ([found.start], 50, "the preset", {"color": PRESET, "zorder": 3}),
        ([found.best], 120, "the best settings", {**ring, "zorder": 4}),
    )
    for trials, size, label, look in kinds:
        points = [trial.point for trial in trials]
        xs, ys = [it.parameters for it in points], [it.mean_return for it in points]
        ax.scatter(xs, ys, size, label=label, **look)
    if front := [trial.point for trial in found.front]:
        xs, ys = [it.parameters for it in front], [it.mean_return for it in front]
        ax.plot(xs, ys, color=FRONT, marker="o", markersize=4, label="front")
    low = min(found.worst.mean_return, found.start.point.mean_return)
    high = max(trial.point.mean_return for trial in found.whole)
    room = 0.08 * (high - low) or 1.0
    style.scale_sizes(ax, (1, 2, 5))
    ax.set(ylabel="held-out return", ylim=(low - room, high + room))
    ax.legend(fontsize=7)
