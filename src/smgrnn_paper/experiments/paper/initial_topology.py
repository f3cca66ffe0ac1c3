"""Initial topology: what becomes of networks that start larger.

Paper: Sec. IV-C3, Tables III and A.V, Fig. 6.
"""

from smgrnn.batch.experiment import Experiment
from smgrnn_paper.experiments.paper.protocol import SEEDS, TASKS, more_seeds, standard

N_HIDDEN = (0, 5, 10)

CONDITIONS = {
    f"{task}/n_hidden={n_hidden}": standard(task, n_hidden=n_hidden)
    for task in TASKS
    for n_hidden in N_HIDDEN
}

EXPERIMENT = Experiment(
    id="initial-topology-v2",
    question="Does the size that a network starts with decide the size that it ends with?",
    artefacts=("Table III", "Table A.V", "Fig. 6"),
    conditions=CONDITIONS,
    seeds=SEEDS,
    more=more_seeds(
        CONDITIONS, without=("LunarLander-v3/n_hidden=5", "LunarLander-v3/n_hidden=10")
    ),
)
