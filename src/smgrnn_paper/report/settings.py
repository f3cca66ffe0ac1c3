"""Settings that conditions share, and those that each has of its own."""

from collections.abc import Iterable

from smgrnn.pages.settings import Stated, stated_settings
from smgrnn.runs.plan import AnyPlan


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
