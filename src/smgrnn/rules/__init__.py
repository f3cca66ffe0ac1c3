"""Rules of growth and pruning, the evidence that they read, and the module that calls them."""

from smgrnn.rules.frugal import BestCandidate, Contribution, Frugal, Gradient
from smgrnn.rules.history import UpdateHistory
from smgrnn.rules.module import PlasticityModule
from smgrnn.rules.paper import Exploration, Relay, RelayAlone, Weak
from smgrnn.rules.rule import Evidence, Limits, Rule
from smgrnn.rules.settings import GROWTH, PRUNING, PlasticityConfig
from smgrnn.rules.variants import Duplicate, RandomPruning, RandomRelay, Split
