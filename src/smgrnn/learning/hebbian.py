"""A three-factor Hebbian rule: what an edge did lately, times the error that its target hears of.

Each edge into a hidden node keeps an eligibility trace of pre × post, which decays from iteration
to iteration (Gerstner et al., 2018).  Pre is the state of its source; post is the slope of its
target's activation, by which the target answers to its sum (as in e-prop, Bellec et al., 2020).
The third factor is the error at the outputs, which a hidden node hears of by fixed random weights.
An edge into an output has the error of its target at hand, and learns by that alone.

A trace holds all iterations that the outputs have heard of: the last one of a call joins it for the
next.  So edges into hidden nodes learn with one iteration too, and a trace lasts beyond one call.
"""

import numpy as np

from smgrnn.graph.activation import slope
from smgrnn.learning.feedback import heard_error
from smgrnn.learning.outputs import teach_outputs
from smgrnn.learning.rule import LearningRule, Pass


def _modulate(seen: Pass) -> None:
    """Write the gradients, and move the eligibility traces on by one call."""
    teach_outputs(seen)
    trace, network, traces = seen.trace, seen.network, seen.memory
    last, n_nodes = trace.shape[0] - 2, trace.shape[1]
    for node in range(network.n_inputs + network.n_outputs, n_nodes):
        error = heard_error(seen, node)
        for row in range(last + 1):
            post = slope(trace[row + 1, node], network.activation)
            if seen.errors.shape[1] > 0 and row < last:
                seen.errors[row, node] = error * post
            for edge in range(np.uint64(seen.starts[node]), np.uint64(seen.starts[node + 1])):
                if row == 0 and not network.carries_state:
                    traces[0, edge] = 0.0  # what a call before did is of no consequence
                if row == last:
                    seen.gradient[edge] = error * traces[0, edge]
                pre = trace[row, np.uint64(seen.source[edge])]
                traces[0, edge] = seen.trace_decay * traces[0, edge] + pre * post


RULE = LearningRule(
    "hebbian",
    "a decaying trace of pre × post, times the error that hidden nodes hear of: three factors",
    _modulate,
    n_rows=1,
    forgets=True,
    draws_feedback=True,
    gives_errors=True,
)
