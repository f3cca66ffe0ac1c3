"""Evolution on the budget of a distillation: one episode for every candidate.  Paper: Sec. IV-A4.

All candidates of a generation play the same episode, and every generation another one.  What is
left is a run folder like that of a distillation, with the champion as its student: the candidate
with the best single episode, which is partly luck, so it is judged again on held-out episodes.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from smgrnn.baselines.ndp_search import NDPSearch
from smgrnn.baselines.neat import NEATSearch
from smgrnn.baselines.search import Candidate, Phenotype, Player, Search
from smgrnn.config import EvolutionConfig, LearningConfig, PlasticityConfig, RunConfig
from smgrnn.engine import Learner
from smgrnn.errors import ConfigError
from smgrnn.graph.log import EditLog
from smgrnn.arrays import Floats
from smgrnn.seeding import episode_seed
from smgrnn.tasks import find_task
from smgrnn.episodes.backends import find_backend
from smgrnn.runs.distillation import held_out_seeds
from smgrnn.runs.folder import Progress, check_new, create, save_progress, write_results
from smgrnn.runs.metrics import convergence_episode, summarise
from smgrnn.episodes.table import Edits, Episodes, write_table
from smgrnn.runs.snapshots import Snapshots

METHODS = {
    "neat": "topologies and weights evolved together, by neat-python",
    "ndp": "developmental programs that grow a network, by CMA-ES",
}
"""The evolutionary methods by name."""

Watch = Callable[["Evolution"], None]


class Evolution:
    """An evolutionary search and its record; `smgrnn.evolve` returns one.

    Parameters
    ----------
    task
        A Gymnasium id with discrete actions.
    config
        All other settings.

    Examples
    --------
    >>> from smgrnn import Evolution, EvolutionConfig
    >>> evolution = Evolution("CartPole-v1", EvolutionConfig(rollouts=20, population=10))
    >>> evolution.train(lambda evolution: print(evolution.episodes.n))
    10
    20
    >>> evolution.save("a-run")["generations"]
    2
    """

    def __init__(self, task: str, config: EvolutionConfig) -> None:
        self.task = find_task(task)
        self.config = config
        self.search = _new_search(self)
        self.episodes = Episodes.start(0)
        """One row per candidate, in order; those too small to play have no steps and no nodes."""
        self.seconds = 0.0
        """Time spent so far."""
        self.held_out: Floats = np.empty(0)
        """Returns of the champion on held-out episodes."""
        self._backend = find_backend(self.task)

    @property
    def generations(self) -> Episodes:
        """The best candidate of each generation, the first of equals."""
        rows = self._played_returns.reshape(-1, self.config.population)
        best = np.arange(len(rows)) * self.config.population + rows.argmax(axis=1)
        columns: Any = (column[best] for column in self.episodes)
        return Episodes(*columns)

    @property
    def _played_returns(self) -> Floats:
        """The returns, without the scores of those who were too small to play."""
        return np.where(self.episodes.steps > 0, self.episodes.returns, -np.inf)

    @property
    def champion(self) -> Player:
        """The candidate with the best episode of all, the later of equals."""
        if self.search.champion is None:
            raise ConfigError(
                f"No candidate grew the nodes that {self.task.id} needs; try another seed."
            )
        return self.search.champion

    def train(self, *watches: Watch) -> None:
        """Search until the budget is spent, then judge the champion."""
        for generation in range(self.config.generations):
            start = time.perf_counter()
            seed = episode_seed(self.config.seed, generation, "train")
            played = [self._play(candidate, seed) for candidate in self.search.ask()]
            for row in played:
                self.episodes = self.episodes.followed_by(row)
            self.search.tell([float(row.returns[0]) for row in played])
            self.seconds += time.perf_counter() - start
            for watch in watches:
                watch(self)
        seeds = held_out_seeds(self.config.seed, 0, self.config.held_out)
        champion = _student(self.champion.phenotype)
        self.held_out = self._backend.play(champion, seeds).returns

    def _play(self, candidate: Candidate, seed: int) -> Episodes:
        if isinstance(candidate, Phenotype):
            return self._backend.play(_student(candidate), [seed])
        row = Episodes.start(1)
        row.returns[0] = candidate.score
        return row

    def summary(self) -> dict[str, Any]:
        """Return every figure of the search: those of a run, and those of generations.

        The late return is over the best of each of the final quarter of the generations, and
        growth is from the first generation's best to the champion.

        >>> evolution = Evolution("CartPole-v1", EvolutionConfig(rollouts=10, population=10))
        >>> evolution.train()
        >>> evolution.summary()["episodes"]
        10
        """
        best, champion = self.generations, self.champion
        graph = champion.phenotype.graph
        start = int(best.n_nodes[0]), int(best.n_edges[0])
        edits, n_fixed = Edits.of(EditLog.start()), graph.n_inputs + graph.n_outputs
        threshold = self.task.reward_threshold
        return {
            "task": self.task.id,
            "student": self.config.method,
            "engine": "compiled",
            "seed": self.config.seed,
            **summarise(best, edits, n_fixed, start, threshold, has_agreement=False),
            "n_nodes": graph.n_nodes,
            "n_hidden": graph.n_nodes - n_fixed,
            "n_edges": graph.n_edges,
            "n_parameters": graph.n_edges,
            "net_growth_nodes": graph.n_nodes - start[0],
            "net_growth_edges": graph.n_edges - start[1],
            "episodes": self.episodes.n,
            "steps": int(self.episodes.steps.sum()),
            "convergence_episode": convergence_episode(self._played_returns, threshold),
            "generations": best.n,
            "population": self.config.population,
            "generation_best": float(best.returns[-1]),
            "champion_generation": champion.generation,
            "champion_return": champion.episode_return,
            "late_loss": None,
            "churn_ratio": None,
            "held_out_mean": float(self.held_out.mean()) if self.held_out.size else None,
            "held_out_std": float(self.held_out.std()) if self.held_out.size else None,
            "seconds": self.seconds,
        }

    def save(self, folder: str | Path) -> dict[str, Any]:
        """Write a new run folder, with the generations as one more table; return its summary."""
        folder = Path(folder)
        create(folder)
        phenotype, config = self.champion.phenotype, _run_config(self)
        graph = phenotype.graph
        progress = Progress(
            learner=_student(phenotype).arrays(),
            episodes=self.episodes,
            edits=Edits.of(EditLog.start()),
            snapshots=Snapshots.start(),
            best=graph,
            best_score=self.champion.episode_return,
            started=(graph.n_nodes, graph.n_edges),
            expert="",
            seconds=self.seconds,
        )
        summary = self.summary() | {"run_dir": str(folder), "evolution": self.config.to_dict()}
        save_progress(folder, self.task, config, progress)
        best = self.generations
        mean = self.episodes.returns.reshape(-1, self.config.population).mean(axis=1)
        header = ["generation", "best_return", "mean_return", "n_nodes", "n_edges"]
        columns = [np.arange(1, best.n + 1), best.returns, mean, best.n_nodes, best.n_edges]
        write_table(folder / "generations.csv", header, columns)
        write_results(folder, self.task.id, config, progress, summary)
        return summary


def evolve(
    task: str, *, out: str | Path | None = None, watch: Watch | None = None, **settings: Any
) -> Evolution:
    """Evolve a controller for a task; every field of EvolutionConfig is a keyword.

    Parameters
    ----------
    task
        A Gymnasium id with discrete actions.
    out
        A new folder to keep the run in; None keeps nothing.
    watch
        Called with the evolution after every generation.
    **settings
        Fields of `EvolutionConfig`.

    Examples
    --------
    >>> import smgrnn
    >>> evolution = smgrnn.evolve("CartPole-v1", rollouts=20, population=10, out="evolved")
    >>> smgrnn.load("evolved").graph == evolution.champion.phenotype.graph
    True
    """
    evolution = Evolution(task, EvolutionConfig(**settings))
    folder = Path(out) if out is not None else None
    if folder is not None:
        check_new(folder)
    evolution.train(*([watch] if watch is not None else []))
    if folder is not None:
        evolution.save(folder)
    return evolution


def _new_search(evolution: Evolution) -> Search:
    config = evolution.config
    size = {"population": config.population, "generations": config.generations}
    if config.method == "ndp":
        if config.neat_config is not None:
            raise ConfigError("A configuration for NEAT says nothing to NDP; leave it out.")
        return NDPSearch(evolution.task, seed=config.seed, **size)
    return NEATSearch(evolution.task, seed=config.seed, settings=config.neat_config, **size)


def _student(phenotype: Phenotype) -> Learner:
    return Learner(
        phenotype.network, LearningConfig(), PlasticityConfig.static(), graph=phenotype.graph
    )


def _run_config(evolution: Evolution) -> RunConfig:
    """Return the settings with which the champion loads and plays as the student of a run."""
    network = evolution.champion.phenotype.network
    return RunConfig(
        student=evolution.config.method,
        episodes=evolution.config.rollouts,
        seed=evolution.config.seed,
        n_hidden=network.n_hidden,
        iterations=network.iterations,
        bias=network.n_inputs > evolution.task.n_inputs,
        carry_state=network.carry_state,
        readout=network.readout,
    )
