"""The Structural Plasticity Module: when to grow, when to prune, and by which rule.

Paper: Sec. III-C4, Eq. (9).  Both engines have one.  A call reads the graph and what was recorded
since the last call, and returns an edit; the engine applies it and calls `carry`.
"""

from collections.abc import Sequence
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np

from smgrnn.arrays import Bools, Ints
from smgrnn.errors import GraphError, ShapeError, short
from smgrnn.graph.edit import GraphEdit, Operation, apply
from smgrnn.graph.state import Graph
from smgrnn.rules.history import UpdateHistory, alike, carry_history, check_history
from smgrnn.rules.paper import with_orphans
from smgrnn.rules.rule import BuiltInRule, Evidence, Limits, frozen
from smgrnn.rules.settings import PlasticityConfig
from smgrnn.rules.size import Aim
from smgrnn.rules.statistics import ACTIVITY, ERROR, SQUARE, STRAIN, Candidates, Statistics, Watched

OFTEN, ENOUGH = 100, 1000
"""By default, fewest updates and fewest examples between two calls: with batches, the edges need
time to learn; with single examples, the statistics need examples."""
NEVER = 2**62  # an update that is never reached


class Decision(NamedTuple):
    """The edit of one call, the candidates from then on, and whether a limit stopped growth."""

    edit: GraphEdit
    candidates: Candidates
    is_capped: bool


def shortest_paths(graph: Graph, inputs: Sequence[int]) -> Bools:
    """Flag a shortest path to an output from each of these inputs that has one (n_edges,).

    Of several it takes the largest weight at each step.

    >>> graph = Graph.from_edges(2, 1, 1, [(0, 2, 0.1), (0, 3, 9.0), (1, 3, 1.0), (3, 2, 1.0)])
    >>> shortest_paths(graph, [0]).tolist(), shortest_paths(graph, [1]).tolist()
    ([True, False, False, False], [False, True, False, True])
    """
    on_path, strength = np.zeros(graph.n_edges, np.bool_), np.abs(graph.weight)
    length, nearer = np.empty(0), np.full(graph.n_nodes, inf)
    nearer[graph.n_inputs :][: graph.n_outputs] = 0.0
    while not np.array_equal(length, nearer):
        length = nearer.copy()
        np.minimum.at(nearer, graph.source, length[graph.target] + 1.0)
    for node in inputs:
        while 0.0 < length[node] < inf:
            leads = (graph.source == node) & (length[graph.target] < length[node])
            edge = int(np.argmax(np.where(leads, strength, -1.0)))
            on_path[edge], node = True, int(graph.target[edge])
    return on_path


