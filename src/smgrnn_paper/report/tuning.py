"""A report on a study: the front, the importance of each setting, and the best settings."""

from collections.abc import Mapping, Sequence

from smgrnn.batch.store import Store
from smgrnn.config import setting_of
from smgrnn.errors import plain
from smgrnn.runs.record import Record
from smgrnn.text import MISSING, number, quantity
from smgrnn.tuning.front import Point, area
from smgrnn.tuning.study import Found, Trial
from smgrnn_paper.report.contents import (
    Illustration,
    Report,
    Section,
    Setup,
    count_warnings,
    overview,
)
from smgrnn_paper.report.figures.style import add_title
from smgrnn_paper.report.figures.tuning import draw_tuning
from smgrnn_paper.report.paper import Column
from smgrnn_paper.report.pictures import take_picture
from smgrnn_paper.report.settings import own_settings, shared_settings
from smgrnn_paper.report.tables import Entry, Line, ReportTable

TITLE = "Settings tuned on {}"
FIGURE = "Return against parameters, and what matters"
CAPTION = "every trial with all seeds, those that were stopped early as small dots, and the front"
CAPTION_BESIDE = (
    "(a) {}; (b) the importance of each setting for being among the best tenth (PED-ANOVA)."
)
GUIDE = (
    "A trial is a choice of settings. It is judged by what its runs hand over: the mean held-out "
    "return over seeds, and the mean number of parameters. Half of a batch is stopped after each "
    "seed, after two and after four, and so on; only trials with all seeds can be {}.",
    "The best settings are those {}. The seeds here chose them, so that the same settings return "
    "less on other seeds, in the mean.",
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


def build_tuning_report(found: Found, store: Store, importances: Mapping[str, float]) -> Report:
    """Return a report on a study; the store has the runs of its front and of the preset."""
    shown = {_name(found, trial): trial for trial in (found.start, *found.front)}
    records = {name: _records(found, trial, store) for name, trial in shown.items()}
    everything = [record for runs in records.values() for record in runs]
    shared = shared_settings(record.plan for record in everything)
    section = Section(
        id="front",
        title="Front",
        question="",
        seeds=found.question.seeds,
        tables=(_settings_table(found, importances), _front_table(found)),
        illustrations=(_illustration(found, importances),),
        setups=tuple(
            Setup.of(name, runs, len(runs), runs[0].plan, own_settings([runs[0].plan], shared))
            for name, runs in records.items()
        ),
        shared=shared,
        warnings=count_warnings(everything),
    )
    task = plain(found.question.task)
    report = overview(everything, (section,))
    return Report(
        report, None, (), (section,), TITLE.format(task), _introduction(found), _guide(found)
    )


def _guide(found: Found) -> tuple[str, ...]:
    price = found.question.price
    if price is None:
        words = "on the front", "with the fewest parameters that return no less than the preset"
    else:
        words = "the best", f"that return most, less {price:g} for each parameter"
    return tuple(text.format(word) for text, word in zip(GUIDE, words, strict=True))


def _introduction(found: Found) -> str:
    n = quantity(len(found.trials) - 1, "trial")
    return (
        f"{n} of settings on {plain(found.question.task)}. The preset itself: "
        f"{describe_point(found.start.point)}. {describe_best(found)}{_areas(found)} Runs and time "
        f"below are those of the preset and of the front."
    )


def _areas(found: Found) -> str:
    """Return a sentence on the areas of front and preset; nothing if there is no front."""
    if found.question.price is not None or not found.front:
        return ""
    covered, alone = found.area, area([found.start.point], found.worst)
    low, most = number(found.worst.mean_return, 1), number(found.worst.parameters, 1)
    return (
        f" The area (hypervolume) between the front and a return of {low} with {most} parameters, "
        f"these counted by their decimal logarithm, is {number(covered, 1)}; the "
        f"preset alone covers {number(alone, 1)}."
    )


def _name(found: Found, trial: Trial) -> str:
    return "the preset" if trial is found.start else f"trial {trial.number}"


def _records(found: Found, trial: Trial, store: Store) -> list[Record]:
    condition = found.question.condition(trial.settings)
    return [store.load(condition.key(seed)) for seed in found.question.seeds]


def _illustration(found: Found, importances: Mapping[str, float]) -> Illustration:
    drawn = draw_tuning(found, importances)
    add_title(drawn, FIGURE)
    caption = CAPTION_BESIDE.format(CAPTION) if importances else f"{CAPTION.capitalize()}."
    return Illustration("tuning", FIGURE, caption, take_picture(drawn))


def _settings_table(found: Found, importances: Mapping[str, float]) -> ReportTable:
    """Return the settings of the preset and the best ones, with their importance."""
    names = ("range", "preset", "best", *(["importance"] if importances else []))
    columns = tuple(Column(name, name.capitalize()) for name in names)
    lines = []
    for each in found.question.space:
        before = setting_of(found.question.start, each.name)
        share = importances.get(each.name)
        texts = (
            each.text.partition("=")[2],
            _short(before),
            _short(found.best.settings.get(each.name, before)),
            MISSING if share is None else number(share, 2),
        )
        lines.append(_line(each.name, columns, texts[: len(columns)]))
    return ReportTable(
        id="settings",
        title="The best settings",
        headings=("Setting",),
        columns=columns,
        lines=tuple(lines),
    )


def _front_table(found: Found) -> ReportTable:
    """Return the trials side by side: many settings with long names, and few trials."""
    trials = [found.start, *(each for each in found.front if each is not found.start)]
    columns = tuple(Column(str(it.number), _name(found, it).capitalize()) for it in trials)
    points = [trial.point for trial in trials]
    lines = [
        _line("return", columns, [number(point.mean_return, 1) for point in points]),
        _line("parameters", columns, [number(point.parameters, 1) for point in points]),
    ]
    for each in found.question.space:
        before = setting_of(found.question.start, each.name)
        values = [_short(trial.settings.get(each.name, before)) for trial in trials]
        lines.append(_line(each.name, columns, values))
    return ReportTable(
        id="front",
        title="The front, and the preset",
        headings=("Setting",),
        columns=columns,
        lines=tuple(lines),
    )


def _line(name: str, columns: Sequence[Column], texts: Sequence[str]) -> Line:
    return Line((name,), tuple(Entry(*pair) for pair in zip(columns, texts, strict=True)))


def _short(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else plain(str(value))
