"""Evaluation: the returns of a network on episodes that it never trained on."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from smgrnn.arrays import Floats
from smgrnn.episodes.backends import Backend, find_backend
from smgrnn.errors import ConfigError, known_arguments, short
from smgrnn.policy import BARE, Policy
from smgrnn.runs.distillation import Distillation
from smgrnn.runs.plan import Plan, check_episodes
from smgrnn.runs.record import Record, load
from smgrnn.seeding import episode_seeds
from smgrnn.storage import kind_of
from smgrnn.tasks import TaskSource, find_again, find_task
from smgrnn.validation import Count, checked

if TYPE_CHECKING:
    from smgrnn.runs.run import Run


@known_arguments
def evaluate(
    source: Union[str, Path, "Run", Record, Policy],
    episodes: int = 100,
    *,
    final: bool = False,
    max_parameters: int | None = None,
    task: TaskSource | None = None,
    seed: int = 0,
) -> Floats:
    """Return the returns of a network, frozen and greedy, on new episodes.

    Parameters
    ----------
    source
        A run folder, a file, a result of `distill`, or a policy.
    episodes
        Held-out episodes.
    final
        Evaluate the final network of the run instead of the selected one.
    max_parameters
        Evaluate the best network of the run with at most this many parameters instead.
    task
        The task, if it is your own code.
    seed
        Seed of the episodes, for a policy; those of a run follow from its own seed.

    Examples
    --------
    >>> import smgrnn
    >>> run = smgrnn.distill("CartPole-v1", episodes=5, held_out=1, out="evaluated")
    >>> smgrnn.evaluate("evaluated", episodes=3).shape
    (3,)
    >>> smgrnn.evaluate(run, 3).tolist() == smgrnn.evaluate(run.policy, 3).tolist()
    True
    """
    checked(episodes, Count, "The 'episodes' parameter of evaluate")
    found: Any = getattr(source, "record", source)
    if isinstance(found, str | Path):
        is_single = kind_of(found) not in (None, "run")
        found = load(found) if is_single else Record.load(found)
    if isinstance(found, Policy):
        if final or max_parameters is not None:
            raise ConfigError("A policy is one network: leave final and max_parameters out.")
        if found.task.id == BARE:
            if task is None:
                raise ConfigError("The policy is a bare network: pass the task to evaluate it on.")
            found = Policy(found.graph, found.config, find_task(task))  # refuses another shape
            place = found.task
        else:
            place = find_again(found.task, task)
        return score(find_backend(place, seed), found, seed, episodes)
    if not isinstance(found, Record):
        raise ConfigError(
            f"evaluate takes a run folder, a result of distill, or a policy. Got {short(source)} "
            f"instead."
        )
    policy, plan = found.student(final=final, max_parameters=max_parameters).policy, found.plan
    if isinstance(plan, Plan):
        backend = Distillation(plan, task=task, record=found).backend
    else:
        backend = find_backend(find_again(plan.task, task))
    return score(backend, policy, plan.seed, episodes)


def score(backend: Backend, policy: Policy, seed: int, n: int) -> Floats:
    """Return the returns of a policy on the first `n` held-out episodes of a seed."""
    check_episodes(n)
    return backend.play(policy, episode_seeds(seed, 0, n, "held_out")).returns
