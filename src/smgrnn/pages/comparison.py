"""Comparison of runs side by side.  Runs that differ in nothing but their seed form a group."""

import math
from collections.abc import Mapping, Sequence
from hashlib import sha256
from os.path import commonprefix
from typing import Any, NamedTuple, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike

from smgrnn.config import NO_PRESETS, Preset, RunConfig
from smgrnn.errors import plain
from smgrnn.pages.page import Block, DataTable, Illustration, html
from smgrnn.runs.metrics import held_out_likeness
from smgrnn.runs.plan import AnyPlan, Plan
from smgrnn.runs.record import Record
from smgrnn.text import MISSING, number
from smgrnn.validation import flatten

K = TypeVar("K")
Stated = dict[str, str]  # settings as texts, by dotted names
NOTE = (
    "Runs that differ in nothing but their seed are one line. Return: the mean of selected "
    "networks in new episodes [Student’s 95 % interval, over runs; of a single run, over its "
    "episodes]. Kept: the share of the expert's return beyond that of a random policy. "
    "Parameters: the median of selected networks. Episodes: of training."
)
CAPTION = (
    "Return, with the task's threshold; nodes, inputs and outputs included; agreement with the "
    "teacher. A dot is where the mean of 100 returns first reaches the threshold."
)
MEANS = ("kept", "late_return", "late_agreement", "seconds")
RULES = ("plasticity.growth", "plasticity.pruning")


def stated_settings(plan: AnyPlan) -> Stated:
    """Return the settings of a run except its seed and those without effect."""
    content = plan.to_dict() | {"task": plan.task.id}
    del content["seed"]
    if plan.task.is_own_code:
        content["task facts"] = f"SHA-256 {plan.task.digest[:12]}"
    if isinstance(plan, Plan):
        for name in ("ancestor", "origin", "asked", "checkpoint_every"):
            del content[name]
        kind, name, digest = plan.teacher.kind, plan.teacher.name, plan.teacher.digest
        teacher = kind if kind == "examples" else f"{kind} {name.rpartition('/')[2]}"
        content["teacher"] = f"{teacher}, SHA-256 {digest[:12]}" if digest else teacher
        if plan.plasticity.is_static:
            content["plasticity"] = {"growth": None, "pruning": None}
        if plan.first_graph == "layered":
            del content["network"]["density"], content["network"]["weight_std"]
        if plan.origin is not None:  # stages differ in nothing but their task
            content["after"] = ", then ".join(stage.task.id for stage in plan.stages[:-1])
        elif plan.ancestor is not None:
            content["ancestor"] = f"SHA-256 {plan.ancestor.run[:12]}, of {plan.ancestor.task}"
    elif text := content.pop("neat_settings"):
        content["neat_settings"] = f"SHA-256 {sha256(text.encode()).hexdigest()[:12]}"
    stated = flatten(content)
    rules = {name: "none" for name in RULES if stated.get(name, "") is None}
    return {name: plain(str(value)) for name, value in (stated | rules).items()}


def preset_of(plan: AnyPlan) -> tuple[str, Stated, set[str]]:
    """Return the preset a run is closest to, its settings, and which of them differ from it."""
    asked = plan.asked if isinstance(plan, Plan) else None
    if asked is None:
        stated = stated_settings(plan)
        return plan.student, stated, {*stated} - {"task"}
    own = {name: each for name, each in asked.named().items() if name not in NO_PRESETS}
    changed: dict[str, set[str]] = {}
    for preset in get_args(Preset):
        usual = RunConfig.for_task(plan.task.id, preset=preset, student=asked.student).named()
        changed[preset] = {name for name in own if (name, own[name]) not in usual.items()}
    closest = min(changed, key=lambda preset: len(changed[preset]))
    name = closest if asked.student == "smgrnn" else f"{closest}, {asked.student}"
    return name, {name: plain(str(each)) for name, each in own.items()}, changed[closest]


def alike(records: Mapping[K, Record]) -> list[dict[K, Record]]:
    """Return groups of runs that differ only in seed, in its order, and the last of equal runs."""
    found: dict[frozenset[tuple[str, str]], dict[tuple[int, str], K]] = {}
    for name, record in records.items():
        settings = frozenset(stated_settings(record.plan).items())
        found.setdefault(settings, {})[record.plan.seed, record.fingerprint] = name
    return [{runs[each]: records[runs[each]] for each in sorted(runs)} for runs in found.values()]


