"""Evaluation: the returns of a student on episodes that it never trained on."""

from smgrnn.arrays import Floats
from smgrnn.episodes.backends import Backend, find_backend
from smgrnn.policy import Policy
from smgrnn.runs.distillation import Distillation, held_out_seeds
from smgrnn.runs.plan import AnyPlan, Plan, check_episodes
from smgrnn.runs.record import Record
from smgrnn.tasks import Task, TaskSource, find_again


def evaluate(
    record: Record,
    n: int,
    *,
    final: bool = False,
    parameters: int | None = None,
    task: TaskSource | Task | None = None,
) -> Floats:
    """Return the returns of what a run hands over, frozen and greedy, on `n` held-out episodes.

    Parameters
    ----------
    record
        The run.
    n
        Held-out episodes.
    final
        Play with the student that the run ended with instead.
    parameters
        Play with the best student with at most this many parameters instead.
    task
        The task, where it is code of the user's own.

    Examples
    --------
    >>> import smgrnn
    >>> run = smgrnn.distill("xor", episodes=20)
    >>> evaluate(run.record, 3).shape
    (3,)
    """
    policy = record.student(final=final, parameters=parameters).policy
    return score(_backend(record.plan, policy, task), policy, record.plan.seed, n)


def score(backend: Backend, policy: Policy, seed: int, n: int) -> Floats:
    """Return the returns of a policy on the first `n` held-out episodes of a seed."""
    check_episodes(n)
    return backend.play(policy, held_out_seeds(seed, 0, n)).returns


def _backend(plan: AnyPlan, policy: Policy, task: TaskSource | Task | None) -> Backend:
    if isinstance(plan, Plan):
        return Distillation(plan, task=task, normalisation=policy.normalisation).backend
    return find_backend(find_again(plan.task, task))
