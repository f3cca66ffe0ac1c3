"""Learning: loss, credit, optimizers, and their settings."""

from smgrnn.learning.settings import (
    LEARNING,
    OPTIMIZERS,
    SGD,
    Adam,
    AdamW,
    Backprop,
    Feedback,
    Hebbian,
    LearningConfig,
    Outputs,
    RMSprop,
)
