"""The figures of a run, each defined once.  Paper: Sec. III-C4, IV-A1, Eq. (10), Appendix A."""

from typing import Any

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.episodes.table import Edits, Episodes
from smgrnn.graph.log import EditLog
from smgrnn.graph.state import Graph
from smgrnn.tasks import Task


def late_share(n_episodes: int) -> slice:
    """Return the slice of the final quarter of the episodes, at least one."""
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


def played_returns(candidates: Episodes) -> Floats:
    """Return the returns, which are minus infinity for candidates too small to play."""
    return np.where(candidates.steps > 0, candidates.returns, -np.inf)


def best_of_generations(candidates: Episodes, population: int) -> Episodes:
    """Return the best candidate of each generation, the first of equals."""
    rows = played_returns(candidates).reshape(-1, population)
    best = np.arange(len(rows)) * population + rows.argmax(axis=1)
    columns: Any = (column[best] for column in candidates)
    return Episodes(*columns)


def evolution_figures(
    candidates: Episodes, population: int, champion: Graph, threshold: float | None
) -> dict[str, Any]:
    """Return every figure of an evolution.

    The late return is over the best of each of the final quarter of the generations; growth is from
    the first generation's best to the champion, which has the best episode of all, the later of
    equals.
    """
    best = best_of_generations(candidates, population)
    start = int(best.n_nodes[0]), int(best.n_edges[0])
    n_fixed = champion.n_inputs + champion.n_outputs
    top = played_returns(best)
    no_edits = Edits.of(EditLog.start())
    return {
        **summarise(best, no_edits, n_fixed, start, threshold, has_agreement=False),
        "n_nodes": champion.n_nodes,
        "n_hidden": champion.n_hidden,
        "n_edges": champion.n_edges,
        "n_parameters": champion.n_edges,
        "net_growth_nodes": champion.n_nodes - start[0],
        "net_growth_edges": champion.n_edges - start[1],
        "episodes": candidates.n,
        "steps": int(candidates.steps.sum()),
        "convergence_episode": convergence_episode(played_returns(candidates), threshold),
        "generations": best.n,
        "population": population,
        "generation_best": float(best.returns[-1]),
        "champion_generation": int(np.flatnonzero(top == top.max())[-1]) + 1,
        "champion_return": float(top.max()),
        "late_loss": None,
        "churn_ratio": None,
    }


def held_out_figures(task: Task, returns: Floats) -> dict[str, Any]:
    """Return mean and deviation of held-out returns and, for a recording, the likeness to it."""
    mean, std = (float(returns.mean()), float(returns.std())) if returns.size else (None, None)
    return {
        "held_out_episodes": returns.size,
        "held_out_mean": mean,
        "held_out_std": std,
        **held_out_likeness(task, returns),
    }


def held_out_likeness(task: Task, returns: Any) -> dict[str, float]:
    """Return the likeness to held-out rows of a recording by its name; empty for other tasks."""
    if task.recording is None or not returns.size:
        return {}
    mean = float(returns.mean())
    return {"held_out_agreement": mean} if task.is_discrete else {"held_out_mse": -mean}
