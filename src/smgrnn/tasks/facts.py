"""Facts: all that the library knows about a task by its name, as one value in the task's file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any, NamedTuple

from smgrnn.arrays import Floats

RANGE = 10.0
"""Physics may be up to this many times, and down to this fraction of, the usual value."""


class Mirror(NamedTuple):
    """The mirror image of a task, in which left and right change places."""

    signs: tuple[int, ...]
    """Sign of each value of a mirrored observation."""
    order: tuple[int, ...]
    """Index of the value that each value of the mirrored observation comes from."""
    actions: tuple[int, ...]
    """The mirrored action of each action."""


class Setting(NamedTuple):
    """A number that a variant of a task changes: `CartPole-v1,gravity=20`."""

    usual: float
    low: float
    high: float
    is_whole: bool = False

    @classmethod
    def physics(cls, usual: Mapping[str, float]) -> dict[str, "Setting"]:
        """Return the settings of a task's physics by its usual values."""
        return {key: cls(value, value / RANGE, value * RANGE) for key, value in usual.items()}


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The facts about a task.  A task that is not in `tasks.known` has the defaults."""

    id: str = ""
    """Its name: a Gymnasium id, or one of our own."""
    inputs: tuple[str, ...] = ()
    """Names of the values of an observation, of which an expert sees all."""
    outputs: tuple[str, ...] = ()
    """Names of the actions to choose from, or of the values of a continuous action."""
    action_bounds: tuple[float, float] | None = None
    """Bounds of each value of a continuous action; None if an action is a choice."""
    max_steps: int | Callable[[Mapping[str, float]], int] | None = None
    """Steps after which an episode ends, or a function of the settings that returns them."""
    reward_threshold: float | None = None
    """Return at which the task counts as solved."""
    rewards: tuple[float, float] = (-inf, inf)
    """Least and largest reward of a step."""
    good_return: float | None = None
    """Mean return of an expert that is good enough to teach; the threshold if None."""
    budget: int | None = None
    """Mean parameters of the paper's growing network at the end, in ten runs of the experiment
    `growth-ablation`; MLP students are measured by them."""
    needs_memory: bool = False
    """Whether no student without memory solves it."""
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Settings of a run that it starts from, as plain values, by the name of a preset."""
    examples: tuple[Floats, Floats] | None = None
    """Inputs and targets of a task that has no environment."""
    experts: tuple[str, ...] = ()
    """Names of its shipped experts, files `<id>-<name>.safetensors`; the first is the default."""
    rule: tuple[Any, Any] | None = None
    """Weight and bias of the one layer that is its expert, instead of a file."""
    teacher_scores: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Mean and deviation of the default expert's returns in 100 held-out episodes of variants."""
    mirror: Mirror | None = None
    """Its mirror image, if it looks the same in a mirror."""
    packages: tuple[str, ...] = ()
    """Packages, beside Gymnasium, whose versions decide its results."""
    in_gymnasium: bool = True
    """Whether Gymnasium has it; `CompiledEnv` is the environment of any other compiled task."""

    settings: Mapping[str, Setting] = field(default_factory=dict)
    """Numbers that variants change."""
    can_be_mirrored: bool = False
    """Whether the variant `mirrored`, whose actions change places, exists."""
    velocities: tuple[int, ...] = ()
    """Indices of the values that `hide=velocities` hides from a student."""
    hidden: tuple[int, ...] = ()
    """Indices of the values that a student never sees."""
    set_physics: Callable[[Any, Mapping[str, float]], None] | None = None
    """Sets the physics of a variant in Gymnasium's environment."""

    code: int | None = None
    """Number of a compiled task, for the branches in `tasks.known`."""
    start: Callable[[int], Floats] | None = None
    """Returns the first values of a compiled task's state by the seed of an episode."""
    constants: Callable[..., list[float]] | None = None
    """Returns the values after them: constants by the settings and `is_mirrored`."""
