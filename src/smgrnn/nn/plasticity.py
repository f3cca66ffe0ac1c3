"""StructuralPlasticity: grows and prunes a network beside any optimizer.

Paper: Sec. III-C and III-D.
"""

import warnings
import weakref
from math import isfinite
from typing import Any

import numpy as np
import torch

from smgrnn.arrays import Floats, from_arrays, to_arrays
from smgrnn.errors import AttachmentError, GrowthLimitWarning, NonFiniteError, ShapeError
from smgrnn.graph.activation import ACTIVATIONS
from smgrnn.graph.edit import GraphEdit, carry
from smgrnn.graph.state import Graph
from smgrnn.interrupts import interrupts_deferred
from smgrnn.learning.schedule import average_update, averaged
from smgrnn.machine import check_memory
from smgrnn.nn.network import SMGrNN
from smgrnn.nn.optimizer_state import (
    carry_optimizer_state,
    check_optimizer,
    reset_optimizer_state,
)
from smgrnn.rules import PlasticityConfig, PlasticityModule, UpdateHistory
from smgrnn.rules.size import Aim
from smgrnn.rules.statistics import Watched, note_all
from smgrnn.seeding import dump_generator, restore_generator, stream
from smgrnn.validation import Decay, Probability, checked

_NO_EDIT = GraphEdit.empty()
_attached: "weakref.WeakKeyDictionary[SMGrNN, weakref.ref[StructuralPlasticity]]" = (
    weakref.WeakKeyDictionary()
)


