"""Stages: which readings run which conditions.

The seeds are none of those of the paper's experiments, so that no choice here is made on them.
Growth is limited where a network is so large already that its distance counts as the largest.  The
teachers are those of the experiments; the finalists have the smooth ones too.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from smgrnn.batch.condition import Condition
from smgrnn.batch.experiment import Experiment
from smgrnn.config import RunConfig
from smgrnn_paper.experiments.calibration.readings import READINGS, Reading
from smgrnn_paper.experiments.paper import initial_topology, optimizer_sensitivity, pruning_ablation

SEEDS = tuple(range(100, 109))
"""Seeds of the last stage; the screening has the first of them, the comparison three."""
FEWER = 3
"""Seeds of LunarLander and of growth without pruning, which take longer than all else together."""
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
    rules = replace(settings.plasticity, max_nodes=max_nodes, max_edges=max_edges)
    return replace(condition, settings=replace(settings, plasticity=rules))


ROWS = _rows()
_SCREENED = (
    "CartPole-v1/optimizer=adam",
    "CartPole-v1/learning_rate=0.01",
    "CartPole-v1/smgrnn",
    "CartPole-v1/n_hidden=0",
    "Acrobot-v1/smgrnn",
    "Acrobot-v1/n_hidden=0",
)
SCREENED = {row: ROWS[row] for row in _SCREENED}
"""The rows that all readings run: CartPole for 1000 and for 2000 episodes, Acrobot for 2000."""
CHEAP = {row: ROWS[row] for row in ROWS if not row.startswith("LunarLander")}
"""The rows that the shortlist runs."""
LEFT_OUT = ("LunarLander-v3/n_hidden=5", "LunarLander-v3/n_hidden=10")
FINAL_ROWS = {row: ROWS[row] for row in ROWS if row not in LEFT_OUT}
"""The rows that the finalists run; those that are left out take as long as all on CartPole."""
SMOOTH_ROWS = {row: replace(each, teachers=()) for row, each in FINAL_ROWS.items()}
"""The same rows with the smooth teachers, the default of a run."""


PAPER = Reading(interval="episode", scale="variance_to_mean", max_relays=1, initial_weight=0.04)
"""The preset `paper`, the closest of the first calibration, which had one loss and read-out."""
_RELAYS = Reading(interval="episode", scale="weight", max_relays=None, initial_weight=0.05)
_ONE_HOT = replace(_RELAYS, loss="one_hot", readout="state")
SHORTLIST: tuple[Reading, ...] = (
    _ONE_HOT,
    replace(_ONE_HOT, initial_weight=0.04),
    replace(_ONE_HOT, loss="plus_minus"),
    _RELAYS,
    replace(_RELAYS, initial_weight=0.04),
    replace(_RELAYS, initial_weight=0.04, readout="state"),
    PAPER,
)
"""The closest of the screening that no printed number refutes, and the first calibration's."""
FINALISTS: tuple[Reading, ...] = (SHORTLIST[0], SHORTLIST[1], PAPER)
"""The closest of the comparison, and the first calibration's."""


def condition_name(reading: Reading, row: str) -> str:
    """Return the name of the condition that runs a row of the paper's tables in some reading."""
    return f"{row}@{reading}"


class _Read(Mapping[str, Condition]):
    """Conditions in all readings, made when one is asked for: there are thousands of them."""

    def __init__(self, readings: Iterable[Reading], rows: Mapping[str, Condition]) -> None:
        self.rows = rows
        self.named = {condition_name(each, row): (each, row) for each in readings for row in rows}

    def row(self, name: str) -> Condition:
        """Return the condition of this name as it is before it is read in any way."""
        return self.rows[self.named[name][1]]

    def __getitem__(self, name: str) -> Condition:
        return self.named[name][0].apply(self.row(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self.named)

    def __len__(self) -> int:
        return len(self.named)


def _is_slow(condition: Condition) -> bool:
    return condition.task == "LunarLander-v3" or condition.variant == "growth-only"


def _stage(
    name: str,
    question: str,
    readings: Iterable[Reading],
    rows: Mapping[str, Condition],
    seeds: tuple[int, ...] = SEEDS,
) -> Experiment:
    conditions = _Read(readings, rows)
    return Experiment(
        id=f"calibration-{name}-v2",
        question=question,
        artefacts=(),
        conditions=conditions,
        seeds=seeds[:FEWER],
        more={name: seeds[FEWER:] for name in conditions if not _is_slow(conditions.row(name))},
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
    SEEDS[:FEWER],
)
FINAL = _stage(
    "final",
    "Which of those follow all of the paper's tables?",
    FINALISTS,
    FINAL_ROWS,
)
SMOOTH = _stage(
    "smooth",
    "Is that so with other teachers too?",
    FINALISTS,
    SMOOTH_ROWS,
)
