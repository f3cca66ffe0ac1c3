"""Rules of growth and pruning, the evidence that they read, and the module that calls them."""

from smgrnn.rules.frugal import BestCandidate as BestCandidate
from smgrnn.rules.frugal import Contribution as Contribution
from smgrnn.rules.frugal import Frugal as Frugal
from smgrnn.rules.frugal import Gradient as Gradient
from smgrnn.rules.history import UpdateHistory as UpdateHistory
from smgrnn.rules.module import PlasticityModule as PlasticityModule
from smgrnn.rules.paper import Exploration as Exploration
from smgrnn.rules.paper import Relay as Relay
from smgrnn.rules.paper import RelayAlone as RelayAlone
from smgrnn.rules.paper import Weak as Weak
from smgrnn.rules.rule import Evidence as Evidence
from smgrnn.rules.rule import Limits as Limits
from smgrnn.rules.rule import Rule as Rule
from smgrnn.rules.settings import GROWTH as GROWTH
from smgrnn.rules.settings import PRUNING as PRUNING
from smgrnn.rules.settings import PlasticityConfig as PlasticityConfig
from smgrnn.rules.variants import Duplicate as Duplicate
from smgrnn.rules.variants import RandomPruning as RandomPruning
from smgrnn.rules.variants import RandomRelay as RandomRelay
from smgrnn.rules.variants import Split as Split
