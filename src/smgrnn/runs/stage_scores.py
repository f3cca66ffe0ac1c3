"""Scores of a sequence: mean returns on each task before the first stage and after each.

Returns are normalised: a random policy scores 0, the teacher of the task 1.  Then:

- average return: the mean over all tasks after the last stage;
- forgetting (Chaudhry et al., 2018): the best return after any stage but the last, from the one
  that first learned the task, less the return after the last; the mean over tasks other than the
  last, negative if the last stage improved on them;
- backward transfer (Lopez-Paz and Ranzato, 2017): the return after the last stage less that right
  after the stage that first learned the task; the mean over the same tasks;
- forward transfer (the same): the return right before the stage that first learned the task less
  that before the first stage; the mean over tasks other than the first.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.episodes.backends import find_backend
from smgrnn.errors import plain
from smgrnn.experts import find_expert
from smgrnn.experts.evaluation import expert_and_chance
from smgrnn.experts.library import warn_if_weak
from smgrnn.policy import Policy
from smgrnn.runs.plan import AnyPlan, Plan, require
from smgrnn.seeding import episode_seeds
from smgrnn.tasks import find_task
from smgrnn.tasks.recording import RECORDINGS

RANDOM, TEACHER, BEFORE, FIRST_STAGE = range(4)
"""Rows of the scores; those of the stages follow."""
FIGURES = ("average_return", "forgetting", "backward_transfer", "forward_transfer")
"""Figures of merit of a sequence."""
NO_SCORES = np.zeros((0, 0))
"""The scores of a run outside of a sequence."""


def check_stage_scores(plan: AnyPlan, stage_scores: Floats) -> None:
    """Refuse task names that are code, and scores of other tasks or stages than the plan's."""
    names = plan.task_sequence if isinstance(plan, Plan) else ()
    for name in names:
        is_name = ":" not in name and not name.endswith(RECORDINGS) and plain(name) == name
        require(is_name, "a task of its sequence is code, a file or not valid text")
    is_right = stage_scores.shape[1] == len(names)
    if isinstance(plan, Plan) and names:
        n_before = FIRST_STAGE + len(plan.stages) - 1
        is_right &= len(stage_scores) in (n_before, n_before + 1)
        is_right &= all(stage.task.id in names for stage in plan.stages)
    require(is_right, "its scores are of other tasks or stages")


def score_on_tasks(plan: Plan, policy: Policy) -> Floats:
    """Return the mean held-out return of a policy on each task of the sequence (n_tasks,)."""
    seeds = episode_seeds(plan.seed, 0, plan.held_out, "held_out")
    backends = [find_backend(find_task(id)) for id in plan.task_sequence]
    return np.array([backend.play(policy, seeds).returns.mean() for backend in backends])


def first_scores(plan: Plan, policy: Policy) -> Floats:
    """Return the scores of random policies, of the teachers, and of the new student."""
    # Neither of the first two sees a cue.
    ends = np.array([_ends(re.sub(",cue=[^,]*", "", id)) for id in plan.task_sequence]).T
    return np.concatenate([ends, [score_on_tasks(plan, policy)]])


@cache
def _ends(id: str) -> tuple[float, float]:
    """Return the mean returns of a random policy and of a task's teacher."""
    task = find_task(id)
    teacher, random = expert_and_chance(find_expert(None, task)[1], task)
    if task.teacher_score is None:
        warn_if_weak(task, teacher)
    return random, teacher


def normalised(stage_scores: Floats) -> Floats:
    """Return the scores before the first stage and after each, from 0, random, to 1, the teacher.

    They are NaN where the teacher is no better than random.

    >>> normalised(np.array([[20.0], [500.0], [20.0], [260.0]])).tolist()
    [[0.0], [0.5]]
    """
    gap = stage_scores[TEACHER] - stage_scores[RANDOM]
    gap = np.where(gap > 0.0, gap, np.nan)
    return np.asarray((stage_scores[BEFORE:] - stage_scores[RANDOM]) / gap)


def figures_of_merit(scores: Floats, order: Sequence[int]) -> dict[str, float | None]:
    """Return the figures of a sequence from normalised scores (n_stages + 1, n_tasks).

    `order` is the index of the task of each stage.  A figure without tasks, or with a score that
    is NaN, is None.

    >>> scores = np.array([[0.0, 0.0], [1.0, 0.5], [0.75, 1.0]])
    >>> figures = figures_of_merit(scores, [0, 1])
    >>> figures["forgetting"], figures["backward_transfer"], figures["forward_transfer"]
    (0.25, -0.25, 0.5)
    """
    first = {task: order.index(task) + 1 for task in order}
    earlier = [task for task in first if task != order[-1]]
    later = [task for task, stage in first.items() if stage > 1]
    last = scores[-1]
    parts = (
        [last[task] for task in first],
        [scores[first[task] : -1, task].max() - last[task] for task in earlier],
        [last[task] - scores[first[task], task] for task in earlier],
        [scores[first[task] - 1, task] - scores[0, task] for task in later],
    )
    return {
        name: float(np.mean(part)) if part and np.isfinite(part).all() else None
        for name, part in zip(FIGURES, parts, strict=True)
    }


def sequence_figures(plan: Plan, stage_scores: Floats) -> dict[str, Any]:
    """Return the figures of merit, the tasks, and the returns on each after every stage.

    There are none before the end of a stage, and for a run outside of a sequence.
    """
    tasks, stages = plan.task_sequence, [stage.task.id for stage in plan.stages]
    if not tasks or len(stage_scores) != FIRST_STAGE + len(stages):
        return {}
    table = {
        "tasks": list(tasks),
        "stages": stages,
        "random": stage_scores[RANDOM].tolist(),
        "teacher": stage_scores[TEACHER].tolist(),
        "returns": stage_scores[BEFORE:].tolist(),
    }
    order = [tasks.index(stage) for stage in stages]
    return figures_of_merit(normalised(stage_scores), order) | {"stage_scores": table}
