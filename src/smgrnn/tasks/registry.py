"""The tasks by name: XOR, recorded examples, and any environment with flat observations."""

import importlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from smgrnn.config import RECORDINGS
from smgrnn.errors import ConfigError, TaskError, failure, plain, short, suggest
from smgrnn.storage import digest
from smgrnn.tasks import recall
from smgrnn.tasks.compiled import CODES, constants_of
from smgrnn.tasks.recording import read_recording
from smgrnn.tasks.variants import (
    MIRRORED,
    PHYSICS,
    check_settings,
    delay_of,
    known_settings,
    plain_name,
    read_cue,
    read_physics,
    seen_places,
    split_name,
)
from smgrnn.validation import Count, Finite, Settings, Whole

if TYPE_CHECKING:
    import gymnasium as gym

LONGEST_EPISODE = 10_000
"""Steps after which an episode is cut off in a task that sets no limit of its own."""
REWARDS = {"xor": (0.0, 1.0), "CartPole-v1": (1.0, 1.0), "Acrobot-v1": (-1.0, 0.0)}
"""Least and largest reward of a step, by the base of a task; of others none is known."""


WAY_TO_ACT = (
    "; register it with gymnasium.wrappers.TransformAction around it, which can take such actions"
)
"""Advice for actions of another kind."""
TaskSource = str | Path | Callable[[], Any]
"""The name of a task, a file of recorded examples, or a function that makes an environment."""


