"""Random pruning: as many edges as the paper's criterion would take, whichever they are.

Beside "weak" only the criterion of Eq. (7) is missing, so that the two tell what it is worth.
"""

import numpy as np

from smgrnn.graph.edit import Cause
from smgrnn.graph.state import places
from smgrnn.plasticity.draw import subset
from smgrnn.plasticity.evidence import Evidence
from smgrnn.plasticity.numbers import WEAKNESS, RuleNumbers
from smgrnn.plasticity.orphans import remove_edges
from smgrnn.plasticity.rule import Decision, Rule
from smgrnn.plasticity.weak import none_weak, prune_count, weak_edges


def _prune(evidence: Evidence, numbers: RuleNumbers, rng: np.random.Generator) -> Decision:
    """Remove edges drawn from all, and the nodes this orphans."""
    n_weak = places(weak_edges(evidence, numbers)).size
    free, goes = places(~evidence.spared), np.zeros(evidence.mean.size, dtype=np.bool_)
    for k in subset(rng, free.size, prune_count(n_weak, numbers.prune_fraction)):
        goes[free[k]] = True
    return Decision(remove_edges(evidence.graph, goes, Cause.RANDOM.value, numbers), False)


RULE = Rule("random", "as many as are weak, drawn from all", _prune, none_weak, settings=WEAKNESS)
