"""The figures of a run, each defined once.  Paper: Sec. III-C4, IV-A1, Eq. (10), Appendix A."""

from typing import Any

import numpy as np

from smgrnn.tasks import Task
from smgrnn.episodes.table import Edits, Episodes


def late_share(n_episodes: int) -> slice:
    """Return the final quarter of the episodes, at least one."""
    return slice(n_episodes - max(n_episodes // 4, 1), n_episodes)


def convergence_episode(returns: Any, threshold: float | None) -> int | None:
    """Return the first episode, counted from 1, whose own return reaches the threshold; or None."""
    if threshold is None:
        return None
    reached = np.flatnonzero(np.asarray(returns) >= threshold)
    return int(reached[0]) + 1 if reached.size else None


def churn_ratio(n_changes: int, net_nodes: int, net_edges: int) -> float:
    """Return structural operations per unit of net change, nodes and edges alike.

    A run that ends with the size it began with counts as a net change of one.
    """
    return n_changes / max(abs(net_nodes) + abs(net_edges), 1)


def summarise(
    episodes: Episodes,
    edits: Edits,
    n_fixed: int,
    start: tuple[int, int],
    threshold: float | None,
    *,
    has_agreement: bool = True,
) -> dict[str, Any]:
    """Return every figure of a run; `start` is its nodes and edges before the first episode.

    Where actions are not choices there is no agreement, only a loss.
    """
    late = late_share(episodes.n)
    n_late = max(int(episodes.steps[late].sum()), 1)
    n_nodes, n_edges = int(episodes.n_nodes[-1]), int(episodes.n_edges[-1])
    net_nodes, net_edges = n_nodes - start[0], n_edges - start[1]
    return {
        "episodes": episodes.n,
        "steps": int(episodes.steps.sum()),
        "late_return": float(episodes.returns[late].mean()),
        "best_return": float(episodes.returns.max()),
        "threshold": threshold,
        "convergence_episode": convergence_episode(episodes.returns, threshold),
        "n_nodes": n_nodes,
        "n_hidden": n_nodes - n_fixed,
        "n_edges": n_edges,
        "n_parameters": n_edges,
        "late_nodes": float(episodes.n_nodes[late].mean()),
        "late_edges": float(episodes.n_edges[late].mean()),
        "net_growth_nodes": net_nodes,
        "net_growth_edges": net_edges,
        "churn_ratio": churn_ratio(edits.update.size, net_nodes, net_edges),
        "agreement": float(episodes.agreed[late].sum() / n_late) if has_agreement else None,
        "late_loss": float(episodes.loss[late].sum() / n_late),
    }


def held_out_likeness(task: Task, returns: Any) -> dict[str, float]:
    """Return by its name what the return on held-out rows of a recording is; nothing elsewhere."""
    if task.recording is None or not returns.size:
        return {}
    mean = float(returns.mean())
    return {"held_out_agreement": mean} if task.is_discrete else {"held_out_mse": -mean}
