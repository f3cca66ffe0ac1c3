"""Learner: a network, its optimizer and its plasticity, all compiled."""

import operator
import threading
import warnings
from collections.abc import Callable
from dataclasses import fields
from math import inf, isfinite, isnan
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from smgrnn.arrays import Arrays, Bools, Floats, Ints, from_arrays, to_arrays
from smgrnn.config import USUAL_PRESET, in_own_loop
from smgrnn.engine.player import Player, real_numbers, widen
from smgrnn.engine.protection import protection
from smgrnn.engine.state import LEARNED, LearnerState, carry_state, make_handle, start_state
from smgrnn.engine.steps import Handle, Rows, act_step, end_episode_once, learn_once, learn_rows
from smgrnn.errors import (
    ConfigError,
    GrowthLimitWarning,
    NonFiniteError,
    ShapeError,
    known_arguments,
    short,
)
from smgrnn.graph.drawing import NamedNetwork
from smgrnn.graph.edit import apply
from smgrnn.graph.files import network_content, network_settings
from smgrnn.graph.initial import initial_graph
from smgrnn.graph.log import EditLog, log_from
from smgrnn.graph.settings import NetworkNumbers, Readout
from smgrnn.graph.state import Graph, check
from smgrnn.interrupts import interrupts_deferred
from smgrnn.learning.credit import KEPT, NEXT, check_window
from smgrnn.learning.optimizers import averaged, rate_at
from smgrnn.learning.settings import LearningConfig
from smgrnn.machine import check_memory
from smgrnn.rules import PlasticityConfig, PlasticityModule
from smgrnn.rules.history import TOTAL, alike
from smgrnn.rules.rule import follows_size, frozen
from smgrnn.rules.size import Aim
from smgrnn.seeding import dump_generator, restore_generator, stream
from smgrnn.storage import describing, read_arrays, write_arrays
from smgrnn.validation import Count, Probability, checked

Made = TypeVar("Made", bound="Learner")
LEARNING_NAMES = {entry.name for entry in fields(LearningConfig)}
DERIVED = ("workspace.", "settings.")
"""Parts of the state that follow from the graph and the settings, and are not saved."""
_NO_TARGET = np.empty(0)


class Outcome(NamedTuple):
    """The actions and losses of a stream of examples, row by row (n,)."""

    actions: Ints
    losses: Floats


