"""Hyperparameter sweeps: one setting of the plasticity module at a time.

Paper: Appendix A-B, Fig. A.1: CartPole and Acrobot, 5 seeds, 1000 episodes.  The values are not
printed, nor which settings the others have.  Here they are the grid's three and one more to either
side, around the shared defaults.
"""

from smgrnn.batch.experiment import Experiment
from smgrnn_paper.experiments.paper.protocol import FEW_SEEDS, with_rules

TASKS = ("CartPole-v1", "Acrobot-v1")
EPISODES = 1000
SWEEPS: dict[str, tuple[float, ...]] = {
    "window": (25, 50, 100, 200, 400),
    "fluctuation_threshold": (0.025, 0.05, 0.1, 0.2, 0.4),
    "interval_width": (0.125, 0.25, 0.5, 1.0, 2.0),
    "explore_probability": (0.05, 0.1, 0.25, 0.5, 1.0),
}
"""The values of T, θ_var, λ and p_rand, in the order of the figure's panels."""

EXPERIMENT = Experiment(
    id="hyperparameter-sweeps-v2",
    question="How much does each setting of the plasticity module matter by itself?",
    artefacts=("Fig. A.1",),
    conditions={
        f"{task}/{name}={value}": with_rules(task, {name: value}, episodes=EPISODES)
        for task in TASKS
        for name, values in SWEEPS.items()
        for value in values
    },
    seeds=FEW_SEEDS,
)
