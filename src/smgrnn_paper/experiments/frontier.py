"""Frontier: return against size, for networks that grow and for networks that do not.

All students of a size are treated alike: the same teacher, schedule, averaging and hand-over.  The
learning rate of the MLPs was chosen on development seeds, as every setting of the preset frugal
was; the seeds here chose nothing.  Pruned MLPs start with about twice to three times the size.
"""

from typing import Any

from smgrnn.batch import AnyCondition, Condition, Experiment, LazyMapping
from smgrnn_paper.experiments.paper import EPISODES, SEEDS, TASKS

SIZES = {"CartPole-v1": (6, 8), "Acrobot-v1": (12, 30), "LunarLander-v3": (36, 44, 60)}
"""Parameters that growing and pruned students are asked for."""
MLPS = {
    "CartPole-v1": (9, 16, 23),
    "Acrobot-v1": (13, 23, 33, 43),
    "LunarLander-v3": (43, 69, 108),
}
"""Parameters of the MLPs."""
DENSE = {"CartPole-v1": 23, "Acrobot-v1": 43, "LunarLander-v3": 108}
"""Parameters of the MLPs that are pruned, at their start."""
KEPT = 0.95
MLP_RATES = {"CartPole-v1": 0.003, "Acrobot-v1": 0.01, "LunarLander-v3": 0.0002}
"""Learning rates of the MLPs, each the best on the task by development seeds: docs/frugal.md."""
PRUNED_RATES = MLP_RATES | {"LunarLander-v3": 0.0005}
"""The same of MLPs that are pruned."""


def _conditions(task: str) -> dict[str, AnyCondition]:
    from smgrnn_paper.evolution import EvolutionCondition

    found: dict[str, AnyCondition] = {}

    def add(name: str, **changes: Any) -> None:
        found[f"{task}/{name}"] = Condition.distill(task, **{"preset": "frugal", **changes})

    rate, slower = ({"learning_rate": rates[task]} for rates in (MLP_RATES, PRUNED_RATES))
    for size in SIZES[task]:
        add(f"frugal-{size}", max_parameters=size)
    add("frugal")
    add("keep", keep=KEPT, episodes=EPISODES)
    for size in MLPS[task]:
        add(f"mlp-{size}", student="mlp-100", budget=size, learning=rate)
    pruned = {"student": "mlp-pruned", "budget": DENSE[task], "learning": slower}
    for size in SIZES[task]:
        add(f"pruned-{size}", max_parameters=size, **pruned)
    add("paper", preset="paper", episodes=EPISODES)
    found[f"{task}/neat"] = EvolutionCondition.evolve(task, method="neat", rollouts=EPISODES)
    return found


FRONTIER = Experiment(
    id="frontier-v1",
    question="How much does a network return for its size, grown, dense, pruned or evolved?",
    artefacts=("Fig. frontier",),
    conditions=LazyMapping(
        lambda: {name: each for task in TASKS for name, each in _conditions(task).items()}
    ),
    seeds=SEEDS,
)
