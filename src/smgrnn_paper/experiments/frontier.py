"""Frontier: return against size, for networks that grow and for every rival that does not.

All are treated alike: the same teacher, episodes, gain, schedule, averaging, selection and polish,
and a learning rate of its own for each kind, the best on development seeds (`frontier-rates`).
NEAT has as many episodes as the others have for training, selection and polish together.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from smgrnn.batch import AnyCondition, Condition, Experiment, LazyMapping
from smgrnn.rules.frugal import Contribution
from smgrnn.rules.settings import PlasticityConfig
from smgrnn.runs.plan import Ancestor, Plan
from smgrnn.runs.record import Record
from smgrnn.runs.run import Run
from smgrnn.seeding import stream
from smgrnn.tasks import find_task
from smgrnn_paper.experiments.paper import TASKS

SEEDS, LANDER_SEEDS, DEVELOPMENT = tuple(range(20)), tuple(range(10)), tuple(range(1000, 1004))
"""Seeds of the quick tasks, of LunarLander, and those that choose learning rates."""
QUICK, LANDER = TASKS[:2], TASKS[2]
SIZES, WIDTHS = (2, 4, 8), (1, 2, 3)
"""Parameters that students of the quick tasks are asked for, and hidden nodes of the MLPs."""
NONLINEAR_TASKS = ("swingup", *(f"{task},hide=velocities" for task in QUICK), "recall")
"""A task on which linear policies fail, and tasks that need memory."""
BY_SIZE = ("grown", "retrained", "linear-pruned", "mlp-pruned")
"""Kinds of students that are asked for a number of parameters."""
KINDS = (*BY_SIZE, "linear", "linear-no-bias", "mlp", "mlp-no-bias")
RECURRENT = "recurrent"
"""A fixed graph with all its edges, also from hidden nodes and outputs back to hidden nodes."""
WITH_MEMORY = ("grown", "retrained", "linear", RECURRENT)
"""Kinds of students of tasks that need memory; all of them carry their states."""
POLISH, NEAT_ROLLOUTS = 3000, 5000
"""Episodes of the polish of every student, and of an evolution."""
RATE, RATE_GRID = 0.003, (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1)
RATES: dict[str, dict[str, float]] = {
    "CartPole-v1": {"linear-pruned": 0.01, "mlp-pruned": 0.1},
    "Acrobot-v1": {
        **{"grown": 0.001, "linear-pruned": 0.01, "mlp-pruned": 0.01, "linear": 0.03},
        **{"linear-no-bias": 0.1, "mlp": 0.01, "mlp-no-bias": 0.01},
    },
    LANDER: {"mlp": 0.0002, "mlp-no-bias": 0.0002, "mlp-pruned": 0.0005, "retrained": 0.0005},
    "swingup": {
        **{"retrained": 0.01, "linear-pruned": 0.001, "mlp-pruned": 0.001, "linear": 0.001},
        **{"linear-no-bias": 0.0003, "mlp": 0.1, "mlp-no-bias": 0.0003},
    },
    "CartPole-v1,hide=velocities": {"retrained": 0.01, "linear": 0.0003, RECURRENT: 0.01},
    "Acrobot-v1,hide=velocities": {
        **{"grown": 0.0003, "retrained": 0.01, "linear": 0.01, RECURRENT: 0.0003},
    },
    "recall": {"retrained": 0.03, RECURRENT: 0.03},
}
"""Learning rates that are not `RATE`: the best on development seeds; LunarLander's are older."""


@dataclass(frozen=True)
class Retrained(Condition):
    """The graph that a growing network ends with, trained from fresh weights without growth."""

    grown_rate: float = RATE
    """Learning rate of the growing network."""

    def plan(self, seed: int) -> Plan:
        """Return the plan of a run; its origin is the run that grows the graph."""
        found = super().plan(seed)
        learning = replace(found.learning, learning_rate=self.grown_rate)
        grown = replace(found, learning=learning, polish=0)
        return replace(found, student="static", plasticity=PlasticityConfig.static(), origin=grown)

    def train(self, plan: Plan) -> Record:
        """Grow a graph, draw its weights as those of an MLP are drawn, and train these."""
        assert plan.origin is not None
        grown = Run(plan.origin, task=self.task).train()
        ancestor = Ancestor.of(grown)
        target, rng = ancestor.graph.target, stream(plan.seed, "init")
        fresh = rng.uniform(-1, 1, target.size) * np.bincount(target)[target] ** -0.5
        weight = tuple((fresh * plan.gains(ancestor.graph.source)).tolist())
        plan = replace(plan, ancestor=replace(ancestor, weight=weight))
        return replace(Run(plan, task=self.task).train(), before=grown.spent)


