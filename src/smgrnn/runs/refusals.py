"""Refusals: settings that a student, a task or a choice contradicts, or that nothing would read.

A record is to say what ran, so a setting that cannot apply is met with one sentence.  A value that
a preset starts from is no choice of the user's, and passes where it says nothing.
"""

from functools import cache
from operator import attrgetter
from typing import Any, get_args

from smgrnn.config import (
    DEMANDS,
    LAYERED,
    HandOver,
    LearningConfig,
    Loss,
    PlasticityConfig,
    Preset,
    RunConfig,
    Student,
)
from smgrnn.errors import ConfigError
from smgrnn.learning.rules import LEARNING
from smgrnn.plasticity import follows_size, settings_without_effect
from smgrnn.tasks import Task

CHOICE_LOSSES: tuple[Loss, ...] = ("cross_entropy", "one_hot", "plus_minus")
"""The losses of tasks whose actions are choices."""
OPTIMIZER_SETTINGS = {
    "beta1": ("adam", "adamw"),
    "beta2": ("adam", "adamw"),
    "alpha": ("rmsprop",),
    "epsilon": ("adam", "adamw", "rmsprop"),
    "bias_correction": ("adam", "adamw"),
    "momentum": ("sgd", "rmsprop"),
}
"""The optimizers that use each of these settings."""


def check_settings(config: RunConfig, task: Task) -> None:
    """Refuse settings that contradict each other or the task, and those that change nothing."""
    _check_student(config)
    _check_task(config, task)
    _check_learning(config, task)
    _check_rules(config, task)
    _check_size(config)
    _check_keep(config, task)


def require(holds: bool, sentence: str) -> None:
    """Refuse settings by a sentence, unless something holds."""
    if not holds:
        raise ConfigError(f"{sentence}.")


def _check_student(config: RunConfig) -> None:
    for place, wanted in DEMANDS[config.student].items():
        found = attrgetter(place)(config)
        if found != wanted:
            flag = place.removeprefix("network.").replace("_", "-")
            raise ConfigError(
                f"--{flag} {found} contradicts the student {config.student}: it must be {wanted}."
            )
    require(
        config.budget is None or config.student in LAYERED,
        f"--budget measures an MLP, and the student {config.student} is none: leave it out",
    )


def _check_task(config: RunConfig, task: Task) -> None:
    losses = CHOICE_LOSSES if task.is_discrete else ("mse",)
    actions, network = "choices" if task.is_discrete else "continuous", config.network
    require(
        config.learning.loss in (None, *losses),
        f"--learning.loss {config.learning.loss} contradicts the task {task.id}, whose actions are "
        f"{actions}: it must be {' or '.join(losses)}",
    )
    require(
        task.is_discrete or network.readout != "sum",
        f"--readout sum contradicts the task {task.id}, whose actions are continuous: it must be "
        f"state",
    )
    require(
        not (task.is_supervised and network.carry_state),
        f"--carry-state contradicts the task {task.id}, whose examples come in no order: "
        f"it must be --no-carry-state",
    )
    require(
        not config.stop_after or task.reward_threshold is not None,
        f"--stop-after {config.stop_after} contradicts the task {task.id}, which has no threshold "
        f"to reach: it must be 0",
    )


def _check_learning(config: RunConfig, task: Task) -> None:
    """Refuse settings of learning that change nothing, except those that a preset starts from."""
    learning, off = config.learning, {"momentum": 0.0}
    for name in learning_without_effect(learning, config.handover):
        value, optimizers = getattr(learning, name), OPTIMIZER_SETTINGS.get(name)
        if value in (*_usual(task.id, config.student, "learning", name), off.get(name)):
            continue
        what, way = f"the optimizer {learning.optimizer}", ""
        if optimizers:
            way = f", or choose {' or '.join(optimizers)}"
        elif name == "averaging":
            what, way = "the final student", ", or use --handover best"
        else:
            what = f"the learning rule {learning.rule}, which keeps no traces"
        raise ConfigError(f"--learning.{name} {value} says nothing to {what}: leave it out{way}.")


def learning_without_effect(learning: LearningConfig, handover: HandOver) -> list[str]:
    """Return the names of the settings that change nothing, given optimizer, rule and hand-over.

    >>> learning_without_effect(LearningConfig(optimizer="sgd"), "best")
    ['beta1', 'beta2', 'alpha', 'epsilon', 'bias_correction', 'trace_decay']
    """
    found = [name for name, users in OPTIMIZER_SETTINGS.items() if learning.optimizer not in users]
    if LEARNING[learning.rule].n_rows == 0:
        found.append("trace_decay")
    return found if handover == "best" else [*found, "averaging"]


def _check_rules(config: RunConfig, task: Task) -> None:
    """Refuse a rule that there is not, and settings that the rules do not read.

    Those that a preset starts from are no mistake of the user's.
    """
    rules = config.plasticity
    for name in sorted(settings_without_effect(rules)):
        value = getattr(rules, name)
        if value not in _usual(task.id, config.student, "plasticity", name):
            whom = f"the rules {rules.growth!r} (growth) and {rules.pruning!r} (pruning)"
            if name == "least_updates" and not rules.is_static:
                whom = f"calls every {rules.interval} updates"
            elif rules.is_static:
                whom = "a network that stays as it is"
            raise ConfigError(f"--plasticity.{name} {value} says nothing to {whom}: leave it out.")
    require(
        config.bar is None or follows_size(config.plasticity),
        f"--bar {config.bar} says nothing to rules that follow no size: leave it out",
    )


def _usual(task: str, student: Student, part: str, name: str) -> list[Any]:
    """Return the values of a setting that are no choice: its default, and those of the presets."""
    default = {"learning": LearningConfig, "plasticity": PlasticityConfig}[part]()
    starts = _starts(task, student)
    return [getattr(each, name) for each in (default, *(getattr(own, part) for own in starts))]


@cache
def _starts(task: str, student: Student) -> list[RunConfig]:
    """Return the settings that each preset starts from."""
    every = get_args(Preset)
    return [RunConfig.for_task(task, preset=each, student=student) for each in every]


def _check_size(config: RunConfig) -> None:
    size, parameters = config.plasticity.size, config.parameters
    require(
        size is None or parameters is None or size <= parameters,
        f"--plasticity.size {size} is more than --parameters {parameters} allows: leave one out",
    )


def _check_keep(config: RunConfig, task: Task) -> None:
    if config.keep is None:
        return
    require(
        config.parameters is None,
        "--keep and --parameters are two ways to ask for a size: give one of them",
    )
    require(
        not task.is_supervised,
        f"--keep compares with an expert that plays, and {task.id} has none: use --parameters",
    )
    require(
        follows_size(config.plasticity),
        "--keep needs rules that follow a size: use --preset frugal",
    )
    require(config.handover == "best", "--keep chooses what is handed over: use --handover best")
    require(config.bar is None, f"--keep sets the bar itself: leave --bar {config.bar} out")
