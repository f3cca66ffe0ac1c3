"""A run from its first episode to its summary: train, checkpoint, resume, evaluate."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from smgrnn.config import RunConfig
from smgrnn.errors import ConfigError
from smgrnn.experts import FunctionExpert, function_name
from smgrnn.arrays import Floats
from smgrnn.graph.state import Graph
from smgrnn.interrupts import interrupts_deferred
from smgrnn.tasks import Task, find_task
from smgrnn.runs.distillation import Distillation, held_out_seeds
from smgrnn.runs.folder import (
    MODEL,
    Progress,
    check_new,
    clear_partial,
    create,
    load_progress,
    restore_learner,
    save_progress,
    write_results,
)
from smgrnn.runs.metrics import held_out_likeness, summarise
from smgrnn.episodes.table import Edits, Episodes
from smgrnn.runs.snapshots import Snapshots
from smgrnn.runs.students import STUDENTS, new_learner

TaskSource = str | Path | Callable[[], Any]
"""The name of a task, a file of recorded examples, or what makes an environment."""
Watch = Callable[["Run"], None]


class Run:
    """A distillation run, in progress or finished; `smgrnn.distill` returns one.

    Parameters
    ----------
    task
        A Gymnasium id, "xor", a file of recorded examples, or a function that makes an environment.
    config
        All other settings.
    folder
        Where to keep it; None keeps nothing until `save`.
    expert
        A function to learn from, instead of the expert that the settings name.
    progress
        How far it has come already.

    Examples
    --------
    >>> import smgrnn
    >>> run = smgrnn.distill("xor", episodes=20, seed=0)
    >>> run.episodes.n, run.summary()["task"]
    (20, 'xor')
    >>> run.score(3).shape  # returns of the frozen student on held-out episodes
    (3,)
    >>> run.save("a-run")
    >>> smgrnn.Run.resume("a-run").graph == run.graph
    True
    """

    def __init__(
        self,
        task: TaskSource | Task,
        config: RunConfig,
        folder: Path | None = None,
        *,
        expert: Callable[[Any], Any] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.task = task if isinstance(task, Task) else find_task(task)
        self.config = config
        self.folder = folder
        self.held_out: Floats = np.empty(0)
        """Returns of the finished student on held-out episodes."""
        self._distillation = Distillation(
            self.task,
            config,
            None if expert is None else FunctionExpert(expert, self.task, function_name(expert)),
            None if progress is None else progress.normalisation,
        )
        graph = self.graph
        self._progress = progress or Progress(
            learner=self._distillation.learner.arrays(),
            episodes=Episodes.start(0),
            edits=Edits.of(self._distillation.learner.forget_log()),
            snapshots=Snapshots.start(),
            best=graph,
            best_score=-np.inf,
            started=(graph.n_nodes, graph.n_edges),
            expert="",
            seconds=0.0,
        )

    @classmethod
    def resume(cls, folder: str | Path) -> "Run":
        """Go on with a run from its last checkpoint."""
        folder = Path(folder)
        task, config, progress = load_progress(folder)
        return cls._restore(task.recording or task.id, config, folder, progress)

    @classmethod
    def read(cls, folder: str | Path) -> "Run":
        """Return a run to look at, not to play: it needs neither its environment nor its expert.

        >>> Run("xor", RunConfig.for_task("xor"), Path("looked-at")).begin()
        >>> Run.read("looked-at").episodes.n
        0
        """
        folder = Path(folder)
        task, config, progress = load_progress(folder)
        return cls._restore(task, config, folder, progress)

    @classmethod
    def _restore(
        cls, task: TaskSource | Task, config: RunConfig, folder: Path, progress: Progress
    ) -> "Run":
        run = cls(task, config, folder, progress=progress)
        restore_learner(run._distillation.learner, progress, folder)
        return run

    @property
    def seconds(self) -> float:
        """Time spent on training."""
        return self._progress.seconds

    def check_expert(self) -> None:
        """Load the expert now, so that a wrong one is met before anything is made.

        >>> Run("CartPole-v1", RunConfig()).check_expert()
        """
        digest = self._distillation.digest
        if self._progress.expert not in ("", digest):
            raise ConfigError("The run was begun with another expert; it cannot go on with this.")
        self._progress = self._progress._replace(
            expert=digest, normalisation=self._distillation.normalisation
        )

    @property
    def graph(self) -> Graph:
        """The student's graph as it is now."""
        return self._distillation.learner.graph

    @property
    def best_graph(self) -> Graph:
        """The graph, with its weights, that scored best among the checkpoints."""
        return self._progress.best

    @property
    def episodes(self) -> Episodes:
        """The record of all episodes so far."""
        return self._progress.episodes

    @property
    def edits(self) -> Edits:
        """The record of all structural changes so far."""
        return self._progress.edits

    @property
    def snapshots(self) -> Snapshots:
        """The weights on the way, if the run has a folder to keep them in."""
        return self._progress.snapshots

    @property
    def is_finished(self) -> bool:
        """Whether no episode is still to come."""
        return self.episodes.n >= self.config.episodes or self._is_solved()

    @property
    def late_return(self) -> float:
        """Mean return over the final quarter of the episodes."""
        return float(self.summary()["late_return"])

    def begin(self) -> None:
        """Make the folder, if there is to be one, with a first checkpoint in it.

        >>> Run("xor", RunConfig.for_task("xor"), Path("begun")).begin()
        >>> [file.name for file in Path("begun").glob("*.safetensors")]
        ['model.safetensors']
        """
        self.check_expert()
        if self.folder is None:
            return
        if not self.folder.exists():
            create(self.folder)
        clear_partial(self.folder)
        if not (self.folder / MODEL).exists():
            self._take_snapshot()
            self._save()

    def train(self, *watches: Watch) -> None:
        """Train to the last episode, checkpointing on the way, and evaluate the student.

        Every few episodes each of `watches` is called with the run.

        >>> run = Run("xor", RunConfig.for_task("xor", episodes=4))
        >>> run.train()
        >>> run.episodes.n
        4
        """
        self.begin()
        try:
            with interrupts_deferred():
                self._distillation.train(0, 0)  # compiles, which the clock is not to count
            for first, last in self._chunks():
                with interrupts_deferred():
                    self._train_chunk(first, last)
                for watch in watches:
                    watch(self)
            with interrupts_deferred():
                self.held_out = self._distillation.score(0, self.config.held_out)
        except BaseException:  # a Ctrl-C too: what was recorded must not be lost
            self._save()
            self._write_results()
            raise
        self._write_results()

    def _chunks(self) -> Iterator[tuple[int, int]]:
        """Cut the episodes still to come at every checkpoint and every chunk of the backend."""
        first, end, every = self.episodes.n, self.config.episodes, self.config.checkpoint_every
        while not self.is_finished:
            chunk = self._distillation.backend.chunk
            last = min(first + chunk, end, (first // every + 1) * every)
            yield first, last
            first = last

    def _is_solved(self) -> bool:
        """Return whether the task's threshold was reached often enough in a row to stop."""
        n, threshold = self.config.stop_after, self.task.reward_threshold
        if n == 0 or threshold is None or self.episodes.n < n:
            return False
        return bool((self.episodes.returns[-n:] >= threshold).all())

    def _train_chunk(self, first: int, last: int) -> None:
        learner, begin = self._distillation.learner, time.perf_counter()
        episodes = self._distillation.train(first, last)
        self._progress = self._progress._replace(
            episodes=self.episodes.followed_by(episodes),
            edits=self.edits.followed_by(Edits.of(learner.forget_log())),
            seconds=self.seconds + time.perf_counter() - begin,
        )
        if self.folder is not None:  # what an error in the next chunk must not lose
            self._progress = self._progress._replace(learner=learner.arrays())
            self._take_snapshot()
        if last % self.config.checkpoint_every == 0 or self.is_finished:
            self._checkpoint()

    def _take_snapshot(self) -> None:
        snapshots = self.snapshots.followed_by(self.episodes.n, self.graph)
        self._progress = self._progress._replace(snapshots=snapshots)

    def _checkpoint(self) -> None:
        """Score the student as it is, keep it if it is the best so far, and save."""
        score = self._distillation.check()
        if score > self._progress.best_score:
            self._progress = self._progress._replace(best=self.graph, best_score=score)
        self._save()

    def _save(self) -> None:
        if self.folder is not None:
            save_progress(self.folder, self.task, self.config, self._progress)

    def _write_results(self) -> None:
        if self.folder is not None and self.episodes.n:
            write_results(self.folder, self.task.id, self.config, self._progress, self.summary())

    def score(self, n: int, *, best: bool = False) -> Floats:
        """Return the returns of the frozen, greedy student on `n` held-out episodes."""
        if not best:
            return self._distillation.score(0, n)
        student = new_learner(self.config, self.task, self.best_graph)
        seeds = held_out_seeds(self.config.seed, 0, n)
        return self._distillation.backend.play(student, seeds).returns

    def summary(self) -> dict[str, Any]:
        """Return every figure of the run so far."""
        if not self.episodes.n:
            raise ConfigError("The run has no episodes yet, and so no figures.")
        graph = self.graph
        return {
            "task": self.task.id,
            "student": self.config.student,
            "engine": "compiled",
            "seed": self.config.seed,
            **summarise(
                self.episodes,
                self.edits,
                graph.n_inputs + graph.n_outputs,
                self._progress.started,
                self.task.reward_threshold,
                has_agreement=self.task.has_agreement,
            ),
            "held_out_mean": float(self.held_out.mean()) if self.held_out.size else None,
            "held_out_std": float(self.held_out.std()) if self.held_out.size else None,
            **held_out_likeness(self.task, self.held_out),
            "best_checkpoint_score": self._progress.best_score,
            "seconds": self.seconds,
            "run_dir": str(self.folder) if self.folder else None,
        }

    def save(self, folder: str | Path) -> None:
        """Write the run to a new folder."""
        self.folder = Path(folder)
        create(self.folder)
        self._progress = self._progress._replace(learner=self._distillation.learner.arrays())
        save_progress(self.folder, self.task, self.config, self._progress)
        write_results(self.folder, self.task.id, self.config, self._progress, self.summary())


def new_run(
    task: TaskSource,
    config: RunConfig,
    folder: Path | None,
    expert: Callable[[Any], Any] | None = None,
) -> Run:
    """Return a run that has not begun; its folder, which must not exist, is made when it does."""
    if config.student not in STUDENTS:
        raise ConfigError(f"{config.student} is evolved, not distilled: use smgrnn evolve.")
    if folder is not None:
        check_new(folder)
    if config.expert is not None and Path(config.expert).is_file():
        config = replace(config, expert=str(Path(config.expert).resolve()))
    run = Run(task, config, folder, expert=expert)
    run.check_expert()
    return run


def distill(
    task: TaskSource,
    *,
    expert: str | Path | Callable[[Any], Any] | None = None,
    out: str | Path | None = None,
    watch: Watch | None = None,
    **settings: Any,
) -> Run:
    """Distil the expert of a task into a growing student; every field of RunConfig is a keyword.

    Parameters
    ----------
    task
        A Gymnasium id, "xor", a file of recorded examples, or a function that makes an environment.
    expert
        A file, the name of a function, or a function that gives the action for an observation;
        without one it is the expert that comes with the package.
    out
        A new folder to keep the run in, with checkpoints to resume from; None keeps nothing.
    watch
        Called with the run every few episodes.
    **settings
        Fields of `RunConfig`, and `preset` ("paper" or "as_printed"), which the others start from.

    Examples
    --------
    >>> import smgrnn
    >>> run = smgrnn.distill("CartPole-v1", episodes=50, seed=0)
    >>> run.late_return > 20  # what acting at random brings
    True
    """
    function = expert if callable(expert) else None
    name = function_name(expert) if callable(expert) else expert and str(expert)
    config = RunConfig.for_task("" if callable(task) else str(task), expert=name, **settings)
    run = new_run(task, config, Path(out) if out is not None else None, function)
    run.train(*([watch] if watch is not None else []))
    return run
