"""Policy: a finished network that plays its task, whatever trained, evolved or saved it."""

from copy import copy
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from smgrnn.arrays import Floats, from_arrays, to_arrays
from smgrnn.config import LearningConfig, NetworkConfig
from smgrnn.engine import Learner
from smgrnn.engine.player import Player, real_numbers
from smgrnn.errors import ConfigError, GraphError, ShapeError, plain
from smgrnn.graph.drawing import network_html
from smgrnn.graph.files import graph_arrays, network_content, network_graph, network_settings
from smgrnn.graph.log import EditLog, log_from
from smgrnn.graph.state import Graph, check
from smgrnn.names import Names
from smgrnn.storage import describing, kind_of, read_arrays, write_arrays
from smgrnn.tasks import Task

NETWORK_KINDS = ("network", "learner", "policy")
"""Kinds of files that hold one network."""
BARE = "network"
"""Name of the task of a bare network, of which nothing is known but its shape."""


class Normalisation(NamedTuple):
    """Scales observations to mean 0 and deviation 1."""

    mean: Floats
    """Subtracted from each value of an observation (n_observed,)."""
    scale: Floats
    """Multiplies the rest: one over the deviation (n_observed,); 1 for a value that never changed.
    """

    @classmethod
    def of(cls, observations: Any) -> Self:
        """Return the one that brings these observations (n, n_observed) to mean 0 and deviation 1.

        >>> Normalisation.of([[1.0, 7.0], [3.0, 7.0]])([3.0, 8.0]).tolist()
        [1.0, 1.0]
        """
        rows = np.asarray(observations, dtype=np.float64)
        deviation = rows.std(axis=0)
        # Of a value that never changed, only the rounding of its mean could be seen.
        is_still = np.ptp(rows, axis=0) == 0
        return cls(rows.mean(axis=0), 1 / np.where(is_still, 1.0, deviation))

    def __call__(self, observations: Any) -> Any:
        """Return the observations (…, n_observed) normalised."""
        return (np.asarray(observations, dtype=np.float64) - self.mean) * self.scale


