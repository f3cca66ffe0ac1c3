"""SMGrNN: the growing network as a PyTorch module.  Paper: Sec. III-B."""

import sys
import weakref
from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import count
from math import isfinite
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import pad
from torch.optim.swa_utils import AveragedModel

from smgrnn.arrays import Floats, to_arrays
from smgrnn.config import USUAL_PRESET, in_own_loop
from smgrnn.errors import (
    AttachmentError,
    ConfigError,
    GraphError,
    NonFiniteError,
    ShapeError,
    known_arguments,
    short,
)
from smgrnn.graph.drawing import NamedNetwork
from smgrnn.graph.edit import Applied, GraphEdit, apply
from smgrnn.graph.files import COLUMNS, NUMBERS, network_content, network_graph, network_settings
from smgrnn.graph.initial import initial_graph
from smgrnn.graph.log import EditLog, log_from
from smgrnn.graph.propagation import Net
from smgrnn.graph.settings import NetworkNumbers
from smgrnn.graph.state import Graph, check, row_starts
from smgrnn.learning.credit import Pass, carry_feedback, check_window, credit_pass, start_feedback
from smgrnn.learning.settings import AnyLearningRule, LearningConfig, LearningNumbers
from smgrnn.nn.credit import COMPILED, Call, CompiledMoments, Moments, credited, gradient_through
from smgrnn.rules.rule import frozen
from smgrnn.seeding import stream
from smgrnn.storage import describing, read_arrays, write_arrays
from smgrnn.validation import checked

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "identity": lambda total: total,
}


OWNERS: "weakref.WeakKeyDictionary[SMGrNN, weakref.ref[Any]]" = weakref.WeakKeyDictionary()
"""The `StructuralPlasticity` that edits each network."""
_keys = count()
NO_AVERAGED_MODEL = (
    "AveragedModel cannot follow a network that grows. Use StructuralPlasticity(..., "
    "averaging=0.001), which keeps the mean weights in `averaged_graph`."
)


