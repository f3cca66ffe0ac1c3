"""XOR: the smallest task that needs a hidden node, learned from examples instead of by acting.

Bits and target are coded as -1/+1.  The network needs a constant third input (the `bias` of a run):
without one it is an odd function, which XOR is not.  An episode is the four patterns, its return
the number of right answers.
"""

from typing import Any

import numpy as np

from smgrnn.tasks.facts import Facts

PATTERNS = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
TARGETS = np.array([[-1.0], [1.0], [1.0], [-1.0]])
START = {"stop_after": 25, "density": 1.0, "weight_std": 0.05}
RULES = {"interval": 10, "growth": {"name": "relay", "initial_weight": 0.5}}
PRESETS: dict[str, dict[str, Any]] = {
    "frugal": {
        "stop_after": 25,
        "learning": {"learning_rate": 0.02},  # four examples an episode
        "plasticity": {"interval": 300, "least_updates": 0},
    },
    "paper": START | {"plasticity": RULES},
    "as_printed": START,
}

XOR = Facts(
    id="xor",
    inputs=("first bit", "second bit"),
    outputs=("xor",),
    action_bounds=(-1.0, 1.0),
    max_steps=4,
    reward_threshold=4.0,
    rewards=(0.0, 1.0),
    presets=PRESETS,
    examples=(PATTERNS, TARGETS),
)