@dataclass(frozen=True)
class Task(Settings):
    """The facts about a task that have to be known before a network can be made for it."""

    id: str
    """A Gymnasium id, "xor", "recall", or the name of a file or of an environment; with the
    settings of a variant."""
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
    """Whether a function of the user's own makes the environment."""
    seen: tuple[Whole, ...] | None = None
    """Places of what a student sees in the whole observation, which an expert sees; None is all."""
    n_whole: Count | None = None
    """Values of the whole observation; None is as many as a student sees."""
    make: Callable[[], Any] | None = field(default=None, compare=False, repr=False)
    """Makes the environment of a task that has no Gymnasium id."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if plain(self.id) != self.id:
            raise TaskError(f"The name {short(self.id)} of a task has characters that are no text.")

    @property
    def compiled(self) -> int | None:
        """Code of the compiled task, see `tasks.compiled`; None if there is none."""
        return None if self.is_made else CODES.get(self.base)

    @property
    def base(self) -> str:
        """The name without the settings of a variant, for which there is an expert.

        >>> find_task("CartPole-v1,hide=velocities").base
        'CartPole-v1'
        """
        return self._parts[0]

    @property
    def _parts(self) -> tuple[str, dict[str, str]]:
        """The name without settings, and these; only a name that we make tasks by has any."""
        is_named = self.recording is None and not self.is_made
        return split_name(self.id) if is_named else (self.id, {})

    @property
    def is_mirrored(self) -> bool:
        """Whether its actions have changed places.

        >>> find_task("CartPole-v1,mirrored").is_mirrored
        True
        """
        return MIRRORED in self._parts[1]

    @property
    def cue(self) -> tuple[float, ...]:
        """The values behind those of an observation that say which of several tasks it is.

        >>> find_task("CartPole-v1,cue=1of2").cue
        (1.0, 0.0)
        """
        return read_cue(self._parts[1])

    @property
    def physics_id(self) -> str:
        """The name of the variant by its physics alone, which decides how good its teacher is.

        >>> find_task("CartPole-v1,hide=velocities,length=2,mirrored").physics_id
        'CartPole-v1,length=2'
        """
        base, settings = self._parts
        own = {key: value for key, value in settings.items() if key in PHYSICS.get(base, ())}
        return ",".join([base, *(f"{key}={value}" for key, value in own.items())])

    @property
    def constants(self) -> list[float]:
        """The constants of a compiled task, which its states end with."""
        assert self.compiled is not None
        return constants_of(self.compiled, read_physics(*self._parts), self.most_steps)

    @property
    def n_observed(self) -> int:
        """Values of the whole observation, which an expert sees."""
        return self.n_whole or self.n_inputs

    @property
    def places(self) -> tuple[int, ...]:
        """Places of what a student sees in the whole observation.

        >>> find_task("CartPole-v1,hide=velocities").places, XOR.places
        ((0, 2), (0, 1))
        """
        return tuple(range(self.n_inputs)) if self.seen is None else self.seen

    @property
    def is_bounded(self) -> bool:
        """Whether a continuous action has bounds; the outputs of a bare network have none."""
        return self.action_low is not None

    @property
    def is_own_code(self) -> bool:
        """Whether making the task runs code of the user's own: a function, or a module."""
        return self.recording is None and (self.is_made or ":" in self.id)

    @property
    def digest(self) -> str:
        """SHA-256 of the facts, except the path of a recording."""
        return digest("task", self.to_dict() | {"recording": self.recording is not None}, {})

    @property
    def key(self) -> str:
        """Its name in the keys of stored runs; code of the user's own can change under its name.

        >>> find_task("CartPole-v1").key
        'CartPole-v1'
        """
        return f"{self.id} {self.digest}" if self.is_own_code else self.id

    @property
    def is_supervised(self) -> bool:
        """Whether the task is a stream of examples and has no environment."""
        return self.id == XOR.id or self.recording is not None

    @property
    def has_agreement(self) -> bool:
        """Whether answers can equal the teacher's; vectors only have a distance to it."""
        return self.is_discrete or self.id == XOR.id

    @property
    def most_steps(self) -> int:
        """Steps after which an episode is cut off, whether the task says so or not."""
        return self.max_steps or LONGEST_EPISODE

    @property
    def return_bounds(self) -> tuple[float, float]:
        """The least and the largest return of an episode, infinite where none is known.

        >>> find_task("CartPole-v1").return_bounds
        (1.0, 500.0)
        """
        if self.is_made or self.base not in REWARDS:
            return -inf, inf
        low, high = REWARDS[self.base]
        return min(low, low * self.most_steps), max(high, high * self.most_steps)

    def read(self, observation: Any, *, is_whole: bool = False) -> Any:
        """Return an observation as an array, or raise TaskError with what is wrong with it."""
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
        if task.seen is not None and (
            len(task.seen) != task.n_inputs or max(task.seen) >= task.n_observed
        ):
            raise ConfigError(f"{task.id!r} shows other values than it has.")
        bounds = () if task.is_discrete else (task.action_low, task.action_high)
        if any(bound is None or len(bound) != task.n_outputs for bound in bounds):
            raise ConfigError(
                f"{task.id!r} has no bounds for each of its {task.n_outputs} actions."
            )
        return task


XOR = Task(
    id="xor",
    n_inputs=2,
    n_outputs=1,
    is_discrete=False,
    action_low=(-1.0,),
    action_high=(1.0,),
    max_steps=4,
    reward_threshold=4.0,
)
"""The supervised task of `tasks.xor`: an episode is the four patterns, its return how many of them
were answered right."""


RECALL = Task(
    id="recall",
    n_inputs=2,
    n_outputs=recall.N_OUTPUTS,
    is_discrete=True,
    max_steps=recall.DELAY + 2,
    reward_threshold=0.95,
    seen=(0, 1),
    n_whole=recall.N_INPUTS,
)
"""The task of `tasks.recall`."""


def find_task(source: TaskSource) -> Task:
    """Return a task by its name, or the task of the environment that a function makes.

    A name is "xor", "recall", a Gymnasium id, "module:id" with a module to import, or a file of
    recorded examples.  Settings of a variant follow after commas.

    >>> find_task("CartPole-v1").n_inputs, find_task("CartPole-v1,hide=velocities").n_inputs
    (4, 2)
    >>> find_task("recall,delay=4").max_steps
    6
    """
    if callable(source):
        return _find_made(source)
    if not isinstance(source, str | Path):
        raise TaskError(
            f"A task is named by an id such as 'CartPole-v1', or is a function that makes an "
            f"environment. Got {_text(source)} instead."
        )
    name = str(source)
    if name == XOR.id:
        return XOR
    if name.endswith(RECORDINGS):
        return _describe_recording(Path(name).absolute())
    base, settings = split_name(name)
    if base == RECALL.id:
        return _find_recall(name)
    _check_registered(base)
    check_settings(name, known_settings(base))
    name = plain_name(name)
    env = _construct(name)
    try:
        found = _describe(name, env)
        if "hide" not in settings:
            return found
        hidden: Any = env
        return replace(found, seen=hidden.seen, n_whole=hidden.whole.size)
    finally:
        close_env(env, name)


