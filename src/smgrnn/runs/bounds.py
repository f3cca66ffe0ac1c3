"""Bounds: the most that a run can come to, however long it lives.

A network ends at the limits of its rules, snapshots at their own; episodes and structural changes
are the only things of which a longer run keeps more, a few bytes each.
"""

from typing import Any

from smgrnn.rules.rule import follows_size
from smgrnn.runs.plan import Plan
from smgrnn.runs.snapshots import MOST_MOMENTS, MOST_WEIGHTS

EPISODE_BYTES, CHANGE_BYTES = 48, 64
"""Most bytes that an episode and a structural change take in a record."""
SPARE = 1.5
"""Most room of an update history, as a multiple of what its edges need."""
MOST_STUDENTS = {"final": 2, "best": 150}
"""Students that a run keeps: the final and the best one, or fewer than this of all that it offers,
see `runs.family` and `runs.keep`."""
_FACTS = 200_000  # bytes of settings, versions and names


def most_nodes_and_edges(plan: Plan) -> tuple[int, int]:
    """Return the most nodes and edges that the network of a run can have.

    >>> import smgrnn
    >>> most_nodes_and_edges(smgrnn.distill("xor", episodes=1, student="static").plan)
    (4, 3)
    """
    graph, rules = plan.make_graph(), plan.plasticity
    if rules.growth is None:
        return graph.n_nodes, graph.n_edges
    n_edges = max(graph.n_edges, rules.max_edges)
    if follows_size(rules.growth) and rules.size is not None:
        # The target passes the size by 30 %, growth the target by 15 % and a node's few edges.
        n_edges = min(n_edges, graph.n_edges + 2 * rules.size + 10)
    n_fixed = graph.n_inputs + graph.n_outputs
    n_nodes = max(graph.n_nodes, rules.max_nodes)
    return min(n_nodes, n_fixed + n_edges), n_edges


def most_kept(plan: Plan) -> int:
    """Return the most bytes of a run's record, without those of its structural changes.

    >>> import smgrnn
    >>> most_kept(smgrnn.distill("xor", episodes=1).plan) < 20_000_000
    True
    """
    n_nodes, n_edges = most_nodes_and_edges(plan)
    rules, network = plan.plasticity, plan.network
    history = SPARE * n_edges * (3 * rules.window + 4)
    learner = n_edges * (12 + plan.learning.rule.n_rows) + n_nodes * network.iterations
    pairs = 3 * n_nodes**2 if rules.needs("absent_edges") else 0
    growth: Any = rules.growth
    candidates = 0
    if rules.needs("candidates"):
        candidates = growth.n_candidates * (growth.candidate_sources + 16)
    noticed = 5 * n_nodes + pairs + candidates
    n_students = MOST_STUDENTS[plan.episodes.handover]
    students = n_students * (5 * n_edges + n_nodes + 2 * network.n_inputs + 200)
    snapshots = 2 * MOST_WEIGHTS + 4 * MOST_MOMENTS
    numbers = history + learner + noticed + students + snapshots
    episodes = EPISODE_BYTES * plan.n_episodes + 8 * plan.held_out
    return int(8 * numbers) + episodes + _FACTS
