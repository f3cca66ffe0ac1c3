"""A small network as a formula, for people to read."""

from math import inf

import numpy as np

from smgrnn.policy import Policy
from smgrnn.text import MINUS

Terms = dict[str, float]
"""The factor of each term of a sum; that of the term "" is the constant."""
FEW = 8
"""Maximum number of weights in a formula."""


def formula(policy: Policy) -> list[str]:
    """Return how a network of few weights chooses or acts, in lines.

    There are none for a network with more weights, loops, or carried states.

    >>> from smgrnn import Graph
    >>> from smgrnn.config import NetworkConfig
    >>> from smgrnn.tasks import Task
    >>> graph = Graph.from_edges(4, 2, edges=[(2, 5, 1.2), (3, 4, -0.8)])
    >>> config = NetworkConfig(n_inputs=4, n_outputs=2, bias=False, readout="sum")
    >>> task = Task(id="pole", n_inputs=4, n_outputs=2, is_discrete=True)
    >>> print(*formula(Policy(graph, config, task)), sep="; ")
    out 1 − out 0 = 1.2·in 2 + 0.8·in 3; out 1 if this is above 0, otherwise out 0
    """
    graph, config, task = policy.graph, policy.config, policy.task
    names = policy.names.of_nodes(graph.n_inputs)
    seen, n_fixed = names[: task.n_inputs], graph.n_inputs + graph.n_outputs
    mean, scale = policy.normalisation or (np.zeros(len(seen)), np.ones(len(seen)))
    if graph.n_edges > FEW:
        return []
    leads = np.zeros((graph.n_nodes, graph.n_nodes))
    leads[graph.source, graph.target] = 1
    has_loop = np.linalg.matrix_power(leads, graph.n_edges + 1).any()
    is_carried = config.carry_state and (graph.source >= graph.n_inputs).any()
    if has_loop or is_carried or len({*seen}) < len(seen):
        return []

    def total(node: int, iteration: int) -> Terms:
        terms: Terms = {}
        for edge in np.flatnonzero(graph.target == node).tolist():
            source, weight = int(graph.source[edge]), float(graph.weight[edge])
            if source < len(seen):
                weight *= float(scale[source])
                found = {seen[source]: 1.0, "": -float(mean[source])}
            elif source < graph.n_inputs:
                found = {"": 1.0}
            else:  # all states are zero before the first iteration
                found = state(source, iteration - 1) if iteration > 1 else {}
            for term, factor in found.items():
                terms[term] = terms.get(term, 0.0) + weight * factor
        return terms

    def state(node: int, iteration: int) -> Terms:
        kind = config.output_activation if node < n_fixed else config.activation
        terms = total(node, iteration)
        if kind == "identity" or not (any(terms.values()) or kind == "sigmoid"):
            return terms
        call = "max(0, " if kind == "relu" else f"{kind}("
        return {f"{call}{write(terms)})": 1.0}

    def write(terms: Terms) -> str:
        order = {name: row for row, name in enumerate(seen)} | {"": inf}
        parts: list[str] = []
        for term in sorted(terms, key=lambda term: order.get(term, len(seen))):
            if factor := float(f"{terms[term]:.3g}"):
                number = [] if term and abs(factor) == 1 else [f"{abs(factor):g}"]
                parts += [MINUS if factor < 0 else "+", "·".join([*number, *[term] * bool(term)])]
        return parts[0].strip("+") + " ".join(parts[1:]) if parts else "0"

    compares_sums = task.is_discrete and config.readout == "sum"
    value = total if compares_sums else state
    values = [value(node, config.iterations) for node in range(graph.n_inputs, n_fixed)]
    outputs = names[graph.n_inputs :]
    if compares_sums and len(outputs) == 2:
        (first, second), (left, right) = values, outputs
        terms = {term: second.get(term, 0.0) - first.get(term, 0.0) for term in second | first}
        choice = f"{right} if this is above 0, otherwise {left}"
        return [f"{right} {MINUS} {left} = {write(terms)}", choice]
    lines = [f"{name} = {write(terms)}" for name, terms in zip(outputs, values, strict=True)]
    if task.is_discrete:
        lines.append("The largest is chosen.")
    elif {*(task.action_low or ()), *(task.action_high or ())} - {-1.0, 1.0}:
        lines.append("Outputs from −1 to 1 cover the range of the action.")
    return lines
