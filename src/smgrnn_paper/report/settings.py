"""Settings as a report states them: read off the plans that were trained, and nothing else.

A setting without effect is left out: the density of a layered graph, the numbers of rules that are
switched off, those that an optimizer does not use, and how often a checkpoint is kept.
"""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, TypeVar

from smgrnn.plasticity import settings_without_effect
from smgrnn.runs.refusals import learning_without_effect

from smgrnn.errors import plain
from smgrnn.runs.plan import AnyPlan, Plan
from smgrnn.runs.record import Record

K = TypeVar("K")

Stated = dict[str, str]
"""Settings as texts, by dotted names."""


def stated_settings(plan: AnyPlan) -> Stated:
    """Return the settings of a run but its seed.

    >>> import smgrnn
    >>> stated = stated_settings(smgrnn.distill("xor", episodes=1).plan)
    >>> stated["learning.loss"], stated["network.iterations"]
    ('mse', '2')
    """
    content = plan.to_dict() | {"task": plan.task.id}
    del content["seed"]
    if plan.task.is_own_code:
        content["task facts"] = f"SHA-256 {plan.task.digest[:12]}"
    if isinstance(plan, Plan):
        has_bias = plan.network.n_inputs > plan.task.n_inputs
        content |= {"teacher": _teacher(plan), "bias": has_bias, **_with_effect(plan)}
        del content["ancestor"], content["origin"]
        if plan.origin is not None:  # whose settings but the task are the same, and its seed too
            content["after"] = ", then ".join(stage.task.id for stage in plan.stages[:-1])
        elif plan.ancestor is not None:
            content["ancestor"] = f"SHA-256 {plan.ancestor.run[:12]}, of {plan.ancestor.task}"
    else:
        del content["neat_settings"]
        if plan.neat_settings:
            content["neat_settings"] = f"SHA-256 {_short(plan.neat_settings)}"
    return {name: plain(str(value)) for name, value in flatten(content).items()}


def _with_effect(plan: Plan) -> dict[str, Any]:
    """Return the parts of a plan without the settings that did nothing."""
    network, rules = plan.network.to_dict(), plan.plasticity.to_dict()
    learning, episodes = plan.learning.to_dict(), plan.episodes.to_dict()
    if plan.first_graph == "layered":
        del network["density"], network["weight_std"]
    for name in settings_without_effect(plan.plasticity):
        del rules[name]
    for name in learning_without_effect(plan.learning, plan.episodes.handover):
        del learning[name]
    del episodes["checkpoint_every"]
    return {"network": network, "learning": learning, "plasticity": rules, "episodes": episodes}


def _teacher(plan: Plan) -> str:
    kind, name = plan.teacher.kind, plan.teacher.name
    what = kind if kind == "examples" else f"{kind} {name.rpartition('/')[2]}"
    return f"{what}, SHA-256 {plan.teacher.digest[:12]}" if plan.teacher.digest else what


def _short(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:12]


def flatten(content: dict[str, Any]) -> dict[str, Any]:
    """Return nested values by dotted names.

    >>> flatten({"a": 1, "b": {"c": 2}})
    {'a': 1, 'b.c': 2}
    """
    flat: dict[str, Any] = {}
    for name, value in content.items():
        inner = value if isinstance(value, dict) else {"": value}
        flat |= {f"{name}.{part}".rstrip("."): each for part, each in inner.items()}
    return flat


def alike(records: Mapping[K, Record]) -> list[dict[K, Record]]:
    """Return runs, by any names, in groups that differ in nothing but their seed, in its order.

    Of several runs with one seed and the same results the last counts, as they are the same run.
    """
    found: dict[frozenset[tuple[str, str]], dict[tuple[int, str], K]] = {}
    for name, record in records.items():
        settings = frozenset(stated_settings(record.plan).items())
        found.setdefault(settings, {})[record.plan.seed, record.fingerprint] = name
    return [{runs[each]: records[runs[each]] for each in sorted(runs)} for runs in found.values()]


def shared_settings(plans: Iterable[AnyPlan]) -> dict[str, Stated]:
    """Return the settings that all runs of a student have in common, by student."""
    found: dict[str, Stated] = {}
    for plan in plans:
        stated = stated_settings(plan)
        before = found.get(plan.student, stated)
        found[plan.student] = {
            name: value for name, value in before.items() if stated.get(name) == value
        }
    return found


def own_settings(plans: Iterable[AnyPlan], shared: dict[str, Stated]) -> Stated:
    """Return the settings of a condition's runs that not all runs of its student have.

    A setting in which its own runs differ, such as the teacher, has all of its values.
    """
    found: dict[str, dict[str, None]] = {}
    for plan in plans:
        for name, value in stated_settings(plan).items():
            if name not in shared[plan.student]:
                found.setdefault(name, {})[value] = None
    return {name: " / ".join(values) for name, values in found.items()}
