"""Growth operators: the edit that does the work.

The paper neither isolates relays from exploration nor compares them with other edits.  Each
operator is run with one and two iterations, at the size that it takes by itself and where none may
have more than 40 edges.  All start from the same graphs, which have hidden nodes, because edges
alone make none.  Candidates are heard from the second iteration on, so with one there are none.

LunarLander takes longer, so only the paper's growth is run there, and the three others that were
best with two iterations at their own size.
"""

from typing import Any

from smgrnn.batch.condition import Condition
from smgrnn.batch.experiment import Experiment

TASKS = ("Acrobot-v1", "CartPole-v1,hide=velocities")
EPISODES = 600
SEEDS, MORE = tuple(range(10)), tuple(range(10, 20))
"""Seeds of every task, and further ones of those that are quick."""
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
HARD_TASK, BEST = "LunarLander-v3", ("relay", "duplicate", "relay-random", "relay-alone")
"""A task that takes longer, and the growth rules that are run on it."""


def _condition(task: str, iterations: int, size: int | None, **rules: Any) -> Condition:
    return Condition.distill(
        task,
        episodes=EPISODES,
        iterations=iterations,
        n_hidden=N_HIDDEN,
        density=DENSITY,
        parameters=size,
        plasticity=rules,
    )


def _conditions(task: str, iterations: int, size: int | None) -> dict[str, Condition]:
    place = f"k{iterations}-{'own' if size is None else 'equal'}"
    grown = [name for name in GROWTH if iterations > 1 or name != "candidates"]
    found = {
        f"{task}/{name}-{place}": _condition(task, iterations, size, growth=name) for name in grown
    }
    return found | {
        f"{task}/prune-{name}-{place}": _condition(task, iterations, size, pruning=name)
        for name in PRUNING
    }


QUICK = {
    name: condition
    for task in TASKS
    for iterations in (1, 2)
    for size in (None, EQUAL_SIZE)
    for name, condition in _conditions(task, iterations, size).items()
}
EXPERIMENT = Experiment(
    id="growth-operators-v1",
    question="Which edit does the work: relays, random edges, splits, copies, or what is pruned?",
    artefacts=("Fig. edits",),
    conditions=QUICK
    | {f"{HARD_TASK}/{name}-k2-own": _condition(HARD_TASK, 2, None, growth=name) for name in BEST},
    seeds=SEEDS,
    more=dict.fromkeys(QUICK, MORE),
)