class Policy:
    """Maps observations to actions; call `reset` at the start of each episode.

    Parameters
    ----------
    graph
        The network's nodes and weights.
    config
        How to run the graph.
    task
        The facts about the task; its environment is not needed.
    student
        The kind of student it was, if that is known.
    normalisation
        How it normalises observations, which it takes as the task gives them.
    names
        Names of inputs and outputs, if they are not those of the task.

    Examples
    --------
    >>> import smgrnn
    >>> run = smgrnn.distill("CartPole-v1", episodes=5, held_out=1, out="a-run")
    >>> policy = smgrnn.load("a-run")
    >>> policy.reset()
    >>> policy([0.0, 0.1, -0.02, 0.3]) in (0, 1)
    True
    >>> policy.reset()
    >>> policy([[0.0, 0.1, -0.02, 0.3], [0.1, 0.0, 0.2, -0.1]]).shape  # two environments at once
    (2,)
    """

    def __init__(
        self,
        graph: Graph,
        config: NetworkConfig,
        task: Task,
        *,
        student: str = "",
        normalisation: Normalisation | None = None,
        names: Names | None = None,
    ) -> None:
        check(graph, config)
        if (config.n_inputs, config.n_outputs) != (task.n_inputs, task.n_outputs):
            raise GraphError(
                f"A network of {config.n_inputs} inputs and {config.n_outputs} outputs cannot play "
                f"{task.id!r}, which has {task.n_inputs} and {task.n_outputs}."
            )
        for values in normalisation or ():
            if values.shape != (task.n_inputs,) or not np.isfinite(values.astype(float)).all():
                raise ShapeError(f"The normalisation does not fit the observations of {task.id!r}.")
        self.graph = graph
        self.config = config
        self.task = task
        self.student = student
        self.normalisation = normalisation
        self.names = task.names if names is None else names
        self._shape: tuple[int, ...] | None = None

    def __repr__(self) -> str:
        return f"Policy({self.task.id}: {self.graph})"

    def _repr_html_(self) -> str:
        return network_html(repr(self), self.graph, self.config.bias)

    def __call__(self, observation: Any) -> Any:
        """Return the action for an observation (n,), or those for a batch of them (b, n).

        An action is a number, or an array within the task's bounds.  Each row of a batch carries
        states of its own; before another number of rows, call `reset`.
        """
        return scale_action(self.task, self.answer(observation))

    def answer(self, observation: Any) -> Any:
        """Return the choice, or the outputs for a continuous action, whose bounds are at ±1.

        >>> import smgrnn
        >>> policy = smgrnn.distill("xor", episodes=1).record.students["final"]
        >>> policy.answer([1.0, -1.0]).shape
        (1,)
        """
        rows, n = real_numbers(observation), self.task.n_inputs
        if rows.ndim not in (1, 2) or rows.shape[-1] != n:
            raise ShapeError(
                f"Expected an observation of {n} numbers, or rows of them. Got shape {rows.shape} "
                f"instead."
            )
        if self.config.carry_state and self._shape not in (None, rows.shape):
            raise ShapeError(
                f"The policy carries the states of observations of shape {self._shape}; reset it "
                f"before those of shape {rows.shape}."
            )
        self._shape = rows.shape
        seen = rows if self.normalisation is None else self.normalisation(rows)
        if rows.ndim == 2:
            return self.player.act(seen)[0 if self.task.is_discrete else 1]
        action, outputs = self.player.act_once(seen)
        return action if self.task.is_discrete else outputs.copy()

    def with_weights(self, weight: Floats) -> Self:
        """Return the policy with other weights (n_edges,)."""
        made = copy(self)  # which leaves out the player
        made.graph = self.graph._replace(weight=weight)
        return made

    def answer_beside(self, observation: Any, wanted: Any, kind: int) -> tuple[Any, float]:
        """Return the answer, as `answer` does, and its loss beside the one that is wanted."""
        seen = observation if self.normalisation is None else self.normalisation(observation)
        action, outputs, loss = self.player.act_beside(seen, wanted, kind)
        return (action if self.task.is_discrete else outputs.copy()), loss

    def predict(self, observation: Any, state: Floats | None = None) -> tuple[Any, Floats | None]:
        """Return the action, and the node states to give with the next observation.

        Without `state` an episode starts.  The states are None for a network that carries none.

        >>> import smgrnn
        >>> policy = smgrnn.distill("CartPole-v1", episodes=1, held_out=1).policy
        >>> action, state = policy.predict([0.0, 0.1, -0.02, 0.3])
        >>> action in (0, 1), state is None
        (True, True)
        """
        player, carries = self.player, self.config.carry_state
        own = self._shape, player.carried
        self._shape, player.carried = None, state if carries else None
        try:
            action = self(observation)
            return action, player.carried if carries else None
        finally:
            self._shape, player.carried = own

    def export(self, path: str | Path, **options: Any) -> list[Path]:
        """Write the network for use without smgrnn; return the new files.

        The ending of `path` decides: .c, .onnx, .graphml or .json.  `options` are those of
        `smgrnn.export.export`.

        >>> import smgrnn
        >>> policy = smgrnn.distill("xor", episodes=1).policy
        >>> [file.name for file in policy.export("xor.c")]
        ['xor.h', 'xor.c']
        """
        exporters = import_module("smgrnn.export")  # which builds on policies
        files: list[Path] = exporters.export(self, path, **options)
        return files

    def save(self, path: str | Path) -> None:
        """Write the policy to a safetensors file, which `smgrnn.load` reads.

        >>> import smgrnn
        >>> policy = smgrnn.distill("xor", episodes=1).policy
        >>> policy.save("xor.safetensors")
        >>> smgrnn.load("xor.safetensors").graph == policy.graph
        True
        """
        content = {
            "network": network_content(self.config, self.names),
            "task": self.task.to_dict(),
            "student": self.student,
        }
        arrays = graph_arrays(self.graph)
        if self.normalisation is not None:
            arrays |= to_arrays(self.normalisation, "normalisation.")
        write_arrays(path, "policy", content, arrays)

    def reset(self) -> None:
        """Set the node states to zero."""
        self._shape = None
        self.player.reset()

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in self.__dict__.items() if name != "player"}
        return kept | {"_shape": None}

    @cached_property
    def player(self) -> Player:
        """The network to run, with the node states that it carries."""
        return Player(self.graph, self.config)


