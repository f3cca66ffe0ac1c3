"""CartPole-v1: a neural controller in float, written by smgrnn 0.3.0; network 1849fc93ad9f.

x[0]: position
x[1]: velocity
x[2]: angle
x[3]: angular velocity
action 0: left
action 1: right

Call reset at the start of every episode, then step for each observation.
"""

UNITS = None


class Controller:
    def __init__(self):
        self.reset()

    def reset(self):
        self.state = ()

    def step(self, x):
        """Return the action for an observation."""
        x0 = x[0]
        x1 = x[1]
        x2 = x[2]
        x3 = x[3]
        y0 = 0.04207154571796258 + -2.3009147156518646 * x0 + -0.3379432655037374 * x1 + -45.343496934464795 * x2 + -9.096756427872327 * x3
        y1 = -0.04207154571796254 + 2.300914715651865 * x0 + 0.33794326550373605 * x1 + 45.34349693446479 * x2 + 9.096756427872327 * x3
        y = (y0, y1,)
        return y.index(max(y))
