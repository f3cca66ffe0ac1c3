"""Evaluation: the returns of a network on episodes that it never trained on."""

from smgrnn.arrays import Floats
from smgrnn.episodes.backends import Backend, find_backend
from smgrnn.policy import Policy
from smgrnn.runs.distillation import Distillation
from smgrnn.runs.plan import Plan, check_episodes
from smgrnn.runs.record import Record
from smgrnn.seeding import episode_seed
from smgrnn.tasks import Task, TaskSource, find_again


def evaluate(
    record: Record,
    n: int,
    *,
    final: bool = False,
    max_parameters: int | None = None,
    task: TaskSource | Task | None = None,
) -> Floats:
    """Return the returns of a run's selected network, frozen and greedy, on `n` new episodes.

    Parameters
    ----------
    record
        The run.
    n
        Held-out episodes.
    final
        Evaluate the final network instead.
    max_parameters
        Evaluate the best network with at most this many parameters instead.
    task
        The task, if it is your own code.

    Examples
    --------
    >>> import smgrnn
    >>> run = smgrnn.distill("xor", episodes=20)
    >>> evaluate(run.record, 3).shape
    (3,)
    """
    policy, plan = record.student(final=final, max_parameters=max_parameters).policy, record.plan
    if isinstance(plan, Plan):
        backend = Distillation(plan, task=task, record=record).backend
    else:
        backend = find_backend(find_again(plan.task, task))
    return score(backend, policy, plan.seed, n)


def score(backend: Backend, policy: Policy, seed: int, n: int) -> Floats:
    """Return the returns of a policy on the first `n` held-out episodes of a seed."""
    check_episodes(n)
    seeds = [episode_seed(seed, number, "held_out") for number in range(n)]
    return backend.play(policy, seeds).returns
