"""Edge-driven growth: a relay node beside each unstable edge.

Paper: Sec. III-C1, Fig. 2.  Decides only; `graph.edit` changes the graph.
"""

import numpy as np

from smgrnn.arrays import Ints
from smgrnn.graph.edit import Cause, GraphEdit, Operation, write_change
from smgrnn.graph.state import Graph
from smgrnn.kernels import kernel
from smgrnn.plasticity.draw import gaussian


@kernel
def insert_relays(
    graph: Graph, edges: Ints, initial_weight: float, rng: np.random.Generator, edit: GraphEdit
) -> None:
    """Write i -> h_new -> j for each edge i -> j into the first 3 · edges rows of `edit`.

    The edge itself stays; the new weights are small, so that the new path disturbs nothing yet.
    """
    for k in range(edges.size):
        source = graph.node_ids[graph.source[edges[k]]]
        target = graph.node_ids[graph.target[edges[k]]]
        relay, edge = graph.next_node_id + k, graph.next_edge_id + 2 * k
        add_node, add_edge = Operation.ADD_NODE.value, Operation.ADD_EDGE.value
        cause, row = Cause.RELAY.value, 3 * k
        write_change(edit, row, add_node, cause, relay, source, target, 0.0)
        weight = gaussian(rng, initial_weight)
        write_change(edit, row + 1, add_edge, cause, edge, source, relay, weight)
        weight = gaussian(rng, initial_weight)
        write_change(edit, row + 2, add_edge, cause, edge + 1, relay, target, weight)
