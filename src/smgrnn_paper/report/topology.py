"""Measures that the paper discusses without numbers: of final graphs, their weights, their growth.

Paper: Sec. IV-C, IV-D, Figs. 3, 5, 6 and 8.  Each measure has a sentence in `metrics.toml`; where
that leaves a case open, the docstring of the function here settles it.
"""

from collections.abc import Callable

import networkx as nx
import numpy as np
from scipy.special import binom

from smgrnn.errors import MetricError
from smgrnn.graph.drawing import to_networkx
from smgrnn.graph.state import Graph
from smgrnn.runs.metrics import final_quarter
from smgrnn.runs.record import Record
from smgrnn_paper.evolution.plan import generations_of

SMALL_WEIGHT = 0.1
"""Largest magnitude of a small weight: τ_w of Table A.III."""
N_WEIGHTS = 50
"""Number of weights whose range is measured: about as many as the smallest final networks have."""
AT_THE_END = ("n_nodes", "n_edges")
"""Sizes at the end of training; those of a summary are the selected network's."""
NEVER = ("convergence_episode", "sustained_episode")
"""The metrics that are infinite for a run that never reached the threshold."""


def measure(record: Record, metric: str) -> float:
    """Return a metric of a run: one of `MEASURES`, or else a figure of its summary.

    Either convergence of a run that never reached the threshold is infinite.  A metric that runs of
    its kind do not have, such as the churn ratio of an evolution, raises MetricError.
    """
    if metric in OF_RUNS:
        return float(OF_RUNS[metric](record))
    if metric in OF_GRAPHS:
        return float(OF_GRAPHS[metric](record.final.graph))
    if metric in AT_THE_END and not record.is_evolved:
        return float(getattr(record.episodes, metric)[-1])
    figures = record.summary()
    value = figures.get(metric)
    if value is None and metric in NEVER and metric in figures:
        return np.inf
    if not isinstance(value, int | float):
        raise MetricError(f"{record.plan.student} on {record.plan.task.id} has no {metric!r}.")
    return float(value)


