"""What a compiled learner does with what it cannot learn: it says so, and stays as it was."""

import math
import re
from typing import Any

import numpy as np
import pytest

from smgrnn import Graph
from smgrnn.errors import ConfigError, GraphError, NonFiniteError, ShapeError
from smgrnn.graph.settings import Activation
from support.flat import learner_of, network_config, rules
from support.flat import learning as learning_config
from support.learners import learner, memory, stream


def not_finite(update: int) -> Any:
    """Expect the sentence that names the update which could not be learned."""
    sentence = (
        f"The observation, an output, the loss or its gradient was NaN or infinite at "
        f"update {update}; the network is as it was after update {update - 1}."
    )
    return pytest.raises(NonFiniteError, match=f"^{re.escape(sentence)}$")


@pytest.mark.parametrize(("row", "value"), [(0, math.nan), (35, math.inf), (59, -math.inf)])
def test_a_stream_is_learned_up_to_the_row_that_is_not_finite(row: int, value: float) -> None:
    examples = stream(60)
    examples.observations[row, 2] = value
    made, undisturbed = learner(), learner()
    made.learn_stream(*stream(10, seed=1))
    undisturbed.learn_stream(*stream(10, seed=1))
    with not_finite(10 + row + 1):
        made.learn_stream(*examples)
    undisturbed.learn_stream(*examples.rows(0, row))
    assert made.n_updates == 10 + row
    for call in (lambda x: made.learn(x, 0), made.act):  # it is as if it had not been seen
        with pytest.raises(NonFiniteError):
            call(examples.observations[row])
        assert memory(made) == memory(undisturbed)
    made.learn_stream(*examples.rows(row + 1, 60))
    undisturbed.learn_stream(*examples.rows(row + 1, 60))
    assert memory(made) == memory(undisturbed)
    edits = [[(n, repr(edit)) for n, edit in either.log.edits()] for either in (made, undisturbed)]
    assert edits[0] == edits[1] != []


@pytest.mark.parametrize("value", [math.nan, -math.inf])
def test_a_target_that_is_not_finite_is_refused(value: float) -> None:
    made = learner(0, learning_config(loss="mse"))
    made.learn(np.ones(3), [0.5, 0.5])
    before = memory(made)
    with not_finite(2):
        made.learn(np.ones(3), [0.5, value])
    assert memory(made) == before
    targets = np.full((5, 2), 0.5)
    targets[3, 0] = value
    with not_finite(2 + 3):
        made.learn_stream(np.ones((5, 3)), targets)
    assert made.n_updates == 4


@pytest.mark.parametrize("activation", ["identity", "relu"])
def test_an_overflow_is_as_if_the_example_had_not_been_seen(activation: Activation) -> None:
    """The output overflows when the first input is 1, not when it is 0."""
    edges = [(0, 4, 1e200), (4, 2, 1e200), (1, 2, 0.1), (1, 3, -0.2)]
    graph = Graph.from_edges(2, 2, 1, edges=edges)
    config = network_config(
        n_inputs=2, n_outputs=2, iterations=2, activation=activation, output_activation=activation
    )
    made, undisturbed = (learner_of(config, None, rules(interval=5), graph=graph) for _ in range(2))
    for update in range(1, 13):
        x, label = np.array([0.0, 0.1 * update]), update % 2
        before = memory(made)
        with not_finite(update):
            made.learn([1.0, 0.5], label)
        with not_finite(update):
            made.learn_stream([[1.0, 0.5]], [label])
        assert memory(made) == before
        assert made.learn(x, label) == undisturbed.learn(x, label)
    assert memory(made) == memory(undisturbed)
    assert any(made.log.edits())


def test_a_gradient_or_a_step_that_overflows_under_a_finite_loss_is_refused() -> None:
    """The hidden node is 0, so the outputs are; the way back to its edge is 1e200 · 1e200."""
    graph = Graph.from_edges(1, 2, 1, edges=[(0, 3, 0.0), (3, 1, 1e200)])
    linear: Any = {"activation": "identity", "output_activation": "identity"}
    made = learner_of(network_config(n_inputs=1, n_outputs=2, iterations=2, **linear), graph=graph)
    assert made.learn([1.0], 1) == 0
    before = memory(made)
    with not_finite(2):
        made.learn([1e200], 1)
    assert memory(made) == before
    graph = Graph.from_edges(1, 2, edges=[(0, 1, 0.0), (0, 2, 0.0)])
    learning = learning_config(optimizer="sgd", learning_rate=1e10)
    made = learner_of(network_config(n_inputs=1, n_outputs=2, **linear), learning, graph=graph)
    with pytest.raises(NonFiniteError, match=r"^A weight became infinite at update 1; lower the l"):
        made.learn([1e300], 0)


ONES, MSE = np.ones, learning_config(loss="mse")
STREAM = r"^The shapes of a stream must be observations \(n, 3\)"
LABEL = r"^A label must be an int from 0 to 1\. Got .+ instead\.$"


@pytest.mark.parametrize(
    ("learning", "call", "sentence"),
    [
        *(
            (None, ("learn", ONES(shape), 0), f"^Expected an observation of 3 .* {got} instead")
            for shape, got in (((2,), r"\(2,\)"), ((1, 3), r"\(1, 3\)"), ((), r"\(1,\)"))
        ),
        *((None, ("learn", ONES(3), label), LABEL) for label in (-1, 2, 0.5, "1", None)),
        *((None, ("learn_stream", ONES((2, 3)), [0, n]), "^Labels must be in 0") for n in (-1, 2)),
        (None, ("learn_stream", ONES((2, 3)), [0, 0.5]), "must be whole numbers"),
        (None, ("act", ONES(4)), r"^Expected an observation of 3 numbers\. Got shape \(4,\)"),
        (None, ("act", ONES((1, 3))), "a batch instead"),
        (None, ("learn_stream", ONES((5, 4)), np.zeros(5)), STREAM),
        (None, ("learn_stream", ONES((5, 3)), np.zeros(5), np.zeros(4)), STREAM),
        (MSE, ("learn", ONES(3), ONES(3)), r"^Expected a target of 2 numbers\. Got shape \(3,\)"),
        (MSE, ("learn_stream", ONES((5, 3)), ONES((5, 3))), r"targets \(n, 2\) .* Got \(5, 3\), "),
    ],
)
def test_arguments_that_do_not_fit_are_refused(learning: Any, call: Any, sentence: str) -> None:
    made = learner(0, learning)
    before = memory(made)
    with pytest.raises(ShapeError, match=sentence):
        getattr(made, call[0])(*call[1:])
    assert memory(made) == before


def test_networks_that_do_not_fit_are_refused() -> None:
    graph, small = learner().graph, Graph.from_edges(1, 1, edges=[(0, 1, 0.5)])
    with pytest.raises(ConfigError, match=r"^The compiled engine has scalar node states; use stat"):
        learner(state_dim=2)
    with pytest.raises(GraphError, match=r"^The graph has an edge from a node to itself\.$"):
        learner_of(learner().config, graph=graph._replace(source=graph.target))
    with pytest.raises(GraphError, match="the network has 3 and 2"):
        learner_of(network_config(n_inputs=3, n_outputs=2), graph=small)
