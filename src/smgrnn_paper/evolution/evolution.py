"""Evolution on the budget of a distillation: one episode for every candidate.  Paper: Sec. IV-A4.

All candidates of a generation play the same episode, and every generation another one.  The result
is a record like that of a distillation, with the champion as its student: the candidate with the
best single episode, which is partly luck, so it is judged again on held-out episodes.

A search is determined by its plan and by the returns of its candidates, so these are all that has
to be kept of it: a stopped one is bred again from the recorded returns, and continues.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from smgrnn.batch import AnyCondition
from smgrnn.episodes.backends import Backend, find_backend
from smgrnn.episodes.table import Episodes
from smgrnn.errors import ConfigError
from smgrnn.interrupts import interrupts_deferred
from smgrnn.machine import check_memory
from smgrnn.policy import Policy
from smgrnn.runs.evaluation import score
from smgrnn.runs.folder import RunFolder
from smgrnn.runs.plan import check_episodes, require
from smgrnn.runs.record import Record
from smgrnn.runs.session import Session, Watch
from smgrnn.seeding import episode_seed
from smgrnn.tasks import Task, TaskSource, find_again, find_task
from smgrnn_paper.evolution.config import EvolutionConfig
from smgrnn_paper.evolution.plan import EvolutionPlan, best_of_generations
from smgrnn_paper.evolution.search import Candidate, Player, Search

FEWEST = 4
"""Smallest population that a shortened evolution has."""


class Evolution(Session[EvolutionPlan]):
    """An evolutionary search and its record; `smgrnn_paper.evolve` returns one.

    Parameters
    ----------
    plan
        All settings, as `plan_evolution` or a record gives them.
    folder
        Folder to keep it in; None keeps nothing until `save`.
    task
        The task, or where to find it; one that is code of the user's own must be given.
    record
        The record of the search so far, if it has begun.

    Examples
    --------
    >>> from smgrnn_paper import EvolutionConfig
    >>> evolution = new_evolution("CartPole-v1", EvolutionConfig(rollouts=20, population=10))
    >>> record = evolution.train(lambda evolution: print(evolution.episodes.n))
    10
    20
    >>> evolution.save("a-run")
    >>> evolution.summary()["generations"]
    2
    """

    plan_kind = EvolutionPlan

    def __init__(
        self,
        plan: EvolutionPlan,
        folder: str | Path | RunFolder | None = None,
        *,
        task: TaskSource | Task | None = None,
        record: Record | None = None,
    ) -> None:
        super().__init__(plan, folder, record)
        self.task = find_again(plan.task, task)
        if not self.episodes.n:  # what it cannot work with is met at once
            _ = self._search, self._backend

    @classmethod
    def resume(cls, path: str | Path, *, task: TaskSource | None = None) -> Self:
        """Return a search that continues after its last generation; repeat your own code.

        >>> from smgrnn_paper import EvolutionConfig
        >>> config = EvolutionConfig(rollouts=20, population=10)
        >>> new_evolution("CartPole-v1", config, Path("bred")).begin()
        >>> Evolution.resume("bred").train().episodes.n
        20
        """
        return cls._open(path, task=task)

    @cached_property
    def _search(self) -> Search:
        """The search after the last generation on record, bred again from the returns there."""
        search, episodes = _new_search(self.plan, self.task), self.episodes
        for start in range(0, episodes.n, self.plan.population):
            these = slice(start, start + self.plan.population)
            sizes = zip(episodes.n_nodes[these], episodes.n_edges[these], strict=True)
            if [_size(candidate) for candidate in search.ask()] != list(sizes):
                raise ConfigError(
                    f"The search cannot go on: generation {search.generation + 1} on record is "
                    f"not the one that this version of smgrnn and of its packages breeds."
                )
            search.tell(episodes.returns[these])
        return search

    @cached_property
    def _backend(self) -> Backend:
        return find_backend(self.task)

    @property
    def champion(self) -> Player:
        """The candidate with the best episode of all, the later of equals."""
        if self._search.champion is None:
            raise ConfigError(
                f"No candidate grew the nodes that {self.task.id} needs; try another seed."
            )
        return self._search.champion

    @property
    def generations(self) -> Episodes:
        """The best candidate of each generation, the first of equals."""
        return best_of_generations(self.episodes, self.plan.population)

    def _advance(self) -> Iterator[None]:
        for generation in range(self._search.generation, self.plan.generations):
            with self._timed("training"):
                seed = episode_seed(self.plan.seed, generation, "train")
                played = [self._play(candidate, seed) for candidate in self._search.ask()]
            with interrupts_deferred():
                self._take_in(played)
            yield
        champion = self.champion.policy
        held_out = score(self._backend, champion, self.plan.seed, self.plan.held_out)
        self._update(held_out=held_out)

    def _play(self, candidate: Candidate, seed: int) -> Episodes:
        if isinstance(candidate, Policy):
            return self._backend.play(candidate, [seed])
        row = Episodes.start(1)
        row.returns[0] = candidate.score
        return row

    def _take_in(self, played: list[Episodes]) -> None:
        """Breed from a generation that has played, and keep it."""
        self._search.tell([float(row.returns[0]) for row in played])
        episodes, champion = self.episodes, self._search.champion
        for row in played:
            episodes = episodes.followed_by(row)
        best = best_of_generations(episodes, self.plan.population)
        self._update(
            episodes=episodes,
            students={} if champion is None else {"final": champion.policy},
            started=(int(best.n_nodes[0]), int(best.n_edges[0])),
        )
        self._checkpoint()


def new_evolution(
    task: TaskSource, config: EvolutionConfig, folder: Path | None = None
) -> Evolution:
    """Return a search that has not begun, or the one begun in the folder with these settings.

    The folder is made when the search begins.
    """
    found = find_task(task)
    plan = plan_evolution(found, config)
    if plan.neat_settings and found.is_discrete:  # errors in a file name the file
        from smgrnn_paper.evolution.neat import read_settings

        read_settings(found, config.population, config.neat_config)
    return Evolution._start_or_resume(plan, folder, task=found)


def plan_evolution(task: Task, config: EvolutionConfig) -> EvolutionPlan:
    """Return the plan of a search, with the text of the settings that NEAT reads from a file."""
    neat_settings = ""
    require(not task.is_supervised, f"{task.id} is learned from examples and has no environment")
    if config.method == "neat":
        from smgrnn_paper.evolution.neat import read_text

        neat_settings = read_text(task, config.neat_config)
    check_episodes(config.held_out)
    check_memory(2e4 * config.population, f"A population of {config.population} candidates")
    return EvolutionPlan(
        task=replace(task, make=None),
        method=config.method,
        seed=config.seed,
        rollouts=config.rollouts,
        population=config.population,
        held_out=config.held_out,
        neat_settings=neat_settings,
    )


def evolve(
    task: TaskSource,
    *,
    out: str | Path | None = None,
    watch: Watch[Evolution] | None = None,
    **settings: Any,
) -> Evolution:
    """Evolve a controller for a task; every field of EvolutionConfig is a keyword.

    Parameters
    ----------
    task
        A Gymnasium id with discrete actions.
    out
        Folder to keep the run in, generation by generation; an equal call that was stopped resumes.
        None keeps nothing.
    watch
        Called with the evolution after every generation.
    **settings
        Fields of `EvolutionConfig`.

    Examples
    --------
    >>> import smgrnn
    >>> evolution = smgrnn.evolve("CartPole-v1", rollouts=20, population=10, out="evolved")
    >>> smgrnn.load("evolved").graph == evolution.champion.policy.graph
    True
    """
    folder = None if out is None else Path(out)
    evolution = new_evolution(task, EvolutionConfig(**settings), folder)
    evolution.train(*([watch] if watch is not None else []))
    return evolution


def _new_search(plan: EvolutionPlan, task: Task) -> Search:
    size = {"population": plan.population, "generations": plan.generations}
    if plan.method == "neat":
        from smgrnn_paper.evolution.neat import NEATSearch

        return NEATSearch(task, seed=plan.seed, settings=plan.neat_settings, **size)
    from smgrnn_paper.evolution.ndp import NDPSearch

    return NDPSearch(task, seed=plan.seed, **size)


def _size(candidate: Candidate) -> tuple[int, int]:
    """Return the nodes and edges of a candidate as they are recorded: none if it cannot play."""
    if not isinstance(candidate, Policy):
        return 0, 0
    return candidate.graph.n_nodes, candidate.graph.n_edges


@dataclass(frozen=True)
class EvolutionCondition(AnyCondition):
    """A task and the settings of its searches; the seed comes with each run."""

    settings: EvolutionConfig
    """Settings of the search; the seed in them is always 0."""

    @classmethod
    def evolve(cls, task: str, **changes: Any) -> Self:
        """Return a search; every field of EvolutionConfig is a keyword."""
        return cls(task, EvolutionConfig(**changes))

    @property
    def episodes(self) -> int:
        """Episodes of a search, one for each candidate."""
        return self.settings.rollouts

    def with_episodes(self, n: int) -> Self:
        """Return the condition with `n` episodes; at least two generations stay.

        >>> EvolutionCondition.evolve("CartPole-v1").with_episodes(20).settings.population
        10
        """
        settings = self.settings
        population = max(min(settings.population, n // 2), FEWEST)
        rollouts, held_out = population * max(n // population, 2), min(settings.held_out, n)
        short = replace(settings, rollouts=rollouts, population=population, held_out=held_out)
        return replace(self, settings=short)

    def plan(self, seed: int) -> EvolutionPlan:
        """Return the plan of a search."""
        return plan_evolution(find_task(self.task), replace(self.settings, seed=seed))

    def train(self, plan: EvolutionPlan) -> Record:
        """Run a plan of this condition and return its record."""
        return Evolution(plan, task=self.task).train()
