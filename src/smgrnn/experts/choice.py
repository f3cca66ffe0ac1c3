"""From a task to an expert: train, choose a checkpoint, then judge it once.

Each choice selects among checkpoints on episodes of their own:

* `own return`: the first checkpoint with the best mean return.
* `disturbed return`: among checkpoints above the task's threshold, the best mean return when 30 %
  of the actions are random.  A teacher must be right where a student goes, and no student is asked,
  so these experts teach the students of the paper's comparisons.
* `students`: among good checkpoints, the one whose MLP students return most; then the own return,
  then the disturbed one.  This favors students of that kind, so its experts are for users who want
  a good controller, not for comparisons.
"""

from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.config import PlasticityConfig
from smgrnn.engine import Learner
from smgrnn.experts.dqn import Choice, Recipe, changes, train
from smgrnn.experts.evaluation import FIRST_SEED, Purpose, evaluate_expert
from smgrnn.experts.files import Record
from smgrnn.experts.mlp import Expert
from smgrnn.graph.initial import mlp_graph
from smgrnn.seeding import episode_seed, stream
from smgrnn.tasks import CheckedEnv, Task, closing_env, find_task, make_env

DISTURBANCE = 0.3
DISTURBED_EPISODES = 300
METHOD = "double DQN with the Huber loss and an averaged target network"
SEEDS = (1000, 1001, 1002)
EPISODES = 200
HIDDEN = 16


def train_expert(
    task_id: str,
    recipe: Recipe,
    seed: int = 0,
    *,
    episodes: int = 100,
    report: Callable[[Record], None] | None = None,
) -> tuple[Expert, Record]:
    """Return the best checkpoint of one training run, the first of equals, and its record.

    The record has all it takes to train it again, and its scores.  `report` is called with the step
    and the scores of every checkpoint.
    """
    task, found = find_task(task_id), []
    facts, good = task.facts, task.reward_threshold
    if facts.good_return is not None and task.id == task.variant.base:
        good = facts.good_return
    with closing_env(make_env(task), task.id) as env:
        for step, expert in train(env, recipe.config, seed, facts.mirror):
            own = score_expert(expert, task, episodes, "choosing")
            disturbed = taught = None
            threshold = -np.inf if task.reward_threshold is None else task.reward_threshold
            if recipe.chosen_by == "disturbed return" and own["mean"] >= threshold:
                disturbed = score_expert(expert, task, DISTURBED_EPISODES, "choosing", DISTURBANCE)
            if recipe.chosen_by == "students":
                disturbed = score_expert(expert, task, episodes, "choosing", DISTURBANCE)
                if good is not None and own["mean"] >= good:
                    how = {"episodes": EPISODES, "seeds": SEEDS, "hidden": HIDDEN}
                    taught = _mean_and_std(late_returns(expert, task)) | how
            scores: Record = {"step": step, "choosing": own, "disturbed": disturbed}
            found.append((expert, scores | {"teachability": taught}))
            if report is not None:
                report(found[-1][1])
    best, scores = max(found, key=lambda checkpoint: rank(checkpoint[1], recipe.chosen_by))
    return best, {
        "task": task_id,
        "method": METHOD,
        "config": recipe.config.to_dict(),
        "changes": changes(recipe.config),
        "seed": seed,
        "chosen_by": recipe.chosen_by,
        **scores,
        "versions": {name: version(name) for name in ("gymnasium", "numpy", "torch")},
        "held_out": score_expert(best, task, episodes, "held_out"),
    }


def rank(scores: Record, chosen_by: Choice) -> tuple[float, ...]:
    """Return the means that compare checkpoints, the decisive one first; -inf where one is absent.

    >>> own, disturbed = {"mean": 500.0}, {"mean": 470.0}
    >>> scores = {"teachability": None, "choosing": own, "disturbed": disturbed}
    >>> rank(scores, "disturbed return")
    (470.0, 500.0)
    """
    by_students = chosen_by != "disturbed return"
    order = ("teachability", "choosing", "disturbed") if by_students else ("disturbed", "choosing")
    return tuple(-np.inf if scores[kind] is None else scores[kind]["mean"] for kind in order)


def score_expert(
    expert: Expert, task: Task, episodes: int, purpose: Purpose, disturbance: float = 0.0
) -> Record:
    """Return mean and standard deviation of an expert's returns, and how they were taken."""
    returns = evaluate_expert(expert, task, episodes, purpose, disturbance=disturbance)
    how = {"episodes": episodes, "first_seed": FIRST_SEED[purpose], "disturbance": disturbance}
    return _mean_and_std(returns) | how


def _mean_and_std(returns: Floats) -> Record:
    return {"mean": float(returns.mean()), "std": float(returns.std())}


def late_returns(
    expert: Expert, task: Task, episodes: int = EPISODES, seeds: Sequence[int] = SEEDS
) -> Floats:
    """Return the mean return of MLP students over the final quarter of the episodes, by seed."""
    layered: Any = {"preset": "paper", "bias": True, "iterations": 2, "carry_state": False}
    layered |= {"output_activation": "identity", "plasticity": PlasticityConfig.static()}
    late, sizes = [], (task.n_inputs, task.n_outputs)
    with closing_env(make_env(task), task.id) as env:
        checked = CheckedEnv(env, task)
        for seed in seeds:
            graph = mlp_graph(task.n_inputs, HIDDEN, task.n_outputs, stream(seed, "init"))
            student = Learner(*sizes, **layered, n_hidden=HIDDEN, graph=graph, seed=seed)
            returns = []
            for number in range(episodes):
                shown = checked.reset(episode_seed(seed, number, "train"))
                total, is_over = 0.0, False
                while not is_over:
                    action = student.learn(shown, expert.action(shown))
                    shown, reward, is_over = checked.step(action)
                    total += reward
                student.end_episode()
                returns.append(total)
            late.append(np.mean(returns[-max(episodes // 4, 1) :]))
    return np.array(late)