class StructuralPlasticity:
    """Watches the weight updates of a network and edits its graph when an edit is due.

    Call `step` after every `optimizer.step()`.  The update of a weight is observed, not asked for:
    it is whatever changed since the last call, so any optimizer or learning rule can drive it.

    Parameters
    ----------
    network
        The network to grow, alone or as a layer of a larger module.
    optimizer
        The optimizer that trains it, whose state is carried through every edit; None for no
        optimizer at all.
    config
        The rules and their settings; by default those of the preset frugal, with a call every 1000
        updates, and a size that follows the error.  `PlasticityConfig()` has the paper's rules with
        a call every 100 updates; `PlasticityConfig.paper()`, for loops with episodes, is the
        reading that comes closest to the paper's sizes.  A rule of one's own is an object with
        `decide(evidence, rng)`, as growth or as pruning.
    seed
        Seed of the rules' random choices.
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
    >>> plasticity.step()  # an edit is due after 1000 updates
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

    def __init__(
        self,
        network: SMGrNN,
        optimizer: torch.optim.Optimizer | None = None,
        config: PlasticityConfig | None = None,
        *,
        seed: int = 0,
        averaging: float = 0.0,
        **settings: Any,
    ) -> None:
        if optimizer is not None:
            check_optimizer(optimizer, network.weight)
        owner = _attached.get(network)
        if owner is not None and owner() is not None:
            raise AttachmentError(
                "Another StructuralPlasticity already edits this network; detach() it first."
            )
        self.network = network
        self.optimizer = optimizer
        self.config = (config or PlasticityConfig.frugal()).changed(**settings)
        self.averaging: float = checked(averaging, Decay, "The share of `averaging`")
        self._rng = stream(seed, "plasticity")
        self._has_warned = False
        self._watch()
        _attached[network] = weakref.ref(self)

    def __repr__(self) -> str:
        optimizer = type(self.optimizer).__name__ if self.optimizer else "no optimizer"
        done = f"{self.history.n_updates} updates, {self.calls} calls"
        return f"StructuralPlasticity({self.network._structure}; {optimizer}; {done})"

    def step(self) -> GraphEdit:
        """Record the update since the last call; edit the graph if it is due; return the edit."""
        if self._is_replaced():
            self._watch()
            return _NO_EDIT
        weight = self._weights()
        self.history.push(weight - self._observed)
        self._observed = weight
        if self._module.watches:
            activation = ACTIVATIONS.index(self.network.config.activation)
            _, statistics, candidates = self._watched
            traces, errors = self.network.take_moments()
            n_inputs = self.network.config.n_inputs
            note_all(statistics, candidates, traces, errors, activation, n_inputs)
        if self.averaging:
            average_update(self._average, weight, self.averaging)
        return self._act_if_due(is_last=False)

    def end_episode(self) -> GraphEdit:
        """End an episode: with `interval="episode"` edit the graph if it is due; return the edit.

        >>> plasticity = StructuralPlasticity(SMGrNN(4, 2), interval="episode")
        >>> edit = plasticity.end_episode()
        >>> plasticity.calls
        1
        """
        return self._act_if_due(is_last=True) if self.config.interval == "episode" else _NO_EDIT

    def _act_if_due(self, *, is_last: bool) -> GraphEdit:
        is_due = self._module.is_due(self.history.n_updates, is_last=is_last)
        return self._act() if is_due else _NO_EDIT

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
    def progress(self, share: float | None) -> None:
        self._module.aim.progress = (
            -1.0 if share is None else checked(share, Probability, "The fraction of the run")
        )

    def say_return(self, total: float, bar: float) -> None:
        """Note the return of an episode; while the mean of the last reaches `bar`, nothing grows.

        >>> StructuralPlasticity(SMGrNN(4, 2)).say_return(500.0, bar=475.0)
        """
        self._module.aim.note_return(float(total), bar)

    @property
    def averaged_graph(self) -> Graph:
        """The graph with the running mean of its weights, if `averaging` keeps one.

        >>> StructuralPlasticity(SMGrNN(4, 2), averaging=0.1).averaged_graph.n_inputs
        4
        """
        weight = averaged(self._average, self._observed) if self.averaging else self._observed
        return self._structure._replace(weight=weight.copy())

    def detach(self) -> None:
        """Let go of the network, so that another module may edit it."""
        owner = _attached.get(self.network)
        if owner is not None and owner() is self:
            self.network.is_watched = False
            del _attached[self.network]

    def _is_replaced(self) -> bool:
        """Return whether the graph was replaced from outside: nothing observed applies to it."""
        return self.network._structure is not self._structure

    def _act(self) -> GraphEdit:
        if self._is_replaced():
            self._watch()
        graph = self._structure._replace(weight=self._observed.copy())
        nothing = np.zeros(graph.n_edges, np.bool_)
        with interrupts_deferred():
            edit, candidates, is_capped = self._module.call(graph, self._watched, nothing)
            self._watched = self._watched._replace(candidates=candidates)
            if edit:
                self._apply(edit)
        self._warn_if(is_capped)
        return edit

    def _apply(self, edit: GraphEdit) -> None:
        n_before, is_trusted = self._structure.n_edges, self.config.is_built_in
        applied = self.network.restructure(
            edit, is_trusted=is_trusted, rng=self._rng, update=self.history.n_updates
        )
        self._watched = self._module.carry(self._watched, *applied)
        self._average = carry(self._average, applied.edge_origin)
        if self.optimizer is not None:
            parameter = self.network.weight
            check_optimizer(self.optimizer, parameter)
            if self.config.optimizer_on_edit == "keep":
                origin = torch.as_tensor(applied.edge_origin)
                carry_optimizer_state(self.optimizer, parameter, n_before, origin)
            else:
                reset_optimizer_state(self.optimizer, parameter)
        self._structure = self.network._structure
        self._observed = self._weights()

    def _watch(self) -> None:
        """Start observing the network as it is now, with an empty history."""
        self._structure = self.network._structure
        n_edges, window = self._structure.n_edges, self.config.window
        check_memory(24.0 * window * n_edges, f"A window of {window} updates of {n_edges} edges")
        former = getattr(self, "_module", None)
        iterations = self.network.config.iterations
        self._module = PlasticityModule(self.config, self._structure, iterations, self._rng)
        self._module.calls = 0 if former is None else former.calls
        self._watched = self._module.start(self._structure)
        self._average = np.zeros((2, self._structure.n_edges))
        self.network.is_watched = self._module.watches
        self._observed = self._weights()

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

    def _warn_if(self, is_capped: bool) -> None:
        if is_capped and not self._has_warned:
            self._has_warned = True
            limits = self.config.max_nodes, self.config.max_edges
            warnings.warn(GrowthLimitWarning.at(str(self._structure), *limits), stacklevel=5)

    def state_dict(self) -> dict[str, Any]:
        """Return all that is needed to continue exactly: history, counters and random state.

        The states of the nodes are not in it, nor in the network's own: save between episodes.
        """
        arrays = to_arrays(self._watched) | {"aim": self._module.aim.to_array()}
        watched = {name: torch.as_tensor(value) for name, value in arrays.items()}
        observed = torch.tensor(self._observed)
        rng = dump_generator(self._rng)
        edges = torch.tensor(self._structure.edge_ids)
        return {
            "watched": watched,
            "edges": edges,
            "observed": observed,
            "average": torch.tensor(self._average),
            "calls": self.calls,
            "last_call": self._module.last_call,
            "rng": rng,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a result of `state_dict`; load the network's own state first."""
        watched = from_arrays(Watched, state["watched"])
        if watched.history.window != self.config.window:
            raise AttachmentError(
                f"The saved history has a window of {watched.history.window}; the settings have "
                f"{self.config.window}."
            )
        if not np.array_equal(state["edges"].numpy(), self.network._structure.edge_ids):
            raise AttachmentError(
                "The saved history belongs to a different graph; load the network first."
            )
        self._module.check(watched, self.network._structure)
        average = state["average"].numpy().astype(np.float64)
        if average.shape != (2, self.network._structure.n_edges):
            raise ShapeError("The saved mean of the weights belongs to a different graph.")
        aim = Aim.from_array(state["watched"]["aim"].numpy())
        restore_generator(self._rng, state["rng"])
        self._structure = self.network._structure
        self._watched, self._module.aim = watched, aim
        self._observed = state["observed"].numpy().copy()
        self._average = average
        self._module.calls, self._module.last_call = int(state["calls"]), int(state["last_call"])
