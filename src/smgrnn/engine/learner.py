"""Learner: a network, its optimizer and its plasticity, all compiled."""

import operator
import warnings
import weakref
from collections.abc import Callable, Iterable
from math import isfinite, isnan
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from smgrnn.arrays import Arrays, Bools, Floats, Ints, from_arrays, to_arrays
from smgrnn.config import LearningConfig, NetworkConfig, PlasticityConfig
from smgrnn.engine.handle import Handle, empty_handle, hold, release, state_of
from smgrnn.engine.protection import protection
from smgrnn.engine.restructuring import carry_state, engine_settings, restructure
from smgrnn.engine.state import CALLED, CALLS, NO_ROOM, LearnerState, new_room, start_state
from smgrnn.engine.steps import act_step, end_episode, learn_step
from smgrnn.engine.stream import Advanced, Rows, act_rows, learn_stream
from smgrnn.errors import (
    ConfigError,
    FileFormatError,
    GrowthLimitWarning,
    NonFiniteError,
    ShapeError,
    reason,
    short,
)
from smgrnn.graph.edit import apply
from smgrnn.graph.files import network_content, network_settings
from smgrnn.graph.initial import initial_graph
from smgrnn.graph.log import EditLog, append_edit, log_arrays, log_from
from smgrnn.graph.notebook import network_html
from smgrnn.graph.state import Graph, Network, check, check_width
from smgrnn.interrupts import interrupts_deferred
from smgrnn.kernels import as_python
from smgrnn.learning.rules import LEARNING
from smgrnn.learning.schedule import averaged
from smgrnn.learning.through_time import Past, check_window
from smgrnn.machine import check_memory
from smgrnn.names import Names
from smgrnn.plasticity.history import TOTAL, check_history
from smgrnn.plasticity.rule import PythonRule, ask_rule, check_rule
from smgrnn.plasticity.schedule import check_errors, check_noticed, is_due
from smgrnn.plasticity.size import PROGRESS, note_return
from smgrnn.plasticity.size import SIZE as WANTED
from smgrnn.seeding import dump_generator, restore_generator, stream
from smgrnn.storage import read_arrays, write_arrays
from smgrnn.validation import Count, Probability, checked

_NO_TARGET = np.empty(0)
_NEVER = 2**62  # updates


class Outcome(NamedTuple):
    """The actions and losses of a stream of examples, row by row (n,)."""

    actions: Ints
    losses: Floats


