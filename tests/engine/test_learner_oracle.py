"""The compiled learner against the same network, learning rules and plasticity in plain Python."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from smgrnn import Learner
from smgrnn.config import PlasticityConfig
from smgrnn.seeding import stream as random_stream
from support.engines import both_engines
from support.flat import learner_of, network_config, rules
from support.flat import learning as learning_config
from support.frugal_oracle import FrugalLearner
from support.learners import learner, lessons, rules_of, stream
from support.oracle import SlowLearner, SlowLocalLearner, to_slow


def assert_same(made: Learner, slow: SlowLearner) -> None:
    """Check that both have the same nodes, edges, weights, mean weights and outputs."""
    graph, pairs = made.graph, slow.graph.pairs()
    assert graph.node_ids.tolist() == slow.graph.nodes()
    edges = [slow.graph.edges[pair] for pair in pairs]
    ends = [(edge.id, *pair) for edge, pair in zip(edges, pairs, strict=True)]
    assert [edge[:3] for edge in graph.edges()] == ends
    weights = [edge.weight for edge in edges]
    np.testing.assert_allclose(graph.weight, weights, rtol=0, atol=1e-7)
    if isinstance(slow, FrugalLearner):
        weights = [slow.averages.get(edge.id, edge.weight) for edge in edges]
        np.testing.assert_allclose(made.averaged_graph.weight, weights, rtol=0, atol=1e-7)


# --- the paper's rules ---------------------------------------------------------------------------

PAPER = rules(
    window=4,
    interval=3,
    prune_period=3,
    explore_probability=0.8,
    explore_ratio=0.3,
    max_relays=1,
    fluctuation_threshold=1e-3,
    initial_weight=0.3,
    weight_threshold=0.4,
    update_threshold=0.01,
)


@pytest.mark.parametrize(("update", "n_calls"), [("step", 10), ("episode", 5), (4, 11)])
@pytest.mark.parametrize("iterations", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_the_learner_agrees_by_the_papers_rules(
    seed: int, iterations: int, update: Any, n_calls: int
) -> None:
    learning = learning_config(optimizer="sgd", learning_rate=0.3, momentum=0.0, update=update)
    made = learner(seed, learning, iterations=iterations, density=0.5, plasticity=PAPER)
    slow = SlowLearner(
        graph=to_slow(made.graph),
        config=PAPER,
        rng=random_stream(seed, "plasticity"),
        iterations=iterations,
        learning_rate=0.3,
        update=update,
    )
    for x, label, is_last in zip(*stream(30 if update == "step" else 120, seed), strict=True):
        made.learn(x, int(label))
        ends = bool(is_last) and update != "step"
        slow.learn(x.tolist(), int(label), ends)
        if ends:
            made.end_episode()
        assert_same(made, slow)
        outputs = [slow.states.get(node, 0.0) for node in slow.graph.of_kind("output")]
        np.testing.assert_allclose(made.outputs, outputs, rtol=0, atol=1e-7)
    wanted = {"ADD_NODE RELAY", "ADD_EDGE EXPLORATION", "REMOVE_EDGE WEAK_EDGE"}
    assert wanted <= slow.seen.keys()
    assert slow.calls == n_calls


# --- local learning rules ------------------------------------------------------------------------

KINDS: list[dict[str, Any]] = [
    {},
    {"readout": "sum"},
    {"activation": "sigmoid", "readout": "sum"},
    {"activation": "relu", "carry_state": False},
]


@pytest.mark.parametrize(
    ("rule", "iterations", "kind"),
    list(product(("feedback", "hebbian", "outputs"), (1, 2, 3), KINDS)),
)
def test_both_engines_agree_by_local_learning_rules(
    rule: str, iterations: int, kind: dict[str, Any]
) -> None:
    sizes: dict[str, Any] = {"n_inputs": 3, "n_outputs": 2, "n_hidden": 3, "density": 0.7}
    network = network_config(**sizes, weight_std=0.6, iterations=iterations, **kind)
    decay = {"trace_decay": 0.7} if rule == "hebbian" else {}
    learning = learning_config(
        rule=rule, optimizer="sgd", momentum=0.0, learning_rate=0.05, **decay
    )
    made, theirs = both_engines(network, learning, PlasticityConfig.static(), 1)
    graph, drawn = made.graph, made._state.feedback
    slow = SlowLocalLearner(
        graph=to_slow(graph),
        config=PlasticityConfig.static(),
        rng=np.random.default_rng(0),
        iterations=iterations,
        learning_rate=0.05,
        rule=rule,
        feedback={
            (3 + o, h): weight for o, row in enumerate(drawn) for h, weight in enumerate(row)
        },
        trace_decay=0.7,
        activation=network.activation,
        reads_sums=network.readout == "sum",
        carries_state=network.carry_state,
    )
    for observation, label, is_last in zip(*stream(30), strict=True):
        made.learn(observation, int(label))
        theirs.learn(observation, label)
        slow.learn(observation.tolist(), int(label), bool(is_last))
        if is_last:
            made.end_episode()
            theirs.end_episode()
        weights = [slow.graph.edges[pair].weight for pair in slow.graph.pairs()]
        for found in (made.graph, theirs.net.graph):
            np.testing.assert_allclose(found.weight, weights, rtol=0, atol=1e-9)
    is_inner = graph.target >= 5
    moved = made.graph.weight != graph.weight
    learns_inner = rule == "hebbian" and (iterations > 1 or network.carry_state)
    learns_inner |= rule == "feedback" and iterations > 1
    assert moved[~is_inner].any()
    assert moved[is_inner].any() == learns_inner


# --- rules that follow a size --------------------------------------------------------------------

SIZE = 18


def frugal_pair(
    seed: int, iterations: int, plasticity: PlasticityConfig, **changes: Any
) -> tuple[Learner, FrugalLearner]:
    """Return a compiled learner and the oracle's, at the same start."""
    often: dict[str, Any] = {"schedule": "falling", "averaging": 0.01}
    learning = learning_config(optimizer="sgd", learning_rate=0.05, momentum=0.0, **often)
    network = {"n_inputs": 4, "n_outputs": 3, "n_hidden": 1, "density": 0.4, **changes}
    config = network_config(**network, iterations=iterations)
    made = learner_of(config, learning, plasticity, seed=seed)
    slow = FrugalLearner(
        graph=to_slow(made.graph),
        config=plasticity,
        rng=random_stream(seed, "plasticity"),
        iterations=iterations,
        learning_rate=0.05,
        carries_state=config.carry_state,
        activation=config.activation,
        **often,
    )
    return made, slow


