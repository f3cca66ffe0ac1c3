"""Growth ablation: the gain from structural plasticity over training the weights alone.

Paper: Sec. IV-C1, Tables I and A.IV, Fig. 4.  Both start from the same graph, without hidden nodes.
"""

from smgrnn.batch.experiment import Experiment
from smgrnn_paper.experiments.paper.protocol import SEEDS, TASKS, more_seeds, standard

CONDITIONS = {
    f"{task}/{student}": standard(task, student=student)
    for task in TASKS
    for student in ("smgrnn", "static")
}

EXPERIMENT = Experiment(
    id="growth-ablation-v2",
    question="What does structural plasticity add to training the weights of a fixed graph?",
    artefacts=("Table I", "Table A.IV", "Fig. 4"),
    conditions=CONDITIONS,
    seeds=SEEDS,
    more=more_seeds(CONDITIONS),
)
