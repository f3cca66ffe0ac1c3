"""Optimizer sensitivity: growth under other optimizers and other sizes of their steps.

Paper: Appendix A-A, Tables A.I and A.II: CartPole, 5 seeds, 1000 episodes.  The Adam of Table A.I
and the rate of 0.01 in Table A.II are the same condition, which the paper ran twice and we once.
"""

from smgrnn.batch.experiment import Experiment
from smgrnn_paper.experiments.paper.protocol import FEW_SEEDS, standard

TASK = "CartPole-v1"
EPISODES = 1000
OPTIMIZERS = ("adam", "adamw", "rmsprop", "sgd")
LEARNING_RATE = 0.01
LEARNING_RATES = (0.001, 0.003, 0.01, 0.03)

_BY_OPTIMIZER = {
    f"optimizer={optimizer}": standard(
        TASK,
        episodes=EPISODES,
        learning={"optimizer": optimizer, "learning_rate": LEARNING_RATE},
    )
    for optimizer in OPTIMIZERS
}
_BY_RATE = {
    f"learning_rate={rate}": standard(
        TASK, episodes=EPISODES, learning={"optimizer": "adam", "learning_rate": rate}
    )
    for rate in LEARNING_RATES
}

MORE_SEEDS = tuple(range(5, 20))
"""Further seeds of each condition, which decide claims with the others."""
CONDITIONS = _BY_OPTIMIZER | _BY_RATE

EXPERIMENT = Experiment(
    id="optimizer-sensitivity-v2",
    question="Do growth and pruning depend on the optimizer and on the size of its steps?",
    artefacts=("Table A.I", "Table A.II"),
    conditions=CONDITIONS,
    seeds=FEW_SEEDS,
    more=dict.fromkeys(CONDITIONS, MORE_SEEDS),
)
