"""The figures of a run, each defined once.  Paper: Sec. III-C4, IV-A1, Eq. (10), Appendix A."""

import math
from typing import Any, NamedTuple

import numpy as np

from smgrnn.arrays import Floats, Ints
from smgrnn.config import PlasticityConfig
from smgrnn.episodes.table import Episodes
from smgrnn.graph.log import Edits
from smgrnn.graph.state import Graph
from smgrnn.rules.module import ENOUGH
from smgrnn.rules.rule import follows_size
from smgrnn.rules.size import GROWN, Aim
from smgrnn.tasks import Task

WINDOW = 100
"""Episodes over which a return must last, and the first ones, some of which are lost."""


class Comparison(NamedTuple):
    """The selected network beside its expert, on the held-out episodes; None where unknown."""

    expert_return: float | None = None
    """The expert's mean return."""
    random_return: float | None = None
    """The mean return of random actions."""
    expert_parameters: int | None = None
    """Parameters of the expert, if it is a network."""
    agreement: float | None = None
    """Fraction of steps with the expert's choice."""
    r_squared: float | None = None
    """R² of continuous actions: the explained fraction of the variance of the expert's."""
    loss: float | None = None
    """Mean distillation loss per step."""

    def kept(self, mean_return: float) -> float | None:
        """Return the fraction of the expert's return beyond chance that a mean return keeps.

        >>> Comparison(expert_return=220.0, random_return=20.0).kept(200.0)
        0.9
        """
        if self.expert_return is None or self.random_return is None:
            return None
        gap = self.expert_return - self.random_return
        return (mean_return - self.random_return) / gap if gap > 0 else None


