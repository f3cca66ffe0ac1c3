"""Task: what has to be known about a task before a network can be made for it.

Variants are written after a task's name: `CartPole-v1,gravity=20,mirrored`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import isfinite, nan
from typing import Any, NamedTuple, Self

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.errors import ConfigError, TaskError, plain, short, suggest
from smgrnn.names import Names
from smgrnn.storage import digest
from smgrnn.tasks.facts import Facts
from smgrnn.tasks.known import UNKNOWN, find_facts
from smgrnn.tasks.named import NAMED
from smgrnn.validation import Count, Finite, Settings, Whole

LONGEST_EPISODE = 10_000  # steps after which an episode is cut off in a task that sets no limit
MIRRORED = "mirrored"
MOST_CUES = 100


class Variant(NamedTuple):
    """The name of a task, read."""

    id: str  # the name that equal variants share; usual values are left out
    base: str  # the name without settings, for which there is an expert
    facts: Facts
    numbers: Mapping[str, float]  # the numbers that variants change, such as those of the physics
    physics: str = ""  # those that differ from the usual values: `gravity=20,length=1`
    hides: bool = False  # whether velocities are hidden from a student
    is_mirrored: bool = False  # whether actions change places
    cue: tuple[float, ...] = ()  # values after an observation that tell which of the tasks it is


@cache
def read_variant(name: str) -> Variant:
    """Read the name of a task; raise TaskError for a setting or a value that it does not have.

    >>> read_variant("CartPole-v1,length=1.0,gravity=2e1,tau=0.020").id
    'CartPole-v1,gravity=20,length=1'
    >>> read_variant("recall,cue=2of3").cue
    (0.0, 1.0, 0.0)
    """
    base, *pairs = name.split(",")
    facts, given = find_facts(name), {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        if key in given or bool(value) == (key == MIRRORED):
            raise TaskError(
                f"A variant of a task is written as key=value, each key once, such as "
                f"CartPole-v1,hide=velocities, or as mirrored. Got {name!r} instead."
            )
        given[key] = value
    known = {"hide": "hide=velocities"} if facts.velocities else {}
    known |= {key: f"{key}={setting.usual:g}" for key, setting in facts.settings.items()}
    known |= {MIRRORED: MIRRORED} if facts.set_physics is not None else {}
    known |= {} if facts.examples is not None else {"cue": "cue=1of2"}
    for key in given:
        if key not in known:
            hint = suggest(key, known) or f"It has {', '.join(known.values()) or 'none'}."
            raise TaskError(f"The task {base!r} has no setting {key!r}. {hint}")
    hidden, cue = given.get("hide", "velocities"), given.get("cue", "1of2")
    if hidden != "velocities":
        raise TaskError(f"Only velocities of {base!r} can be hidden. Got {hidden!r} instead.")
    is_cue = re.fullmatch("[0-9]{1,3}of[0-9]{1,3}", cue)
    index, n_tasks = map(int, cue.split("of")) if is_cue else (0, 0)
    if not (1 <= index <= n_tasks and 2 <= n_tasks <= MOST_CUES):
        raise TaskError(
            f"A cue is the number of a task among 2 to {MOST_CUES}, such as 1of2. Got {cue!r} "
            f"instead."
        )
    numbers: dict[str, float] = {}
    for key, (usual, low, high, is_whole) in facts.settings.items():
        text = given.pop(key, repr(usual))
        try:
            numbers[key] = int(text) if is_whole else float(text)
        except ValueError:
            numbers[key] = nan
        if not low <= numbers[key] <= high:
            raise TaskError(
                f"The setting {key!r} of {base!r} is {'an int' if is_whole else 'a number'} in "
                f"[{low:g}, {high:g}]. Got {text!r} instead."
            )
        if numbers[key] != usual:
            given[key] = repr(numbers[key]).removesuffix(".0")
    parts = {key: f"{key}={given[key]}".removesuffix("=") for key in known if key in given}
    return Variant(
        ",".join([base, *parts.values()]),
        base,
        facts,
        numbers,
        ",".join(part for key, part in parts.items() if key in numbers),
        "hide" in given,
        MIRRORED in given,
        tuple(np.eye(n_tasks)[index - 1].tolist()) if "cue" in given else (),
    )


@dataclass(frozen=True)
class Task(Settings):
    """A task as records keep it; what follows from its name is in `variant` and `facts`."""

    id: str  # a name with the settings of a variant, or that of a file or of a user's environment
    n_inputs: Count  # values of an observation, as far as a student sees it
    n_outputs: Count  # discrete actions to choose from, or values of a continuous one
    is_discrete: bool  # whether an action is a choice; otherwise it is a vector
    action_low: tuple[Finite, ...] | None = None  # least value of each component of an action
    action_high: tuple[Finite, ...] | None = None  # largest value of each component of an action
    max_steps: Count | None = None  # steps after which an episode is cut off
    reward_threshold: Finite | None = None  # return at which the task counts as solved
    recording: str | None = None  # path of the recorded examples that the task consists of
    is_made: bool = False  # whether a user's function makes the environment
    seen: tuple[Whole, ...] | None = None  # indices of the values that a student sees; None is all
    n_whole: Count | None = None  # values of the whole observation, if a student does not see all
    input_names: tuple[str, ...] = ()  # of the values, if its environment has some
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
    def facts(self) -> Facts:
        """The facts about the task of this name."""
        return self.variant.facts

    @property
    def teacher_score(self) -> tuple[float, float] | None:
        """Mean and deviation of the returns of a variant's default expert, if on record."""
        return self.facts.teacher_scores.get(self.variant.physics)

    @property
    def names(self) -> Names:
        """Names of what a student sees and does; numbers where none are known."""
        cues = (f"cue {number}" for number in range(1, len(self.variant.cue) + 1))
        known_inputs, known_outputs = NAMED.get(self.variant.base, ((), ()))
        inputs = (*(self.input_names or self.facts.inputs or known_inputs), *cues)
        outputs = self.facts.outputs or known_outputs
        found = Names.numbered(self.n_inputs, self.n_outputs)
        if len(inputs) == self.n_observed:
            found = found._replace(inputs=tuple(inputs[place] for place in self.places))
        return found._replace(outputs=outputs) if len(outputs) == self.n_outputs else found

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
        """Return the states (n_seeds, n) in which episodes of a compiled task start."""
        start, constants = self.facts.start, self.facts.constants
        assert start is not None
        assert constants is not None
        tail = constants(self.variant.numbers, is_mirrored=self.variant.is_mirrored)
        states = np.empty((len(seeds), len(start(0)) + len(tail)))
        for row, seed in zip(states, seeds, strict=True):
            row[:] = [*start(seed), *tail]
        return states

    def read(self, observation: Any) -> Any:
        """Return an observation as an array; raise TaskError unless it is finite numbers."""
        try:
            array = np.asarray(observation)
        except ValueError:  # rows of different lengths
            array = np.empty((), dtype=object)
        if array.shape != (self.n_inputs,) or array.dtype.kind not in "fiub":
            raise TaskError(
                f"{self.id} gave an observation of shape {array.shape} and type {array.dtype} "
                f"instead of {self.n_inputs} numbers."
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
            raise ConfigError(f"{task.id!r} lacks bounds for each of its {task.n_outputs} actions.")
        return task
