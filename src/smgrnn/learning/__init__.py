"""Learning: loss, credit, optimizers, and their settings."""

from smgrnn.learning.settings import LEARNING as LEARNING
from smgrnn.learning.settings import OPTIMIZERS as OPTIMIZERS
from smgrnn.learning.settings import SGD as SGD
from smgrnn.learning.settings import Adam as Adam
from smgrnn.learning.settings import AdamW as AdamW
from smgrnn.learning.settings import Backprop as Backprop
from smgrnn.learning.settings import Feedback as Feedback
from smgrnn.learning.settings import Hebbian as Hebbian
from smgrnn.learning.settings import LearningConfig as LearningConfig
from smgrnn.learning.settings import Outputs as Outputs
from smgrnn.learning.settings import RMSprop as RMSprop