class SMGrNN(NamedNetwork, nn.Module):
    """A directed graph of neurons whose nodes and edges may change between two calls.

    By default it has a bias, two iterations, linear outputs and no state from call to call, and
    every setting of `NetworkConfig` is a keyword.  The only parameter is `weight`, one number per
    edge; it stays the same object through every edit.  `torch.compile` takes the network whole
    (``fullgraph=True``) and recompiles it after an edit.  A NaN in the input is refused on the CPU,
    outside of `torch.compile`.

    Parameters
    ----------
    n_inputs, n_outputs
        Number of values that go in and that come out.
    graph
        Start from this graph instead of a random one.
    preset
        The settings to start from: "frugal", "paper", "as_printed" or a settings file.
    seed
        Seed of the random initial graph; None draws one from torch's generator.
    batch_first
        Take sequences too, as torch.nn.RNN does: (batch, time, n_inputs) if True, and (time, batch,
        n_inputs) if False.  Gradients flow through all steps of a sequence.  It needs a network
        that carries its state.
    learning_rule
        How backward() gives each edge its gradient: one of `smgrnn.learning`, such as
        `Hebbian(trace_decay=0.5)`, or its name.  A rule other than backprop gives none to the
        input; its traces are kept for each row of a batch.
    through_time
        Earlier calls that backward() goes back through by the carried states; 0 stops at the states
        that a call starts from.  `reset_state`, an edit and a call without gradients empty the
        window of calls.  Inputs of earlier calls get no gradient.
    state_dim
        Numbers in the state of a node.
    device, dtype
        Device and precision of the weights.
    **settings
        Fields of `NetworkSettings`, such as `iterations`, `carry_state` and `bias`.

    Examples
    --------
    >>> import torch
    >>> from smgrnn import SMGrNN
    >>> net = SMGrNN(4, 2)
    >>> net(torch.zeros(8, 4)).shape
    torch.Size([8, 2])
    >>> net  # the bias is an input
    SMGrNN(5 inputs, 0 hidden, 2 outputs, 10 edges, iterations=2, relu -> identity)
    >>> net.save("net.safetensors")
    >>> SMGrNN.load("net.safetensors").graph == net.graph
    True
    """

    weight: nn.Parameter
    source: Tensor
    target: Tensor
    from_nodes: Tensor
    to_nodes: Tensor
    feedback: Tensor
    traces: Tensor

    @known_arguments
    def __init__(
        self,
        n_inputs: int,
        n_outputs: int,
        *,
        graph: Graph | None = None,
        preset: str | Path = USUAL_PRESET,
        seed: int | None = None,
        state_dim: int = 1,
        batch_first: bool | None = None,
        learning_rule: AnyLearningRule | str = "backprop",
        through_time: int = 0,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        **settings: Any,
    ) -> None:
        super().__init__()
        seed = new_seed() if seed is None else seed
        network = in_own_loop(preset).network.changed(**settings)
        self.config = network.sized(n_inputs, n_outputs, state_dim=state_dim)
        self.batch_first = checked(batch_first, bool | None, "`batch_first`")
        if batch_first is not None and not self.config.carry_state:
            raise ConfigError("Sequences need a network with memory: use carry_state=True.")
        if graph is None:
            graph = initial_graph(self.config, stream(seed, "init"))
        check(graph, self.config)
        rule: Any = learning_rule
        self.learning = LearningConfig(rule=rule, through_time=through_time)
        check_window(self.learning, self.config, graph.n_nodes, graph.n_edges)
        self.rule = self.learning.rule
        self._is_local = self.rule.name != "backprop"
        if self._is_local and self.config.state_dim > 1:
            raise ConfigError(
                f"The learning rule {self.rule.name!r} is for scalar node states; use state_dim=1."
            )
        dtype = dtype or torch.get_default_dtype()
        self.weight = nn.Parameter(torch.tensor(graph.weight, device=device, dtype=dtype))
        self._state: Tensor | None = None
        self.log = EditLog()
        """Every edit so far, with the update after which it was made."""
        self._is_compiled = False
        self.is_averaged = False
        """Whether an `AveragedModel` has a copy, so that no `StructuralPlasticity` may edit it."""
        self.is_watched = False
        """Whether each call keeps its node states and errors for a `StructuralPlasticity`."""
        self.passes: list[Moments] = []
        """Calls that are watched, until `take_moments`."""
        self._enroll()
        self._past: deque[Call] = deque(maxlen=through_time)
        self._rng = stream(seed, "feedback")
        self._install(graph)
        if self._is_local:  # arrays of the learning rule, which are saved with the network
            feedback = torch.tensor(start_feedback(self.rule, graph, seed), device=device)
            self.register_buffer("feedback", feedback)
            shape = (1, self.rule.n_rows, graph.n_edges)
            self.register_buffer("traces", torch.zeros(shape, dtype=torch.float64, device=device))

    @classmethod
    def from_network(cls, network: Any, **where: Any) -> Self:
        """Return a network with the graph, weights and settings of a `Learner`, and its names.

        `where` is a device and a dtype, and a learning rule other than backpropagation.

        >>> from smgrnn import Learner
        >>> learner = Learner(4, 2)
        >>> SMGrNN.from_network(learner, dtype=torch.float64).graph == learner.graph
        True
        """
        made = cls(**vars(network.config), graph=network.graph, **where)
        made.names = getattr(network, "names", None)
        return made

    def forward(self, observation: Tensor) -> Tensor:
        """Clamp the inputs, run K synchronous iterations and return the outputs' states or sums.

        Takes (n_inputs,) or (batch, n_inputs), or sequences (`batch_first`), and returns the same
        with n_outputs; with state_dim F > 1 both have a last axis of F features.  Node states are
        kept, detached, for the next call.
        """
        if torch.compiler.is_compiling():
            self._is_compiled = True
        seen = self._read(observation)
        n_axes = 2 + (self.config.state_dim > 1)
        if seen.dim() <= n_axes:
            carried = self._carried(seen)
            output, _ = self._step(seen, carried, self._through_past(carried))
        else:
            axis = int(bool(self.batch_first))
            steps, outputs = seen.unbind(axis), []
            carried = self._carried(steps[0])
            free = self._through_past(carried)
            for clamped in steps:
                output, free = self._step(clamped, free.detach(), free)
                outputs.append(output)
            output = torch.stack(outputs, axis)
        return output if self.config.state_dim == 1 else output.transpose(-1, -2)

    def _through_past(self, carried: Tensor) -> Tensor:
        """Return the carried states, whose gradient flows back through the earlier calls."""
        if not (torch.is_grad_enabled() and self._past):
            return carried
        through = partial(gradient_through, self._iterate, tuple(self._past))
        return credited(self.weight, carried, through)

    def _step(self, clamped: Tensor, carried: Tensor, start: Tensor) -> tuple[Tensor, Tensor]:
        """Run one call from states that may have a gradient; return outputs and new states."""
        learns, n_outputs = torch.is_grad_enabled(), self.config.n_outputs
        moments: Moments | CompiledMoments | None = None
        if learns and self.is_watched and torch.compiler.is_compiling():
            moments = CompiledMoments(self._key)
        elif learns and (self.is_watched or self._is_local):
            moments = Moments([], [])
        with torch.set_grad_enabled(learns and not self._is_local):
            free, total = self._iterate(self.weight, clamped, start, moments)
            output = (total if self.config.readout == "sum" else free)[..., :n_outputs]
        if not learns:
            self._past.clear()
        elif self.learning.through_time:
            self._past.append(Call(self.weight.detach().clone(), clamped.detach(), carried))
        self._state = free.detach().clone()  # callers may change their output in place
        if moments is not None:
            ended = torch.cat([clamped, output, free[..., n_outputs:]], dim=-1)
            output = moments.note(ended.detach(), output, self.config.iterations)
        if isinstance(moments, Moments):
            if self.is_watched:
                self.passes.append(moments)
            if self._is_local:
                if clamped.requires_grad:
                    raise ConfigError(
                        f"The learning rule {self.rule.name!r} gives no gradient to the network's "
                        f"input; detach() it."
                    )
                credit = partial(self._credit, self._structure, moments)
                output = credited(self.weight, output, credit)
        return output, free

    def _iterate(
        self, weight: Tensor, clamped: Tensor, free: Tensor, moments: Any = None
    ) -> tuple[Tensor, Tensor]:
        """Run K iterations; return the states and the sums that they end with."""
        n_outputs = self.config.n_outputs
        phi_out = _ACTIVATIONS[self.config.output_activation]
        phi = _ACTIVATIONS[self.config.activation]
        weight = weight[self._n_dead :] if self._n_dead else weight
        for index in range(self.config.iterations):
            states = torch.cat([clamped, free], dim=-1)
            message = weight * states.index_select(-1, self.from_nodes)
            is_guarded = message.requires_grad and not states.requires_grad
            if is_guarded and not torch.compiler.is_compiling():
                message.register_hook(partial(self._check_unedited, self._structure))
            total = torch.zeros_like(free).index_add(-1, self.to_nodes, message)
            if moments is not None:
                total = moments.note(states, total, index)
            if phi is phi_out:
                free = phi(total)
            else:
                free = torch.cat([phi_out(total[..., :n_outputs]), phi(total[..., n_outputs:])], -1)
        return free, total

    def _check_unedited(self, structure: Graph, gradient: Tensor) -> None:
        """Refuse a gradient of a call before an edit, where torch itself does not."""
        if self._structure is not structure:
            raise GraphError("The graph was edited between a call and its backward().")

    def _credit(self, structure: Graph, moments: Moments, error: Tensor) -> Tensor:
        """Return the gradient by the learning rule for dL/d(outputs), summed over the batch.

        Each row of a batch has its traces, which are zero after its size has changed.  The errors
        of nodes are left in `moments`.
        """
        self._check_unedited(structure, error)
        graph, numbers = self.graph, NetworkNumbers.of(self.config)
        rule, starts = LearningNumbers.of(self.learning), row_starts(graph.target, graph.n_nodes)
        feedback, memory = (each.cpu().double().numpy() for each in (self.feedback, self.traces))
        traces, _ = moments.to_numpy()
        if len(memory) != len(traces):
            memory = np.zeros((len(traces), *memory.shape[1:]))
        wanted = error.reshape(len(traces), -1).to("cpu", torch.float64).numpy()
        first, last = graph.n_inputs, graph.n_inputs + graph.n_outputs
        total, errors = np.zeros(graph.n_edges), np.zeros_like(traces[:, 1:])
        for row, trace in enumerate(traces):
            adjoint, gradient = np.zeros((2, graph.n_nodes)), np.zeros(graph.n_edges)
            adjoint[0, first:last] = wanted[row]
            written = adjoint, gradient, errors[row], memory[row]
            net = Net(graph.source, graph.weight, starts, numbers)
            credit_pass(rule.credit, Pass(net, trace, *written, feedback, rule.trace_decay))
            total += gradient
        moments.errors[:] = torch.as_tensor(errors[:, :, first:]).unbind(1)
        self.traces = torch.as_tensor(memory).to(self.weight.device)
        return torch.as_tensor(total).to(self.weight)

    def reset_state(self) -> None:
        """Set all node states to zero, as at the start of an episode."""
        self._state = None
        self._past.clear()
        if self._is_local and self.rule.forgets:
            self.traces.zero_()

    def take_moments(self) -> tuple[Floats, Floats]:
        """Return traces and errors of the passes learned from since the last call of this.

        Traces are the node states before and after each iteration (n, K + 1, n_nodes), errors the
        dL/d(sum into each node) of backward() (n, K, n_nodes); each row of a batch is a pass.  With
        carried states, passes without an error count too: later ones start from their states.
        """
        passes, self.passes = self.passes, []
        n_nodes, n_iterations = self._structure.n_nodes, self.config.iterations
        nothing = np.zeros((0, n_iterations + 1, n_nodes)), np.zeros((0, n_iterations, n_nodes))
        learned = passes
        if not self.config.carry_state:
            learned = [each for each in passes if any(error is not None for error in each.errors)]
        both = [nothing, *(each.to_numpy() for each in learned)]
        traces, errors = (np.concatenate(arrays) for arrays in zip(*both, strict=True))
        return traces, errors

    @property
    def state(self) -> Tensor | None:
        """States of outputs and hidden nodes after the last call (..., nodes), or None."""
        if self._state is None or self.config.state_dim == 1:
            return self._state
        return self._state.transpose(-1, -2)

    def _read(self, observation: Tensor) -> Tensor:
        """Check an observation; return the states of the input nodes, features ahead of nodes."""
        if not isinstance(observation, Tensor):
            raise ShapeError(f"An input is a torch.Tensor. Got {short(observation)} instead.")
        n_inputs, state_dim = self.config.n_inputs, self.config.state_dim
        expected = (n_inputs,) if state_dim == 1 else (n_inputs, state_dim)
        if observation.shape[-len(expected) :] != expected:
            wanted = "..., " + ", ".join(map(str, expected))
            raise ShapeError(
                f"Expected an input of shape ({wanted}). Got {tuple(observation.shape)} instead."
            )
        n_more = observation.dim() - len(expected)
        if n_more > 2 or (n_more == 2 and self.batch_first is None):
            raise ShapeError(
                f"An input has at most one axis before its values, the batch. Got shape "
                f"{tuple(observation.shape)}. For sequences, build the network with "
                f"batch_first=True for (batch, time, n_inputs), or False for (time, batch, "
                f"n_inputs)."
            )
        is_seen = observation.is_cpu and not torch.compiler.is_compiling()  # without waiting for it
        if is_seen and not isfinite(observation.sum().item()) and not observation.isfinite().all():
            raise NonFiniteError("The input holds a NaN or an infinity.")
        observation = observation.to(self.weight.dtype)
        if state_dim > 1:
            observation = observation.transpose(-1, -2)
        return pad(observation, (0, 1), value=1.0) if self.config.bias else observation

    def _carried(self, clamped: Tensor) -> Tensor:
        shape = (*clamped.shape[:-1], self._structure.n_nodes - self._structure.n_inputs)
        if self._state is None or not self.config.carry_state:
            return clamped.new_zeros(shape)
        if self._state.shape != shape:
            n_batch = -1 if self.config.state_dim == 1 else -2
            raise ShapeError(
                f"The carried node states are for inputs of batch shape "
                f"{tuple(self._state.shape[:n_batch])} and the input has {shape[:n_batch]}; call "
                f"reset_state() first, or build the network with carry_state=False."
            )
        return self._state

    @property
    def graph(self) -> Graph:
        """The graph as it is now, with a copy of the weights; its other arrays are read-only."""
        weight = self.weight.detach().to("cpu", torch.float64, copy=True).numpy()
        return frozen(self._structure)._replace(weight=weight)

    def restructure(
        self,
        edit: GraphEdit,
        *,
        is_trusted: bool = False,
        rng: np.random.Generator | None = None,
        update: int | None = None,
    ) -> Applied:
        """Apply an edit: surviving edges and nodes keep weights and states, new nodes start at 0.

        Where the learning rule needs feedback, new nodes draw it from `rng`, by default the
        network's own generator.  The log has the edit after `update` updates, by default one more
        than the last edit.  A `StructuralPlasticity` also carries the optimizer's state.

        >>> from smgrnn.graph import EditDraft
        >>> net = SMGrNN(4, 2)
        >>> draft = EditDraft(net.graph)
        >>> draft.remove_edge(0)
        >>> net.restructure(draft.finish()).graph
        Graph(5 inputs, 0 hidden, 2 outputs, 9 edges)
        """
        applied = apply(self.graph, edit, is_trusted=is_trusted)
        with torch.no_grad():
            if self._state is not None:
                n_inputs = self._structure.n_inputs
                origin = np.maximum(applied.node_origin[n_inputs:] - n_inputs, -1)
                self._state = carry_tensor(self._state, torch.as_tensor(origin))
            gradient = self.weight.grad
            edge_origin = torch.as_tensor(applied.edge_origin)
            self.weight.grad = None
            self._set_weight(torch.as_tensor(applied.graph.weight))
            if gradient is not None:
                self.weight.grad = carry_tensor(gradient, edge_origin)
            if self._is_local:
                former = self.feedback.cpu().double().numpy()
                feedback = carry_feedback(former, applied.node_origin, rng or self._rng)
                self.feedback = torch.as_tensor(feedback).to(self.weight.device)
                self.traces = carry_tensor(self.traces, edge_origin)
        self._install(applied.graph)
        if self._is_compiled:  # or torch would stop compiling after a few sizes
            torch.compiler.reset()
        last, call = self.log.last
        self.log.append(last + 1 if update is None else max(last, update), call + 1, edit)
        return applied

    def _set_weight(self, values: Tensor) -> None:
        """Give the parameter new values of another length without making a new parameter.

        `set_` makes autograd forget the former shape; assigning `.data` would leave a stale
        gradient accumulator behind whenever the caller still holds the last loss.
        """
        with torch.no_grad():
            self.weight.set_(values.to(self.weight, copy=True))  # type: ignore[call-overload]

    def _install(self, graph: Graph) -> None:
        """Make `graph` the structure; edges into inputs come first and carry nothing."""
        self._structure = graph
        self._past.clear()
        self._n_dead = int(np.searchsorted(graph.target, graph.n_inputs))
        device = self.weight.device
        for name in COLUMNS:
            self.register_buffer(name, torch.tensor(getattr(graph, name), device=device))
        numbers = torch.tensor([getattr(graph, name) for name in NUMBERS], device=device)
        self.register_buffer("numbers", numbers)
        alive = slice(self._n_dead, None)
        self.register_buffer("from_nodes", self.source[alive], persistent=False)
        self.register_buffer("to_nodes", self.target[alive] - graph.n_inputs, persistent=False)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Move to another device or precision, including tensors outside the state dict."""
        nn.Module._apply(self, fn, recurse)
        self._past.clear()
        if self._state is not None:
            self._state = fn(self._state)
        return self

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, *args: Any, **kwargs: Any
    ) -> None:
        """Take over the topology in `state_dict` before its tensors are copied in."""
        names = (*COLUMNS, "numbers", "weight")
        if all(prefix + name in state_dict for name in names):
            found = {name: state_dict[prefix + name].detach().cpu() for name in names}
            if found["weight"].is_floating_point():  # bfloat16 is a type numpy does not have
                found["weight"] = found["weight"].double()
            graph = network_graph({name: each.numpy() for name, each in found.items()})
            check(graph, self.config)
            self.weight.grad = None
            self._set_weight(state_dict[prefix + "weight"])
            self._install(graph)
            self.log = EditLog()
            if self._is_local and prefix + "feedback" in state_dict:
                for name in ("feedback", "traces"):
                    saved = state_dict[prefix + name].detach()
                    setattr(self, name, saved.to(self.weight.device, copy=True))
            self.reset_state()
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)

    def save(self, path: str | Path) -> None:
        """Write settings, graph, weights and log to a safetensors file (bfloat16 as float32)."""
        found = self.state_dict()
        if self.weight.dtype == torch.bfloat16:  # a type numpy does not have
            found["weight"] = found["weight"].float()
        names = (*COLUMNS, "numbers", "weight")
        arrays = {name: found[name].cpu().numpy() for name in names}
        arrays |= to_arrays(self.log.columns, "log.")
        write_arrays(path, "network", network_content(self.config, self.names), arrays)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a network that `save` wrote."""
        content, arrays = read_arrays(path, "network")
        with describing(path, "network"):
            config, names = network_settings(content)
            dtype = torch.as_tensor(arrays["weight"]).dtype
            network = cls(**vars(config), graph=network_graph(arrays), dtype=dtype)
            network.names, network.log = names, log_from(arrays)
        return network

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy takes over; refuse AveragedModel, which cannot follow edits."""
        frame = sys._getframe()
        while frame.f_back is not None:
            frame = frame.f_back
            if type(frame.f_locals.get("self")) is AveragedModel:
                owner = OWNERS.get(self)
                if owner is not None and owner() is not None:
                    raise AttachmentError(NO_AVERAGED_MODEL)
                self.is_averaged = True
        return self.__dict__

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        self._enroll()

    def _enroll(self) -> None:
        """Get a number by which compiled calls find this network."""
        self._key = next(_keys)
        COMPILED[self._key] = self

    def extra_repr(self) -> str:
        """Return a description of the network in one line."""
        activation, output = self.config.activation, self.config.output_activation
        names = activation if activation == output else f"{activation} -> {output}"
        return f"{self._structure}, iterations={self.config.iterations}, {names}"


def new_seed() -> int:
    """Return a seed from torch's generator, which `torch.manual_seed` governs."""
    return int(torch.randint(2**31, ()))


def carry_tensor(values: Tensor, origin: Tensor, fill: float = 0.0) -> Tensor:
    """Rearrange the last axis by `origin`; entries without an origin (-1) get `fill`."""
    origin = origin.to(values.device)
    padded = torch.cat([values, values.new_full((*values.shape[:-1], 1), fill)], dim=-1)
    return padded.index_select(-1, origin.where(origin >= 0, values.shape[-1]))
