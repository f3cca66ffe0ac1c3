"""Draw a network at four moments of its growth on XOR: the picture of the README.

Run with `python examples/growth_strip.py [OUT.png]`.
"""

import sys

from matplotlib.figure import Figure
from xor import learn_xor

from smgrnn import Graph
from smgrnn.graph import draw
from smgrnn.graph.drawing import Positions, layout


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


def main(path: str = "growth.png") -> None:
    moments: dict[int, Graph] = {}
    outcome = learn_xor(8, watch=moments.__setitem__)
    last = max(moments)
    updates = [max(u for u in moments if u <= share * last) for share in (0, 0.45, 0.7)]
    frames = {update: moments[update] for update in updates} | {outcome.updates: outcome.graph}
    positions = shared_positions(list(frames.values()))
    figure = Figure(figsize=(11, 2.7), layout="constrained")
    for ax, (update, graph) in zip(figure.subplots(1, 4), frames.items(), strict=True):
        draw(graph, ax, {node: positions[node] for node in graph.node_ids.tolist()})
        ax.set_title(f"update {update}: {graph.n_nodes} nodes, {graph.n_edges} edges", fontsize=9)
        ax.set(xlim=(-0.08, 1.08), ylim=(-0.08, 1.08))
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
