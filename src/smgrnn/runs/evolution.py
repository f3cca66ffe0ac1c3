"""Evolution on the budget of a distillation: one episode for every candidate.  Paper: Sec. IV-A4.

All candidates of a generation play the same episode, and every generation another one.  The result
is a record like that of a distillation, with the champion as its student: the candidate with the
best single episode, which is partly luck, so it is judged again on held-out episodes.
"""

import time
from pathlib import Path
from typing import Any

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.baselines.ndp_search import NDPSearch
from smgrnn.baselines.neat import NEATSearch
from smgrnn.baselines.neat_settings import read_settings, read_text
from smgrnn.baselines.search import Candidate, Player, Search
from smgrnn.config import EvolutionConfig
from smgrnn.episodes.backends import find_backend
from smgrnn.episodes.table import Edits, Episodes
from smgrnn.errors import ConfigError
from smgrnn.graph.log import EditLog
from smgrnn.policy import Policy
from smgrnn.runs.evaluation import score
from smgrnn.runs.folder import check_new, create, folder_summary, write_results
from smgrnn.runs.metrics import best_of_generations
from smgrnn.runs.plan import EvolutionPlan, plan_evolution
from smgrnn.runs.record import Record, Times
from smgrnn.runs.snapshots import Snapshots
from smgrnn.runs.watch import Watch
from smgrnn.seeding import episode_seed
from smgrnn.tasks import Task, TaskSource, find_again, find_task

METHODS = {
    "neat": "topologies and weights evolved together, by neat-python",
    "ndp": "developmental programs that grow a network, by CMA-ES",
}
"""The evolutionary methods by name."""


class Evolution:
    """An evolutionary search and its record; `smgrnn.evolve` returns one.

    Parameters
    ----------
    plan
        All settings, as `plan_evolution` or a record gives them.
    task
        The task, or where to find it; one that is code of the user's own must be given.

    Examples
    --------
    >>> from smgrnn import EvolutionConfig
    >>> evolution = new_evolution("CartPole-v1", EvolutionConfig(rollouts=20, population=10))
    >>> record = evolution.train(lambda evolution: print(evolution.episodes.n))
    10
    20
    >>> evolution.save("a-run")["generations"]
    2
    """

    def __init__(self, plan: EvolutionPlan, *, task: TaskSource | Task | None = None) -> None:
        self.plan = plan
        self.task = find_again(plan.task, task)
        self.search = _new_search(plan, self.task)
        self.episodes = Episodes.start(0)
        """One row per candidate, in order; those too small to play have no steps and no nodes."""
        self.held_out: Floats = np.empty(0)
        """Returns of the champion on held-out episodes."""
        self._times = Times(began=time.time())
        self._backend = find_backend(self.task)

    @property
    def seconds(self) -> float:
        """Seconds spent so far."""
        return self._times.training

    @property
    def champion(self) -> Player:
        """The candidate with the best episode of all, the later of equals."""
        if self.search.champion is None:
            raise ConfigError(
                f"No candidate grew the nodes that {self.task.id} needs; try another seed."
            )
        return self.search.champion

    @property
    def record(self) -> Record:
        """The record of the search so far."""
        best = self.generations
        return Record(
            plan=self.plan,
            episodes=self.episodes,
            edits=Edits.of(EditLog.start()),
            snapshots=Snapshots.start(),
            students={"final": self.champion.policy},
            started=(int(best.n_nodes[0]), int(best.n_edges[0])),
            held_out=self.held_out,
            times=self._times,
        )

    @property
    def generations(self) -> Episodes:
        """The best candidate of each generation, the first of equals."""
        return best_of_generations(self.episodes, self.plan.population)

    def train(self, *watches: Watch["Evolution"]) -> Record:
        """Search until the budget is spent, then judge the champion."""
        begin = time.perf_counter()
        for generation in range(self.plan.generations):
            start = time.perf_counter()
            seed = episode_seed(self.plan.seed, generation, "train")
            played = [self._play(candidate, seed) for candidate in self.search.ask()]
            for row in played:
                self.episodes = self.episodes.followed_by(row)
            self.search.tell([float(row.returns[0]) for row in played])
            training = self.seconds + time.perf_counter() - start
            self._times = self._times._replace(training=training)
            for watch in watches:
                watch(self)
        champion = self.champion.policy
        self.held_out = score(self._backend, champion, self.plan.seed, self.plan.held_out)
        self._times = self._times._replace(total=time.perf_counter() - begin)
        return self.record

    def _play(self, candidate: Candidate, seed: int) -> Episodes:
        if isinstance(candidate, Policy):
            return self._backend.play(candidate, [seed])
        row = Episodes.start(1)
        row.returns[0] = candidate.score
        return row

    def summary(self) -> dict[str, Any]:
        """Return every figure of the search: those of a run, and those of generations.

        >>> config = EvolutionConfig(rollouts=10, population=10)
        >>> evolution = new_evolution("CartPole-v1", config)
        >>> evolution.train().summary() == evolution.summary()
        True
        """
        return self.record.summary()

    def save(self, folder: str | Path) -> dict[str, Any]:
        """Write a new run folder, with the generations as one more table; return its summary."""
        folder, record = Path(folder), self.record
        create(folder)
        record.save(folder)
        write_results(folder, record)
        return folder_summary(record, folder)


def new_evolution(task: TaskSource, config: EvolutionConfig) -> Evolution:
    """Return a search that has not begun."""
    found = find_task(task)
    plan = find_evolution_plan(found, config)
    if plan.neat_settings and found.is_discrete:  # what is wrong in a file is told with its name
        read_settings(found, config.population, config.neat_config)
    return Evolution(plan, task=found)


def find_evolution_plan(task: Task, config: EvolutionConfig) -> EvolutionPlan:
    """Return the plan of a search, with the text of the settings that NEAT reads from a file."""
    text = read_text(task, config.neat_config) if config.method == "neat" else ""
    return plan_evolution(config, task, text)


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
        A new folder to keep the run in; None keeps nothing.
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
    evolution = new_evolution(task, EvolutionConfig(**settings))
    if out is not None:
        check_new(Path(out))
    evolution.train(*([watch] if watch is not None else []))
    if out is not None:
        evolution.save(out)
    return evolution


def _new_search(plan: EvolutionPlan, task: Task) -> Search:
    size = {"population": plan.population, "generations": plan.generations}
    if plan.method == "neat":
        return NEATSearch(task, seed=plan.seed, settings=plan.neat_settings, **size)
    return NDPSearch(task, seed=plan.seed, **size)
