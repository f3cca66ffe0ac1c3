"""Task difficulty: how large networks grow on harder tasks.

Paper: Sec. IV-C4, Table A.VI, Fig. 7.  How long XOR is trained is not printed: here until every
pattern was right in 25 rounds in a row, for at most 2000 rounds.
"""

from smgrnn.batch.experiment import Experiment
from smgrnn_paper.experiments.paper.protocol import SEEDS, TASKS, more_seeds, standard

CONDITIONS = {f"{task}/smgrnn": standard(task) for task in ("xor", *TASKS)}

EXPERIMENT = Experiment(
    id="task-difficulty-v2",
    question="Do harder tasks grow larger networks?",
    artefacts=("Table A.VI", "Fig. 7"),
    conditions=CONDITIONS,
    seeds=SEEDS,
    more=more_seeds(CONDITIONS),
)
