"""StructuralPlasticity: grows and prunes a network beside any optimizer.

Paper: Sec. III-C and III-D.
"""

import warnings
import weakref
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.optim import Optimizer

from smgrnn.arrays import Floats, from_arrays, to_arrays
from smgrnn.config import USUAL_PRESET, in_own_loop
from smgrnn.errors import (
    AttachmentError,
    GrowthLimitWarning,
    NonFiniteError,
    ShapeError,
    known_arguments,
)
from smgrnn.graph.edit import GraphEdit, carry
from smgrnn.graph.settings import ACTIVATIONS
from smgrnn.graph.state import Graph
from smgrnn.interrupts import interrupts_deferred
from smgrnn.learning.optimizers import average_update, averaged
from smgrnn.machine import check_memory
from smgrnn.nn.network import NO_AVERAGED_MODEL, OWNERS, SMGrNN, carry_tensor, new_seed
from smgrnn.rules import PlasticityConfig, PlasticityModule, UpdateHistory
from smgrnn.rules.size import Aim
from smgrnn.rules.statistics import Watched, note_all
from smgrnn.seeding import dump_generator, restore_generator, stream
from smgrnn.validation import Decay, Probability, checked

_NO_EDIT = GraphEdit.empty()
_FRESH_FROM_GROUP = {"step_size": "lr", "sum": "initial_accumulator_value"}
"""Settings that Rprop's step sizes and Adagrad's sums start from, instead of zero."""