def policy_of(network: Any, *, is_choice: bool | None = None) -> Policy:
    """Return a network of any kind as a policy: an `SMGrNN`, a `Learner`, a run or its record.

    Whether the largest output of a bare network is the action, or all of them are, follows from the
    loss of a learner; of another it is the largest, unless there is but one.

    >>> from smgrnn import SMGrNN
    >>> policy_of(SMGrNN(4, 2)).task.is_discrete, policy_of(SMGrNN(4, 1)).task.is_discrete
    (True, False)
    """
    if isinstance(network, Policy):
        return network
    record = getattr(network, "record", network)
    if hasattr(record, "selected"):
        found: Policy = record.selected.policy
        return found
    if not (hasattr(network, "graph") and hasattr(network, "config")):
        raise ConfigError(
            f"Expected an SMGrNN, a Learner, a policy or a run. Got a {type(network).__name__} "
            f"instead."
        )
    config, learning = network.config, getattr(network, "learning", LearningConfig())
    if config.state_dim != 1:
        raise ConfigError("Only networks with scalar node states are policies; use state_dim=1.")
    if is_choice is None:
        is_choice = learning.loss != "mse" and config.n_outputs > 1
    size = {"n_inputs": config.n_inputs, "n_outputs": config.n_outputs}
    task = Task(id=BARE, **size, is_discrete=is_choice)
    return Policy(network.graph, config, task, names=getattr(network, "names", None))


class Kept(NamedTuple):
    """A network as a file keeps it."""

    config: NetworkConfig
    graph: Graph
    names: Names | None
    log: EditLog


def read_policy(path: str | Path) -> Policy:
    """Return what `Policy.save` wrote."""
    content, arrays = read_arrays(path, "policy")
    with describing(path, "policy"):
        config, names = network_settings(content["network"])
        task, student = Task.from_dict(content["task"]), content["student"]
        if not isinstance(student, str) or plain(student) != student:
            raise ConfigError("its student is not valid text")
        scales = None
        if "normalisation.mean" in arrays:
            scales = from_arrays(Normalisation, arrays, "normalisation.")
        about: Any = {"student": student, "normalisation": scales, "names": names}
        return Policy(network_graph(arrays), config, task, **about)


def read_network(path: str | Path) -> Learner | Kept:
    """Return the network that `SMGrNN.save` or `Learner.save` wrote; it takes no torch."""
    if kind_of(path) == "learner":
        return Learner.load(path)
    content, arrays = read_arrays(path, "network")
    with describing(path, "network"):
        config, names = network_settings(content)
        return Kept(config, network_graph(arrays), names, log_from(arrays))


def scale_action(task: Task, outputs: Any) -> Any:
    """Return the actions for outputs: as they are, or scaled from ±1 to the bounds there are."""
    if task.is_discrete or not task.is_bounded:
        return outputs
    low, high = np.asarray(task.action_low), np.asarray(task.action_high)
    return (low + (np.clip(outputs, -1, 1) + 1) / 2 * (high - low)).astype(np.float32)


def scale_target(task: Task, actions: Any) -> Any:
    """Return the outputs for continuous actions: scaled from the bounds to ±1."""
    low, high = np.asarray(task.action_low), np.asarray(task.action_high)
    return 2 * (np.clip(actions, low, high) - low) / (high - low) - 1
