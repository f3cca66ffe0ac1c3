"""Policy: one observation or many at once, each with states of its own."""

import pickle
from typing import Any

import numpy as np
import pytest

from smgrnn import Learner, SMGrNN
from smgrnn.errors import GraphError, ShapeError
from smgrnn.graph.state import Graph
from smgrnn.policy import Normalisation, Policy
from smgrnn.tasks import Task
from support.flat import learner_of, network_config
from support.flat import learning as learning_config

GRAPH = Graph.from_edges(
    3, 2, 2, [(0, 5, 0.7), (1, 3, -0.4), (2, 4, 0.2), (5, 3, 0.9), (3, 6, 1.1), (6, 4, -0.8)]
)
CHOICE = Task("choice", 2, 2, True)
MOVE = Task("move", 2, 2, False, action_low=(-3.0, 0.0), action_high=(1.0, 5.0))
ROWS = np.random.default_rng(0).normal(size=(6, 4, 2))
"""Six steps of four observations."""


def policy(task: Task = CHOICE, **changes: Any) -> Policy:
    readout = "sum" if task.is_discrete else "state"
    settings = {"n_inputs": 2, "n_outputs": 2, "bias": True, "n_hidden": 2, "iterations": 2}
    return Policy(GRAPH, network_config(**{**settings, "readout": readout, **changes}), task)


@pytest.mark.parametrize("carry_state", [True, False])
@pytest.mark.parametrize("task", [CHOICE, MOVE], ids=["choice", "move"])
def test_a_batch_is_as_many_policies(task: Task, carry_state: bool) -> None:
    batch = policy(task, carry_state=carry_state)
    singles = [policy(task, carry_state=carry_state) for _ in range(4)]
    for rows in ROWS:
        together = batch(rows)
        apart = np.array([single(row) for single, row in zip(singles, rows, strict=True)])
        assert together.shape == ((4,) if task.is_discrete else (4, 2))
        assert np.array_equal(together, apart)


def test_a_policy_does_what_the_learner_does_that_it_was() -> None:
    found = policy()
    learner = learner_of(found.config, learning_config(), graph=GRAPH)
    for row in ROWS[:, 0]:
        assert found(row) == learner.act(row)


def test_a_batch_of_another_size_needs_a_reset_where_states_are_carried() -> None:
    found = policy()
    found(ROWS[0])
    for rows in (ROWS[0, 0], ROWS[0, :3]):
        with pytest.raises(ShapeError, match="reset it before those of shape"):
            found(rows)
    found.reset()
    assert found(ROWS[0, :3]).shape == (3,)
    found = policy(carry_state=False)
    assert found(ROWS[0]).shape == (4,)
    assert found(ROWS[0, 0]) == found(ROWS[0])[0]


def test_a_reset_forgets_every_row() -> None:
    found = policy(MOVE)
    first = [found(rows) for rows in ROWS]
    found.reset()
    assert np.array_equal([found(rows) for rows in ROWS], first)
    assert not np.array_equal(found(ROWS[0]), first[0])  # which is not forgotten


def test_continuous_actions_are_within_their_bounds() -> None:
    found = policy(MOVE, output_activation="identity")
    actions = found(100 * ROWS[0])
    assert (actions >= MOVE.action_low).all()
    assert (actions <= MOVE.action_high).all()
    assert actions.dtype == np.float32


def test_observations_are_normalised_before_the_network_sees_them() -> None:
    statistics = Normalisation(np.array([1.0, -2.0]), np.array([0.5, 4.0]))
    plain = policy(MOVE)
    seen = Policy(GRAPH, plain.config, MOVE, normalisation=statistics)
    assert np.array_equal(seen(ROWS[0]), plain(statistics(ROWS[0])))


def test_a_network_or_an_observation_that_does_not_fit_its_task_is_refused() -> None:
    for shape in ((), (3,), (1,), (4, 3), (2, 2, 2), (0,)):
        with pytest.raises(ShapeError, match="Expected an observation of 2 numbers, or rows"):
            policy()(np.zeros(shape))
    config = network_config(n_inputs=3, n_outputs=2)
    with pytest.raises(GraphError, match="cannot play 'wide', which has 4 and 2"):
        Policy(GRAPH, config, Task("wide", 4, 2, True))
    with pytest.raises(GraphError, match="has 3 inputs and 2 outputs; the network has 4 and 2"):
        Policy(GRAPH, network_config(n_inputs=4, n_outputs=2), CHOICE)
    wrong = Normalisation(np.zeros(3), np.ones(3))
    with pytest.raises(ShapeError, match="does not fit the observations of 'choice'"):
        Policy(GRAPH, policy().config, CHOICE, normalisation=wrong)


def test_a_policy_becomes_another_network_and_travels_without_its_states() -> None:
    found = policy()
    assert SMGrNN.from_network(found).graph.n_edges == GRAPH.n_edges
    assert Learner.from_network(found).graph == GRAPH
    first = [found(rows) for rows in ROWS]
    sent: Policy = pickle.loads(pickle.dumps(found))
    assert np.array_equal([sent(rows) for rows in ROWS], first)
