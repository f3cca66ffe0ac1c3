"""XOR: the smallest task that needs a hidden node, learned from examples instead of by acting.

Both bits are coded as -1/+1 and so is the target.  The network needs a constant third input (the
`bias` of a run): without one it is an odd function, which XOR in this coding is not.  An episode is
the four patterns, its return the number of them that were answered right.
"""

import numpy as np

from smgrnn.tasks.facts import Facts

PATTERNS = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
TARGETS = np.array([[-1.0], [1.0], [1.0], [-1.0]])

XOR = Facts(
    id="xor",
    inputs=("first bit", "second bit"),
    outputs=("xor",),
    action_bounds=(-1.0, 1.0),
    max_steps=4,
    reward_threshold=4.0,
    rewards=(0.0, 1.0),
    examples=(PATTERNS, TARGETS),
)
