"""XOR: the smallest task that needs a hidden node, learned from examples instead of by acting.

Both bits are coded as -1/+1 and so is the target.  The network needs a constant third input (the
`bias` of a run): without one it is an odd function, which XOR in this coding is not.
"""

import numpy as np

PATTERNS = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
TARGETS = np.array([[-1.0], [1.0], [1.0], [-1.0]])