def final_quarter(n_episodes: int) -> slice:
    """Return the slice of the final quarter of the episodes, at least one."""
    return slice(n_episodes - max(n_episodes // 4, 1), n_episodes)


def pruning_period(rules: PlasticityConfig, steps: Ints) -> int:
    """Return about how many episodes lie between pruning calls, from `steps`, their lengths.

    It is 1 if nothing prunes.
    """
    if rules.pruning is None:
        return 1
    updates = max(float(steps.mean()), 1.0)
    if rules.interval == "episode":
        n_between = max(float(math.ceil(least_updates(rules, int(steps.sum())) / updates)), 1.0)
    else:
        n_between = (rules.interval or ENOUGH) / updates
    return max(round(rules.prune_period * n_between), 1)


def least_updates(rules: PlasticityConfig, n_updates: int) -> int:
    """Return the fewest updates between two calls in a run of so many updates."""
    least = rules.least_updates
    return int(Aim(progress=1.0).interval(n_updates)) if least is None else least


def missed_growth(rules: PlasticityConfig, n_updates: int) -> str | None:
    """Return a sentence if training ended before the first growth call; None otherwise.

    >>> missed_growth(PlasticityConfig.paper(interval=300), 200)
    'Nothing could grow: training had 200 updates, and growth begins after 300.'
    """
    if rules.growth is None:
        return None
    first = least_updates(rules, n_updates)
    first = first if rules.interval == "episode" else max(int(rules.interval or ENOUGH), first)
    last, until = n_updates, ""
    if follows_size(rules.growth):
        last, until = int(GROWN * n_updates), f", of which the first {GROWN:.0%} may grow"
    if last >= first:
        return None
    return (
        f"Nothing could grow: training had {n_updates:,} updates{until}, and growth begins after "
        f"{first:,}."
    )


def late_periods(n_episodes: int, period: int) -> slice:
    """Return the slice of the last whole pruning periods of the final quarter, at least one.

    For a run that is shorter than a period it is the final quarter.
    """
    late = final_quarter(n_episodes)
    if n_episodes < period:
        return late
    n_whole = max((late.stop - late.start) // period, 1)
    return slice(n_episodes - n_whole * period, n_episodes)


def convergence_episode(returns: Any, threshold: float | None) -> int | None:
    """Return the first episode, counted from 1, whose own return reaches the threshold; or None."""
    if threshold is None:
        return None
    reached = np.flatnonzero(np.asarray(returns) >= threshold)
    return int(reached[0]) + 1 if reached.size else None


def sustained_episode(returns: Any, threshold: float | None) -> int | None:
    """Return the first episode whose last 100 returns reach the threshold on average; or None."""
    values = np.asarray(returns, dtype=np.float64)
    if values.size < WINDOW:
        return None
    means = np.lib.stride_tricks.sliding_window_view(values, WINDOW).mean(axis=1)
    found = convergence_episode(means, threshold)
    return None if found is None else found + WINDOW - 1


def early_lost(returns: Any, threshold: float | None) -> int | None:
    """Return how many of the first 100 episodes stay below the threshold; None without one."""
    return None if threshold is None else int((np.asarray(returns)[:WINDOW] < threshold).sum())


def churn_ratio(n_changes: int, net_nodes: int, net_edges: int) -> float:
    """Return structural operations per unit of net change, which is at least one."""
    return n_changes / max(abs(net_nodes) + abs(net_edges), 1)


def summarise(
    episodes: Episodes,
    edits: Edits,
    start: tuple[int, int],
    threshold: float | None,
    *,
    period: int = 1,
    has_agreement: bool = True,
) -> dict[str, Any]:
    """Return every figure of training; `start` is its nodes and edges before the first episode.

    Late sizes are means over whole pruning periods: a final size depends on where in its period a
    run ends.
    """
    late = final_quarter(episodes.n)
    n_late = max(int(episodes.steps[late].sum()), 1)
    whole = late_periods(episodes.n, period)
    late_nodes = float(episodes.n_nodes[whole].mean())
    late_edges = float(episodes.n_edges[whole].mean())
    n_nodes, n_edges = int(episodes.n_nodes[-1]), int(episodes.n_edges[-1])
    net_nodes, net_edges = n_nodes - start[0], n_edges - start[1]
    return {
        "episodes": episodes.n,
        "steps": int(episodes.steps.sum()),
        "late_return": float(episodes.returns[late].mean()),
        "best_return": float(episodes.returns.max()),
        "threshold": threshold,
        "convergence_episode": convergence_episode(episodes.returns, threshold),
        "sustained_episode": sustained_episode(episodes.returns, threshold),
        "early_lost": early_lost(episodes.returns, threshold),
        "late_nodes": late_nodes,
        "late_edges": late_edges,
        "net_growth_nodes": net_nodes,
        "net_growth_edges": net_edges,
        "late_growth_nodes": late_nodes - start[0],
        "churn_ratio": churn_ratio(edits.update.size, net_nodes, net_edges),
        "late_agreement": float(episodes.agreed[late].sum() / n_late) if has_agreement else None,
        "late_loss": float(episodes.loss[late].sum() / n_late),
    }


def size_figures(graph: Graph) -> dict[str, int]:
    """Return the size of a network."""
    counts = {"n_nodes": graph.n_nodes, "n_hidden": graph.n_hidden, "n_edges": graph.n_edges}
    return counts | {"n_parameters": graph.n_edges}


def held_out_figures(task: Task, returns: Floats, comparison: Comparison) -> dict[str, Any]:
    """Return the figures of held-out episodes, beside the expert's."""
    threshold, is_there = task.reward_threshold, returns.size > 0
    below = None if threshold is None or not is_there else float((returns < threshold).mean())
    return {
        "held_out_episodes": returns.size,
        "held_out_mean": float(returns.mean()) if is_there else None,
        "held_out_std": float(returns.std()) if is_there else None,
        "below_threshold": below,
        "kept": comparison.kept(float(returns.mean())) if is_there else None,
        **comparison._asdict(),
        **held_out_likeness(task, returns),
    }


def held_out_likeness(task: Task, returns: Any) -> dict[str, float]:
    """Return the likeness to the held-out rows of a recording; empty for other tasks."""
    if task.recording is None or not returns.size:
        return {}
    mean = float(returns.mean())
    return {"held_out_agreement": mean} if task.is_discrete else {"held_out_mse": -mean}
