"""The table of learning rules: one line for each of ours, and those of other packages.

A package of yours adds one by `LEARNING.add(rule)`, or by an entry point in the group
`smgrnn.learning` that names a `LearningRule`.
"""

from smgrnn.learning import backprop, feedback, hebbian, outputs
from smgrnn.learning.rule import LearningRule
from smgrnn.parts import Table

LEARNING = Table[LearningRule](
    "learning", [backprop.RULE, feedback.RULE, hebbian.RULE, outputs.RULE]
)
