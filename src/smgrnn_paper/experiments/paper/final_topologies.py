"""Final topologies: the structure of the networks in the end.

Paper: Sec. IV-D, Fig. 8.  The paper shows one network per task and does not print how it was
chosen; here all ten are measured.
"""

from smgrnn.batch.experiment import Experiment
from smgrnn_paper.experiments.paper.protocol import SEEDS, TASKS, more_seeds, standard

CONDITIONS = {f"{task}/smgrnn": standard(task) for task in TASKS}

EXPERIMENT = Experiment(
    id="final-topologies-v2",
    question="What structure do the networks have in the end?",
    artefacts=("Fig. 8",),
    conditions=CONDITIONS,
    seeds=SEEDS,
    more=more_seeds(CONDITIONS),
)
