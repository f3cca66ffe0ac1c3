"""Rules of our own in the torch engine and in the compiled one, and learners that are resumed."""

from copy import deepcopy
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

from smgrnn import (
    Learner,
    NetworkConfig,
    PlasticityConfig,
    SMGrNN,
    StructuralPlasticity,
)
from smgrnn.errors import ShapeError
from smgrnn.learning.numbers import FALLING
from smgrnn.learning.schedule import rate_at
from support.flat import learning as learning_config
from support.flat import rules
from support.frugal import lessons, rules_of
from support.learners import Stream, memory

RATE = 2e-3
LEARNING = learning_config(learning_rate=RATE, schedule="falling", averaging=0.01)
GROWTH = ("frugal", "candidates", "gradient")


def config(**changes: Any) -> NetworkConfig:
    sizes = {"n_inputs": 4, "n_outputs": 3, "n_hidden": 1, "density": 0.4, "iterations": 3}
    return NetworkConfig(**{**sizes, **changes})


class Torch:
    """A network, an optimizer and a module of the torch engine, as one learner."""

    def __init__(self, network: NetworkConfig, rules: PlasticityConfig) -> None:
        self.net = SMGrNN(**network.to_dict(), seed=5, dtype=torch.float64)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=RATE)
        averaging = LEARNING.averaging
        self.module = StructuralPlasticity(
            self.net, self.optimizer, rules, seed=5, averaging=averaging
        )

    def learn(self, rows: Stream, first: int = 0, n: int | None = None) -> list[Any]:
        """Learn rows, at shares of a run of `n` updates; return all edits."""
        edits = []
        for update, (observation, label, is_last) in enumerate(zip(*rows, strict=True), first):
            if n is not None:
                self.module.progress = update / n
            rate = RATE * rate_at(FALLING, -1.0 if n is None else update / n)
            self.optimizer.param_groups[0]["lr"] = rate
            self.optimizer.zero_grad()
            outputs = self.net(torch.from_numpy(observation))
            torch.nn.functional.cross_entropy(outputs, torch.as_tensor(label)).backward()
            self.optimizer.step()
            edits.append(self.module.step())
            if is_last:
                edits.append(self.module.end_episode())
                self.net.reset_state()
        return [edit for edit in edits if edit]


def learn(made: Learner, rows: Stream, first: int = 0, n: int | None = None) -> None:
    """Learn rows by the compiled engine, at shares of a run of `n` updates."""
    for update, (observation, label, is_last) in enumerate(zip(*rows, strict=True), first):
        if n is not None:
            made.progress = update / n
        made.learn(observation, int(label))
        if is_last:
            made.end_episode()


@pytest.mark.parametrize(
    ("growth", "iterations", "activation", "size"),
    [
        (growth, iterations, activation, size)
        for (growth, iterations), (activation, size) in product(
            product(GROWTH, (2, 3)), (("tanh", 16), ("relu", 30), ("sigmoid", None))
        )
    ],
)
def test_both_engines_grow_by_candidates_and_gradients_alike(
    growth: str, iterations: int, activation: str, size: int | None
) -> None:
    network = config(iterations=iterations, activation=activation)
    rules = rules_of(growth=growth, size=size, interval=50)
    n = 1500 if size == 16 else None  # the other loops are endless
    rows = lessons(1000 if growth == "frugal" else 600, 4)
    theirs, made = Torch(network, rules), Learner(network, LEARNING, rules, seed=5)
    edits = theirs.learn(rows, n=n)
    learn(made, rows, n=n)
    found = [edit for _, edit in made.log.edits()]
    assert len(found) == len(edits) > 0
    for mine, other in zip(found, edits, strict=True):
        np.testing.assert_array_equal(mine.rows, other.rows)
        np.testing.assert_allclose(mine.weight, other.weight, rtol=0, atol=1e-9)
    causes = {change.cause.name for edit in found for change in edit.changes()}
    assert size is None or ("CANDIDATE" in causes) == (growth != "gradient")
    ours = made.averaged_graph
    np.testing.assert_array_equal(ours.edge_ids, theirs.module.averaged_graph.edge_ids)
    for graph, same in (
        (made.graph, theirs.net.graph),
        (ours, theirs.module.averaged_graph),
    ):
        np.testing.assert_allclose(graph.weight, same.weight, rtol=0, atol=1e-9)
    noticed, same_noticed = made._state.noticed, theirs.module._noticed
    np.testing.assert_allclose(noticed.aim, same_noticed.aim, rtol=1e-9)
    np.testing.assert_array_equal(noticed.growth.ids, same_noticed.growth.ids)
    np.testing.assert_allclose(noticed.growth.values, same_noticed.growth.values, rtol=0, atol=1e-9)


