"""Local learning: weights by local rules, while the same module grows the graph.

"outputs" is the same run with the edges into hidden nodes frozen.  Static graphs have hidden nodes
from the start, as many as a growing one may get, or a local rule would have nothing to teach.
"""

from typing import Any

from smgrnn.experiments.condition import Condition
from smgrnn.experiments.experiment import Experiment

TASKS = ("CartPole-v1", "Acrobot-v1")
EPISODES = 1000
SEEDS = tuple(range(20))
RULES = ("backprop", "feedback", "hebbian", "outputs")
STUDENTS: dict[str, dict[str, Any]] = {
    "growing": {"student": "smgrnn"},
    "static": {"student": "static", "n_hidden": 8, "density": 0.5},
}

EXPERIMENT = Experiment(
    id="local-learning-v1",
    question="How far do local learning rules get, and does growth help them more?",
    artefacts=(),
    conditions={
        f"{task}/{rule}-k{iterations}-{name}": Condition.distill(
            task, episodes=EPISODES, iterations=iterations, learning={"rule": rule}, **student
        )
        for task in TASKS
        for rule in RULES
        for iterations in (1, 2)
        for name, student in STUDENTS.items()
    },
    seeds=SEEDS,
)
