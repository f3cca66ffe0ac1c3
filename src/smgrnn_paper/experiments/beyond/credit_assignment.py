"""Credit assignment: the worth of gradients that flow back through the carried states.

The graph stays as it is, so that credit is all that differs.  An MLP of about the same size has no
memory at all.
"""

from smgrnn.batch.condition import Condition
from smgrnn.batch.experiment import Experiment

EPISODES = {
    "recall": 12_000,
    "CartPole-v1,hide=velocities": 1000,
    "Acrobot-v1,hide=velocities": 500,
}
"""Training episodes by task; those of recall have ten steps."""
SEEDS = tuple(range(20))
ITERATIONS = (1, 2, 3)
WINDOWS = (0, 1, 4, 16)
"""Earlier calls that gradients flow back through."""
N_HIDDEN, DENSITY, WEIGHT_STD, RATE = 12, 1.0, 0.1, 0.003
"""The graph and the learning rate.  Initial weights are weak: with strong ones, a random recurrent
graph remembers a cue by itself, and a trained read-out is enough.  Chosen on seeds from 100 on."""
BUDGET = 220
"""Parameters of the MLP, about as many as the graph has edges."""


def _conditions(task: str) -> dict[str, Condition]:
    found = {
        f"{task}/k{iterations}-n{n}": Condition.distill(
            task,
            student="static",
            episodes=EPISODES[task],
            iterations=iterations,
            n_hidden=N_HIDDEN,
            density=DENSITY,
            weight_std=WEIGHT_STD,
            bias=True,
            learning={"through_time": n, "learning_rate": RATE},
        )
        for iterations in ITERATIONS
        for n in WINDOWS
    }
    rate, length = {"learning_rate": RATE}, EPISODES[task]
    mlp = Condition.distill(task, student="mlp-100", budget=BUDGET, episodes=length, learning=rate)
    return found | {f"{task}/mlp": mlp}


EXPERIMENT = Experiment(
    id="credit-assignment-v1",
    question="What are gradients worth that flow back through the carried states?",
    artefacts=("Fig. credit",),
    conditions={name: each for task in EPISODES for name, each in _conditions(task).items()},
    seeds=SEEDS,
)
