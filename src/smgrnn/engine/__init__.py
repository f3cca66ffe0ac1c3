"""The compiled engine: the same network, optimizers and rules over flat arrays."""

from smgrnn.engine.learner import Learner, Outcome