def learn_both(made: Learner, slow: FrugalLearner, n: int, seed: int, has_end: bool) -> None:
    """Let both learn the same lessons, and compare them after every call of the module."""
    for update, (observation, label, is_last) in enumerate(zip(*lessons(n, seed), strict=True)):
        if has_end:
            made.progress = slow.aim.progress = update / n
        made.learn(observation, int(label))
        slow.learn(observation.tolist(), int(label), bool(is_last))
        if is_last:
            made.end_episode()
        if slow.last_call == slow.updates:
            assert_same(made, slow)
    assert_same(made, slow)


@pytest.mark.parametrize(("size", "has_end"), [(SIZE, True), (SIZE, False), (None, False)])
@pytest.mark.parametrize("carry_state", [True, False])
@pytest.mark.parametrize("iterations", [2, 3])
def test_growth_by_candidates_and_gradients_agrees(
    iterations: int, carry_state: bool, size: int | None, has_end: bool
) -> None:
    """To a size in a known time and in an endless loop, and by the error."""
    made, slow = frugal_pair(3, iterations, rules_of(size=size), carry_state=carry_state)
    learn_both(made, slow, 2250, 3, has_end)
    assert slow.calls == 18
    assert {"ADD_EDGE GRADIENT", "REMOVE_EDGE CONTRIBUTION"} <= slow.seen.keys()
    assert "ADD_NODE CANDIDATE" in slow.seen or (size and not has_end)


