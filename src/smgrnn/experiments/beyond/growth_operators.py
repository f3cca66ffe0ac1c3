"""Growth operators: the edit that does the work.

The paper neither isolates relays from exploration nor compares them with other edits.  Each
operator is run with one and two iterations, at the size that it takes by itself and where none may
have more than 40 edges.  All start from the same graphs, which have hidden nodes, because edges
alone make none.  Candidates are heard from the second iteration on, so with one there are none.
"""

from typing import Any

from smgrnn.experiments.condition import Condition
from smgrnn.experiments.experiment import Experiment

TASKS = ("Acrobot-v1", "CartPole-v1,hide=velocities")
EPISODES = 600
SEEDS = tuple(range(20))
N_HIDDEN, DENSITY = 2, 0.5
"""The graph that all start from."""
EQUAL_SIZE = 40
"""Edges that each may have where sizes are equal."""
GROWTH = (
    "relay",
    "relay-alone",
    "exploration",
    "relay-random",
    "split",
    "duplicate",
    "gradient",
    "candidates",
)
"""Growth rules, all beside the paper's pruning."""
PRUNING = ("contribution", "random")
"""Pruning rules beside the paper's growth; its own, "weak", is among the conditions of growth."""


def _conditions(task: str, iterations: int, size: int | None) -> dict[str, Condition]:
    def distil(**rules: Any) -> Condition:
        return Condition.distill(
            task,
            episodes=EPISODES,
            iterations=iterations,
            n_hidden=N_HIDDEN,
            density=DENSITY,
            parameters=size,
            plasticity=rules,
        )

    place = f"k{iterations}-{'own' if size is None else 'equal'}"
    grown = [name for name in GROWTH if iterations > 1 or name != "candidates"]
    found = {f"{task}/{name}-{place}": distil(growth=name) for name in grown}
    return found | {f"{task}/prune-{name}-{place}": distil(pruning=name) for name in PRUNING}


EXPERIMENT = Experiment(
    id="growth-operators-v1",
    question="Which edit does the work: relays, random edges, splits, copies, or what is pruned?",
    artefacts=("Fig. edits",),
    conditions={
        name: condition
        for task in TASKS
        for iterations in (1, 2)
        for size in (None, EQUAL_SIZE)
        for name, condition in _conditions(task, iterations, size).items()
    },
    seeds=SEEDS,
)
