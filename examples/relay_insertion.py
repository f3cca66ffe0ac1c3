"""Draw the paper's Fig. 2: a relay beside an unstable edge, decided and applied by the library.

Run with `python examples/relay_insertion.py [OUT.svg]`.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

from smgrnn import Graph
from smgrnn.config import PlasticityConfig
from smgrnn.graph import apply, draw
from smgrnn.rules import PlasticityModule, RelayAlone

POSITIONS = {0: (0.0, 0.0), 1: (1.0, 0.0), 2: (0.5, 0.6)}


def main(path: str = "relay_insertion.svg") -> Figure:
    before = Graph.from_edges(1, 1, edges=[(0, 1, 0.8)])
    rules = PlasticityConfig.paper(window=10, interval=100, growth=RelayAlone(initial_weight=0.1))
    module = PlasticityModule(rules, before, iterations=1, rng=np.random.default_rng(3))
    watched = module.start(before)
    for sign in (1, -1) * 5:  # a direction that never settles
        watched.history.push(np.array([sign * 0.05]))
    edit = module.call(before, watched, protected=np.zeros(1, dtype=np.bool_)).edit
    after = apply(before, edit).graph

    figure = Figure(figsize=(7, 2.4), layout="constrained")
    titles = ("an unstable edge", "after inserting a relay")
    for ax, graph, title in zip(figure.subplots(1, 2), (before, after), titles, strict=True):
        draw(graph, ax, positions={node: POSITIONS[node] for node in graph.node_ids.tolist()})
        names = {0: "$i$", 1: "$j$", 2: "$h$"}
        for node in graph.node_ids.tolist():
            ax.annotate(names[node], POSITIONS[node], ha="center", va="center", fontsize=9)
        ax.set(title=title, xlim=(-0.2, 1.2), ylim=(-0.25, 0.85))
    figure.savefig(path)
    return figure


if __name__ == "__main__":
    main(*sys.argv[1:])
