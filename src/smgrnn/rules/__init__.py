"""Rules of growth and pruning, the evidence that they read, and the module that calls them."""

from smgrnn.rules.contribution import Contribution
from smgrnn.rules.evidence import Evidence, Limits
from smgrnn.rules.exploration import Exploration
from smgrnn.rules.frugal import BestCandidate, Frugal, Gradient
from smgrnn.rules.history import UpdateHistory
from smgrnn.rules.module import PlasticityModule
from smgrnn.rules.relay import Relay
from smgrnn.rules.rule import Rule
from smgrnn.rules.settings import GROWTH, PRUNING, PlasticityConfig
from smgrnn.rules.variants import Duplicate, RandomPruning, RandomRelay, RelayAlone, Split
from smgrnn.rules.weak import Weak

__all__ = [
    "GROWTH",
    "PRUNING",
    "BestCandidate",
    "Contribution",
    "Duplicate",
    "Evidence",
    "Exploration",
    "Frugal",
    "Gradient",
    "Limits",
    "PlasticityConfig",
    "PlasticityModule",
    "RandomPruning",
    "RandomRelay",
    "Relay",
    "RelayAlone",
    "Rule",
    "Split",
    "UpdateHistory",
    "Weak",
]
