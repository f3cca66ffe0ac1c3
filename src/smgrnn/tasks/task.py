"""Task: what has to be known about a task before a network can be made for it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Self

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.errors import ConfigError, TaskError, plain, short
from smgrnn.names import Names
from smgrnn.storage import digest
from smgrnn.tasks.facts import Facts
from smgrnn.tasks.known import UNKNOWN
from smgrnn.tasks.variants import Variant, read_variant
from smgrnn.validation import Count, Finite, Settings, Whole

LONGEST_EPISODE = 10_000
"""Steps after which an episode is cut off in a task that sets no limit."""


@dataclass(frozen=True)
class Task(Settings):
    """A task as records keep it; what follows from its name is in `variant` and `facts`."""

    id: str
    """A name with the settings of a variant, or that of a file or of a user's environment."""
    n_inputs: Count
    """Values of an observation, as far as a student sees it."""
    n_outputs: Count
    """Discrete actions to choose from, or values of a continuous one."""
    is_discrete: bool
    """Whether an action is a choice; otherwise it is a vector."""
    action_low: tuple[Finite, ...] | None = None
    """Least value of each component of a continuous action."""
    action_high: tuple[Finite, ...] | None = None
    """Largest value of each component of a continuous action."""
    max_steps: Count | None = None
    """Steps after which an episode is cut off."""
    reward_threshold: Finite | None = None
    """Return at which the task counts as solved."""
    recording: str | None = None
    """Path of the recorded examples that the task consists of."""
    is_made: bool = False
    """Whether a user's function makes the environment."""
    seen: tuple[Whole, ...] | None = None
    """Indices of the values in the whole observation that a student sees; None is all."""
    n_whole: Count | None = None
    """Values of the whole observation; None is as many as a student sees."""
    make: Callable[[], Any] | None = field(default=None, compare=False, repr=False)
    """Makes the environment of a task that has no Gymnasium id."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if plain(self.id) != self.id:
            raise TaskError(f"The name {short(self.id)} of a task has characters that are no text.")

    @property
    def variant(self) -> Variant:
        """Its name, read; nothing follows from the name of a user's own task."""
        is_own = self.recording is not None or self.is_made
        return Variant(self.id, self.id, UNKNOWN, {}) if is_own else read_variant(self.id)

    @property
    def base(self) -> str:
        """The name without the settings of a variant, for which there is an expert."""
        return self.variant.base

    @property
    def facts(self) -> Facts:
        """The facts about the task of this name."""
        return self.variant.facts

    @property
    def compiled(self) -> int | None:
        """Code of the compiled task, see `tasks.known`; None if there is none."""
        return self.facts.code

    @property
    def cue(self) -> tuple[float, ...]:
        """Values after an observation that tell which of several tasks it is."""
        return self.variant.cue

    @property
    def physics_id(self) -> str:
        """The name with the settings of its physics alone."""
        return ",".join(filter(None, (self.base, self.variant.physics)))

    @property
    def teacher_score(self) -> tuple[float, float] | None:
        """Mean and deviation of the returns of a variant's default expert, if they are on record.

        >>> from smgrnn.tasks import find_task
        >>> find_task("Acrobot-v1,link_mass_2=2,cue=1of2").teacher_score
        (-128.14, 38.91)
        """
        return self.facts.teacher_scores.get(self.variant.physics)

    @property
    def names(self) -> Names:
        """Names of what a student sees and does; numbers where none are known.

        >>> from smgrnn.tasks import find_task
        >>> find_task("CartPole-v1,hide=velocities,cue=1of2").names.inputs
        ('position', 'angle', 'cue 1', 'cue 2')
        """
        cues = (f"cue {number}" for number in range(1, len(self.cue) + 1))
        inputs, outputs = (*self.facts.inputs, *cues), self.facts.outputs
        if (len(inputs), len(outputs)) != (self.n_observed, self.n_outputs):
            return Names.numbered(self.n_inputs, self.n_outputs)
        return Names(tuple(inputs[place] for place in self.places), outputs)

    @property
    def n_observed(self) -> int:
        """Values of the whole observation, which an expert sees."""
        return self.n_whole or self.n_inputs

    @property
    def places(self) -> tuple[int, ...]:
        """Indices of the values in the whole observation that a student sees."""
        return tuple(range(self.n_inputs)) if self.seen is None else self.seen

    @property
    def is_bounded(self) -> bool:
        """Whether a continuous action has bounds; the outputs of a bare network have none."""
        return self.action_low is not None

    @property
    def is_own_code(self) -> bool:
        """Whether making the task runs a user's code: a function, or a module."""
        return self.recording is None and (self.is_made or ":" in self.id)

    @property
    def is_supervised(self) -> bool:
        """Whether the task is a stream of examples and has no environment."""
        return self.recording is not None or self.facts.examples is not None

    @property
    def has_agreement(self) -> bool:
        """Whether answers can equal the teacher's; vectors only have a distance to it."""
        return self.is_discrete or self.facts.examples is not None

    @property
    def most_steps(self) -> int:
        """Steps after which an episode is cut off, whether the task sets a limit or not."""
        return self.max_steps or LONGEST_EPISODE

    @property
    def return_bounds(self) -> tuple[float, float]:
        """The least and the largest return of an episode, infinite where none is known."""
        low, high = self.facts.rewards
        return min(low, low * self.most_steps), max(high, high * self.most_steps)

    @property
    def digest(self) -> str:
        """SHA-256 of what records keep, except the path of a recording."""
        return digest("task", self.to_dict() | {"recording": self.recording is not None}, {})

    @property
    def key(self) -> str:
        """Its name in the keys of stored runs; a user's code can change under its name."""
        return f"{self.id} {self.digest}" if self.is_own_code else self.id

    def start_states(self, seeds: Sequence[int]) -> Floats:
        """Return the states (n_seeds, n) in which episodes of a compiled task start.

        >>> from smgrnn.tasks import find_task
        >>> find_task("recall,delay=4").start_states([0, 2]).tolist()
        [[0.0, 1.0, 6.0], [0.0, 1.0, 6.0]]
        """
        start, constants = self.facts.start, self.facts.constants
        assert start is not None
        assert constants is not None
        tail = constants(self.variant.numbers, is_mirrored=self.variant.is_mirrored)
        states = np.empty((len(seeds), len(start(0)) + len(tail)))
        for row, seed in zip(states, seeds, strict=True):
            row[:] = [*start(seed), *tail]
        return states

    def read(self, observation: Any, *, is_whole: bool = False) -> Any:
        """Return an observation as an array; raise TaskError unless it is finite numbers."""
        n = self.n_observed if is_whole else self.n_inputs
        try:
            array = np.asarray(observation)
        except ValueError:  # rows of different lengths
            array = np.empty((), dtype=object)
        if array.shape != (n,) or array.dtype.kind not in "fiub":
            raise TaskError(
                f"{self.id} gave an observation of shape {array.shape} and type {array.dtype} "
                f"instead of {n} numbers."
            )
        # The square is finite if all are, but for the largest of numbers, and quicker to tell.
        if not isfinite(array.dot(array)) and not np.isfinite(array).all():
            place = int(np.flatnonzero(~np.isfinite(array))[0])
            raise TaskError(f"{self.id} gave an observation whose value {place} is {array[place]}.")
        return array

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain values, ready for JSON."""
        return {name: value for name, value in super().to_dict().items() if name != "make"}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Rebuild a task from `to_dict`, to use what was learned on it without its environment."""
        task = super().from_dict(values | {"make": None})
        seen, bounds = task.seen, () if task.is_discrete else (task.action_low, task.action_high)
        if seen is not None and (len(seen) != task.n_inputs or max(seen) >= task.n_observed):
            raise ConfigError(f"{task.id!r} shows other values than it has.")
        if any(bound is None or len(bound) != task.n_outputs for bound in bounds):
            raise ConfigError(
                f"{task.id!r} has no bounds for each of its {task.n_outputs} actions."
            )
        return task