def _find_recall(name: str) -> Task:
    """Return the task of `tasks.recall` with some delay, and with a cue if it has one."""
    check_settings(name, ("delay", "cue"))
    settings = split_name(name)[1]
    n_steps, n_cues = delay_of(settings, recall.DELAY) + 2, len(read_cue(settings))
    assert RECALL.seen is not None
    seen = (*RECALL.seen, *range(recall.N_INPUTS, recall.N_INPUTS + n_cues))
    n_whole = recall.N_INPUTS + n_cues
    return replace(
        RECALL, id=name, n_inputs=len(seen), max_steps=n_steps, seen=seen, n_whole=n_whole
    )


def find_again(recorded: Task, source: TaskSource | Task | None = None) -> Task:
    """Return the task that a record is about; one that is code must be given again.

    Nothing that the record names is imported.

    >>> find_again(find_task("CartPole-v1")).max_steps
    500
    """
    if source is None and recorded.is_own_code:
        raise TaskError(
            f"The task {recorded.id!r} of this run is code of your own; give it again: as TASK or "
            f"--task on the command line, as task= in Python."
        )
    if isinstance(source, Task):
        found = source
    elif source is not None:
        found = find_task(source)
    elif recorded.recording is not None:
        found = _describe_recording(Path(recorded.recording))
    else:
        found = find_task(recorded.id)
    if found.digest != recorded.digest:
        raise TaskError(f"The run was made with the task {recorded.id!r}, which this is not.")
    return found


def make_env(task: Task) -> "gym.Env[Any, Any]":
    """Return a new environment of the task; it ends an episode after `max_steps` steps."""
    if task.is_supervised:
        raise TaskError(f"The task {task.id!r} is learned from examples and has no environment.")
    return _construct(task.id) if task.make is None else task.make()


def close_env(env: Any, name: str) -> None:
    """Close the environment of a task, or raise TaskError with what failed in it."""
    try:
        env.close()
    except Exception as error:
        raise TaskError(f"The task {name!r} cannot be closed: {failure(error)}.") from error


def _find_made(make: Callable[[], Any]) -> Task:
    """Return the task of the environment that a function makes, named after the class of that."""
    import gymnasium as gym

    name = getattr(make, "__name__", type(make).__name__)
    try:
        env = make()
    except Exception as error:
        raise TaskError(f"The task {name!r} cannot be made: {failure(error)}.") from error
    if not isinstance(env, gym.Env):
        raise TaskError(f"{name!r} makes no Gymnasium environment, but {_text(env)}.")
    try:
        return replace(_describe(type(env.unwrapped).__name__, env), make=make, is_made=True)
    finally:
        close_env(env, name)


def _describe_recording(path: Path) -> Task:
    """Read the task off its examples; the largest and least actions are the bounds."""
    recording = read_recording(path)
    actions, is_discrete = recording.actions, recording.is_discrete
    return Task(
        id=path.name,
        n_inputs=recording.observations.shape[1],
        n_outputs=int(actions.max()) + 1 if is_discrete else actions.shape[1],
        is_discrete=is_discrete,
        action_low=None if is_discrete else _values(actions.min(axis=0)),
        action_high=None if is_discrete else _values(actions.max(axis=0)),
        recording=str(path),
    )


