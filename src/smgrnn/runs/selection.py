"""From a task to an expert: train, keep the checkpoint that teaches best, then judge it once.

Checkpoints are compared on episodes of their own.  Among those that are good, the one to keep is
chosen by the returns of its MLP students; if these are equal, by its own return, and then by its
return with many random actions: a teacher must be right where a student goes, not only where it
goes itself.  The held-out episodes are played once, by the winner.
"""

from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import NamedTuple

from smgrnn.experts.dqn import train
from smgrnn.experts.evaluation import Score, score_expert
from smgrnn.experts.files import Record
from smgrnn.experts.mlp import Expert
from smgrnn.experts.recipes import DQNConfig, changes, find_recipe
from smgrnn.runs.teachability import Teachability, teachability
from smgrnn.tasks import Task, find_task, make_env

DISTURBANCE = 0.3
METHOD = "double DQN with the Huber loss and an averaged target network"
GOOD = {"CartPole-v1": 500.0, "Acrobot-v1": -85.0, "LunarLander-v3": 250.0}
"""Mean return of a good expert; for other tasks it is the task's own threshold."""


class ScoredCheckpoint(NamedTuple):
    """One checkpoint and its scores."""

    step: int
    expert: Expert
    choosing: Score
    disturbed: Score
    """Score on the same episodes with many random actions."""
    teachability: Teachability | None
    """Returns of its MLP students; None if it is not good itself."""

    @property
    def rank(self) -> tuple[float, float, float]:
        """The scores that checkpoints are compared by: good ones first by their students."""
        taught = -float("inf") if self.teachability is None else self.teachability.mean
        return taught, self.choosing.mean, self.disturbed.mean


def train_expert(
    task_id: str,
    config: DQNConfig | None = None,
    seed: int = 0,
    *,
    episodes: int = 100,
    report: Callable[[ScoredCheckpoint], None] | None = None,
) -> tuple[Expert, Record]:
    """Return the best checkpoint of one training run and its record.

    `config` is the task's recipe by default; `report` is called with every checkpoint.
    """
    task = find_task(task_id)
    config = find_recipe(task_id) if config is None else config
    checkpoints = []
    for checkpoint in score_checkpoints(task, config, seed, episodes):
        checkpoints.append(checkpoint)
        if report is not None:
            report(checkpoint)
    best = max(checkpoints, key=lambda checkpoint: checkpoint.rank)
    held_out = score_expert(best.expert, task, episodes, "held_out")
    return best.expert, make_record(task_id, config, seed, best) | {"held_out": held_out._asdict()}


def score_checkpoints(
    task: Task, config: DQNConfig, seed: int, episodes: int = 100
) -> Iterator[ScoredCheckpoint]:
    """Train, and yield every checkpoint with its scores."""
    bar = GOOD.get(task.id, task.reward_threshold)
    env = make_env(task)
    try:
        for step, expert in train(env, config, seed):
            choosing = score_expert(expert, task, episodes, "choosing")
            disturbed = score_expert(expert, task, episodes, "choosing", disturbance=DISTURBANCE)
            is_good = bar is not None and choosing.mean >= bar
            taught = teachability(expert, task) if is_good else None
            yield ScoredCheckpoint(step, expert, choosing, disturbed, taught)
    finally:
        env.close()


def make_record(task_id: str, config: DQNConfig, seed: int, checkpoint: ScoredCheckpoint) -> Record:
    """Return the record of a checkpoint: all it takes to train it again, and its scores."""
    taught = checkpoint.teachability
    return {
        "task": task_id,
        "method": METHOD,
        "config": config.to_dict(),
        "changes": changes(config),
        "seed": seed,
        "step": checkpoint.step,
        "choosing": checkpoint.choosing._asdict(),
        "disturbed": checkpoint.disturbed._asdict(),
        "teachability": None if taught is None else taught._asdict(),
        "versions": {name: version(name) for name in ("gymnasium", "numpy", "torch")},
    }
