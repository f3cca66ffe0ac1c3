"""Any sequence of edits keeps every invariant of the graph, and every survivor its weight."""

from typing import Any

import numpy as np
import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from smgrnn import Graph, GraphEdit
from smgrnn.graph import Change, Edge, EditDraft, Operation, check
from smgrnn.rules import GROWTH, Relay, UpdateHistory, Weak
from smgrnn.rules.history import carry_history
from smgrnn.rules.paper import with_orphans
from support.decisions import evidence
from support.flat import paper_net

seeds = st.integers(0, 2**32 - 1)
weights = st.floats(-2, 2)
ADDING = ("relay-alone", "relay-random", "split", "duplicate")  # a node for each unstable edge


def chosen(data: st.DataObject, n: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Draw a mask over n things."""
    return np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=np.bool_)


class Edits(RuleBasedStateMachine):
    """A network under edits, beside dictionaries that follow the changes one by one."""

    @initialize(
        n_inputs=st.integers(1, 3),
        n_outputs=st.integers(1, 3),
        n_hidden=st.integers(0, 3),
        seed=seeds,
    )
    def begin(self, n_inputs: int, n_outputs: int, n_hidden: int, seed: int) -> None:
        self.net = paper_net(n_inputs, n_outputs, n_hidden=n_hidden, seed=seed, dtype=torch.float64)
        self.edges = {edge.id: edge for edge in self.graph.edges()}
        self.nodes = set(self.graph.node_ids.tolist())
        self.seen_edges, self.seen_nodes = set(self.edges), set(self.nodes)
        self.history = UpdateHistory.start(self.graph.n_edges, 3)
        self.pushed = dict.fromkeys(self.edges, 0)

    @property
    def graph(self) -> Graph:
        return self.net.graph

    def edit(self, edit: GraphEdit) -> None:
        """Apply an edit to the network and, change by change, to the dictionaries."""
        before = self.graph
        applied = self.net.restructure(edit)
        for change in edit.changes():
            self._follow(change)
        self.history = carry_history(self.history, applied.edge_origin)
        self.pushed = {edge: self.pushed.get(edge, 0) for edge in self.edges}
        is_old = applied.edge_origin >= 0
        origin = before.edge_ids[applied.edge_origin[is_old]]
        assert (self.graph.edge_ids[is_old] == origin).all()
        is_old = applied.node_origin >= 0
        origin = before.node_ids[applied.node_origin[is_old]]
        assert (self.graph.node_ids[is_old] == origin).all()

    def _follow(self, change: Change) -> None:
        match change.operation:
            case Operation.ADD_NODE:
                assert change.id not in self.seen_nodes
                self.nodes.add(change.id)
                self.seen_nodes.add(change.id)
            case Operation.ADD_EDGE:
                assert change.id not in self.seen_edges
                self.edges[change.id] = Edge(change.id, change.source, change.target, change.weight)
                self.seen_edges.add(change.id)
            case Operation.REMOVE_EDGE:
                assert self.edges.pop(change.id)[1:] == change[3:]
            case Operation.REMOVE_NODE:
                self.nodes.remove(change.id)

    @precondition(lambda self: self.net.graph.n_edges <= 60)  # or it grows beyond any mask
    @rule(data=st.data(), seed=seeds, name=st.sampled_from(ADDING))
    def grow(self, data: st.DataObject, seed: int, name: str) -> None:
        is_unstable = chosen(data, self.graph.n_edges)
        grows: Any = GROWTH[name].from_dict({"scale": "update"})
        edit = grows.decide(evidence(self.graph, 0.0, is_unstable), np.random.default_rng(seed))
        assert edit.count(Operation.ADD_NODE) == is_unstable.sum()
        self.edit(edit)

    @rule(seed=seeds, ratio=st.floats(0, 1), explore_inputs=st.booleans())
    def explore(self, seed: int, ratio: float, explore_inputs: bool) -> None:
        grows = Relay(explore_ratio=ratio, explore_inputs=explore_inputs)
        self.edit(grows.decide(evidence(self.graph), np.random.default_rng(seed)))

    @rule(seed=seeds, fraction=st.floats(0.1, 1), orphans=st.booleans(), data=st.data())
    def prune(self, seed: int, fraction: float, orphans: bool, data: st.DataObject) -> None:
        threshold = data.draw(st.sampled_from([0.01, 0.1, 3.0]))
        prunes = Weak(prune_fraction=fraction, weight_threshold=threshold)
        edit = prunes.decide(evidence(self.graph), np.random.default_rng(seed))
        self.edit(with_orphans(self.graph, edit) if orphans else edit)
        if orphans:
            ends = {edge.source for edge in self.edges.values()}
            starts = {edge.target for edge in self.edges.values()}
            fixed = self.graph.n_inputs + self.graph.n_outputs
            assert all(node in ends & starts for node in self.nodes if node >= fixed)

    @rule(data=st.data())
    def edit_by_hand(self, data: st.DataObject) -> None:
        draft = EditDraft(self.graph)
        kept = dict(self.edges)
        nodes = sorted(self.nodes)
        hidden = [node for node in nodes if node >= self.graph.n_inputs + self.graph.n_outputs]
        doomed = (
            st.lists(st.sampled_from(hidden), unique=True, max_size=2) if hidden else st.just([])
        )
        for node in data.draw(doomed):
            draft.remove_node(node)
            nodes.remove(node)
            kept = {k: e for k, e in kept.items() if node not in (e.source, e.target)}
        if kept:
            for edge in data.draw(st.lists(st.sampled_from(sorted(kept)), unique=True, max_size=3)):
                draft.remove_edge(edge)
                del kept[edge]
        nodes += [draft.add_node() for _ in range(data.draw(st.integers(0, 2)))]
        taken = {(edge.source, edge.target) for edge in kept.values()}
        free = [(u, v) for u in nodes for v in nodes if u != v and (u, v) not in taken]
        if free:
            for source, target in data.draw(
                st.lists(st.sampled_from(free), unique=True, max_size=4)
            ):
                draft.add_edge(source, target, data.draw(weights))
        self.edit(draft.finish())

    @rule(seed=seeds)
    def learn(self, seed: int) -> None:
        delta = np.random.default_rng(seed).normal(size=self.graph.n_edges)
        with torch.no_grad():
            self.net.weight.add_(torch.as_tensor(delta))
        self.history.push(delta)
        for edge in self.graph.edges():
            self.edges[edge.id] = self.edges[edge.id]._replace(weight=edge.weight)
            self.pushed[edge.id] += 1

    @precondition(lambda self: self.net.graph.n_edges > 60)
    @rule()
    def cut_back(self) -> None:
        draft = EditDraft(self.graph)
        for edge in sorted(self.edges)[10:]:
            draft.remove_edge(edge)
        self.edit(draft.finish())

    @rule()
    def call(self) -> None:
        self.net(torch.ones(self.net.config.n_inputs))

    @invariant()
    def the_graph_is_whole(self) -> None:
        if hasattr(self, "net"):
            check(self.graph)

    @invariant()
    def survivors_keep_their_ends_and_weights(self) -> None:
        if hasattr(self, "net"):
            assert {edge.id: edge for edge in self.graph.edges()} == self.edges
            assert set(self.graph.node_ids.tolist()) == self.nodes

    @invariant()
    def every_edge_has_its_own_updates(self) -> None:
        if hasattr(self, "net"):
            ages = dict(
                zip(self.graph.edge_ids.tolist(), self.history.counts().tolist(), strict=True)
            )
            assert ages == {edge: min(n, 3) for edge, n in self.pushed.items()}
            assert np.unique(self.history.slot).size == self.graph.n_edges


Edits.TestCase.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)
TestEdits = Edits.TestCase
