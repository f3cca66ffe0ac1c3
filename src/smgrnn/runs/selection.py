"""From a task to an expert: train, choose a checkpoint, then judge it once.

Checkpoints are compared on episodes of their own, by one of two choices.  By `own return` the first
with the best mean return is kept, and no student has a say in it: such experts teach students that
are then compared.  By `students` the one to keep, among those that are good, is the one whose MLP
students return most; if these are equal, its own return decides, and then its return with many
random actions: a teacher must be right where a student goes, not only where it goes itself.  The
held-out episodes are played once, by the winner.
"""

from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import NamedTuple

from smgrnn.experts.dqn import train
from smgrnn.experts.evaluation import Score, score_expert
from smgrnn.experts.files import Record
from smgrnn.experts.mlp import Expert
from smgrnn.experts.recipes import Choice, Recipe, changes
from smgrnn.runs.teachability import Teachability, teachability
from smgrnn.tasks import Task, close_env, find_task, make_env

DISTURBANCE = 0.3
METHOD = "double DQN with the Huber loss and an averaged target network"
GOOD = {"CartPole-v1": 500.0, "Acrobot-v1": -85.0, "LunarLander-v3": 250.0}
"""Mean return of a good expert; for other tasks it is the task's own threshold."""


class ScoredCheckpoint(NamedTuple):
    """One checkpoint and its scores."""

    step: int
    expert: Expert
    choosing: Score
    disturbed: Score | None = None
    """Score on the same episodes with many random actions; None if it does not count."""
    teachability: Teachability | None = None
    """Returns of its MLP students; None if it is not good itself, or if they do not count."""

    @property
    def rank(self) -> tuple[float, float, float]:
        """The scores that checkpoints are compared by: good ones first by their students."""
        taught, disturbed = (
            -float("inf") if each is None else each.mean
            for each in (self.teachability, self.disturbed)
        )
        return taught, self.choosing.mean, disturbed


def train_expert(
    task_id: str,
    recipe: Recipe,
    seed: int = 0,
    *,
    episodes: int = 100,
    report: Callable[[ScoredCheckpoint], None] | None = None,
) -> tuple[Expert, Record]:
    """Return the best checkpoint of one training run, the first of equals, and its record.

    `report` is called with every checkpoint.
    """
    task = find_task(task_id)
    checkpoints = []
    for checkpoint in score_checkpoints(task, recipe, seed, episodes):
        checkpoints.append(checkpoint)
        if report is not None:
            report(checkpoint)
    best = max(checkpoints, key=lambda checkpoint: checkpoint.rank)
    held_out = score_expert(best.expert, task, episodes, "held_out")
    return best.expert, make_record(task_id, recipe, seed, best) | {"held_out": held_out._asdict()}


def score_checkpoints(
    task: Task, recipe: Recipe, seed: int, episodes: int = 100
) -> Iterator[ScoredCheckpoint]:
    """Train, and yield every checkpoint with the scores that the recipe chooses by."""
    env = make_env(task)
    try:
        for step, expert in train(env, recipe.config, seed):
            yield _score(step, expert, task, episodes, recipe.chosen_by)
    finally:
        close_env(env, task.id)


def _score(
    step: int, expert: Expert, task: Task, episodes: int, chosen_by: Choice
) -> ScoredCheckpoint:
    own = score_expert(expert, task, episodes, "choosing")
    if chosen_by == "own return":
        return ScoredCheckpoint(step, expert, own)
    disturbed = score_expert(expert, task, episodes, "choosing", disturbance=DISTURBANCE)
    bar = GOOD.get(task.id, task.reward_threshold)
    is_good = bar is not None and own.mean >= bar
    taught = teachability(expert, task) if is_good else None
    return ScoredCheckpoint(step, expert, own, disturbed, taught)


def make_record(task_id: str, recipe: Recipe, seed: int, checkpoint: ScoredCheckpoint) -> Record:
    """Return the record of a checkpoint: all it takes to train it again, and its scores."""
    disturbed, taught = checkpoint.disturbed, checkpoint.teachability
    return {
        "task": task_id,
        "method": METHOD,
        "config": recipe.config.to_dict(),
        "changes": changes(recipe.config),
        "seed": seed,
        "step": checkpoint.step,
        "chosen_by": recipe.chosen_by,
        "choosing": checkpoint.choosing._asdict(),
        "disturbed": None if disturbed is None else disturbed._asdict(),
        "teachability": None if taught is None else taught._asdict(),
        "versions": {name: version(name) for name in ("gymnasium", "numpy", "torch")},
    }
