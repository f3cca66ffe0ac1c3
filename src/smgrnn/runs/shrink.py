"""Shrink: the smallest student that keeps a fraction of the expert's return beyond chance.

The first half of a run grows a student.  The rest are stages: each prunes the last one that was
good enough by 15 %, trains it as the second half of a run does, and judges it on episodes that did
not choose it.  It is good enough if the lower confidence bound of its mean return reaches the
target.  A stage that fails is trained once more; after three failures in a row the run ends, and
the smallest student that was good enough is selected.
"""

import numpy as np

from smgrnn.runs.checkpoints import FIRST_ROUND, Checkpoint, Checkpoints, Play, ranked

GROWING, N_STAGES = 0.5, 10
"""Share of a run before the first stage, and the number of stages after it."""
CUT, MISSES = 0.15, 3
"""Share of the parameters that a stage cuts, and failures in a row that end a run."""
TRIED, N_TRIED, JUDGED = 25, 3, 100
"""Episodes by which the best few of a stage are compared, how many these are, and further episodes
that judge the winner."""
Z = 1.645
"""Standard errors from the mean to the lower bound of a one-sided interval of 95 %."""


def stage_ends(n_episodes: int) -> list[int]:
    """Return the episodes after which a student is judged.

    >>> stage_ends(2000)[:3], stage_ends(2000)[-1]
    ([1000, 1100, 1200], 2000)
    """
    grown = int(GROWING * n_episodes)
    return [grown + (n_episodes - grown) * k // N_STAGES for k in range(N_STAGES + 1)]


def stage_of(episode: int, n_episodes: int) -> tuple[int, int]:
    """Return the first episode of the stage that an episode belongs to, and the one after it.

    >>> stage_of(1099, 2000), stage_of(1100, 2000), stage_of(5, 2000)
    ((1000, 1100), (1100, 1200), (0, 1000))
    """
    ends = [0, *stage_ends(n_episodes)]
    place = min(int(np.searchsorted(ends, episode, side="right")), len(ends) - 1)
    return ends[place - 1], ends[place]


def progress_of(episode: int, n_episodes: int) -> float:
    """Return the share of a run that is behind, where a stage is the second half of one.

    >>> progress_of(500, 2000), progress_of(1150, 2000)
    (0.5, 0.75)
    """
    first, end = stage_of(episode, n_episodes)
    share = (episode - first) / (end - first)
    return share if first == 0 else 0.5 + 0.5 * share


def stage_offers(n_episodes: int) -> list[int]:
    """Return the episodes after which students are offered: in the late part of each stage.

    >>> stage_offers(2000)[:3], stage_offers(2000)[-6:]
    ([600, 620, 640], [1950, 1960, 1970, 1980, 1990, 2000])
    """
    found, first = [], 0
    for end in stage_ends(n_episodes):
        length = end - first
        found += [first + length * k // 10 for k in range(6, 11)]
        if first == 0:
            found += [length * k // 50 for k in range(30, 51)]
        else:
            found.append(first + length // 2)
        first = end
    return sorted(set(found))


def lower_bound(checkpoint: Checkpoint) -> float:
    """Return the lower bound of a student's mean return; minus infinity if it was not judged."""
    judged = checkpoint.returns[TRIED:]
    if judged.size < JUDGED:
        return -np.inf
    return float(judged.mean() - Z * judged.std(ddof=1) / np.sqrt(judged.size))


def judge(checkpoints: Checkpoints, first: int, play: Play) -> Checkpoints:
    """Return the checkpoints with only the winner, judged, of the stage after `first`."""
    earlier = tuple(checkpoint for checkpoint in checkpoints if checkpoint.episode <= first)
    rivals = ranked(checkpoint for checkpoint in checkpoints if checkpoint.episode > first)
    tried = ranked(_played(checkpoint, TRIED, play) for checkpoint in rivals[:N_TRIED])
    return (*earlier, _played(tried[0], TRIED + JUDGED, play))


def _played(checkpoint: Checkpoint, last: int, play: Play) -> Checkpoint:
    more = play(checkpoint.policy, checkpoint.returns.size, last)
    return checkpoint._replace(returns=np.append(checkpoint.returns, more))


def smallest_kept(checkpoints: Checkpoints, target_return: float) -> Checkpoint | None:
    """Return the smallest student whose lower bound reaches the target, if any."""
    kept = [checkpoint for checkpoint in checkpoints if lower_bound(checkpoint) >= target_return]
    return min(
        kept, key=lambda checkpoint: (checkpoint.n_parameters, -checkpoint.mean), default=None
    )


def next_size(checkpoints: Checkpoints, target_return: float) -> int | None:
    """Return the size to prune to after a stage that was good enough; None if it was not."""
    last = checkpoints[-1]
    if lower_bound(last) < target_return:
        return None
    return max(min(last.n_parameters - 1, int((1.0 - CUT) * last.n_parameters)), 1)


def has_ended(checkpoints: Checkpoints, target_return: float) -> bool:
    """Return whether the last stages failed, or nothing smaller is left to try."""
    judged = [checkpoint for checkpoint in checkpoints if checkpoint.returns.size > FIRST_ROUND]
    is_kept = [lower_bound(checkpoint) >= target_return for checkpoint in judged]
    has_failed = len(is_kept) >= MISSES and not any(is_kept[-MISSES:])
    return has_failed or any(
        good and checkpoint.n_parameters == 1
        for good, checkpoint in zip(is_kept, judged, strict=True)
    )
