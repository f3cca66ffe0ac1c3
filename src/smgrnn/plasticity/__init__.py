"""The plasticity module: decides on edits from the weight updates of each edge and statistics."""

from smgrnn.plasticity.evidence import Evidence, Memory, Moment
from smgrnn.plasticity.history import UpdateHistory
from smgrnn.plasticity.numbers import RuleNumbers
from smgrnn.plasticity.rule import Decision, Rule
from smgrnn.plasticity.rules import GROWTH, PRUNING, follows_size, settings_without_effect
from smgrnn.plasticity.schedule import Plasticity, decide_by

__all__ = [
    "GROWTH",
    "PRUNING",
    "Decision",
    "Evidence",
    "Memory",
    "Moment",
    "Plasticity",
    "Rule",
    "RuleNumbers",
    "UpdateHistory",
    "decide_by",
    "follows_size",
    "settings_without_effect",
]