def student(task: str, kind: str, n: int = 0, rate: float = 0.0, **changes: Any) -> Condition:
    """Return a student of some kind, with `n` parameters or, of an MLP, `n` hidden nodes.

    >>> student("CartPole-v1", "mlp", 1).settings.budget
    9
    """
    rates = dict.fromkeys((*KINDS, RECURRENT), RATE) | RATES.get(task, {})
    settings: dict[str, Any] = {"preset": "frugal", "polish": POLISH, **changes}
    settings["learning"] = {"learning_rate": rate or rates[kind]}
    n_inputs, n_outputs = find_task(task).n_inputs, find_task(task).n_outputs
    if kind in BY_SIZE:
        settings["max_parameters"] = n
    if kind.endswith("no-bias"):
        settings["bias"] = False
    if kind == "linear-pruned":
        pruning = Contribution(dense_until=0.3)  # as of the MLP that is pruned
        rules = PlasticityConfig(
            growth=None, pruning=pruning, interval="episode", least_updates=2500
        )
        settings["plasticity"] = rules
    elif kind == "mlp-pruned":
        width = max(3, 2 * n // (n_inputs + n_outputs))  # two to three times the size, or more
        settings |= {"student": kind, "budget": (n_inputs + 1 + n_outputs) * width + n_outputs}
    elif kind.startswith("mlp"):
        bias = kind == "mlp"
        budget = (n_inputs + bias + n_outputs) * n + bias * n_outputs
        settings |= {"student": "mlp-100", "budget": budget}
    elif kind.startswith("linear"):
        settings["student"] = "static"
    elif kind == RECURRENT:
        settings |= {"student": "static", "n_hidden": n}
    if kind == "retrained":
        return replace(Retrained.distill(task, **settings), grown_rate=rates["grown"])
    return Condition.distill(task, **settings)


def kinds_for(task: str) -> tuple[str, ...]:
    """Return the kinds of students that are compared on a task.

    >>> kinds_for("recall")
    ('grown', 'retrained', 'linear', 'recurrent')
    """
    return WITH_MEMORY if find_task(task).facts.needs_memory else KINDS


def rivals(
    task: str, sizes: Sequence[int], widths: Sequence[int], *, has_neat: bool = True, **changes: Any
) -> dict[str, AnyCondition]:
    """Return students of all kinds on a task: of some sizes, and MLPs of some widths."""
    from smgrnn_paper.evolution import EvolutionCondition

    found: dict[str, AnyCondition] = {}
    for kind in kinds_for(task):
        is_wide = kind.startswith("mlp") or kind == RECURRENT
        numbers = sizes if kind in BY_SIZE else widths if is_wide else (0,)
        for n in numbers:
            name = f"{task}/{kind}-{n}" if n else f"{task}/{kind}"
            found[name] = student(task, kind, n, **changes)
    if has_neat:
        found[f"{task}/neat"] = EvolutionCondition.evolve(
            task, method="neat", rollouts=NEAT_ROLLOUTS
        )
    return found


def _rates(tasks: Sequence[str], size: int) -> Callable[[], dict[str, AnyCondition]]:
    return lambda: {
        f"{task}/{kind}-rate={rate}": student(
            task, kind, size if kind in BY_SIZE else 2, rate, polish=0
        )
        for task in tasks
        for kind in kinds_for(task)
        for rate in ((0.00005, *RATE_GRID[:-1]) if task == LANDER else RATE_GRID)
    }


def _lander(size: int, widths: Sequence[int]) -> Experiment:
    return Experiment(
        id=f"frontier-lander-{size}-v1",
        question=f"How much does a network of {size} parameters return on LunarLander?",
        conditions=LazyMapping(lambda: rivals(LANDER, (size,), widths, has_neat=size == 16)),
        seeds=LANDER_SEEDS,
    )


FRONTIER = Experiment(
    id="frontier-v2",
    question="How much does a network return for its size, grown, linear, dense or evolved?",
    artefacts=("Fig. frontier",),
    conditions=LazyMapping(
        lambda: {name: it for task in QUICK for name, it in rivals(task, SIZES, WIDTHS).items()}
    ),
    seeds=SEEDS,
)
RATES_STUDY = tuple(
    Experiment(
        id=f"frontier-{name}-v1",
        question="Which learning rate is best for each kind of student, on development seeds?",
        conditions=LazyMapping(_rates(tasks, size)),
        seeds=DEVELOPMENT,
    )
    for name, tasks, size in (
        ("rates", QUICK, 8),
        ("lander-rates", (LANDER,), 36),
        ("nonlinear-rates", NONLINEAR_TASKS, 16),
    )
)
NONLINEAR = Experiment(
    id="nonlinear-v1",
    question="Where linear policies fail, what does growth return for its size?",
    artefacts=("Fig. nonlinear",),
    conditions=LazyMapping(
        lambda: {
            name: each
            for task in NONLINEAR_TASKS
            for name, each in rivals(task, (8, 16, 32), (1, 2, 4, 8), has_neat=False).items()
        }
    ),
    seeds=SEEDS,
)
FRONTIERS = (FRONTIER, _lander(16, (1,)), _lander(36, (2,)), _lander(44, (3,)))
"""The experiments whose runs `smgrnn frontier` shows."""
