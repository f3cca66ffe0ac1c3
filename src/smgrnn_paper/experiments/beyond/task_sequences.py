"""Task sequences: a student that goes on to the next task, and what it keeps of the ones before.

In one family the tasks can be reconciled: one controller does them all, with other gravity and
other poles.  In the other they contradict each other: the same observation asks for the opposite
action.  Each is learned with and without a cue that says which task it is.  One sequence comes back
to its first task.  Runs of single tasks, with the same settings, are what starting anew costs.
"""

from typing import Any

from smgrnn.batch.condition import Condition
from smgrnn.batch.experiment import Experiment

PLAIN, MIRRORED = "CartPole-v1", "CartPole-v1,mirrored"
RECONCILABLE = (PLAIN, "CartPole-v1,gravity=20", "CartPole-v1,length=2")
CONTRADICTING = (PLAIN, MIRRORED)
REVISITED = (PLAIN, MIRRORED, PLAIN)
EPISODES = {RECONCILABLE: 300, CONTRADICTING: 400, REVISITED: 400}
"""Training episodes of each stage; where the pole falls at once, an episode has ten steps."""
SEEDS = tuple(range(20))
ITERATIONS = 2
"""Iterations of all students: a cue can change the sign of an answer only through hidden nodes, and
with one iteration what leads to these does not learn."""
BUDGET = 244
"""Parameters of the MLP: those that `paper` with a cue has after both stages of the contradicting
family, 232, 255 and 246 with the seeds 1000 to 1002, which no result is of."""
MOST_EDGES = 1000
"""Limit of growth without pruning, which would take most of the time otherwise."""
PROTECTION = 0.95
"""Share by which updates of edges that matter to earlier stages are held back."""

STUDENTS: dict[str, dict[str, Any]] = {
    "paper": {"iterations": ITERATIONS},
    "frugal": {"preset": "frugal"},
    "static": {"student": "static", "iterations": ITERATIONS},
    "growth-only": {
        "student": "growth-only",
        "iterations": ITERATIONS,
        "plasticity": {"max_edges": MOST_EDGES},
    },
    "mlp": {"student": "mlp-100", "budget": BUDGET},
    "protected": {"iterations": ITERATIONS, "protect": PROTECTION},
}
"""The students by the names of their conditions."""


def _sequence(tasks: tuple[str, ...], name: str, *, cue: bool = False) -> dict[str, Condition]:
    made = Condition.sequence(tasks, cue=cue, episodes=EPISODES[tasks], **STUDENTS[name])
    return {f"{made.task}/{name}{'-cue' if cue else ''}": made}


def _anew(task: str, name: str, episodes: int) -> dict[str, Condition]:
    return {f"{task}/{name}": Condition.distill(task, episodes=episodes, **STUDENTS[name])}


def _conditions() -> dict[str, Condition]:
    found: dict[str, Condition] = {}
    for tasks in (RECONCILABLE, CONTRADICTING):
        for name in STUDENTS:
            found |= _sequence(tasks, name) | _sequence(tasks, name, cue=True)
    for name in ("paper", "frugal"):
        found |= _sequence(REVISITED, name)
        for tasks in (RECONCILABLE, CONTRADICTING, REVISITED):
            found |= _anew(tasks[-1], name, EPISODES[tasks])
    return found


EXPERIMENT = Experiment(
    id="task-sequences-v1",
    question="Does growth preserve skills, and does going on cost less than starting anew?",
    artefacts=("Fig. task-sequences",),
    conditions=_conditions(),
    seeds=SEEDS,
)
