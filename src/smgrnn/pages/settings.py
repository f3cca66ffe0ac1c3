"""Settings as pages state them: those of the plans that ran, without those of no effect."""

from collections.abc import Mapping
from dataclasses import fields
from hashlib import sha256
from typing import TypeVar

from smgrnn.errors import plain
from smgrnn.runs.plan import AnyPlan, Plan
from smgrnn.runs.record import Record
from smgrnn.validation import flatten

K = TypeVar("K")
RULES = ("plasticity.growth", "plasticity.pruning")
Stated = dict[str, str]  # settings as texts, by dotted names


def stated_settings(plan: AnyPlan) -> Stated:
    """Return the settings of a run but its seed, without those of no effect."""
    content = plan.to_dict() | {"task": plan.task.id}
    del content["seed"]
    if plan.task.is_own_code:
        content["task facts"] = f"SHA-256 {plan.task.digest[:12]}"
    if isinstance(plan, Plan):
        del content["ancestor"], content["origin"], content["asked"]
        kind, name, digest = plan.teacher.kind, plan.teacher.name, plan.teacher.digest
        teacher = kind if kind == "examples" else f"{kind} {name.rpartition('/')[2]}"
        content["teacher"] = f"{teacher}, SHA-256 {digest[:12]}" if digest else teacher
        content["bias"] = plan.network.n_inputs > plan.task.n_inputs
        useless = ["checkpoint_every"]
        if plan.plasticity.is_static:
            named = ("growth", "pruning")
            own = [entry.name for entry in fields(plan.plasticity) if entry.name not in named]
            useless += [f"plasticity.{name}" for name in own]
        if plan.first_graph == "layered":
            useless += ["network.density", "network.weight_std"]
        if plan.origin is not None:  # whose settings but the task are the same, and its seed too
            content["after"] = ", then ".join(stage.task.id for stage in plan.stages[:-1])
        elif plan.ancestor is not None:
            content["ancestor"] = f"SHA-256 {plan.ancestor.run[:12]}, of {plan.ancestor.task}"
    else:
        useless = []
        if text := content.pop("neat_settings"):
            content["neat_settings"] = f"SHA-256 {sha256(text.encode()).hexdigest()[:12]}"
    return {
        name: "none" if value is None and name in RULES else plain(str(value))
        for name, value in flatten(content).items()
        if name not in useless
    }


def alike(records: Mapping[K, Record]) -> list[dict[K, Record]]:
    """Return runs in groups that differ in nothing but their seed, in the order of the seeds.

    Of runs with the same seed and results, only the last counts.
    """
    found: dict[frozenset[tuple[str, str]], dict[tuple[int, str], K]] = {}
    for name, record in records.items():
        settings = frozenset(stated_settings(record.plan).items())
        found.setdefault(settings, {})[record.plan.seed, record.fingerprint] = name
    return [{runs[each]: records[runs[each]] for each in sorted(runs)} for runs in found.values()]
