"""Baseline comparison: the growing network beside networks of fixed size and evolved ones.

Paper: Sec. IV-B, Fig. 3.  MLPs have 100 % and 200 % of the growing network's final parameters;
NEAT and NDP have 50 candidates in each of 40 generations.
"""

from smgrnn.batch.condition import Condition
from smgrnn.batch.experiment import AnyCondition, Experiment
from smgrnn_paper.evolution import EvolutionCondition
from smgrnn_paper.experiments.paper.protocol import EPISODES, SEEDS, TASKS, more_seeds, standard

POPULATION = 50


def _trained(task: str) -> dict[str, Condition]:
    return {
        f"{task}/smgrnn": standard(task),
        f"{task}/mlp-100": standard(task, student="mlp-100"),
        f"{task}/mlp-200": standard(task, student="mlp-200"),
        f"{task}/mlp-100-no-bias": standard(task, student="mlp-100", bias=False),
    }


def _evolved(task: str) -> dict[str, EvolutionCondition]:
    return {
        f"{task}/{method}": EvolutionCondition.evolve(
            task, method=method, rollouts=EPISODES, population=POPULATION
        )
        for method in ("neat", "ndp")
    }


CONDITIONS: dict[str, AnyCondition] = {
    name: each for task in TASKS for name, each in (_trained(task) | _evolved(task)).items()
}

EXPERIMENT = Experiment(
    id="baseline-comparison-v2",
    question="Does a network that grows while it learns do better than fixed and evolved ones?",
    artefacts=("Fig. 3",),
    conditions=CONDITIONS,
    seeds=SEEDS,
    more=more_seeds(
        {name: each for task in TASKS for name, each in _trained(task).items()},
        without=("LunarLander-v3/mlp-200", "LunarLander-v3/mlp-100-no-bias"),
    ),
)