class Learner:
    """Learns one example at a time and restructures itself, at the speed of compiled code.

    It is the same network, optimizer and rules as `SMGrNN`, a `torch.optim` optimizer and
    `StructuralPlasticity`: from the same seed both take the same decisions, if the other has
    `dtype=torch.float64` too, until rounding tells them apart.

    Parameters
    ----------
    config
        Settings of the network.
    learning
        Optimizer and loss.
    plasticity
        Rules of growth and pruning; by default those of the preset frugal, with a call every 1000
        updates, and a size that follows the error.  `PlasticityConfig()` has the paper's rules with
        a call every 100 updates; `PlasticityConfig.paper()`, for loops with episodes, is the
        reading that comes closest to the paper's sizes.
    graph
        Start from this graph instead of a random one.
    seed
        Seed of the initial graph and of the rules' random choices.
    rule
        A rule of your own, `rule(graph, history, rng) -> GraphEdit`, as `StructuralPlasticity`
        takes it: called whenever the module is due, instead of those that the settings name.  It
        runs as Python, which is slow: a call takes as long as hundreds of updates.  A compiled rule
        is a `smgrnn.plasticity.Rule`.

    Examples
    --------
    >>> import numpy as np
    >>> from smgrnn import Learner, NetworkConfig
    >>> learner = Learner(NetworkConfig(n_inputs=4, n_outputs=2), seed=0)
    >>> action = learner.learn([0.1, 0.2, 0.3, 0.4], 1)  # an observation and its label
    >>> learner.end_episode()
    >>> learner.act([0.1, 0.2, 0.3, 0.4]) in (0, 1)
    True
    >>> rows = np.random.default_rng(0).normal(size=(1000, 4))
    >>> learner.learn_stream(rows, rows[:, 0] > 0).losses.shape
    (1000,)
    >>> learner.n_updates
    1001
    >>> twin = Learner(learner.config)
    >>> twin.restore(learner.arrays())
    >>> twin.graph == learner.graph
    True
    """

    def __init__(
        self,
        config: NetworkConfig,
        learning: LearningConfig | None = None,
        plasticity: PlasticityConfig | None = None,
        *,
        graph: Graph | None = None,
        seed: int = 0,
        rule: PythonRule | None = None,
    ) -> None:
        if config.state_dim != 1:
            raise ConfigError("The compiled engine has scalar node states; use state_dim=1.")
        check_rule(rule)
        self.config = config
        self.learning = learning or LearningConfig()
        self.plasticity = plasticity or PlasticityConfig.frugal()
        self.log = EditLog.start()
        """Every edit so far, with the update after which it was made."""
        self.names: Names | None = None
        """Names of inputs and outputs, which pictures and exports show; see `name`."""
        self.loss = 0.0
        """Loss of the example that `learn` learned last."""
        if config.readout == "sum" and self.learning.loss == "mse":
            raise ConfigError(
                "The compiled engine reads sums as the logits of choices; with mse use "
                "readout='state'."
            )
        self.rule = rule
        settings = engine_settings(self.config, self.learning, self.plasticity)
        self._interval = settings.interval
        # Compiled loops leave a rule that is Python to the learner.
        self._settings = settings if rule is None else settings._replace(interval=_NEVER)
        self._is_discrete = self.learning.loss != "mse"
        self._n_inputs, self._n_outputs = config.n_inputs, config.n_outputs
        self._rng = stream(seed, "plasticity")
        self._has_warned = False
        self._handle = empty_handle()
        release(self._handle)  # compiled now, and not while memory is being freed
        weakref.finalize(self, release, self._handle).atexit = False
        graph = initial_graph(config, stream(seed, "init")) if graph is None else graph
        check(graph)
        check_width(graph, config)
        self._check_memory(graph)
        check_window(self.learning, config, self.plasticity, graph)
        if rule is None:
            check_errors(self.plasticity, LEARNING[self.learning.rule])
        graph = from_arrays(Graph, graph._asdict())  # a copy of its own, which can be written to
        with interrupts_deferred():
            self._set_state(
                start_state(graph, self._settings, self.learning, self.plasticity, self._rng, seed)
            )

    def _check_memory(self, graph: Graph) -> None:
        """Refuse settings whose state would not fit into memory."""
        rules, n_iterations = self.plasticity, self.config.iterations
        n_numbers = {
            f"a window of {rules.window} updates": 3 * rules.window * graph.n_edges,
            f"{n_iterations} iterations": 2 * n_iterations * graph.n_nodes,
            f"{rules.n_candidates} candidates": rules.n_candidates * (rules.candidate_sources + 16),
        }
        largest = max(n_numbers, key=lambda name: n_numbers[name])
        what = f"A learner of {graph.n_edges} edges with {largest}"
        check_memory(8.0 * (sum(n_numbers.values()) + 20 * graph.n_edges), what)

    @classmethod
    def from_network(
        cls,
        network: Network,
        learning: LearningConfig | None = None,
        plasticity: PlasticityConfig | None = None,
        *,
        seed: int = 0,
    ) -> Self:
        """Start from the graph and weights of an SMGrNN; `SMGrNN.from_network` goes back.

        >>> from smgrnn import SMGrNN
        >>> Learner.from_network(SMGrNN(4, 2, density=1.0)).graph
        Graph(4 inputs, 0 hidden, 2 outputs, 8 edges)
        """
        made = cls(network.config, learning, plasticity, graph=network.graph, seed=seed)
        made.names = getattr(network, "names", None)
        return made

    @property
    def graph(self) -> Graph:
        """The graph as it is now, with a copy of the weights."""
        graph = self._state.graph
        return graph._replace(weight=graph.weight.copy())

    @property
    def averaged_graph(self) -> Graph:
        """The graph with the running mean of its weights, if `learning.averaging` keeps one.

        >>> learner = Learner(NetworkConfig(n_inputs=1, n_outputs=2), LearningConfig(averaging=0.1))
        >>> learner.averaged_graph == learner.graph
        True
        """
        graph, average = self.graph, self._state.average
        if not average.shape[1]:
            return graph
        return graph._replace(weight=averaged(average, graph.weight))

    @property
    def progress(self) -> float | None:
        """The share of the run that is behind; None, as at first, if its length is not known."""
        progress = float(self._state.noticed.aim[PROGRESS])
        return None if progress < 0.0 else progress

    @progress.setter
    def progress(self, share: float | None) -> None:
        self._state.noticed.aim[PROGRESS] = (
            -1.0 if share is None else checked(share, Probability, "The share of the run")
        )

    @property
    def size(self) -> int | None:
        """The number of edges that rules which follow a size end with; None if none is asked for.

        >>> learner = Learner(NetworkConfig(n_inputs=4, n_outputs=2))
        >>> learner.size = 12
        >>> learner.size
        12
        """
        return int(self._state.noticed.aim[WANTED]) or None

    @size.setter
    def size(self, n_edges: int | None) -> None:
        wanted = checked(n_edges, Count | None, "The number of edges")
        self._state.noticed.aim[WANTED] = wanted or 0

    def protect(self, share: float) -> None:
        """Hold updates of the edges that matter now back by a share, and prune none of them.

        >>> learner = Learner(NetworkConfig(n_inputs=1, n_outputs=2, density=1.0))
        >>> before = learner.graph
        >>> learner.protect(1.0)
        >>> _ = learner.learn([1.0], 0)
        >>> np.allclose(learner.graph.weight, before.weight)
        True
        """
        part = checked(share, Probability, "The share that is held back")
        held = protection(self._state.graph, part)
        self._set_state(self._state._replace(protection=held))

    def say_return(self, total: float, bar: float) -> None:
        """Note the return of an episode; while the mean of the last reaches `bar`, nothing grows.

        >>> Learner(NetworkConfig(n_inputs=4, n_outputs=2)).say_return(500.0, bar=475.0)
        """
        note_return(self._state.noticed.aim, total, bar)

    @property
    def n_updates(self) -> int:
        """Examples learned so far."""
        return int(self._state.history.clock[TOTAL])

    @property
    def outputs(self) -> Floats:
        """States of the output nodes after the last call (n_outputs,)."""
        first = self._n_inputs
        return self._state.trace[-1, first : first + self._n_outputs].copy()

    def act(self, observation: ArrayLike) -> int | Ints | Floats:
        """Run the network without learning; return the greedy action, or all outputs with mse.

        A batch (b, n_inputs) gives one of them for each row.  Its rows have nothing to do with each
        other, so a network that carries states takes one observation at a time.
        """
        rows = np.ascontiguousarray(observation, dtype=np.float64)
        if rows.ndim == 2:
            return self._act_on(rows)
        action = act_step(self._handle, _read(rows, self._n_inputs, "an observation"))
        if action < 0:
            raise NonFiniteError("The observation or an output of the network is NaN or infinite.")
        return action if self._is_discrete else self.outputs

    def _act_on(self, rows: Floats) -> Ints | Floats:
        """Return the actions (b,) of a batch, or with mse its outputs (b, n_outputs)."""
        if self.config.carry_state:
            raise ShapeError(
                "A network that carries its states from call to call takes one observation at a "
                "time. Got a batch instead."
            )
        if rows.shape[1] != self._n_inputs:
            raise ShapeError(
                f"Expected rows of {self._n_inputs} numbers. Got shape {rows.shape} instead."
            )
        actions, outputs = np.zeros(len(rows), np.int64), np.zeros((len(rows), self._n_outputs))
        act_rows(self._handle, rows, actions, outputs)
        if actions.size and actions.min() < 0:
            raise NonFiniteError(
                f"Row {actions.argmin()} of the batch, or an output of the network for it, is NaN "
                f"or infinite."
            )
        return actions if self._is_discrete else outputs

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
                raise ShapeError(
                    f"A label must be an int from 0 to {self._n_outputs - 1}. Got {short(label)} "
                    f"instead."
                )
        else:
            target = _read(label, self._n_outputs, "a target")
        row = _read(observation, self._n_inputs, "an observation")
        action, loss = learn_step(self._handle, row, number, target)
        outputs = action if self._is_discrete else self.outputs
        self._finish(loss, stacklevel=5)
        return outputs

    def learn_by(self, step: Callable[..., Any], *arguments: Any) -> Any:
        """Learn by a compiled step, which takes this learner's handle and then `arguments`.

        The second of the values that the step returns is the loss.

        >>> learner = Learner(NetworkConfig(n_inputs=1, n_outputs=2))
        >>> action, loss = learner.learn_by(learn_step, np.ones(1), 0, np.empty(0))
        >>> loss == learner.loss
        True
        """
        done = step(self._handle, *arguments)
        self._finish(done[1], stacklevel=6)
        return done

    def _finish(self, loss: float, stacklevel: int) -> None:
        """Note the loss of a step and restructure if that is due."""
        if not isfinite(loss):
            raise self._not_finite(loss)
        self.loss = loss
        if self._interval and self._state.history.clock[TOTAL] % self._interval == 0:
            self._restructure(stacklevel)

    def end_episode(self) -> None:
        """Set all node states to zero; with interval="episode" restructure first if it is due."""
        if not self._interval and self._is_due(is_last=True):
            self._restructure()
        end_episode(self._handle)

    def settle(self) -> None:
        """Call the pruning rule now, as at the end of a run: rules prune to the size asked for.

        >>> rules = PlasticityConfig.frugal(size=3)
        >>> learner = Learner(NetworkConfig(n_inputs=4, n_outputs=2, density=1.0), plasticity=rules)
        >>> learner.settle()
        >>> learner.graph.n_edges
        3
        """
        self.progress, period, clock = 1.0, self.plasticity.prune_period, self._state.clock
        clock[CALLS] += period - 1 - clock[CALLS] % period
        self._restructure()

    def learn_stream(
        self,
        observations: ArrayLike,
        labels: ArrayLike,
        is_last: ArrayLike | None = None,
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
        rows = np.ascontiguousarray(observations, dtype=np.float64)
        n = len(rows)
        numbers, targets = np.zeros(n, dtype=np.int64), np.zeros((n, 0))
        if self._is_discrete:
            numbers = np.ascontiguousarray(labels, dtype=np.int64)
            if not np.array_equal(numbers, labels):
                raise ShapeError("The labels of a stream must be whole numbers.")
        else:
            targets = np.ascontiguousarray(labels, dtype=np.float64)
        ends: Bools = np.zeros(n, np.bool_) if is_last is None else np.asarray(is_last, np.bool_)
        n_targets = 0 if self._is_discrete else self._n_outputs
        shapes = (rows.shape, numbers.shape, targets.shape, ends.shape)
        if shapes != ((n, self._n_inputs), (n,), (n, n_targets), (n,)):
            found = f"{rows.shape}, {np.shape(labels)} and {ends.shape}"
            kind = "labels (n,)" if self._is_discrete else f"targets (n, {n_targets})"
            raise ShapeError(
                f"The shapes of a stream must be observations (n, {self._n_inputs}), {kind} and "
                f"is_last (n,). Got {found} instead."
            )
        if n and not (numbers.min() >= 0 and numbers.max() < self._n_outputs):
            raise ShapeError(f"Labels must be in 0 … {self._n_outputs - 1}.")
        learned = Rows(rows, numbers, targets, ends, np.zeros(n, dtype=np.int64), np.zeros(n))
        first = 0
        while first < n:
            last = self._next_call(ends, first)
            self._learn_rows(learned.between(first, last))
            if self.rule is not None and self._is_due(ends[last - 1]):
                self._restructure()
            first = last
        return Outcome(learned.actions, learned.losses)

    def _learn_rows(self, rows: Rows) -> None:
        self._run(lambda handle, log, rng: learn_stream(handle, log, rng, rows), stacklevel=5)

    def _next_call(self, ends: Bools, first: int) -> int:
        """Return the row of a stream before which the loop stops: the end, or a call of `rule`."""
        if self.rule is None:
            return ends.size
        if self._interval:
            return min(first + self._interval - self.n_updates % self._interval, ends.size)
        later = np.flatnonzero(ends[first:])
        return first + int(later[0]) + 1 if later.size else ends.size

    def _is_due(self, is_last: bool) -> bool:
        """Return whether the plasticity module is due after the last update."""
        least, last_call = self.plasticity.least_updates, self._state.clock[CALLED]
        return is_due(self._interval, least, self.n_updates, last_call, is_last)

    def advance(self, loop: Callable[..., Advanced], stacklevel: int = 4) -> None:
        """Run a compiled loop of learning steps over this learner's state and keep its result.

        `loop` takes the handle of state and settings, the log and the random generator, and returns
        an `Advanced`.  A loss that is not finite means that it had to stop.

        >>> def idle(handle, log, rng):
        ...     return Advanced(log, loss=0.0, is_capped=False)
        >>> Learner(NetworkConfig(n_inputs=1, n_outputs=1)).advance(idle)
        """
        if self.rule is not None:
            raise ConfigError("A compiled loop cannot ask a rule that is a Python function.")
        self._run(loop, stacklevel + 1)

    def _run(self, loop: Callable[..., Advanced], stacklevel: int) -> None:
        with interrupts_deferred():
            done = loop(self._handle, self.log, self._rng)
            self._state, self.log = state_of(self._handle), done.log
        self._warn_if(done.is_capped, stacklevel)
        if not isfinite(done.loss):
            raise self._not_finite(done.loss)

    def look(self, loop: Callable[[Handle], None]) -> None:
        """Run a compiled loop that acts with the network and leaves its node states at zero.

        >>> learner = Learner(NetworkConfig(n_inputs=1, n_outputs=2))
        >>> learner.look(lambda handle: print(act_step(handle, np.ones(1)) in (0, 1)))
        True
        """
        loop(self._handle)

    def forget_log(self) -> EditLog:
        """Return the log of edits and start an empty one.

        >>> Learner(NetworkConfig(n_inputs=1, n_outputs=1)).forget_log().n_changes
        0
        """
        log, self.log = self.log, EditLog.start()
        return log

    def arrays(self) -> Arrays:
        """Return the whole state as named arrays, from which `restore` continues exactly."""
        lasting = to_arrays(self._state._replace(room=NO_ROOM))
        found = {name: array for name, array in lasting.items() if not name.startswith("room.")}
        return found | {"rng": np.frombuffer(dump_generator(self._rng).encode(), np.uint8)}

    def restore(self, arrays: Arrays) -> None:
        """Continue from a result of `arrays` with the same settings; the log becomes empty."""
        window = (self.learning.through_time, self.config.iterations)
        sizes = arrays["graph.node_ids"].size, arrays["graph.source"].size
        absent = to_arrays(Past.start(*window, *sizes), "past.")  # from files before there was any
        absent["feedback"] = np.zeros((0, sizes[0]))
        absent["protection"] = np.zeros((0, sizes[1]))
        state = from_arrays(LearnerState, absent | arrays | to_arrays(NO_ROOM, "room."))
        graph, clock, history = state.graph, state.clock, state.history
        check(graph)
        check_width(graph, self.config)
        check_history(history, graph.n_edges)
        check_noticed(self.plasticity, graph, state.noticed)
        floats = (state.trace, state.moments, state.credit, state.feedback)
        n_edges = graph.n_edges
        fits = (
            history.window == self.plasticity.window
            and clock.shape == (3,)
            and clock.dtype == np.int64
            and state.trace.shape == (self.config.iterations + 1, graph.n_nodes)
            and state.moments.shape == (self._settings.learning.n_moments, n_edges)
            and state.average.shape == (2, n_edges if self.learning.averaging else 0)
            and state.credit.shape == (len(self._state.credit), n_edges)
            and state.feedback.shape == (len(self._state.feedback), graph.n_nodes)
            and state.past.fits(*window, graph.n_nodes, n_edges)
            and state.protection.shape in ((0, n_edges), (1, n_edges))
            and all(each.dtype == np.float64 for each in (*floats, state.average, state.protection))
            and bool(((state.protection >= 0.0) & (state.protection <= 1.0)).all())
        )
        if not fits:
            raise ShapeError("The arrays are of a learner with other settings.")
        with interrupts_deferred():
            room = as_python(new_room)(self._settings, graph, self.config.iterations)
            self._set_state(state._replace(room=room))
        self.log = EditLog.start()
        restore_generator(self._rng, arrays["rng"].tobytes().decode())

    def name(self, inputs: Iterable[str], outputs: Iterable[str]) -> None:
        """Name the inputs and the outputs, for pictures, exports and saved files.

        >>> learner = Learner(NetworkConfig(n_inputs=2, n_outputs=2))
        >>> learner.name(inputs=["height", "speed"], outputs=["wait", "brake"])
        >>> learner.names.outputs
        ('wait', 'brake')
        """
        size = {"n_inputs": self._n_inputs, "n_outputs": self._n_outputs}
        self.names = Names.given(inputs, outputs, **size)

    def save(self, path: str | Path) -> None:
        """Write everything to a safetensors file, from which `load` goes on exactly.

        A `rule` that is a Python function is code, and stays out of it.

        >>> learner = Learner(NetworkConfig(n_inputs=2, n_outputs=2))
        >>> learner.save("learner.safetensors")
        >>> Learner.load("learner.safetensors").graph == learner.graph
        True
        """
        content = {
            "network": network_content(self.config, self.names),
            "learning": self.learning.to_dict(),
            "plasticity": self.plasticity.to_dict(),
            "loss": self.loss,
        }
        write_arrays(path, "learner", content, self.arrays() | log_arrays(self.log))

    @classmethod
    def load(cls, path: str | Path, *, rule: PythonRule | None = None) -> Self:
        """Read a learner that `save` wrote; a rule that is a Python function is given again.

        >>> Learner(NetworkConfig(n_inputs=2, n_outputs=2)).save("learner.safetensors")
        >>> Learner.load("learner.safetensors").graph.n_inputs
        2
        """
        content, arrays = read_arrays(path, "learner")
        try:
            config, names = network_settings(content["network"])
            learning = LearningConfig.from_dict(content["learning"])
            rules = PlasticityConfig.from_dict(content["plasticity"])
            graph = from_arrays(Graph, arrays, "graph.")
            learner = cls(config, learning, rules, graph=graph, rule=rule)
            learner.restore(arrays)
            learner.log = log_from(arrays)
            learner.names, learner.loss = names, float(content["loss"])
        except Exception as error:  # a stranger may have made it, so anything can be in it
            raise FileFormatError(
                f"{path} does not describe a learner ({reason(error)})."
            ) from error
        return learner

    def __reduce__(self) -> tuple[Any, ...]:
        """Take a copy by way of its arrays: addresses belong to this learner and this process."""
        settings = self.config, self.learning, self.plasticity, self.rule
        facts = {"log": self.log, "loss": self.loss, "names": self.names}
        return _revive, (type(self), settings, self.arrays()), facts

    def __repr__(self) -> str:
        return f"Learner({self._state.graph}, {self.n_updates} updates)"

    def _repr_html_(self) -> str:
        return network_html(repr(self), self.graph)

    def _set_state(self, state: LearnerState) -> None:
        self._state = state
        hold(self._handle, state, self._settings)

    def _restructure(self, stacklevel: int = 4) -> None:
        if self.rule is None and self.plasticity.is_static:
            return
        with interrupts_deferred():
            if self.rule is not None:
                self._ask(self.rule)
                return
            done = restructure(self._handle, self.log, self._rng)
            self._state, self.log = state_of(self._handle), done.log
        self._warn_if(done.is_capped, stacklevel)

    def _ask(self, rule: PythonRule) -> None:
        """Make one call of a rule that is a Python function."""
        state = self._state
        state.clock[CALLS] += 1
        state.clock[CALLED] = self.n_updates
        edit = ask_rule(rule, self.graph, state.history, self._rng)
        if not edit:
            return
        graph, node_origin, edge_origin = apply(state.graph, edit)
        edited = carry_state(state, self._settings, graph, node_origin, edge_origin, self._rng)
        self._set_state(edited)
        self.log = append_edit(self.log, self.n_updates, int(state.clock[CALLS]), edit)

    def _not_finite(self, loss: float) -> NonFiniteError:
        n = self.n_updates
        if isnan(loss):
            return NonFiniteError(
                f"The observation, an output, the loss or its gradient was NaN or infinite at "
                f"update {n + 1}; the network is as it was after update {n}."
            )
        return NonFiniteError(f"A weight became infinite at update {n}; lower the learning rate.")

    def _warn_if(self, is_capped: bool, stacklevel: int) -> None:
        if is_capped and not self._has_warned:
            self._has_warned = True
            limits = self.plasticity.max_nodes, self.plasticity.max_edges
            warnings.warn(GrowthLimitWarning.at(str(self.graph), *limits), stacklevel=stacklevel)


def _revive(kind: type[Learner], settings: Any, arrays: Arrays) -> Learner:
    """Return the learner that `Learner.__reduce__` took apart."""
    *configurations, rule = settings
    learner = kind(*configurations, graph=from_arrays(Graph, arrays, "graph."), rule=rule)
    learner.restore(arrays)
    return learner


def _read(values: ArrayLike, length: int, what: str) -> Floats:
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.shape != (length,):
        raise ShapeError(f"Expected {what} of {length} numbers. Got shape {array.shape} instead.")
    return array
