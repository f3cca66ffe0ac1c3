"""Protocol: the settings that the paper's experiments have in common.  Paper: Sec. IV-A1 to IV-A4.

The paper prints 2000 episodes and 10 runs for the main experiments and does not print which seeds;
here they are 0, 1, ….  Everything that is not changed by a condition is the default of RunConfig.
The paper trains one expert per task; here they are three, which the seeds take in turn, so that no
result hangs on one of them.  No student had a say in them: docs/deviations.md.

Claims are decided by more seeds than the paper has, where its number leaves differences open that
more can show and the time allows it.
"""

from collections.abc import Container, Mapping
from dataclasses import fields
from typing import Any

from smgrnn.batch.condition import Condition
from smgrnn.config import PlasticityConfig, by_part

TASKS = ("CartPole-v1", "Acrobot-v1", "LunarLander-v3")
"""The control tasks, by difficulty."""
TEACHERS = {task: tuple(f"{task}-plain-{seed}" for seed in range(3)) for task in TASKS}
"""The experts of each task."""
EPISODES = 2000
"""Training episodes, and candidates of an evolution."""
SEEDS = tuple(range(10))
"""Seeds of the main experiments."""
FEW_SEEDS = tuple(range(5))
"""Seeds of the appendix's sensitivity studies."""
MORE_SEEDS = {
    "CartPole-v1": tuple(range(10, 40)),
    "Acrobot-v1": tuple(range(10, 40)),
    "LunarLander-v3": tuple(range(10, 20)),
}
"""Further seeds of the main experiments on each task, which decide claims with the others."""


def standard(task: str, **changes: Any) -> Condition:
    """Return the growing and pruning network of the main experiments, with some changes."""
    settings = {"episodes": EPISODES, "teachers": TEACHERS.get(task, ()), **changes}
    return Condition.distill(task, **settings)


def with_rules(task: str, values: Mapping[str, Any], **changes: Any) -> Condition:
    """Return the network of the main experiments with settings of the module or its growth rule.

    >>> with_rules("CartPole-v1", {"window": 50, "interval_width": 1.0}).settings.plasticity.window
    50
    """
    own = {entry.name for entry in fields(PlasticityConfig)}
    names = {name: f"plasticity.{name}" if name in own else f"growth.{name}" for name in values}
    settings = by_part({names[name]: value for name, value in values.items()})
    return standard(task, **changes, **settings)


def more_seeds(
    conditions: Mapping[str, Condition], without: Container[str] = ()
) -> dict[str, tuple[int, ...]]:
    """Return the further seeds of conditions on control tasks, by name; some may go without."""
    return {
        name: MORE_SEEDS[condition.task]
        for name, condition in conditions.items()
        if condition.task in MORE_SEEDS and name not in without
    }