LOSING = {"n_hidden": 6, "density": 0.5}
CAND, GRAD, LOST = "ADD_NODE CANDIDATE", "ADD_EDGE GRADIENT", "LOST SOURCE"
ONLY_CANDIDATES, ONLY_GRADIENT = {"growth": "candidates"}, {"growth": "gradient", "interval": 20}
ALONE: list[tuple[int, int, dict[str, Any], dict[str, Any], str]] = [
    (0, 2, ONLY_CANDIDATES | {"interval": 100}, {}, CAND),
    (1, 3, ONLY_CANDIDATES | {"interval": 100, "size": 13}, {}, CAND),
    (0, 3, ONLY_GRADIENT, {}, GRAD),
    (1, 2, ONLY_GRADIENT | {"size": 12}, {}, GRAD),
    *((1, 3, ONLY_CANDIDATES, {"activation": each}, CAND) for each in ("relu", "identity")),
    (0, 3, {"max_edges": 12}, {}, GRAD),
    (0, 3, {"max_nodes": 9}, {}, GRAD),
    # Candidates whose sources are pruned away have no edges until they are drawn again; sigmoid
    # would make their state one half.
    (4, 3, {"growth": "frugal", "size": 20}, LOSING, LOST),
    (4, 3, {"growth": "frugal", "size": 20}, LOSING | {"activation": "sigmoid"}, LOST),
    (4, 3, ONLY_CANDIDATES | {"size": 20}, LOSING | {"activation": "sigmoid"}, LOST),
    (1, 2, ONLY_CANDIDATES, {"carry_state": True}, "TWIN"),
]


@pytest.mark.parametrize(("seed", "iterations", "changes", "network", "wanted"), ALONE)
def test_each_way_to_grow_alone_other_activations_and_limits_agree(
    seed: int, iterations: int, changes: Any, network: Any, wanted: str
) -> None:
    made, slow = frugal_pair(seed, iterations, rules_of(**changes), **network)
    learn_both(made, slow, 1800, seed, has_end="size" in changes and wanted != LOST)
    assert slow.seen[wanted] > (wanted == LOST)
    own = {"candidates": {CAND}, "gradient": {GRAD}}.get(changes.get("growth"), {CAND, GRAD})
    assert slow.seen.keys() & {CAND, GRAD} <= own
    assert "size" not in changes or "REMOVE_EDGE CONTRIBUTION" in slow.seen
    assert "size" not in changes or wanted == LOST or made.graph.n_edges <= changes["size"]
    assert made.graph.n_edges <= changes.get("max_edges", 10**6)
    assert made.graph.n_nodes <= changes.get("max_nodes", 10**6)


@pytest.mark.parametrize(("least_updates", "n_between"), [(100, 120), (None, 520)])
def test_calls_at_the_end_of_episodes_and_returns_that_reach_a_bar_agree(
    least_updates: int | None, n_between: int
) -> None:
    """Growth stops while the target is reached; the end of a short episode is passed over."""
    plasticity = rules_of(interval="episode", least_updates=least_updates, size=SIZE)
    made, slow = frugal_pair(2, 2, plasticity)
    n, target_return, met = 2400, 1.0, set()
    for update, (observation, label, is_last) in enumerate(zip(*lessons(n, 2), strict=True)):
        made.progress = slow.aim.progress = update / n
        made.learn(observation, int(label))
        if is_last:
            total = float(400 <= update < 800) * 30.0
            made.note_return(total, target_return)
            slow.aim.note_return(total, target_return)
            made.end_episode()
        slow.learn(observation.tolist(), int(label), bool(is_last))
        if slow.last_call == slow.updates:
            assert_same(made, slow)
            met.add((slow.aim.is_met, update < 0.4 * n))
    assert slow.calls == n // n_between
    assert (True, True) in met
    assert least_updates is None or (False, True) in met
