"""Local learning: weights by local rules, while the same module grows the graph.

"outputs" is the same run with the edges into hidden nodes frozen.  Static graphs have hidden nodes
from the start, or a local rule would have nothing to teach.
"""

from typing import Any

from smgrnn.batch.condition import Condition
from smgrnn.batch.experiment import Experiment

EPISODES = {
    "CartPole-v1": 1000,
    "CartPole-v1,hide=velocities": 1000,
    "Acrobot-v1": 1000,
    "LunarLander-v3": 400,
}
"""Training episodes by task."""
SEEDS, MORE = tuple(range(10)), tuple(range(10, 20))
"""Seeds of every task, and further ones of those that are quick."""
RULES = ("backprop", "feedback", "hebbian", "outputs")
STUDENTS: dict[str, dict[str, Any]] = {
    "growing": {"student": "smgrnn"},
    "static": {"student": "static", "n_hidden": 8, "density": 0.5},
}

CONDITIONS = {
    f"{task}/{rule}-k{iterations}-{name}": Condition.distill(
        task, episodes=episodes, iterations=iterations, learning={"rule": rule}, **student
    )
    for task, episodes in EPISODES.items()
    for rule in RULES
    for iterations in (1, 2)
    for name, student in STUDENTS.items()
}
EXPERIMENT = Experiment(
    id="local-learning-v1",
    question="How far do local learning rules get, and does growth help them more?",
    artefacts=("Fig. rules",),
    conditions=CONDITIONS,
    seeds=SEEDS,
    more={name: MORE for name, each in CONDITIONS.items() if each.task != "LunarLander-v3"},
)
