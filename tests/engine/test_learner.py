"""The compiled learner: the same network as torch's, exactly resumable and logged."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import torch

from smgrnn import Learner, SMGrNN
from smgrnn.errors import NonFiniteError, ShapeError
from smgrnn.policy import policy_of
from support.flat import learner_of, network_config, rules
from support.flat import learning as learning_config
from support.learners import learner, memory, stream
from support.networks import cyclic_net, grown


def test_a_network_goes_to_the_compiled_engine_and_back_unchanged() -> None:
    net = grown(cyclic_net(0, iterations=2))
    made = Learner.from_network(net)
    back = SMGrNN.from_network(made, dtype=torch.float64)
    assert made.graph == net.graph == back.graph
    assert made.config == net.config == back.config
    inputs = torch.as_tensor(stream(20).observations)
    assert all(torch.equal(back(x), net(x)) for x in inputs)
    made = learner()
    made.learn_stream(*stream(150))
    assert made.graph.next_node_id > made.graph.n_nodes  # ids have gaps: nodes came and went
    net, before = SMGrNN.from_network(made, dtype=torch.float64), made.graph
    assert net.graph == Learner.from_network(net).graph == before
    made.learn_stream(*stream(3))
    assert net.graph == before  # they share no weights


@pytest.mark.parametrize("carry_state", [True, False])
def test_acting_gives_the_outputs_and_the_greedy_action_of_torch_and_does_not_learn(
    carry_state: bool,
) -> None:
    net = cyclic_net(1, weight_std=0.4, iterations=3, carry_state=carry_state)
    made = Learner.from_network(net)
    before = memory(made)
    for x in stream(30).observations:
        expected = net(torch.as_tensor(x)).detach().numpy()
        assert made.act(x) == np.argmax(expected)
        np.testing.assert_allclose(made.outputs, expected, rtol=1e-12, atol=1e-14)
    after = memory(made)
    assert [name for name in before if after[name] != before[name]] == ["trace"]


def test_an_edge_added_late_starts_with_one_step_of_the_learning_rate() -> None:
    """With the step shared by all edges, as in torch, a late one starts with several times that."""
    first = {}
    for correction in ("shared", "edge"):
        learning = learning_config(bias_correction=correction)
        often = rules(interval=1000, growth="exploration", explore_probability=1.0)
        config = network_config(n_inputs=6, n_outputs=2, density=0.5)
        made = learner_of(config, learning, often, seed=3)
        rows = np.random.default_rng(0).normal(size=(1001, 6))
        made.learn_stream(rows[:1000], rows[:1000, 0] > 0)
        (edit,) = [edit for _, edit in made.log.edits()]
        (weight,) = edit.weight
        made.learn(rows[1000], int(rows[1000, 0] > 0))
        first[correction] = abs(made.graph.weight[made.graph.edge_ids.argmax()] - weight)
    assert first["edge"] == pytest.approx(0.01, rel=1e-3)
    assert first["shared"] > 0.02


def test_a_batch_is_answered_as_its_rows_are_one_by_one() -> None:
    rows = stream(30).observations
    for loss in ("cross_entropy", "mse"):
        made = learner(0, learning_config(loss=loss), carry_state=False)
        assert np.array_equal(made.act(rows), np.array([made.act(row) for row in rows]))
        assert np.size(made.act(rows[:0])) == 0
    with pytest.raises(ShapeError, match=r"^Expected rows of 3 numbers\. Got shape \(4, 2\)"):
        made.act(np.zeros((4, 2)))
    rows[1, 0] = np.nan
    with pytest.raises(NonFiniteError, match=r"^Row 1 of the batch"):
        made.act(rows)
    with pytest.raises(ShapeError, match=r"^A network that carries its states"):
        learner().act(rows)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))])
def test_a_copy_learns_on_as_the_original_does_and_apart_from_it(copied: Any) -> None:
    """A copy used to hold the addresses of the original's arrays, and to write to them."""
    made = learner()
    made.learn_stream(*stream(150))
    twin, before = copied(made), made.graph
    twin.learn_stream(*stream(150))
    assert made.graph == before
    assert twin.n_updates == 2 * made.n_updates
    made.learn_stream(*stream(150))
    assert memory(made) == memory(twin)


class Subclass(Learner):
    def __init__(self, n: int) -> None:
        super().__init__(n, 2)
        self.own = n


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_of_a_subclass_has_its_fields_whatever_it_is_made_from(copied: Any) -> None:
    twin = copied(Subclass(3))
    assert type(twin) is Subclass
    assert (twin.own, twin.act([0.1, 0.2, 0.3]) in (0, 1)) == (3, True)


ODD: list[Any] = [
    np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False]),
    np.array([1j, 2.0, 3.0]),
    np.array(["2020-01-01"] * 3, "M8[D]"),
    np.zeros(3, [("a", float)]),
    ["1", "2", "3"],
    [10**400, 0, 0],
    [[1.0], [1.0, 2.0], []],
]


@pytest.mark.parametrize("row", ODD)
def test_observations_that_are_no_real_numbers_are_refused(row: Any) -> None:
    """NumPy dropped masks and imaginary parts, and read dates and text as numbers."""
    made = learner()
    calls: list[Any] = [made.act, policy_of(made), lambda each: made.learn(each, 0)]
    calls += [lambda each: made.learn_stream(each, [0, 0, 0])]
    calls += [lambda each: made.learn_stream(np.ones((3, 3)), each)]
    for call in calls:
        with pytest.raises(ShapeError, match=r"must be real numbers\. Got .+ instead\.$"):
            call(row)
