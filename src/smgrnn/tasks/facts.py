"""Facts: all that the library knows about a task by its name, as one value in the task's file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any, NamedTuple

from smgrnn.arrays import Floats

RANGE = 10.0  # physics may be up to this many times, and down to this fraction of, the usual value


class Mirror(NamedTuple):
    """The mirror image of a task, in which left and right change places."""

    signs: tuple[int, ...]  # sign of each value of a mirrored observation
    order: tuple[int, ...]  # index of the value that each of its values comes from
    actions: tuple[int, ...]  # the mirrored action of each action


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

    id: str = ""  # its name: a Gymnasium id, or one of our own
    inputs: tuple[str, ...] = ()  # names of the values of an observation; an expert sees all
    outputs: tuple[str, ...] = ()  # names of the actions to choose from, or of an action's values
    action_bounds: tuple[float, float] | None = None  # of each value; None if an action is a choice
    max_steps: int | Callable[[Mapping[str, float]], int] | None = None
    """Steps after which an episode ends, or a function of the settings that returns them."""
    reward_threshold: float | None = None  # return at which the task counts as solved
    rewards: tuple[float, float] = (-inf, inf)  # least and largest reward of a step
    good_return: float | None = None  # mean return of an expert that may teach; or the threshold
    budget: int | None = None
    """Mean parameters of the paper's growing network at the end, in ten runs of the experiment
    `growth-ablation`; MLP students are measured by them."""
    needs_memory: bool = False  # whether no student without memory solves it
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Settings of a run that it starts from, as plain values, by the name of a preset."""
    examples: tuple[Floats, Floats] | None = None  # inputs and targets without an environment
    experts: tuple[str, ...] = ()
    """Names of its shipped experts, files `<id>-<name>.safetensors`; the first is the default."""
    rule: tuple[Any, Any] | None = None  # the one layer that is its expert, instead of a file
    teacher_scores: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Mean and deviation of the default expert's returns in 100 held-out episodes of variants."""
    mirror: Mirror | None = None  # its mirror image, if it looks the same in a mirror
    packages: tuple[str, ...] = ()  # beside Gymnasium, whose versions decide its results
    in_gymnasium: bool = True  # or `CompiledEnv` is its environment

    settings: Mapping[str, Setting] = field(default_factory=dict)  # numbers that variants change
    velocities: tuple[int, ...] = ()  # indices of the values that `hide=velocities` hides
    hidden: tuple[int, ...] = ()  # indices of the values that a student never sees
    set_physics: Callable[[Any, Mapping[str, float]], None] | None = None
    """Sets the physics of a variant in Gymnasium's environment, which can also be `mirrored`."""

    code: int | None = None  # number of a compiled task, for the branches in `tasks.known`
    start: Callable[[int], Floats] | None = None  # a compiled state's first values, by the seed
    constants: Callable[..., list[float]] | None = None  # the others, by settings and `is_mirrored`