def early_return(record: Record) -> float:
    """Return the mean return over the first tenth of the episodes, at least one."""
    returns = record.episodes.returns
    return float(returns[: max(returns.size // 10, 1)].mean())


def early_growth_nodes(record: Record) -> float:
    """Return the net growth in nodes over the first quarter of the episodes, at least one."""
    n, period = max(record.episodes.n // 4, 1), record.pruning_period
    return _nodes_at(record, n, period if n >= period else 1) - record.started[0]


def settled_share(record: Record) -> float:
    """Return the share of the whole net growth that is reached before the final quarter begins.

    Both sizes are means over a whole pruning period, at the same phases of the saw-tooth.  A run
    without net growth counts as settled (1) if the final quarter left its size alone too, as
    infinite if that undid growth, and as minus infinite if that undid shrinking.
    """
    start, n_before = record.started[0], final_quarter(record.episodes.n).start
    # A period that the first of the two sizes cannot have does not suit the second either.
    period = record.pruning_period if n_before >= record.pruning_period else 1
    before = _nodes_at(record, n_before, period) - start
    net = _nodes_at(record, record.episodes.n, period) - start
    if net:
        return before / net
    return float(np.sign(before) * np.inf) if before else 1.0


def _nodes_at(record: Record, n: int, period: int) -> float:
    """Return the mean nodes over the last `period` of the first `n` episodes."""
    sizes = np.concatenate([record.started[:1], record.episodes.n_nodes])
    return float(sizes[n + 1 - period : n + 1].mean())


def growth_linearity(record: Record) -> float:
    """Return the squared correlation of the best candidate's nodes with its generation.

    Generations in which no candidate could play are left out.  A size that never changes does not
    grow with the generations: 0.
    """
    generations = generations_of(record)
    if generations is None:
        raise MetricError(f"{record.plan.student} on {record.plan.task.id} has no generations.")
    played = np.flatnonzero(generations.steps)
    sizes = generations.n_nodes[played]
    if sizes.size == 0 or np.all(sizes == sizes[0]):
        return 0.0
    return float(np.corrcoef(played, sizes)[0, 1] ** 2)


def small_weight_share(graph: Graph) -> float:
    """Return the share of the weights that are at most 0.1 (τ_w) in magnitude; 0 of none."""
    return float((np.abs(graph.weight) <= SMALL_WEIGHT).sum() / max(graph.n_edges, 1))


def weight_range(graph: Graph) -> float:
    """Return the largest less the smallest of 50 weights drawn at random, on average; 0 of none.

    The range of all weights rises with their number alone.  Fewer than 50 all count.
    """
    weights, n = np.sort(graph.weight), min(N_WEIGHTS, graph.n_edges)
    if n == 0:
        return 0.0
    # The chance that all that are drawn are among the first so many, in order of size.
    below = binom(np.arange(weights.size + 1), n) / binom(weights.size, n)
    return float(np.diff(below) @ (weights - weights[::-1]))


def sparsity(graph: Graph) -> float:
    """Return the share of the allowed node pairs that no edge joins.

    Allowed is any pair of distinct nodes that does not end in an input: inputs are clamped, so an
    edge into one does nothing.  Where `explore_inputs` has made such edges, they do not count.
    """
    n_pairs = (graph.n_nodes - graph.n_inputs) * (graph.n_nodes - 1)
    return 1.0 - float((graph.target >= graph.n_inputs).sum()) / n_pairs


def centralisation(graph: Graph) -> float:
    """Return Freeman's degree centralisation: 0 if all nodes have as many edges, 1 for a star.

    The degree of a node is the number of its neighbours, so that edges both ways count once.  Of
    fewer than three nodes none is more central than the others: 0.
    """
    degrees = np.array([degree for _, degree in to_networkx(graph).to_undirected().degree()])
    n = degrees.size
    return float((degrees.max() - degrees).sum() / ((n - 1) * (n - 2))) if n > 2 else 0.0


def skip_edges(graph: Graph) -> int:
    """Count the edges straight from an input to an output that a longer path joins too."""
    view, found = to_networkx(graph), 0
    fixed = graph.n_inputs + graph.n_outputs
    straight = (graph.source < graph.n_inputs) & (graph.target >= graph.n_inputs)
    straight &= graph.target < fixed
    for source, target in zip(graph.source[straight], graph.target[straight], strict=True):
        ends = int(graph.node_ids[source]), int(graph.node_ids[target])
        detour = nx.restricted_view(view, nodes=[], edges=[ends])
        found += nx.has_path(detour, *ends)
    return found


def skip_share(graph: Graph) -> float:
    """Return the skip edges as a share of all pairs of an input and an output."""
    return skip_edges(graph) / (graph.n_inputs * graph.n_outputs)


def feedback_edges(graph: Graph) -> int:
    """Count the edges that lie on a cycle: their ends can reach one another."""
    view = to_networkx(graph)
    parts = enumerate(nx.strongly_connected_components(view))
    part = {node: number for number, nodes in parts for node in nodes}
    return sum(part[source] == part[target] for source, target in view.edges)


def relay_paths(graph: Graph) -> int:
    """Count the pairs of edges that lead through a hidden node beside an edge of the same ends."""
    view = to_networkx(graph)
    hidden = set(graph.node_ids[graph.n_inputs + graph.n_outputs :].tolist())
    after = {node: hidden.intersection(view.successors(node)) for node in view}
    before = {node: hidden.intersection(view.predecessors(node)) for node in view}
    return sum(len(after[source] & before[target]) for source, target in view.edges)


OF_RUNS: dict[str, Callable[[Record], float]] = {
    each.__name__: each
    for each in (early_return, early_growth_nodes, settled_share, growth_linearity)
}
OF_GRAPHS: dict[str, Callable[[Graph], float]] = {
    each.__name__: each
    for each in (
        *(small_weight_share, weight_range, sparsity, centralisation),
        *(skip_edges, skip_share, feedback_edges, relay_paths),
    )
}
MEASURES = (*OF_RUNS, *OF_GRAPHS)
"""The metrics that the summary of a run does not have."""
