"""Hyperparameter grid: 3⁴ settings of the plasticity module on CartPole.

Paper: Sec. IV-A3, Appendix A-B, Table A.III: 5 seeds, 500 episodes; ranked by late return, then by
its variance over seeds, then by size.
"""

from itertools import product

from smgrnn.batch.experiment import Experiment
from smgrnn_paper.experiments.paper.protocol import FEW_SEEDS, with_rules

TASK = "CartPole-v1"
EPISODES = 500
GRID: dict[str, tuple[float, ...]] = {
    "window": (50, 100, 200),
    "interval_width": (0.25, 0.5, 1.0),
    "fluctuation_threshold": (0.05, 0.1, 0.2),
    "explore_probability": (0.1, 0.25, 0.5),
}
"""The values of T, λ, θ_var and p_rand."""


def point_name(values: dict[str, float]) -> str:
    """Return the name of the condition with these values.

    >>> point_name({"window": 50, "interval_width": 0.5})
    'window=50,interval_width=0.5'
    """
    return ",".join(f"{name}={value}" for name, value in values.items())


_POINTS = [dict(zip(GRID, values, strict=True)) for values in product(*GRID.values())]

EXPERIMENT = Experiment(
    id="hyperparameter-grid-v2",
    question="Which settings of the plasticity module are best on CartPole?",
    artefacts=("Table A.III",),
    conditions={point_name(point): with_rules(TASK, point, episodes=EPISODES) for point in _POINTS},
    seeds=FEW_SEEDS,
)
