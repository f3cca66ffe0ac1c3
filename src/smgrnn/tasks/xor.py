"""XOR: the smallest task that needs a hidden node, learned from examples instead of by acting.

Both bits are coded as -1/+1 and so is the target.  A third input is constantly 1: the network has
no biases, and without one it is an odd function, which XOR in this coding is not.
"""

import numpy as np

from smgrnn.graph.state import Floats

PATTERNS = np.array([[-1.0, -1.0, 1.0], [-1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 1.0, 1.0]])
TARGETS = np.array([[-1.0], [1.0], [1.0], [-1.0]])


def xor_stream(n_updates: int, seed: int) -> tuple[Floats, Floats]:
    """Return observations (n_updates, 3) and targets (n_updates, 1), in shuffled rounds of four."""
    rng = np.random.default_rng(seed)
    n_rounds = -(-n_updates // len(PATTERNS))
    order = [rng.permutation(len(PATTERNS)) for _ in range(n_rounds)]
    pattern = np.concatenate(order)[:n_updates] if order else np.empty(0, dtype=np.int64)
    return PATTERNS[pattern], TARGETS[pattern]