class StructuralPlasticity:
    """Watches the weight updates of a network and edits its graph when an edit is due.

    Call `step` after every `optimizer.step()`.  An update is whatever changed since the last call,
    so any optimizer or learning rule can drive it.

    Parameters
    ----------
    network
        The network to grow, alone or as a layer of a larger module.
    optimizer
        The optimizer that trains it, whose state is carried through every edit, or None.
    config
        The rules and their settings; by default those of the preset.  Your own rule is an object
        with `decide(evidence, rng)`.
    max_parameters
        Maximum number of edges; None lets the size follow the error.
    preset
        "frugal", whose size follows the error; "paper", for loops with episodes, comes closest to
        the paper's sizes; "as_printed" or a settings file.
    seed
        Seed of the rules' random choices; None draws one from torch's generator.
    averaging
        Weight-averaging rate; 0 disables it.
    **settings
        Fields of `PlasticityConfig` that change the configuration, such as `growth`, `pruning`,
        `window` and `interval`.

    Examples
    --------
    >>> import torch
    >>> from smgrnn import SMGrNN, StructuralPlasticity
    >>> net = SMGrNN(4, 2)
    >>> optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    >>> plasticity = StructuralPlasticity(net, optimizer)
    >>> net(torch.ones(4)).sum().backward()
    >>> optimizer.step()
    >>> plasticity.step()  # an edit is due after 100 updates and 1000 examples
    GraphEdit(+nodes=0, +edges=0, -edges=0, -nodes=0)
    >>> saved = plasticity.state_dict()
    >>> plasticity.load_state_dict(saved)
    >>> plasticity.detach()
    """

    _watched: Watched
    _module: PlasticityModule
    _average: Floats
    _structure: Graph
    _observed: Floats

    @known_arguments
    def __init__(
        self,
        network: SMGrNN,
        optimizer: Optimizer | None = None,
        config: PlasticityConfig | None = None,
        *,
        max_parameters: int | None = None,
        preset: str | Path = USUAL_PRESET,
        seed: int | None = None,
        averaging: float = 0.0,
        **settings: Any,
    ) -> None:
        checked(network, SMGrNN, "The 'network' of StructuralPlasticity")
        checked(optimizer, Optimizer | None, "The 'optimizer' of StructuralPlasticity")
        checked(config, PlasticityConfig | None, "The 'config' of StructuralPlasticity")
        if optimizer is not None:
            _group(optimizer, network)
        if network.is_averaged:
            raise AttachmentError(NO_AVERAGED_MODEL)
        owner = OWNERS.get(network)
        if owner is not None and owner() is not None:
            raise AttachmentError(
                "Another StructuralPlasticity already edits this network; detach() it first."
            )
        self.network = network
        self.optimizer = optimizer
        self.config = (config or in_own_loop(preset).plasticity).changed(**settings)
        if max_parameters is not None:
            self.config = self.config.limited(max_parameters)
        if network.names is not None:
            self.config = self.config.numbered(network.config.n_inputs, network.names.inputs)
        self.averaging: float = checked(averaging, Decay, "`averaging`")
        self._rng = stream(new_seed() if seed is None else seed, "plasticity")
        self._has_warned = False
        self._watch()
        OWNERS[network] = weakref.ref(self)

    def __repr__(self) -> str:
        optimizer = type(self.optimizer).__name__ if self.optimizer else "no optimizer"
        done = f"{self.history.n_updates} updates, {self.calls} calls"
        return f"StructuralPlasticity({self.network._structure}; {optimizer}; {done})"

    def step(self) -> GraphEdit:
        """Record the update since the last call; edit the graph if it is due; return the edit."""
        if self._watch_if_replaced():
            return _NO_EDIT
        weight = self._weights()
        self.history.push(weight - self._observed)
        self._observed = weight
        if self._module.watches:
            activation = ACTIVATIONS.index(self.network.config.activation)
            n_passes = len(self.network.passes)
            traces, errors = self.network.take_moments()
            states = self._states_of_rows(len(traces) // max(n_passes, 1))
            note_all(self._watched, traces, errors, activation, self._structure.n_inputs, states)
        if self.averaging:
            average_update(self._average, weight, self.averaging, 0, weight.size)
        return self._edit_if_due(is_last=False)

    def end_episode(self) -> GraphEdit:
        """End an episode: with `interval="episode"` edit the graph if due; return the edit."""
        return self._edit_if_due(is_last=True) if self.config.interval == "episode" else _NO_EDIT

    @property
    def history(self) -> UpdateHistory:
        """The last updates of each edge."""
        return self._watched.history

    @property
    def calls(self) -> int:
        """Calls of the module so far."""
        return self._module.calls

    @property
    def progress(self) -> float | None:
        """Fraction of the run completed; None, as at first, if its length is not known."""
        progress = self._module.aim.progress
        return None if progress < 0.0 else progress

    @progress.setter
    def progress(self, fraction: float | None) -> None:
        self._module.aim.progress = (
            -1.0 if fraction is None else checked(fraction, Probability, "The fraction of the run")
        )

    def note_return(self, total: float, target_return: float) -> None:
        """Note an episode's return; nothing grows while the recent mean reaches the target."""
        self._module.aim.note_return(float(total), target_return, self.history.n_updates)

    @property
    def averaged_graph(self) -> Graph:
        """The graph with the running mean of its weights, if `averaging` keeps one."""
        weight = averaged(self._average, self._observed) if self.averaging else self._observed
        return self._structure._replace(weight=weight.copy())

    def detach(self) -> None:
        """Let go of the network, so that another module may edit it."""
        owner = OWNERS.get(self.network)
        if owner is not None and owner() is self:
            self.network.is_watched = False
            del OWNERS[self.network]

    def _edit_if_due(self, *, is_last: bool) -> GraphEdit:
        if not self._module.is_due(self._watched, is_last=is_last):
            return _NO_EDIT
        self._watch_if_replaced()
        graph = self._structure._replace(weight=self._observed.copy())
        nothing = np.zeros(graph.n_edges, np.bool_)
        with interrupts_deferred():
            edit, candidates, is_capped = self._module.call(graph, self._watched, nothing)
            self._watched = self._watched._replace(candidates=candidates)
            self._row_states[:] = 0.0  # some candidates are others now
            if edit:
                self._apply(edit)
        if is_capped and not self._has_warned:
            self._has_warned = True
            limits = self.config.max_nodes, self.config.max_edges
            warnings.warn(GrowthLimitWarning.at(str(self._structure), *limits), stacklevel=3)
        return edit

    def _apply(self, edit: GraphEdit) -> None:
        """Edit the network, and carry over all that is kept for its edges.

        torch keeps one `step` counter for all edges, so a new edge joins with zero moments under
        the bias correction of old ones.
        """
        how: Any = {"rng": self._rng, "update": self.history.n_updates}
        former = self._structure
        applied = self.network.restructure(edit, is_trusted=True, **how)
        self._watched = self._module.carry(self._watched, *applied)
        self._average = carry(self._average, applied.edge_origin)
        if self.optimizer is not None:
            group = _group(self.optimizer, self.network)
            if self.config.optimizer_on_edit == "reset":
                self.optimizer.state.pop(self.network.weight, None)
            state = self.optimizer.state.get(self.network.weight, {})
            origin = torch.as_tensor(applied.edge_origin)
            for name, value in state.items():
                if isinstance(value, Tensor) and value.shape == (former.n_edges,):
                    fill = group[_FRESH_FROM_GROUP[name]] if name in _FRESH_FROM_GROUP else 0.0
                    state[name] = carry_tensor(value, origin, float(fill))
        self._structure = self.network._structure
        self._observed = self._weights()

    def _watch_if_replaced(self) -> bool:
        """Restart where the graph was replaced from outside: nothing observed applies to it."""
        is_replaced = self.network._structure is not self._structure
        if is_replaced:
            self._watch(self.calls)
        return is_replaced

    def _watch(self, calls: int = 0) -> None:
        """Start observing the network as it is now, with an empty history."""
        self._structure = self.network._structure
        n_edges, window = self._structure.n_edges, self.config.window
        check_memory(24.0 * window * n_edges, f"A window of {window} updates of {n_edges} edges")
        network = self.network.config
        self._module = PlasticityModule(
            self.config,
            self._structure,
            network.iterations,
            self._rng,
            carry_state=network.carry_state,
        )
        self._module.calls = calls
        self._watched = self._module.start(self._structure)
        self._row_states = np.zeros((0, *self._watched.candidates.state.shape))
        self._average = np.zeros((2, n_edges))
        self.network.is_watched = self._module.watches
        self._observed = self._weights()

    def _states_of_rows(self, n_rows: int) -> Floats:
        """Return the states of candidates in each row of a batch, if there is more than one row."""
        shape = self._watched.candidates.state.shape
        n_kept = n_rows if n_rows > 1 and shape[0] > 1 else 0
        if len(self._row_states) != n_kept:
            self._row_states = np.zeros((n_kept, *shape))
        return self._row_states

    def _weights(self) -> Floats:
        parameter = self.network.weight.detach()
        if parameter.device.type != "cpu" or parameter.dtype == torch.bfloat16:
            parameter = parameter.to("cpu", torch.float64)
        weight = parameter.numpy().astype(np.float64)
        if not isfinite(weight.dot(weight)) and not np.isfinite(weight).all():
            raise NonFiniteError(
                f"A weight became NaN or infinite at update {self.history.n_updates + 1}."
            )
        return weight

    def state_dict(self) -> dict[str, Any]:
        """Return all that is needed to continue exactly: history, counters and random state.

        The states of the nodes are not in it, nor in the network's own: save between episodes.
        """
        arrays = to_arrays(self._watched) | {"aim": self._module.aim.to_array()}
        return {
            "watched": {name: torch.as_tensor(value) for name, value in arrays.items()},
            "edges": torch.tensor(self._structure.edge_ids),
            "observed": torch.tensor(self._observed),
            "average": torch.tensor(self._average),
            "calls": self.calls,
            "last_call": self._module.last_call,
            "rng": dump_generator(self._rng),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a result of `state_dict`; load the network's own state first."""
        watched, structure = from_arrays(Watched, state["watched"]), self.network._structure
        if watched.history.window != self.config.window:
            raise AttachmentError(
                f"The saved history has a window of {watched.history.window}; the settings have "
                f"{self.config.window}."
            )
        if not np.array_equal(state["edges"].numpy(), structure.edge_ids):
            raise AttachmentError(
                "The saved history belongs to a different graph; load the network first."
            )
        self._module.check(watched, structure)
        average = state["average"].numpy().astype(np.float64)
        if average.shape != (2, structure.n_edges):
            raise ShapeError("The saved mean of the weights belongs to a different graph.")
        aim = Aim.from_array(state["watched"]["aim"].numpy())
        restore_generator(self._rng, state["rng"])
        self._structure, self._watched, self._module.aim = structure, watched, aim
        self._observed, self._average = state["observed"].numpy().copy(), average
        self._module.calls, self._module.last_call = int(state["calls"]), int(state["last_call"])


def _group(optimizer: Optimizer, network: SMGrNN) -> dict[str, Any]:
    """Return the settings by which an optimizer trains the network edge by edge, or refuse it."""
    if isinstance(optimizer, torch.optim.LBFGS):
        raise AttachmentError("LBFGS keeps no state per edge, so its state cannot survive an edit.")
    for group in optimizer.param_groups:
        if any(parameter is network.weight for parameter in group["params"]):
            return group
    raise AttachmentError(
        "The optimizer lacks the network's weight: build it from net.parameters()."
    )
