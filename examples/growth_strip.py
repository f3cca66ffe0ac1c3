"""Draw a network at four moments: before it grows, while it does, and after it has stopped.

It learns whether two of its four inputs have the same sign, which no straight line tells.  This is
the picture of docs/index.md.

Run with `python examples/growth_strip.py [OUT.png]`.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

from smgrnn import Graph, Learner
from smgrnn.graph import draw
from smgrnn.graph.drawing import Positions, layout

MOMENTS = (2_000, 6_000, 20_000, 100_000)
"""Examples after which the network is drawn."""
N_JUDGED = 2_000
"""Last examples of which the share that it got right is told."""


def shared_positions(graphs: list[Graph]) -> Positions:
    """Place every node that was ever there, so that none moves from frame to frame."""
    nodes = sorted({node for graph in graphs for node in graph.node_ids.tolist()})
    place = {node: position for position, node in enumerate(nodes)}
    pairs = {(edge.source, edge.target) for graph in graphs for edge in graph.edges()}
    first = graphs[0]
    edges = [(place[u], place[v], 1.0) for u, v in pairs]
    n_hidden = len(nodes) - first.n_inputs - first.n_outputs
    positions = layout(Graph.from_edges(first.n_inputs, first.n_outputs, n_hidden, edges))
    return {node: positions[place[node]] for node in nodes}


def grow(seed: int = 0) -> list[tuple[Graph, float]]:
    """Return the network at each moment, and the share of the last examples that it got right."""
    learner, found = Learner(4, 2, max_parameters=24, seed=seed), []
    examples = np.random.default_rng(seed).normal(size=(MOMENTS[-1], 4))
    labels = examples[:, 0] * examples[:, 1] > 0
    for first, last in zip((0, *MOMENTS), MOMENTS, strict=False):
        actions = learner.learn_stream(examples[first:last], labels[first:last]).actions
        share = np.mean((actions == labels[first:last])[-N_JUDGED:])
        found.append((learner.graph, float(share)))
    return found


def main(path: str = "growth.png") -> None:
    frames = grow()
    positions = shared_positions([graph for graph, _ in frames])
    figure = Figure(figsize=(11, 2.7), layout="constrained")
    panels = zip(figure.subplots(1, 4), MOMENTS, frames, strict=True)
    for ax, moment, (graph, share) in panels:
        draw(graph, ax, {node: positions[node] for node in graph.node_ids.tolist()}, n_biases=1)
        size = f"{graph.n_nodes} nodes, {graph.n_edges} edges"
        ax.set_title(f"{moment:,} examples: {share:.0%} right\n{size}", fontsize=9)
        ax.set(xlim=(-0.08, 1.08), ylim=(-0.08, 1.08))
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
