"""The rules called "none": a network that does not grow, and one that loses only orphans."""

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.graph.edit import Cause, GraphEdit
from smgrnn.plasticity.evidence import Evidence
from smgrnn.plasticity.history import UpdateHistory
from smgrnn.plasticity.numbers import RuleNumbers
from smgrnn.plasticity.orphans import remove_edges
from smgrnn.plasticity.rule import Decision, Rule


def _grow_nothing(evidence: Evidence, numbers: RuleNumbers, rng: np.random.Generator) -> Decision:
    return Decision(GraphEdit(np.empty((0, 5), dtype=np.int64), np.empty(0)), False)


def _always(
    weight: Floats, history: UpdateHistory, numbers: RuleNumbers, first: int, last: int
) -> bool:
    return True


def _prune_orphans(evidence: Evidence, numbers: RuleNumbers, rng: np.random.Generator) -> Decision:
    goes = np.zeros(evidence.graph.source.size, dtype=np.bool_)
    return Decision(remove_edges(evidence.graph, goes, Cause.ORPHAN.value, numbers), False)


def _unless_orphans(
    weight: Floats, history: UpdateHistory, numbers: RuleNumbers, first: int, last: int
) -> bool:
    return not numbers.orphan_removal


GROWTH = Rule("none", "no growth", _grow_nothing, _always, settings=frozenset())
PRUNING = Rule("none", "nothing but orphans", _prune_orphans, _unless_orphans, settings=frozenset())
