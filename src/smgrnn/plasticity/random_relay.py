"""Relays on random edges: as many as the paper's criterion asks for, wherever chance puts them.

Beside "relay-alone" only the criterion of Eqs. (2)-(4) is missing, so that the two tell what it is
worth.
"""

import numpy as np

from smgrnn.graph.edit import GraphEdit
from smgrnn.plasticity.draw import subset
from smgrnn.plasticity.evidence import Evidence
from smgrnn.plasticity.numbers import RuleNumbers
from smgrnn.plasticity.relay import RELAYS, all_stable, insert_relays, relay_count
from smgrnn.plasticity.rule import Decision, Rule


def _relay_anywhere(evidence: Evidence, numbers: RuleNumbers, rng: np.random.Generator) -> Decision:
    """Insert relays beside edges drawn from all of the graph."""
    graph = evidence.graph
    n_relays, is_capped = relay_count(evidence, numbers, 2)
    edit = GraphEdit(np.empty((3 * n_relays, 5), dtype=np.int64), np.empty(3 * n_relays))
    relayed = subset(rng, graph.source.size, n_relays)
    insert_relays(graph, relayed, numbers, rng, edit)
    return Decision(edit, is_capped)


RULE = Rule(
    "relay-random",
    "as many relays, on random edges",
    _relay_anywhere,
    is_idle=all_stable,
    settings=RELAYS,
)