def test_a_network_that_has_averages_differs_from_the_one_that_learns() -> None:
    made = Learner(config(), LEARNING, rules_of(), seed=5)
    learn(made, lessons(200, 0))
    assert np.abs(made.averaged_graph.weight - made.graph.weight).max() > 1e-3


# --- going on from a saved state -----------------------------------------------------------------


@pytest.mark.parametrize("growth", GROWTH)
@pytest.mark.parametrize("size", [16, None])
def test_a_learner_that_is_restored_goes_on_bit_for_bit(growth: str, size: int | None) -> None:
    rules = rules_of(growth=growth, size=size, interval=50)
    rows, n = lessons(1200, 2), 1500
    made, twin = (Learner(config(), LEARNING, rules, seed=seed) for seed in (1, 2))
    learn(made, rows.rows(0, 520), n=n)
    made.say_return(3.0, 5.0)
    twin.restore({name: array.copy() for name, array in made.arrays().items()})
    assert memory(made) == memory(twin)
    for either in (made, twin):
        learn(either, rows.rows(520, 1200), first=520, n=n)
    assert made.log.n_changes > 0
    assert memory(made) == memory(twin)
    assert np.array_equal(made.averaged_graph.weight, twin.averaged_graph.weight)


@pytest.mark.parametrize("growth", ["frugal", "gradient"])
def test_a_module_that_is_restored_goes_on_bit_for_bit(growth: str) -> None:
    rules = rules_of(growth=growth, size=26, interval=50)
    rows, n = lessons(840, 2), 1900
    first, twin = (Torch(config(n_hidden=3), rules) for _ in range(2))
    first.learn(rows.rows(0, 520), n=n)
    first.module.say_return(3.0, 5.0)
    twin.net.load_state_dict(first.net.state_dict())
    twin.optimizer.load_state_dict(deepcopy(first.optimizer.state_dict()))
    twin.module.load_state_dict(first.module.state_dict())
    assert twin.module.progress == first.module.progress
    edits, same = (each.learn(rows.rows(520, 840), 520, n) for each in (first, twin))
    assert edits
    assert list(map(repr, edits)) == list(map(repr, same))
    assert first.module.averaged_graph == twin.module.averaged_graph
    before, after = (each.module.state_dict() for each in (first, twin))
    assert before["rng"] == after["rng"]
    for name, value in before["noticed"].items():
        assert torch.equal(value, after["noticed"][name]), name


def _set(array: Any, *place: Any) -> Any:
    changed = array.copy()
    changed[place[:-1]] = place[-1]
    return changed


