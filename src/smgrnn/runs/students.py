"""Students: the networks that runs train, before the first episode.  Paper: Sec. IV-A2, IV-A4."""

from smgrnn.engine import Learner
from smgrnn.runs.plan import Plan

STUDENTS = {
    "smgrnn": "grows and prunes while it learns",
    "static": "the same initial graph, kept as it is",
    "growth-only": "grows and never prunes",
    "mlp-100": "one hidden layer, with as many parameters as the growing network takes",
    "mlp-200": "one hidden layer, with twice as many",
    "mlp-pruned": "one hidden layer, pruned to the parameters that are asked for",
}
"""The students of a distillation by name."""


def new_learner(plan: Plan) -> Learner:
    """Return the student of a run before its first episode; its settings are the plan's."""
    graph = plan.make_graph()
    made = Learner(plan.network, plan.learning, plan.plasticity, graph=graph, seed=plan.seed)
    if plan.protect > 0.0:
        made.protect(plan.protect)
    return made
