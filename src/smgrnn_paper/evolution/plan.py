"""The plan of an evolutionary search, and the figures of its record.  Paper: Sec. IV-A4."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.config import Method
from smgrnn.episodes.table import Episodes, table
from smgrnn.runs.metrics import (
    convergence_episode,
    final_quarter,
    size_figures,
    summarise,
    sustained_episode,
)
from smgrnn.runs.plan import AnyPlan
from smgrnn.runs.record import Record
from smgrnn.validation import Count


@dataclass(frozen=True, kw_only=True)
class EvolutionPlan(AnyPlan):
    """An evolutionary search: all settings, resolved."""

    kind: ClassVar[str] = "evolution"
    command: ClassVar[str] = "evolve"

    method: Method
    """How controllers are bred."""
    rollouts: Count
    """Episodes in all, one for each candidate."""
    population: Count
    """Candidates in a generation."""
    held_out: Count
    """Held-out episodes that judge the champion."""
    neat_settings: str
    """Text of the configuration for neat-python; nothing for another method."""

    @property
    def student(self) -> str:
        """The kind of student that is evolved, which is the method's name."""
        return self.method

    @property
    def n_episodes(self) -> int:
        """Episodes in all."""
        return self.rollouts

    @property
    def generations(self) -> int:
        """Generations that the budget pays for."""
        return self.rollouts // self.population

    @property
    def packages(self) -> tuple[str, ...]:
        """Packages that the results depend on, beside those that all do."""
        return (*super().packages, "neat-python" if self.method == "neat" else "cma")

    def admits(self, n_episodes: int) -> bool:
        """Return whether so many episodes are whole generations."""
        return n_episodes % self.population == 0

    def figures(self, record: Record) -> dict[str, Any]:
        """Return every figure of a search.

        Late return and late sizes are over the best of each of the final quarter of the
        generations; growth is from the first generation's best to the champion, which has the best
        episode of all, the later of equals.
        """
        candidates, champion = record.episodes, record.final.graph
        threshold = self.task.reward_threshold
        best = best_of_generations(candidates, self.population)
        returns, top = played_returns(candidates), played_returns(best)
        start = int(best.n_nodes[0]), int(best.n_edges[0])
        late, sizes = final_quarter(best.n), (champion.n_nodes, champion.n_edges)
        played = best.steps[late] > 0
        if played.any():
            columns = best.n_nodes[late][played], best.n_edges[late][played]
            sizes = columns[0].mean(), columns[1].mean()
        late_nodes, late_edges = map(float, sizes)
        return {
            **summarise(best, record.edits, start, threshold, has_agreement=False),
            **size_figures(champion),
            "net_growth_nodes": champion.n_nodes - start[0],
            "net_growth_edges": champion.n_edges - start[1],
            "late_nodes": late_nodes,
            "late_edges": late_edges,
            "late_growth_nodes": late_nodes - start[0],
            "episodes": candidates.n,
            "steps": int(candidates.steps.sum()),
            "convergence_episode": convergence_episode(returns, threshold),
            "sustained_episode": sustained_episode(returns, threshold),
            "early_lost": None,
            "generations": best.n,
            "population": self.population,
            "generation_best": float(best.returns[-1]),
            "champion_generation": int(np.flatnonzero(top == top.max())[-1]) + 1,
            "champion_return": float(top.max()),
            "late_loss": None,
            "churn_ratio": None,
        }

    def tables(self, record: Record) -> dict[str, bytes]:
        """Return the generations as one more table of the run folder."""
        best = best_of_generations(record.episodes, self.population)
        mean = record.episodes.returns.reshape(best.n, -1).mean(axis=1)
        header = ["generation", "best_return", "mean_return", "n_nodes", "n_edges"]
        columns = [np.arange(1, best.n + 1), best.returns, mean, best.n_nodes, best.n_edges]
        return {"generations.csv": table(header, columns)}


def played_returns(candidates: Episodes) -> Floats:
    """Return the returns, which are minus infinity for candidates too small to play."""
    return np.where(candidates.steps > 0, candidates.returns, -np.inf)


def best_of_generations(candidates: Episodes, population: int) -> Episodes:
    """Return the best candidate of each generation, the first of equals."""
    rows = played_returns(candidates).reshape(-1, population)
    best = np.arange(len(rows)) * population + rows.argmax(axis=1)
    columns: Any = (column[best] for column in candidates)
    return Episodes(*columns)


def generations_of(record: Record) -> Episodes | None:
    """Return the best candidate of each generation on record; None if nothing evolved."""
    if not isinstance(record.plan, EvolutionPlan):
        return None
    return best_of_generations(record.episodes, record.plan.population)
