"""Shrink: the smallest network that keeps a fraction of the expert's return beyond chance.

The first half of a run grows a network.  Ten stages follow: each prunes the last one that was good
enough by 15 %, trains it as the second half of a run does, and judges it on episodes that did not
choose it.  It is good enough if the lower confidence bound of its mean return reaches the target.
A failed stage is trained once more.  Three failures in a row end the run, and the smallest network
that was good enough is selected.
"""

import numpy as np

from smgrnn.runs.checkpoints import FIRST_ROUND, Checkpoint, Checkpoints, Play, longer, ranked

GROWING, N_STAGES = 0.5, 10
"""Fraction of a run before the first stage, and the number of stages after it."""
CUT, MISSES = 0.15, 3
"""Fraction of the parameters that a stage prunes, and failures in a row that end a run."""
TRIED, N_TRIED, JUDGED = 25, 3, 100
"""Episodes that compare the best few of a stage, their number, and episodes that judge the winner.
"""
Z = 1.645
"""Standard errors from the mean to the lower bound of a one-sided interval of 95 %."""


def stage_ends(n_episodes: int) -> list[int]:
    """Return the episodes after which a network is judged.

    >>> stage_ends(2000)[:3], stage_ends(2000)[-1]
    ([1000, 1100, 1200], 2000)
    """
    grown = int(GROWING * n_episodes)
    return [grown + (n_episodes - grown) * k // N_STAGES for k in range(N_STAGES + 1)]


def stage_of(episode: int, n_episodes: int) -> tuple[int, int]:
    """Return the first episode of the stage of an episode, and the one after its last.

    >>> stage_of(1099, 2000), stage_of(1100, 2000), stage_of(5, 2000)
    ((1000, 1100), (1100, 1200), (0, 1000))
    """
    ends = [0, *stage_ends(n_episodes)]
    index = min(int(np.searchsorted(ends, episode, side="right")), len(ends) - 1)
    return ends[index - 1], ends[index]


def progress_of(episode: int, n_episodes: int) -> float:
    """Return the fraction of the run completed; each stage counts as the second half of a run.

    >>> progress_of(500, 2000), progress_of(1150, 2000)
    (0.5, 0.75)
    """
    first, end = stage_of(episode, n_episodes)
    fraction = (episode - first) / (end - first)
    return fraction if first == 0 else 0.5 + 0.5 * fraction


def stage_offers(n_episodes: int) -> list[int]:
    """Return the episodes after which networks are offered, in the late part of each stage.

    >>> stage_offers(2000)[:3], stage_offers(2000)[-6:]
    ([600, 620, 640], [1950, 1960, 1970, 1980, 1990, 2000])
    """
    grown, *ends = stage_ends(n_episodes)
    found = {grown * k // 10 for k in range(6, 11)} | {grown * k // 50 for k in range(30, 51)}
    for first, end in zip([grown, *ends], ends, strict=False):
        found |= {first + (end - first) * k // 10 for k in range(6, 11)}
        found.add(first + (end - first) // 2)
    return sorted(found)


def lower_bound(checkpoint: Checkpoint) -> float:
    """Return the lower bound of a network's mean return; minus infinity if it was not judged."""
    judged = checkpoint.returns[TRIED:]
    if judged.size < JUDGED:
        return -np.inf
    return float(judged.mean() - Z * judged.std(ddof=1) / np.sqrt(judged.size))


def judge(checkpoints: Checkpoints, first: int, play: Play) -> Checkpoints:
    """Return the checkpoints with only the winner, judged, of the stage after `first`."""
    earlier = tuple(checkpoint for checkpoint in checkpoints if checkpoint.episode <= first)
    rivals = ranked(checkpoint for checkpoint in checkpoints if checkpoint.episode > first)
    tried = ranked(longer(checkpoint, TRIED, play) for checkpoint in rivals[:N_TRIED])
    return (*earlier, longer(tried[0], TRIED + JUDGED, play))


def smallest_kept(checkpoints: Checkpoints, target_return: float) -> Checkpoint | None:
    """Return the smallest network whose lower bound reaches the target, if any."""
    kept = [checkpoint for checkpoint in checkpoints if lower_bound(checkpoint) >= target_return]
    return min(kept, key=lambda each: (each.n_parameters, -each.mean), default=None)


def next_size(checkpoints: Checkpoints, target_return: float) -> int | None:
    """Return the size to prune to after a stage that was good enough; None if it was not."""
    last = checkpoints[-1]
    if lower_bound(last) < target_return:
        return None
    return max(min(last.n_parameters - 1, int((1.0 - CUT) * last.n_parameters)), 1)


def has_ended(checkpoints: Checkpoints, target_return: float) -> bool:
    """Return whether the last stages failed, or a single parameter is good enough."""
    judged = [checkpoint for checkpoint in checkpoints if checkpoint.returns.size > FIRST_ROUND]
    is_kept = [lower_bound(checkpoint) >= target_return for checkpoint in judged]
    sizes = [each.n_parameters for each, is_good in zip(judged, is_kept, strict=True) if is_good]
    return 1 in sizes or (len(judged) >= MISSES and not any(is_kept[-MISSES:]))
