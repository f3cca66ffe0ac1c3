"""Teachers: how much of a student's return its teacher decides.

The paper trains one expert per task and does not say how it was chosen among others.  Here students
learn from the three teachers of the paper's experiments, which no student chose, and from the
smooth expert of each task, which was chosen by what MLP students made of it.
"""

from smgrnn.batch.condition import Condition
from smgrnn.batch.experiment import Experiment
from smgrnn_paper.experiments.paper.protocol import EPISODES, SEEDS, TASKS, more_seeds, standard

STUDENTS = ("smgrnn", "static", "mlp-100")
SMOOTH = "@smooth"
"""End of the names of conditions with the smooth experts."""

_THREE = {
    f"{task}/{student}": standard(task, student=student) for task in TASKS for student in STUDENTS
}
_SMOOTH = {
    f"{task}/{student}{SMOOTH}": Condition.distill(
        task, student=student, episodes=EPISODES, expert=f"{task}-smooth"
    )
    for task in TASKS
    for student in STUDENTS
}

EXPERIMENT = Experiment(
    id="teachers-v1",
    question="How much of a student's return does its teacher decide?",
    artefacts=(),
    conditions=_THREE | _SMOOTH,
    seeds=SEEDS,
    more=more_seeds(_THREE),
)
