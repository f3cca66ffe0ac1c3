"""Registry: all experiments, by id and by name."""

from collections.abc import Iterable

from smgrnn.batch.experiment import Experiment
from smgrnn.errors import ConfigError, suggest
from smgrnn_paper.experiments.beyond import BEYOND
from smgrnn_paper.experiments.frontier import FRONTIERS, NONLINEAR, RATES_STUDY
from smgrnn_paper.experiments.paper import PAPER

EXPERIMENTS: dict[str, Experiment] = PAPER
"""The paper's experiments by id, in its order, and ours on the teachers that they have."""
STUDIES: dict[str, Experiment] = {
    each.id: each for each in (*FRONTIERS, NONLINEAR, *RATES_STUDY, *BEYOND.values())
}
"""Experiments of our own by id; they run when they are named."""

ALL = "all"
GROUPS: dict[str, dict[str, Experiment]] = {ALL: EXPERIMENTS, "beyond": BEYOND}
"""Names that stand for several experiments."""
SMOKE_SEEDS = 2
SMOKE_EPISODES = 10


def find_experiment(name: str) -> Experiment:
    """Return an experiment by its id; without -vN, its latest version.

    >>> find_experiment("growth-ablation").id
    'growth-ablation-v3'
    """
    named = EXPERIMENTS | STUDIES
    if versions := _versions(name):
        return named[max(versions, key=lambda id: int(id.rpartition("-v")[2]))]
    hint = suggest(name, [*named, *GROUPS], cutoff=0.4) or f"There are {', '.join(named)}."
    raise ConfigError(f"There is no experiment {name!r}. {hint}")


def is_experiment(name: str) -> bool:
    """Return whether there is an experiment of this name, with or without its -vN."""
    return name in GROUPS or bool(_versions(name))


def _versions(name: str) -> list[str]:
    return [id for id in EXPERIMENTS | STUDIES if name in (id, id.rpartition("-v")[0])]


def choose_experiments(
    names: Iterable[str] = (),
    *,
    seeds: int | None = None,
    episodes: int | None = None,
    smoke: bool = False,
) -> list[Experiment]:
    """Return the experiments of these names, or all of the paper's; at another length if given.

    Parameters
    ----------
    names
        Ids, with or without their -vN; none, or "all", is all of the paper's, "beyond" those of
        questions that it leaves open.
    seeds
        Seeds of each condition, from 0; those of the paper by default.
    episodes
        Episodes of each run; those of the paper by default.
    smoke
        Two seeds and a few episodes, unless they are given: to see that everything runs.
    """
    names = list(names)
    named = [find_experiment(name) for name in names if name not in GROUPS]
    groups = [GROUPS[name] for name in names or [ALL] if name in GROUPS]
    chosen = [*(each for group in groups for each in group.values()), *named]
    if smoke:
        seeds = SMOKE_SEEDS if seeds is None else seeds
        episodes = SMOKE_EPISODES if episodes is None else episodes
    unique = {experiment.id: experiment for experiment in chosen}
    return [each.scaled(seeds=seeds, episodes=episodes) for each in unique.values()]