class PlasticityModule:
    """Counts calls and asks the rule that is due, for a network of K `iterations`."""

    def __init__(
        self,
        config: PlasticityConfig,
        graph: Graph,
        iterations: int,
        rng: np.random.Generator,
        *,
        carry_state: bool = False,
    ) -> None:
        self.config = config.numbered(graph.n_inputs)
        self._kept: Any = self.config.keep_inputs
        self.iterations, self.rng = iterations, rng
        self.carry_state = carry_state
        self.calls = 0
        """Calls so far."""
        self.last_call = 0
        """Updates before the last call."""
        self.aim = Aim(size=config.size or 0, start=graph.n_edges)
        """Progress of the run, and the target size that follows from it."""
        self._keeps = {"nodes": config.needs("nodes"), "absent_edges": config.needs("absent_edges")}
        self.watches = config.needs("candidates") or any(self._keeps.values())
        """Whether statistics are kept beside the update history."""

    def start(self, graph: Graph) -> Watched:
        """Return empty records, before the first update of a graph."""
        history = UpdateHistory.start(graph.n_edges, self.config.window)
        rule: Any = self.config.growth
        sizes = (0, 0)
        if self.config.needs("candidates"):
            sizes = rule.n_candidates, rule.candidate_sources
        statistics = Statistics.start(graph, **self._keeps)
        return Watched(
            history, statistics, Candidates.start(graph, *sizes, carry_state=self.carry_state)
        )

    def check(self, watched: Watched, graph: Graph) -> None:
        """Raise ShapeError unless records from a file fit the graph and the rules."""
        check_history(watched.history, graph.n_edges)
        like, statistics = self.start(graph), watched.statistics
        if not (
            alike(statistics, like.statistics)
            and watched.candidates.fits(graph, like.candidates)
            and np.array_equal(statistics.absent, like.statistics.absent)
        ):
            raise ShapeError("The saved statistics belong to a different graph or other rules.")

    def is_due(self, watched: Watched, *, is_last: bool) -> bool:
        """Return whether a call is due after the last update, which may end an episode."""
        config, n_updates = self.config, watched.history.n_updates
        since = n_updates - self.last_call
        if config.is_static:
            return False
        if config.interval == "episode":
            least = config.least_updates
            return is_last and since >= (self.aim.interval(n_updates) if least is None else least)
        if config.interval is None:
            n_examples = max(since, int(watched.statistics.n_updates[0]))
            return n_updates % OFTEN == 0 and n_examples >= ENOUGH
        return n_updates % config.interval == 0 and since > 0

    def next_stop(self, n_updates: int) -> int:
        """Return the update after which the module may be called next; -1 is at episode ends."""
        if self.config.is_static:
            return NEVER
        interval = self.config.interval or OFTEN
        return -1 if interval == "episode" else (n_updates // interval + 1) * interval

    @np.errstate(over="ignore", invalid="ignore")  # the engine stops at weights that diverge
    def call(self, graph: Graph, watched: Watched, protected: Bools) -> Decision:
        """Prune at every prune_period-th call, else grow -- Eq. (9); `protected` edges stay."""
        config = self.config
        if self._kept:
            protected = protected | shortest_paths(graph, self._kept)
        self.calls += 1
        self.last_call = watched.history.n_updates
        is_pruning = self.calls % config.prune_period == 0
        rule: Any = config.pruning if is_pruning else config.growth
        evidence = self._evidence(graph, watched, protected, not is_pruning)
        edit, candidates, is_capped = GraphEdit.empty(), watched.candidates, False
        if rule is not None:
            is_ours = isinstance(rule, BuiltInRule)  # which writes into no array
            decided = rule.decide(evidence if is_ours else frozen(evidence), self.rng)
            is_pair = type(decided) is tuple and len(decided) == 2
            edit, candidates = decided if is_pair else (decided, candidates)
            if not is_ours:
                edit, candidates, is_capped = self._check(edit, candidates, evidence)
        if is_pruning and config.orphan_removal:
            edit = with_orphans(graph, edit)
        watched.statistics.forget()
        return Decision(edit, candidates, is_capped or evidence.limits.is_reached)

    def _evidence(self, graph: Graph, watched: Watched, protected: Bools, grows: bool) -> Evidence:
        config, (history, statistics, candidates) = self.config, watched
        counts = history.counts()
        mean, variance = history.statistics(counts)
        n_updates, strain = int(statistics.n_updates[0]), nan
        nodes = statistics.nodes / max(n_updates, 1)
        if nodes.shape[1] and n_updates:
            outputs = slice(graph.n_inputs, graph.n_inputs + graph.n_outputs)
            strain = sum(statistics.nodes[STRAIN, outputs].tolist()) / n_updates
        dense_until = getattr(config.pruning, "dense_until", 0.0)
        goal = self.aim.goal(graph.n_edges, strain, is_growing=grows, dense_until=dense_until)
        return Evidence(
            graph=graph,
            history=history,
            mean=mean,
            variance=variance,
            is_watched=counts >= (config.window if config.full_window else 1),
            protected=protected,
            call=self.calls,
            limits=self._limits(graph),
            goal=goal,
            iterations=self.iterations,
            n_updates=n_updates,
            activity=nodes[ACTIVITY],
            square=nodes[SQUARE],
            error=nodes[ERROR],
            strain=nodes[STRAIN],
            absent=statistics.absent,
            absent_gradient=statistics.products / max(n_updates, 1),
            candidates=candidates,
        )

    def _check(self, edit: Any, candidates: Any, evidence: Evidence) -> Decision:
        """Refuse a wrong result of a user's rule; drop its edit if that exceeds a limit."""
        graph = evidence.graph
        if not isinstance(edit, GraphEdit):
            raise GraphError(
                f"A rule must return a GraphEdit, as `draft.finish()` does. Got {short(edit)} "
                f"instead."
            )
        apply(graph, edit)  # or refuse it
        if np.isin(graph.edge_ids[evidence.protected], edit.ids(Operation.REMOVE_EDGE)).any():
            raise GraphError("A rule removes an edge that is protected.")
        is_right = isinstance(candidates, Candidates)
        if not (is_right and candidates.fits(graph, evidence.candidates)):
            raise GraphError("A rule must return candidates of the graph before its edit.")
        copies: Any = (each.copy() for each in candidates)
        limits = self._limits(graph)  # those of the evidence may be used up
        n_edges = edit.count(Operation.ADD_EDGE) - edit.count(Operation.REMOVE_EDGE)
        is_over = edit.count(Operation.ADD_NODE) > limits.nodes or n_edges > limits.edges
        return Decision(GraphEdit.empty() if is_over else edit, Candidates(*copies), is_over)

    def _limits(self, graph: Graph) -> Limits:
        config = self.config
        return Limits(config.max_nodes - graph.n_nodes, config.max_edges - graph.n_edges)

    def carry(self, seen: Watched, graph: Graph, node_origin: Ints, edge_origin: Ints) -> Watched:
        """Return the records after an edit, with those of surviving nodes and edges."""
        history, resets = seen.history, self.config.history_on_edit == "reset"
        if self.config.history_on_edit == "reset_on_removal":
            resets = bool(np.count_nonzero(edge_origin >= 0) < history.slot.size)
        kept = np.full_like(edge_origin, -1) if resets else edge_origin  # or as if all were new
        history = carry_history(history, kept)
        if not self.watches:
            return seen._replace(history=history)
        statistics = Statistics.start(graph, **self._keeps)
        return Watched(history, statistics, seen.candidates.carry(node_origin))
