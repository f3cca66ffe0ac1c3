"""Stages: which readings run which conditions.

The seeds are none of those of the paper's experiments, so that no choice here is made on them.
Growth is limited where a network is so large already that its distance counts as the largest.  The
teachers are the smooth ones, from which the readings were compared first.
"""

from collections.abc import Iterable
from dataclasses import replace

from smgrnn.config import RunConfig
from smgrnn.experiments.calibration.readings import READINGS, Reading, reading
from smgrnn.experiments.condition import Condition
from smgrnn.experiments.experiment import Experiment
from smgrnn.experiments.paper import initial_topology, optimizer_sensitivity, pruning_ablation

SEEDS = (100, 101)
"""Seeds of the later stages; the screening has the first of them."""
LIMITS = {
    "smgrnn": (200, 1_000),
    "CartPole-v1/optimizer=rmsprop": (6_000, 20_000),
    "CartPole-v1/growth-only": (6_000, 20_000),
    "Acrobot-v1/growth-only": (6_000, 20_000),
    "LunarLander-v3/growth-only": (10_000, 70_000),
}
"""Most nodes and edges of a row, or else of a kind of student."""


def _rows() -> dict[str, Condition]:
    """Return all conditions whose size the paper prints, named like the rows of its tables."""
    rows = {}
    for module in (pruning_ablation, initial_topology, optimizer_sensitivity):
        for name, condition in module.EXPERIMENT.conditions.items():
            row = f"{condition.task}/{name.removeprefix(f'{condition.task}/')}"
            rows[row] = _limit(condition, *LIMITS.get(row, LIMITS["smgrnn"]))
    return rows


def _limit(condition: Condition, max_nodes: int, max_edges: int) -> Condition:
    settings = condition.settings
    assert isinstance(settings, RunConfig)
    rules = replace(settings.plasticity, max_nodes=max_nodes, max_edges=max_edges)
    return replace(condition, settings=replace(settings, plasticity=rules), teachers=())


ROWS = _rows()
SCREENED = (
    "CartPole-v1/optimizer=adam",
    "CartPole-v1/learning_rate=0.01",
    "Acrobot-v1/smgrnn",
    "Acrobot-v1/n_hidden=0",
)
"""The rows that all readings run: 1000 episodes on CartPole and 2000 on Acrobot, one run each."""
CHEAP = tuple(row for row in ROWS if not row.startswith("LunarLander"))
"""The rows that the shortlist runs."""


SHORTLIST = (
    reading("episode", "variance_to_mean", 1, 0.04, "keep", "keep", "shared"),
    reading("episode", "variance_to_mean", 1, 0.04, "keep", "reset", "shared"),
    reading(100, "weight", None, 0.05, "keep", "keep", "shared"),
    reading("episode", "update", 1, 0.04, "keep", "reset", "shared"),
    reading(100, "weight", 1, 0.05, "keep", "keep", "shared"),
    reading("episode", "update", 1, 0.04, "keep", "keep", "edge"),
    reading("episode", "variance_to_mean", 1, 0.04, "reset", "keep", "shared"),
    reading(100, "weight", 1, 0.05, "keep", "keep", "edge"),
    reading("episode", "variance_to_mean", 1, 0.04, "keep", "keep", "edge"),
    reading("episode", "variance_to_mean", 1, 0.04, "reset", "keep", "edge"),
    reading(100, "weight", None, 0.05, "keep", "reset", "shared"),
    reading(100, "weight", 1, 0.05, "keep", "reset", "shared"),
)
"""The twelve closest of the screening, the closest first."""
FINALISTS = (SHORTLIST[0], SHORTLIST[1], SHORTLIST[8])
"""The three closest of the comparison, the closest first."""


def condition_name(reading: Reading, row: str) -> str:
    """Return the name of the condition that runs a row of the paper's tables in some reading."""
    return f"{row}@{reading}"


def _stage(
    name: str,
    question: str,
    readings: Iterable[Reading],
    rows: Iterable[str],
    seeds: tuple[int, ...] = SEEDS,
) -> Experiment:
    rows = tuple(rows)
    conditions = {
        condition_name(each, row): each.apply(ROWS[row]) for each in readings for row in rows
    }
    return Experiment(
        id=f"calibration-{name}-v1",
        question=question,
        artefacts=(),
        conditions=conditions,
        seeds=seeds,
    )


SCREENING = _stage(
    "screening",
    "Which readings of the rules grow networks of about the paper's size?",
    READINGS,
    SCREENED,
    SEEDS[:1],
)
COMPARISON = _stage(
    "comparison",
    "Which of them follow the paper's tables on CartPole and Acrobot?",
    SHORTLIST,
    CHEAP,
)
FINAL = _stage(
    "final",
    "Which of those follow all of the paper's tables?",
    FINALISTS,
    ROWS,
)
