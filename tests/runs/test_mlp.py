"""The MLP student is a graph that the engine trains as torch trains a torch.nn network."""

from typing import Any

import numpy as np
import pytest
import torch

from smgrnn.config import RunConfig
from smgrnn.engine import Learner
from smgrnn.experts import TeacherId
from smgrnn.graph.initial import mlp_graph, mlp_width
from smgrnn.graph.state import Graph
from smgrnn.runs.distillation import new_learner
from smgrnn.runs.plan import plan_run
from smgrnn.seeding import stream
from smgrnn.tasks import Task, find_task

CARTPOLE = find_task("CartPole-v1")
NOBODY = TeacherId(kind="file", name="", digest="")


def student_of(task: Task, **settings: Any) -> Learner:
    """Return the student of a run before its first episode."""
    return new_learner(
        plan_run(RunConfig.for_task(task.id, preset="paper", **settings), task, NOBODY)
    )


def layers(graph: Graph) -> list[torch.Tensor]:
    """Return hidden weights, hidden biases, output weights and output biases."""
    matrix = np.zeros((graph.n_nodes, graph.n_nodes))
    matrix[graph.target, graph.source] = graph.weight
    bias, first = graph.n_inputs - 1, graph.n_inputs + graph.n_outputs
    outputs, hidden = slice(graph.n_inputs, first), slice(first, graph.n_nodes)
    parts = matrix[hidden, :bias], matrix[hidden, bias], matrix[outputs, hidden]
    return [torch.from_numpy(part.copy()) for part in (*parts, matrix[outputs, bias])]


def torch_twin(graph: Graph) -> torch.nn.Sequential:
    hidden = torch.nn.Linear(graph.n_inputs - 1, graph.n_hidden)
    output = torch.nn.Linear(graph.n_hidden, graph.n_outputs)
    twin = torch.nn.Sequential(hidden, torch.nn.Tanh(), output).double()
    with torch.no_grad():
        for parameter, value in zip(twin.parameters(), layers(graph), strict=True):
            parameter.copy_(value)
    return twin


def test_the_student_learns_as_a_torch_network_does() -> None:
    student = student_of(CARTPOLE, student="mlp-100", budget=51)
    twin = torch_twin(student.graph)
    optimizer = torch.optim.Adam(twin.parameters(), lr=0.01)
    rng = np.random.default_rng(1)
    for _ in range(300):
        observation = rng.normal(size=4)
        label = int(np.argmax(observation[:2]))
        outputs = twin(torch.from_numpy(observation))
        loss = torch.nn.functional.cross_entropy(outputs, torch.tensor(label))
        action = student.learn(observation, label)
        assert action == int(outputs.argmax())
        assert abs(student.loss - float(loss.detach())) < 1e-9
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for ours, theirs in zip(layers(student.graph), twin.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs.detach(), rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("task", "budget", "width", "parameters"),
    [
        ("CartPole-v1", 84, 12, 86),
        ("Acrobot-v1", 119, 12, 123),
        ("LunarLander-v3", 280, 21, 277),
    ],
)
def test_the_width_brings_the_parameters_closest_to_the_budget(
    task: str, budget: int, width: int, parameters: int
) -> None:
    n_inputs, n_outputs = find_task(task).n_inputs, find_task(task).n_outputs
    assert mlp_width(n_inputs, n_outputs, budget) == width
    graph = mlp_graph(n_inputs, width, n_outputs, stream(0, "init"))
    assert graph.n_edges == parameters == width * (n_inputs + 1) + n_outputs * (width + 1)
    for other in (width - 1, width + 1):
        there = other * (n_inputs + 1) + n_outputs * (other + 1)
        assert abs(there - budget) >= abs(parameters - budget)


def test_a_student_without_biases_has_none_and_as_many_parameters() -> None:
    learner = student_of(CARTPOLE, student="mlp-100", budget=84, bias=False)
    graph = learner.graph
    assert (graph.n_inputs, graph.n_hidden, graph.n_edges) == (4, 14, 84)
    assert set(graph.source[graph.target < 6].tolist()) == set(range(6, 20))
    assert learner.act(np.zeros(4)) == 0
    np.testing.assert_array_equal(learner.outputs, np.zeros(2))


def test_weights_start_as_those_of_torch_linear() -> None:
    graph = mlp_graph(4, 500, 2, stream(0, "init"))
    hidden, hidden_bias, output, output_bias = layers(graph)
    for part, fan_in in ((hidden, 4), (hidden_bias, 4), (output, 500), (output_bias, 500)):
        assert part.abs().max() <= fan_in**-0.5
    assert abs(float(hidden.std()) - 0.5 / 3**0.5) < 0.01
    assert abs(float(output.std()) - 500**-0.5 / 3**0.5) < 0.002
