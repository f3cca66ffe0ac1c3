"""Baseline comparison: the growing network beside networks of fixed size and evolved ones.

Paper: Sec. IV-B, Fig. 3.  MLPs have 100 % and 200 % of the growing network's final parameters;
NEAT and NDP have 50 candidates in each of 40 generations.
"""

from smgrnn.experiments.condition import Condition
from smgrnn.experiments.experiment import Experiment
from smgrnn.experiments.paper.protocol import EPISODES, SEEDS, TASKS, standard

POPULATION = 50


def _conditions(task: str) -> dict[str, Condition]:
    return {
        f"{task}/smgrnn": standard(task),
        f"{task}/mlp-100": standard(task, student="mlp-100"),
        f"{task}/mlp-200": standard(task, student="mlp-200"),
        f"{task}/neat": _evolved(task, "neat"),
        f"{task}/ndp": _evolved(task, "ndp"),
    }


def _evolved(task: str, method: str) -> Condition:
    return Condition.evolve(task, method=method, rollouts=EPISODES, population=POPULATION)


EXPERIMENT = Experiment(
    id="baseline-comparison-v2",
    question="Does a network that grows while it learns do better than fixed and evolved ones?",
    artefacts=("Fig. 3",),
    conditions={name: each for task in TASKS for name, each in _conditions(task).items()},
    seeds=SEEDS,
)