DAMAGES: list[tuple[str, Any]] = [
    ("growth.ids", lambda ids: _set(ids, 0, 0, 10**6)),  # no such node
    ("growth.ids", lambda ids: _set(ids, 0, 0, -1)),
    ("growth.ids", lambda ids: _set(ids, 0, slice(None), ids[1])),  # a node that is heard twice
    ("growth.ids", lambda ids: _set(ids, -1, 0, 0)),  # an input as the first output
    ("growth.ids", lambda ids: ids[:, 1:]),
    ("growth.ids", lambda ids: ids[1:]),
    ("growth.ids", lambda ids: ids[:0]),
    ("growth.values", lambda values: values[:-1]),
    ("growth.values", lambda values: values[:, 1:]),
    ("growth.values", lambda values: values.astype(np.float32)),
    ("pruning.values", lambda _: np.zeros((1, 1))),  # a rule that keeps nothing
    ("statistics.nodes", lambda nodes: nodes[:, 1:]),
    ("statistics.pairs", lambda pairs: pairs + 10**6),
    ("statistics.n_updates", lambda n: np.zeros(2, np.int64)),
    ("aim", lambda aim: aim[1:]),
    ("aim", lambda aim: aim.astype(np.float32)),
]


@pytest.mark.parametrize(("name", "damage"), DAMAGES)
def test_a_damaged_memory_is_refused_by_both_engines(name: str, damage: Any) -> None:
    made, theirs = Learner(config(), LEARNING, rules_of(interval=50)), Torch(config(), rules_of())
    rows = lessons(130, 0)
    learn(made, rows)
    arrays = made.arrays()
    place = f"noticed.{name}"
    arrays[place] = np.ascontiguousarray(damage(arrays[place]))
    sentence = r"^What the plasticity module noticed is of another graph\.$"
    with pytest.raises(ShapeError, match=sentence):
        made.restore(arrays)
    theirs.learn(rows)
    state = theirs.module.state_dict()
    changed = np.ascontiguousarray(damage(state["noticed"][name].numpy()))
    state["noticed"][name] = torch.from_numpy(changed)
    with pytest.raises(ShapeError, match=sentence):
        theirs.module.load_state_dict(state)


def test_the_mean_of_the_weights_of_another_graph_is_refused() -> None:
    """A module once took a mean of any shape, and its kernel wrote past the end of it."""
    module = Torch(config(), rules_of()).module
    state = module.state_dict()
    state["average"] = state["average"][:, 1:]
    with pytest.raises(ShapeError, match=r"^The saved mean of the weights is of another graph\.$"):
        module.load_state_dict(state)
    made = Learner(config(), LEARNING, rules_of())
    arrays = made.arrays()
    arrays["average"] = arrays["average"][:, 1:].copy()
    with pytest.raises(ShapeError, match="other settings"):
        made.restore(arrays)


def test_a_learner_without_averaging_refuses_a_mean_and_the_other_way_round() -> None:
    with_mean, without = (Learner(config(), each) for each in (LEARNING, learning_config()))
    for one, other in ((with_mean, without), (without, with_mean)):
        with pytest.raises(ShapeError, match="other settings"):
            one.restore(other.arrays())


def test_a_graph_from_outside_starts_the_count_of_updates_between_calls_afresh() -> None:
    """The last call was once remembered in updates of the graph that had been replaced."""
    rules = rules_of(interval="episode", least_updates=100)
    each = Torch(config(), rules)
    each.learn(lessons(400, 0))
    assert each.module.calls == 3  # at 120, 240 and 360
    each.net.load_state_dict(SMGrNN(**config().to_dict(), dtype=torch.float64).state_dict())
    each.optimizer.state.clear()
    each.learn(lessons(130, 1))  # the first of these is not noticed
    assert each.module.history.n_updates == 129
    assert each.module.calls == 4


def test_the_mean_of_the_weights_outlives_a_moment_without_edges() -> None:
    """It was taken for one that is not kept, and later edges were averaged past the end of it."""
    everything: Any = {"weight_threshold": 1e9, "update_threshold": 1e9, "prune_fraction": 1.0}
    rules = rules(growth="exploration", window=1, interval=1, prune_period=2, **everything)
    made, sizes = Learner(config(), LEARNING, rules, seed=1), []
    for inputs, label, *_ in zip(*lessons(20, 0), strict=True):
        made.learn(inputs, label)
        sizes.append(made.graph.n_edges)
        assert made.arrays()["average"].shape == (2, sizes[-1])
    assert 0 in sizes
    assert sizes[-2] > 0
