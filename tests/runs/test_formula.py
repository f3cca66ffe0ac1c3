"""The formula of a small network says what the network does."""

import math
from typing import Any

import numpy as np
import pytest

from smgrnn import Graph
from smgrnn.graph.settings import ACTIVATIONS
from smgrnn.names import Names
from smgrnn.policy import Normalisation, Policy
from smgrnn.runs.words import FEW, formula
from smgrnn.tasks import Task
from support.flat import network_config

NAMES = Names(("a", "b"), ("x", "y"))
FUNCTIONS = {"tanh": math.tanh, "sigmoid": lambda z: 1 / (1 + math.exp(-z)), "max": max}


def small_policy(graph: Graph, *, is_choice: bool = False, **settings: Any) -> Policy:
    """Return a policy of two inputs with a bias, and its observations scaled."""
    config = network_config(n_inputs=2, n_outputs=graph.n_outputs, bias=True, **settings)
    task = Task(id="network", n_inputs=2, n_outputs=graph.n_outputs, is_discrete=is_choice)
    names = Names(NAMES.inputs, NAMES.outputs[: graph.n_outputs])
    scales = Normalisation(np.array([0.5, -1.0]), np.array([2.0, 0.25]))
    return Policy(graph, config, task, names=names, normalisation=scales)


def evaluated(text: str, observation: Any) -> float:
    words = text.replace("·", "*").replace("−", "-")
    return float(eval(words, FUNCTIONS | dict(zip("ab", observation, strict=True))))


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("readout", ["sum", "state"])
@pytest.mark.parametrize("iterations", [1, 2, 4])
def test_the_formula_gives_the_outputs(activation: Any, readout: Any, iterations: int) -> None:
    """A chain of two hidden nodes, a direct edge, biases, an output that leads to the other."""
    edges = [(0, 5, 1.25), (1, 5, -1.0), (2, 5, 0.5), (5, 6, 2.0), (6, 3, -0.75), (1, 3, 0.25)]
    graph = Graph.from_edges(3, 2, 2, edges=[*edges, (2, 3, 0.125), (3, 4, 1.5)])
    looks: Any = {"activation": activation, "output_activation": activation, "readout": readout}
    policy = small_policy(graph, iterations=iterations, carry_state=False, **looks)
    lines = formula(policy)
    assert [line.split(" = ")[0] for line in lines] == ["x", "y"]
    for observation in np.random.default_rng(0).normal(size=(5, 2)):
        found = [evaluated(line.split(" = ")[1], observation) for line in lines]
        assert found == pytest.approx(policy.answer(observation), rel=2e-2, abs=1e-2)


def test_a_choice_of_two_is_one_difference_whose_sign_decides() -> None:
    graph = Graph.from_edges(3, 2, edges=[(0, 3, 1.0), (1, 3, -2.0), (1, 4, 1.5), (2, 4, 0.25)])
    policy = small_policy(graph, is_choice=True, readout="sum")
    difference, choice = formula(policy)
    assert difference.startswith("y − x = ")
    assert choice == "y if this is above 0, otherwise x"
    for observation in np.random.default_rng(0).normal(size=(20, 2)):
        assert policy.answer(observation) == (evaluated(difference[8:], observation) > 0)


@pytest.mark.parametrize(
    ("edges", "carry_state"),
    [
        ([(0, 3, 1.0), (3, 5, 1.0), (5, 3, 1.0)], False),  # a loop
        ([(0, 5, 1.0), (5, 3, 1.0)], True),
        ([(0, 5 + n, 1.0) for n in range(FEW + 1)], False),
    ],
)
def test_loops_carried_states_and_many_weights_have_no_formula(
    edges: list[tuple[int, int, float]], carry_state: bool
) -> None:
    graph = Graph.from_edges(3, 2, FEW + 1, edges=edges)
    assert formula(small_policy(graph, iterations=2, carry_state=carry_state)) == []