def _check_registered(id: str) -> None:
    import gymnasium as gym

    module, _, name = id.rpartition(":")
    if module:
        try:
            importlib.import_module(module)
        except Exception as error:
            raise TaskError(
                f"The module {module!r} of the task {id!r} cannot be imported: {failure(error)}."
            ) from error
    if name not in gym.registry:
        hint = suggest(name, [*gym.registry, XOR.id, RECALL.id])
        raise TaskError(f"There is no task {id!r}. {hint}".rstrip())


def _construct(id: str) -> "gym.Env[Any, Any]":
    import gymnasium as gym

    from smgrnn.tasks.environments import Recall, varied

    base, settings = split_name(id)
    try:
        if base == RECALL.id:
            return varied(Recall(delay_of(settings, recall.DELAY)), id, RECALL.seen)
        with warnings.catch_warnings():
            # Box2D's bindings warn of their own SWIG types when first imported.
            warnings.filterwarnings("ignore", "builtin type", DeprecationWarning)
            env = gym.make(base, disable_env_checker=True)
        if not settings:
            return env
        space: Any = env.observation_space
        return varied(env, id, seen_places(base, settings, space.shape[0]))
    except TaskError:
        raise
    except Exception as error:
        why, _, _ = failure(error).partition(" was raised from the environment creator")
        raise TaskError(f"The task {id!r} cannot be made: {why}.") from error


def _describe(id: str, env: "gym.Env[Any, Any]") -> Task:
    """Read the task off its environment; raise TaskError if the network cannot do it."""
    from gymnasium.spaces import Box, Discrete, Space

    seen, done = (getattr(env, name, None) for name in ("observation_space", "action_space"))
    spec = env.spec
    if not (isinstance(seen, Box) and _is_flat(seen)):
        raise TaskError(
            f"The observations of a task must be a flat Box, of shape (n,). "
            f"{id!r} has {_text(seen)} instead{_way_to_flatten(seen)}."
        )
    threshold = spec.reward_threshold if spec else None
    low = high = None
    if isinstance(done, Discrete):
        n_outputs = int(done.n)
        if n_outputs < 2:
            raise TaskError(f"There must be two actions at least to choose from. {id!r} has one.")
        if done.start != 0:
            raise TaskError(
                f"Discrete actions must be numbered from 0. {id!r} numbers them from {done.start}"
                f"{WAY_TO_ACT}."
            )
    elif isinstance(done, Box) and _is_flat(done) and done.dtype.kind == "f":
        n_outputs = done.shape[0]
        low, high = _values(done.low), _values(done.high)
        if not (np.isfinite([done.low, done.high]).all() and (done.low < done.high).all()):
            raise TaskError(
                f"Continuous actions must have finite bounds, the lower below the upper. "
                f"{id!r} has {_text(done)} instead{WAY_TO_ACT}."
            )
    else:
        raise TaskError(
            f"The actions of a task must be Discrete or a flat Box of floats, of shape (n,). "
            f"{id!r} has {_text(done)} instead{WAY_TO_ACT if isinstance(done, Space) else ''}."
        )
    return Task(
        id=id,
        n_inputs=seen.shape[0],
        n_outputs=n_outputs,
        is_discrete=isinstance(done, Discrete),
        action_low=low,
        action_high=high,
        max_steps=spec.max_episode_steps if spec else None,
        reward_threshold=float(threshold) if threshold is not None else None,
    )


def _way_to_flatten(space: object) -> str:
    """Return the wrapper that would help with observations that are no vectors, if one does."""
    from gymnasium.spaces import Box, Space

    if not isinstance(space, Space) or (isinstance(space, Box) and 0 in space.shape):
        return ""
    name = "FlattenObservation" if space.is_np_flattenable else "TransformObservation"
    return f"; register it with gymnasium.wrappers.{name} around it, which can make them one"


def _is_flat(space: "gym.spaces.Box") -> bool:
    """Return whether the space is of vectors, of at least one value."""
    return len(space.shape) == 1 and space.shape[0] > 0


def _text(thing: object) -> str:
    """Return a space, or any object given in its place, in one line."""
    return " ".join(str(thing).split())


def _values(bound: Any) -> tuple[float, ...] | None:
    return None if bound is None else tuple(float(value) for value in bound)
