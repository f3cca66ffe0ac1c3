"""Pruning ablation: the effect of pruning on the return and on the size.

Paper: Sec. IV-C2, Table II, Figs. 5 and A.2.  Without pruning the paper's networks gain 1891, 2408
and 5535 nodes; growth stops at the limits of PlasticityConfig, and the record says if it did.
"""

from smgrnn.batch.experiment import Experiment
from smgrnn_paper.experiments.paper.protocol import SEEDS, TASKS, more_seeds, standard

CONDITIONS = {
    f"{task}/{student}": standard(task, student=student)
    for task in TASKS
    for student in ("smgrnn", "growth-only")
}

EXPERIMENT = Experiment(
    id="pruning-ablation-v2",
    question="Does pruning change what a growing network can do, or only how large it becomes?",
    artefacts=("Table II", "Fig. 5", "Fig. A.2"),
    conditions=CONDITIONS,
    seeds=SEEDS,
    more=more_seeds(CONDITIONS, without=[f"{task}/growth-only" for task in TASKS]),
)
