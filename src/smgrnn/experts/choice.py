"""From a task to an expert: train, choose a checkpoint, then judge it once.

Checkpoints are compared on episodes of their own, by one of two choices.  By `own return` the first
with the best mean return is kept, and no student has a say in it: such experts teach students that
are then compared.  By `students` the one to keep, among those that are good, is the one whose MLP
students return most; if these are equal, its own return decides, and then its return with many
random actions: a teacher must be right where a student goes, not only where it goes itself.  The
held-out episodes are played once, by the winner.

An expert that is good by itself can be rugged, and then no student learns it.  The students are
small and have seeds of their own.  To choose an expert by them still favours students of their
kind, so experts that are chosen so are for users who want a good controller, not for comparisons.
"""

from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.config import NetworkConfig, PlasticityConfig
from smgrnn.engine import Learner
from smgrnn.experts.dqn import Choice, Recipe, changes, train
from smgrnn.experts.evaluation import Score, score_expert
from smgrnn.experts.files import Record
from smgrnn.experts.mlp import Expert
from smgrnn.graph.initial import mlp_graph
from smgrnn.seeding import episode_seed, stream
from smgrnn.tasks import Task, close_env, find_task, make_env

DISTURBANCE = 0.3
METHOD = "double DQN with the Huber loss and an averaged target network"
SEEDS = (1000, 1001, 1002)
EPISODES = 200
HIDDEN = 16


class Teachability(NamedTuple):
    """Late returns of MLP students of an expert, summed up."""

    mean: float
    std: float
    episodes: int
    seeds: tuple[int, ...]
    hidden: int


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

    The record has all it takes to train it again, and its scores.  `report` is called with every
    checkpoint.
    """
    task, checkpoints = find_task(task_id), []
    env = make_env(task)
    try:
        for step, expert in train(env, recipe.config, seed, task.facts.mirror):
            checkpoints.append(_score(step, expert, task, episodes, recipe.chosen_by))
            if report is not None:
                report(checkpoints[-1])
    finally:
        close_env(env, task.id)
    best = max(checkpoints, key=lambda checkpoint: checkpoint.rank)
    disturbed, taught = best.disturbed, best.teachability
    return best.expert, {
        "task": task_id,
        "method": METHOD,
        "config": recipe.config.to_dict(),
        "changes": changes(recipe.config),
        "seed": seed,
        "step": best.step,
        "chosen_by": recipe.chosen_by,
        "choosing": best.choosing._asdict(),
        "disturbed": None if disturbed is None else disturbed._asdict(),
        "teachability": None if taught is None else taught._asdict(),
        "versions": {name: version(name) for name in ("gymnasium", "numpy", "torch")},
        "held_out": score_expert(best.expert, task, episodes, "held_out")._asdict(),
    }


def _score(
    step: int, expert: Expert, task: Task, episodes: int, chosen_by: Choice
) -> ScoredCheckpoint:
    own = score_expert(expert, task, episodes, "choosing")
    if chosen_by == "own return":
        return ScoredCheckpoint(step, expert, own)
    disturbed = score_expert(expert, task, episodes, "choosing", disturbance=DISTURBANCE)
    good, taught = task.good_return, None
    if good is not None and own.mean >= good:
        returns = late_returns(expert, task)
        mean, std = float(returns.mean()), float(returns.std())
        taught = Teachability(mean, std, EPISODES, SEEDS, HIDDEN)
    return ScoredCheckpoint(step, expert, own, disturbed, taught)


def late_returns(
    expert: Expert, task: Task, episodes: int = EPISODES, seeds: Sequence[int] = SEEDS
) -> Floats:
    """Return the mean return of MLP students over the final quarter of the episodes, by seed."""
    network = NetworkConfig(
        n_inputs=task.n_inputs + 1,  # the last one is constant
        n_outputs=task.n_outputs,
        n_hidden=HIDDEN,
        iterations=2,
        output_activation="identity",
        carry_state=False,
    )
    static, env, late = PlasticityConfig.static(), make_env(task), []
    try:
        for seed in seeds:
            graph = mlp_graph(task.n_inputs, HIDDEN, task.n_outputs, stream(seed, "init"))
            student = Learner(network, plasticity=static, graph=graph, seed=seed)
            starts = [episode_seed(seed, number, "train") for number in range(episodes)]
            returns = [_learn_episode(student, expert, task, env, start) for start in starts]
            late.append(np.mean(returns[-max(episodes // 4, 1) :]))
    finally:
        close_env(env, task.id)
    return np.array(late)


def _learn_episode(student: Learner, expert: Expert, task: Task, env: Any, seed: int) -> float:
    """Let the student act and learn the expert's labels; return the return of the episode."""
    observation, _ = env.reset(seed=seed)
    total, is_over = 0.0, False
    while not is_over:
        shown = task.read(observation)
        action = student.learn(np.append(shown, 1.0), expert.action(shown))
        observation, reward, is_terminal, is_truncated, _ = env.step(action)
        total, is_over = total + float(reward), is_terminal or is_truncated
    student.end_episode()
    return total