class Compared(NamedTuple):
    """Runs that differ in nothing but their seed."""

    name: str
    records: tuple[Record, ...]

    @property
    def task(self) -> str:
        """The id of their task."""
        return self.records[0].plan.task.id

    def to_dict(self) -> dict[str, Any]:
        """Return every number; means are over the runs that have one."""
        figures = [record.summary() if record.episodes.n else {} for record in self.records]
        means: dict[str, float | None] = {}
        for metric in MEANS:
            known = [it[metric] for it in figures if it.get(metric) is not None]
            means[metric] = float(np.mean(known)) if known else None
        returns, held_out = [record.held_out for record in self.records], None
        if there := [it for it in returns if it.size]:
            found = mean_interval(there[0] if len(there) == 1 else [it.mean() for it in there])
            each = [float(it.mean()) if it.size else None for it in returns]
            held_out = dict(zip(("mean", "low", "high"), found, strict=True)) | {"each": each}
        return {
            "name": self.name,
            "task": self.task,
            "student": self.records[0].plan.student,
            "preset": preset_of(self.records[0].plan)[0],
            "seeds": [record.plan.seed for record in self.records],
            "episodes": [record.episodes.n for record in self.records],
            "parameters": float(np.median([it.selected.n_parameters for it in self.records])),
            "held_out": held_out,
            "likeness": [held_out_likeness(it.plan.task, it.held_out) for it in self.records],
            **means,
        }

    def texts(self) -> tuple[str, ...]:
        """Return its row in a table."""
        found = self.to_dict()
        decimals = 1 if self.records[0].plan.task.recording is None else 4
        held_out, spread, kept = found["held_out"], MISSING, found["kept"]
        episodes = sorted({min(found["episodes"]), max(found["episodes"])})
        if held_out is not None:
            ends = (held_out[name] for name in ("mean", "low", "high"))
            mean, *interval = (number(it, decimals) for it in ends if it is not None)
            spread = mean if set(interval) <= {mean} else f"{mean} [{', '.join(interval)}]"
        return (
            *(self.task, self.name, found["preset"], str(len(self.records)), spread),
            MISSING if kept is None else f"{number(100 * kept, 0)} %",
            f"{found['parameters']:g}",
            "–".join(map(str, episodes)),
        )


def mean_interval(values: ArrayLike) -> tuple[float, float | None, float | None]:
    """Return the mean and the ends of Student's 95 % interval, which are None for one value."""
    sample = np.asarray(values, dtype=np.float64)
    mean = float(sample.mean())
    if sample.size == 1:
        return mean, None, None
    half = student_quantile(sample.size - 1) * float(sample.std(ddof=1)) / math.sqrt(sample.size)
    return mean, mean - half, mean + half


def student_quantile(freedom: int) -> float:
    """Return the t that 2.5 % of values exceed -- Abramowitz and Stegun, Eqs. 26.7.3 and 26.7.4."""
    is_odd, low, high = freedom % 2, 0.0, math.pi / 2
    for _ in range(60):  # bisection over the angle, where t = √freedom tan(angle)
        angle = (low + high) / 2
        cos, total = math.cos(angle), 0.0
        term = cos if is_odd else 1.0
        for n in range(2 + is_odd, freedom + 1, 2):
            total += term
            term *= cos * cos * (n - 1) / n
        within = math.sin(angle) * total
        within = 2 / math.pi * (angle + within) if is_odd else within
        low, high = (angle, high) if within < 0.95 else (low, angle)
    return math.sqrt(freedom) * math.tan(low)


def group_named(records: Mapping[str, Record]) -> list[Compared]:
    """Return groups of runs by task, each named by the common prefix of its runs' names."""
    groups = []
    for runs in alike(records):
        names = list(runs)
        name = commonprefix(names)  # noqa: RUF071  (of names, letter by letter)
        if len(names) > 1:
            name = name.rstrip("0123456789").rstrip("-_./ ") or ", ".join(names)
        groups.append(Compared(name, tuple(runs.values())))
    tasks = [each.task for each in groups]
    return sorted(groups, key=lambda each: tasks.index(each.task))


def differing_settings(groups: Sequence[Compared]) -> dict[str, dict[str, str]]:
    """Return the settings that differ but task and student, by group; those not in all are last."""
    stated = {each.name: stated_settings(each.records[0].plan) for each in groups}
    names = dict.fromkeys(name for each in stated.values() for name in each)
    found = {
        name: {group: each.get(name, MISSING) for group, each in stated.items()}
        for name in names
        if name not in ("task", "student")
    }
    differing = {name: values for name, values in found.items() if len(set(values.values())) > 1}
    return dict(sorted(differing.items(), key=lambda item: MISSING in item[1].values()))


def comparison_table(groups: Sequence[Compared]) -> DataTable:
    """Return a row for each group."""
    metrics = ("Runs", "Return", "Kept", "Parameters", "Episodes")
    return DataTable.of(
        "Runs side by side",
        ("Task", "Run", "Preset", *metrics),
        [group.texts() for group in groups],
        n_labels=3,
        note=NOTE,
    )


def comparison_page(groups: Sequence[Compared]) -> str:
    """Return a page as HTML, with the table, the settings that differ and the curves."""
    from smgrnn.pages.figure import draw_run_curves, take_picture

    curves = take_picture(draw_run_curves({each.name: each.records for each in groups}))
    title = "Return, size and agreement over training"
    blocks: list[Block] = [comparison_table(groups), Illustration("runs", title, CAPTION, curves)]
    if differing := differing_settings(groups):
        names = ("Setting", *(each.name for each in groups))
        rows = [(name, *values.values()) for name, values in differing.items()]
        blocks.append(DataTable.of("Settings that differ", names, rows))
    return html("Runs", blocks)