class Learner(NamedNetwork):
    """Learns one example at a time and restructures itself, at the speed of compiled code.

    It has the network, optimizer and rules of `SMGrNN`, `torch.optim` and `StructuralPlasticity`:
    from the same seed, and in double precision, both take the same decisions.

    Parameters
    ----------
    n_inputs, n_outputs
        Number of values that go in and that come out.
    learning
        Optimizer and loss; by default those of the preset.
    plasticity
        Rules of growth and pruning; by default those of the preset.  Your own rule is an object
        with `decide(evidence, rng)`.
    max_parameters
        Maximum number of edges; None lets the size follow the error.
    preset
        The settings to start from: "frugal", "paper", "as_printed" or a settings file.
    graph
        Start from this graph instead of a random one.
    seed
        Seed of the initial graph and of the rules' random choices.
    **settings
        Settings of the network (`NetworkConfig`) and of learning (`LearningConfig`), such as
        `n_hidden`, `learning_rate` and `loss`.

    Examples
    --------
    >>> import numpy as np
    >>> from smgrnn import Learner
    >>> learner = Learner(4, 2, seed=0)
    >>> action = learner.learn([0.1, 0.2, 0.3, 0.4], 1)  # an observation and its label
    >>> learner.end_episode()
    >>> learner.act([0.1, 0.2, 0.3, 0.4]) in (0, 1)
    True
    >>> rows = np.random.default_rng(0).normal(size=(1000, 4))
    >>> learner.learn_stream(rows, rows[:, 0] > 0).losses.shape
    (1000,)
    >>> learner.n_updates
    1001
    >>> twin = Learner(4, 2)
    >>> twin.restore(learner.arrays())
    >>> twin.graph == learner.graph
    True
    """

    @known_arguments
    def __init__(
        self,
        n_inputs: int,
        n_outputs: int,
        *,
        learning: LearningConfig | None = None,
        plasticity: PlasticityConfig | None = None,
        max_parameters: int | None = None,
        preset: str | Path = USUAL_PRESET,
        graph: Graph | None = None,
        seed: int = 0,
        **settings: Any,
    ) -> None:
        if settings.pop("state_dim", 1) != 1:
            raise ConfigError("The compiled engine has scalar node states; use state_dim=1.")
        usual, changes = in_own_loop(preset), {"loss": "cross_entropy"}
        changes |= {name: settings.pop(name) for name in LEARNING_NAMES & settings.keys()}
        checked(learning, LearningConfig | None, "The 'learning' of Learner")
        checked(plasticity, PlasticityConfig | None, "The 'plasticity' of Learner")
        self.learning = learning or LearningConfig(**vars(usual.learning.changed(**changes)))
        self.plasticity = plasticity or usual.plasticity
        if max_parameters is not None:
            self.plasticity = self.plasticity.limited(max_parameters)
        readout: Readout = "sum" if self.learning.loss == "cross_entropy" else "state"
        network = usual.network.changed(**settings)
        self.config = config = network.sized(n_inputs, n_outputs, readout)
        self.log = EditLog()
        """Every edit so far, with the number of examples learned before it."""
        self.loss = 0.0
        """Loss of the example that `learn` learned last."""
        numbers = NetworkNumbers.of(config)
        if numbers.reads_sums and self.learning.loss == "mse":
            raise ConfigError(
                "The compiled engine reads sums as the logits of choices; with mse use "
                "readout='state'."
            )
        self._is_discrete = self.learning.loss != "mse"
        self._n_inputs, self._n_outputs = config.n_inputs, config.n_outputs
        self._has_warned = False
        self._lock = threading.Lock()
        graph = initial_graph(config, stream(seed, "init")) if graph is None else graph
        check(graph, config)
        self._check_memory(graph)
        graph = from_arrays(Graph, graph._asdict())  # a writable copy
        rng = stream(seed, "plasticity")
        self._module = PlasticityModule(
            self.plasticity, graph, config.iterations, rng, carry_state=config.carry_state
        )
        self._set_state(start_state(graph, config, self.learning, self._module, seed))

    def _check_memory(self, graph: Graph) -> None:
        """Refuse settings whose state does not fit into memory, or would not after growth."""
        rules, n_iterations = self.plasticity, self.config.iterations
        n_nodes, n_edges = graph.n_nodes, graph.n_edges
        growth: Any = rules.growth
        n = growth.n_candidates if rules.needs("candidates") else 0
        parts = [
            (3.0 * rules.window * n_edges, f"a window of {rules.window} updates"),
            (2.0 * n_iterations * n_nodes, f"{n_iterations} iterations"),
            (n and n * (growth.candidate_sources + 16.0), f"{n} candidates"),
        ]
        what = f"A learner of {n_edges} edges with {max(parts)[1]}"
        check_memory(8.0 * (sum(size for size, _ in parts) + 20 * n_edges), what)
        if not rules.is_static:
            n_nodes, n_edges = max(n_nodes, rules.max_nodes), max(n_edges, rules.max_edges)
        check_window(self.learning, self.config, n_nodes, n_edges)

    @classmethod
    def from_network(
        cls,
        network: Any,
        learning: LearningConfig | None = None,
        plasticity: PlasticityConfig | None = None,
        *,
        seed: int = 0,
    ) -> Self:
        """Start from the graph and weights of an SMGrNN; `SMGrNN.from_network` goes back.

        >>> from smgrnn import SMGrNN
        >>> Learner.from_network(SMGrNN(4, 2)).graph
        Graph(5 inputs, 0 hidden, 2 outputs, 10 edges)
        """
        settings: Any = {"learning": learning, "plasticity": plasticity, "seed": seed}
        made = cls(**vars(network.config), **settings, graph=network.graph)
        made.names = getattr(network, "names", None)
        return made

    @property
    def graph(self) -> Graph:
        """The graph as it is now, with a copy of the weights; its other arrays are read-only."""
        return _shown(self._state)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of nodes and of edges."""
        graph = self._state.graph
        return graph.n_nodes, graph.n_edges

    @property
    def averaged_graph(self) -> Graph:
        """The graph with the running mean of its weights, if `learning.averaging` keeps one."""
        state = self._state  # once: another thread may replace it
        graph = _shown(state)
        if not state.average.shape[1]:
            return graph
        return graph._replace(weight=averaged(state.average, graph.weight))

    @property
    def progress(self) -> float | None:
        """Fraction of the run completed; None, as at first, if its length is not known."""
        progress = self._module.aim.progress
        return None if progress < 0.0 else progress

    @progress.setter
    def progress(self, fraction: float | None) -> None:
        now = -1.0
        if fraction is not None:
            now = checked(fraction, Probability, "The fraction of the run")
        self._module.aim.progress = now
        self._state.rate[0] = rate_at(self.learning.schedule, now)

    def advance(self, fraction: float) -> None:
        """Set `progress` from the fraction of a run's episodes; growth by size counts updates."""
        counts_updates = follows_size(self.plasticity.growth)
        self.progress = self._module.aim.in_updates(fraction) if counts_updates else fraction

    @property
    def size(self) -> int | None:
        """Target number of edges, for rules that follow a size; None asks for no size."""
        return self._module.aim.size or None

    @size.setter
    def size(self, n_edges: int | None) -> None:
        self._module.aim.size = checked(n_edges, Count | None, "The number of edges") or 0

    def protect(self, fraction: float) -> None:
        """Reduce updates of the edges that matter now by a fraction, and prune none of them.

        >>> learner = Learner(1, 2, bias=False, weight_std=0.1)
        >>> before = learner.graph
        >>> learner.protect(1.0)
        >>> _ = learner.learn([1.0], 0)
        >>> np.allclose(learner.graph.weight, before.weight)
        True
        """
        fraction = checked(fraction, Probability, "The protected fraction")
        with self._alone():
            protected = protection(self._state.graph, fraction)
            self._set_state(self._state._replace(protection=protected))

    def note_return(self, total: float, target_return: float) -> None:
        """Note an episode's return; nothing grows while the recent mean reaches the target."""
        self._module.aim.note_return(float(total), target_return, self.n_updates)

    @property
    def n_updates(self) -> int:
        """Updates of the weights so far."""
        return int(self._state.watched.history.clock[TOTAL])

    @property
    def n_examples(self) -> int:
        """Examples learned so far."""
        return int(self._state.examples[LEARNED])

    @property
    def outputs(self) -> Floats:
        """States of the output nodes after the last call (n_outputs,)."""
        first = self.config.n_input_nodes
        return self._state.trace[-1, first : first + self._n_outputs].copy()

    def act(self, observation: ArrayLike) -> int | Ints | Floats:
        """Run the network without learning; return the greedy action, or all outputs with mse.

        A batch (b, n_inputs) gives one for each row, unless the network carries states.
        """
        rows = real_numbers(observation)
        if rows.ndim == 2:
            if self.config.carry_state:
                raise ShapeError(
                    "A network that carries its states from call to call takes one observation at "
                    "a time. Got a batch instead."
                )
            rows = _read(rows, (len(rows), self._n_inputs), "rows")
            with self._alone():
                actions, outputs = Player(self._state.graph, self.config).act(rows)
            return actions if self._is_discrete else outputs
        row = self._row(rows)
        with self._alone():
            action = act_step(self._engine.handle, row)
            outputs = self.outputs
        if action < 0:
            raise NonFiniteError("The observation or an output of the network is NaN or infinite.")
        return action if self._is_discrete else outputs

    def learn(self, observation: ArrayLike, label: int | ArrayLike) -> int | Floats:
        """Run the network, learn the label, restructure if due; return the action before that."""
        number, target = 0, _NO_TARGET
        if self._is_discrete:
            # The loss says which of the two kinds of label it is; index() refuses the other.
            try:
                number = operator.index(label)  # type: ignore[arg-type]
            except TypeError:
                number = -1
            if not 0 <= number < self._n_outputs:
                last = self._n_outputs - 1
                raise ShapeError(
                    f"A label must be an int from 0 to {last}. Got {short(label)} instead."
                )
        else:
            target = _read(label, (self._n_outputs,), "a target")
        row = self._row(observation)
        action, _ = self.learn_by(learn_once, row, number, target)
        return action if self._is_discrete else self.outputs

    def _row(self, observation: ArrayLike) -> Floats:
        """Return the states of the input nodes for an observation."""
        row = _read(observation, (self._n_inputs,), "an observation")
        return widen(row, self.config.n_input_nodes)

    def learn_by(self, step: Callable[..., Any], *arguments: Any) -> Any:
        """Learn by a step, which takes the handle and `arguments`; the second value is the loss."""
        with self._alone():
            done = step(self._engine.handle, *arguments)
            if not isfinite(done[1]):
                raise self._not_finite(done[1])
            self.loss = done[1]
            self._call_if_due(is_last=False)
        return done

    def end_episode(self) -> None:
        """End an episode: apply gradients that are left, reset node states, restructure if due."""
        with self._alone():
            if not end_episode_once(self._engine.handle):
                raise self._not_finite(inf)
            self._call_if_due(is_last=True)

    def settle(self) -> None:
        """Call the pruning rule now, as at the end of a run: rules prune to the size asked for.

        >>> learner = Learner(4, 2, plasticity=PlasticityConfig(size=3))
        >>> learner.settle()
        >>> learner.graph.n_edges
        3
        """
        period, module = self.plasticity.prune_period, self._module
        with self._alone():
            self.progress = 1.0
            module.calls += period - 1 - module.calls % period
            if not self.plasticity.is_static:
                self._call()

    def learn_stream(
        self, observations: ArrayLike, labels: ArrayLike, is_last: ArrayLike | None = None
    ) -> Outcome:
        """Learn many examples in one go.

        Parameters
        ----------
        observations
            One example per row (n, n_inputs).
        labels
            Action numbers (n,), or with mse target outputs (n, n_outputs).
        is_last
            Which rows end an episode (n,); none by default.
        """
        rows, is_discrete = real_numbers(observations), self._is_discrete
        n, n_targets = len(rows), 0 if is_discrete else self._n_outputs
        values = real_numbers(labels, "Labels")
        numbers = np.zeros(n, np.int64)
        if is_discrete:
            with np.errstate(invalid="ignore"):  # NaN becomes some number, and is no whole one
                numbers = values.astype(np.int64)
            if not np.array_equal(numbers, values):
                raise ShapeError("The labels of a stream must be whole numbers.")
        targets = np.zeros((n, 0)) if is_discrete else values
        ends: Bools = np.zeros(n, np.bool_) if is_last is None else np.asarray(is_last, np.bool_)
        shapes = (rows.shape, numbers.shape, targets.shape, ends.shape)
        if shapes != ((n, self._n_inputs), (n,), (n, n_targets), (n,)):
            found = f"{rows.shape}, {np.shape(labels)} and {ends.shape}"
            kind = "labels (n,)" if is_discrete else f"targets (n, {n_targets})"
            raise ShapeError(
                f"The shapes of a stream must be observations (n, {self._n_inputs}), {kind} and "
                f"is_last (n,). Got {found} instead."
            )
        if n and not (numbers.min() >= 0 and numbers.max() < self._n_outputs):
            raise ShapeError(f"Labels must be in 0 … {self._n_outputs - 1}.")
        rows = widen(rows, self.config.n_input_nodes)
        learned = Rows(rows, numbers, targets, ends, np.zeros(n, dtype=np.int64), np.zeros(n))
        row = 0

        def stretch(handle: Handle, stop: int) -> tuple[float, bool, bool]:
            nonlocal row
            row, loss = learn_rows(handle, learned, row, stop)
            return loss, row > 0 and bool(ends[row - 1]), row == n

        self.run(stretch)
        return Outcome(learned.actions, learned.losses)

    def run(self, stretch: Callable[[Handle, int], tuple[float, bool, bool]]) -> None:
        """Run a compiled stretch of learning steps over and over, until it is done.

        `stretch` takes the handle and the update after which the module may be due (negative: at
        the end of an episode).  It returns the loss, whether an episode has ended, and whether it
        is done.
        """
        is_done = False
        with self._alone(), interrupts_deferred() as deliver:
            while not is_done:
                stop = self._module.next_stop(self.n_updates)
                loss, is_last, is_done = stretch(self._engine.handle, stop)
                if not isfinite(loss):
                    raise self._not_finite(loss)
                self._call_if_due(is_last=is_last)
                deliver()

    def forget_log(self) -> EditLog:
        """Return the log of edits and start an empty one."""
        with self._alone():
            log, self.log = self.log, EditLog()
        return log

    def arrays(self) -> Arrays:
        """Return the whole state as named arrays, from which `restore` continues exactly."""
        with self._alone():
            return self._arrays()

    def _arrays(self) -> Arrays:
        module, kept = self._module, to_arrays(self._state)
        return {name: each for name, each in kept.items() if not name.startswith(DERIVED)} | {
            "calls": np.array([module.calls, module.last_call]),
            "aim": module.aim.to_array(),
            "rng": np.frombuffer(dump_generator(module.rng).encode(), np.uint8),
        }

    def restore(self, arrays: Arrays) -> None:
        """Continue from a result of `arrays` with the same settings; the log becomes empty."""
        module, graph = self._module, from_arrays(Graph, arrays, "graph.")
        check(graph, self.config)
        fresh = start_state(graph, self.config, self.learning, module)
        like = to_arrays(fresh)
        derived = {name: each for name, each in like.items() if name.startswith(DERIVED)}
        state = from_arrays(LearnerState, arrays | derived)
        module.check(state.watched, graph)
        calls, clock, n_past = arrays["calls"], state.past.clock, self.learning.through_time
        elsewhere = ("graph.", "watched.", "protection", *DERIVED)
        names = [name for name in like if not name.startswith(elsewhere)]
        fits = (
            alike((arrays[name] for name in names), (like[name] for name in names))
            and state.watched.history.window == self.plasticity.window
            and alike([calls], [np.zeros(2, np.int64)])
            and min(state.step[0], *state.examples, *calls, *clock) >= 0
            and clock[NEXT] < max(n_past, 1)
            and clock[KEPT] <= n_past
            and state.protection.dtype == np.float64
            and state.protection.shape in ((0, graph.n_edges), (1, graph.n_edges))
            and bool(((state.protection >= 0.0) & (state.protection <= 1.0)).all())
        )
        if not fits:
            raise ShapeError("The arrays belong to a learner with other settings.")
        aim = Aim.from_array(arrays["aim"])
        with self._alone():
            restore_generator(module.rng, arrays["rng"].tobytes().decode())
            self._set_state(state._replace(workspace=fresh.workspace, settings=fresh.settings))
            self.log = EditLog()
            module.aim, (module.calls, module.last_call) = aim, calls.tolist()

    def save(self, path: str | Path) -> None:
        """Write everything to a safetensors file, from which `load` continues exactly.

        The code of a user's own rule is not saved.

        >>> learner = Learner(2, 2)
        >>> learner.save("learner.safetensors")
        >>> Learner.load("learner.safetensors").graph == learner.graph
        True
        """
        content = {
            "network": network_content(self.config, self.names),
            "learning": self.learning.to_dict(),
            "plasticity": self.plasticity.to_dict(),
        }
        with self._alone():
            loss, log = {"loss": self.loss}, to_arrays(self.log.columns, "log.")
            write_arrays(path, "learner", content | loss, self._arrays() | log)

    @classmethod
    def load(cls, path: str | Path, *, plasticity: PlasticityConfig | None = None) -> Self:
        """Read a learner that `save` wrote; give its `plasticity` if a rule in it is your own.

        >>> Learner(2, 2).save("learner.safetensors")
        >>> Learner.load("learner.safetensors").config.n_inputs
        2
        """
        content, arrays = read_arrays(path, "learner")
        with describing(path, "learner"):
            config, names = network_settings(content["network"])
            learning = LearningConfig.from_dict(content["learning"])
            rules = plasticity or PlasticityConfig.from_dict(content["plasticity"])
            graph = from_arrays(Graph, arrays, "graph.")
            learner = cls(**vars(config), learning=learning, plasticity=rules, graph=graph)
            learner.restore(arrays)
            learner.log = log_from(arrays)
            learner.names, learner.loss = names, float(content["loss"])
        return learner

    def __reduce__(self) -> tuple[Any, ...]:
        """Take a copy by way of its arrays: a handle belongs to this learner and this process."""
        settings = self.config, self.learning, self.plasticity
        ours = ("_engine", "_module", "_lock")
        with self._alone():
            facts = {name: each for name, each in vars(self).items() if name not in ours}
            facts["log"] = log_from(to_arrays(self.log.columns, "log."))  # or twins would share it
            return _revive, (type(self), settings, self._arrays()), facts

    def __repr__(self) -> str:
        return f"Learner({self._state.graph}, {self.n_updates} updates)"

    def _alone(self) -> threading.Lock:
        """Return the lock that a user of the state holds, unless somebody holds it already.

        Kernels write without asking, so a second thread is refused, and a rule that calls back.
        Two threads that come at the same instant take turns.
        """
        if self._lock.locked():
            raise ConfigError(
                "This Learner is in use by another thread or by its own rule. Give each thread "
                "its own Learner."
            )
        return self._lock

    @property
    def _state(self) -> LearnerState:
        return self._engine.state

    def _set_state(self, state: LearnerState) -> None:
        """Replace the state together with its handle, in one assignment."""
        self._engine = _Engine(state, make_handle(state))

    def _call_if_due(self, *, is_last: bool) -> None:
        if self._module.is_due(self._state.watched, is_last=is_last):
            self._call()

    def _call(self) -> None:
        """Call the plasticity module once, apply what it decides, and log it."""
        with interrupts_deferred():
            state, module = self._state, self._module
            protected: Bools = np.logical_or.reduce(state.protection > 0.0)
            edit, candidates, is_capped = module.call(state.graph, state.watched, protected)
            is_redrawn = candidates is not state.watched.candidates
            if is_redrawn:
                state = state._replace(watched=state.watched._replace(candidates=candidates))
            if edit:
                state = carry_state(state, module, apply(state.graph, edit, is_trusted=True))
                self.log.append(self.n_examples, module.calls, edit)
            if edit or is_redrawn:
                self._set_state(state)
        if is_capped and not self._has_warned:
            self._has_warned = True
            limits = self.plasticity.max_nodes, self.plasticity.max_edges
            warnings.warn(GrowthLimitWarning.at(str(self.graph), *limits), stacklevel=4)

    def _not_finite(self, loss: float) -> NonFiniteError:
        n = self.n_updates
        if isnan(loss):
            return NonFiniteError(
                f"The observation, an output, the loss or its gradient was NaN or infinite at "
                f"update {n + 1}; the network is as it was after update {n}."
            )
        return NonFiniteError(f"A weight became infinite at update {n}; lower the learning rate.")


class _Engine(NamedTuple):
    """A state and the handle by which kernels read it, which are only ever replaced together."""

    state: LearnerState
    handle: Handle


def _shown(state: LearnerState) -> Graph:
    """Return the graph of a state, with a copy of the weights; its other arrays are read-only."""
    return frozen(state.graph)._replace(weight=state.graph.weight.copy())


def _revive(kind: type[Made], settings: Any, arrays: Arrays) -> Made:
    """Return the learner whose state is in these arrays; a subclass gets its own fields after."""
    config, learning, plasticity = settings
    made, graph = kind.__new__(kind), from_arrays(Graph, arrays, "graph.")
    Learner.__init__(made, **vars(config), learning=learning, plasticity=plasticity, graph=graph)
    made.restore(arrays)
    return made


def _read(values: ArrayLike, shape: tuple[int, ...], what: str) -> Floats:
    got = real_numbers(values)
    if got.shape != shape:
        raise ShapeError(f"Expected {what} of {shape[-1]} numbers. Got shape {got.shape} instead.")
    return got
