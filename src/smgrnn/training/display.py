"""What a person sees of a run: live progress on stderr, and a summary in words."""

import sys
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from smgrnn.training.run import Run


class _TwoLines(Progress):
    """A progress bar with a line of figures under it, so that both fit a narrow terminal."""

    figures = "compiling …"

    def get_renderables(self) -> Iterable[RenderableType]:
        """Return the bar and the figures."""
        yield self.make_tasks_table(self.tasks)
        yield Text(self.figures, overflow="ellipsis", no_wrap=True)


class Display:
    """Live progress of one run: give an instance as a watch, inside a `with` block."""

    def __init__(self, run_name: str, episodes: int, *, is_quiet: bool = False) -> None:
        self._progress = _TwoLines(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(file=sys.stderr),
            disable=is_quiet,
        )
        self._bar = self._progress.add_task(run_name, total=episodes)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._progress.stop()

    def __call__(self, run: Run) -> None:
        """Show how the run stands."""
        episodes = run.episodes
        recent = slice(max(0, episodes.n - 50), episodes.n)
        agreement = episodes.agreed[recent].sum() / max(episodes.steps[recent].sum(), 1)
        speed = episodes.steps.sum() / max(run.seconds, 1e-9)
        self._progress.figures = (
            f"return {episodes.returns[-1]:.0f} (of 50: {episodes.returns[recent].mean():.1f}) · "
            f"{episodes.n_nodes[-1]} nodes, {episodes.n_edges[-1]} edges · "
            f"agrees {agreement:.0%} · {_short(speed)} steps/s"
        )
        self._progress.update(self._bar, completed=episodes.n)


def describe(summary: dict[str, Any]) -> str:
    """Return the summary of a finished run in a few sentences."""
    converged = summary["convergence_episode"]
    reached = f"first in episode {converged}" if converged else "in no episode"
    lines = [
        f"{summary['task']}, {summary['student']}, seed {summary['seed']}: "
        f"{summary['episodes']} episodes, {_short(summary['steps'])} steps in "
        f"{summary['seconds']:.1f} s.",
        f"Late return {summary['late_return']:.1f} (mean of the final quarter), best "
        f"{summary['best_return']:.1f}; the task's threshold was reached {reached}.",
        f"On held-out episodes the finished student scores {summary['held_out_mean']:.1f} ± "
        f"{summary['held_out_std']:.1f}.",
        f"It has {summary['n_nodes']} nodes ({summary['n_hidden']} hidden) and "
        f"{summary['n_edges']} edges, grown by {summary['net_growth_nodes']} nodes and "
        f"{summary['net_growth_edges']} edges, with a churn ratio of "
        f"{summary['churn_ratio']:.1f}; it agrees with the expert on "
        f"{summary['agreement']:.1%} of the late steps.",
    ]
    if summary["run_dir"]:
        lines.append(f"Everything is in {summary['run_dir']}.")
    return "\n".join(lines)


def describe_all(summaries: list[dict[str, Any]]) -> str:
    """Return mean ± std over several seeds."""
    late, nodes, edges = (
        np.array([summary[name] for summary in summaries], dtype=float)
        for name in ("late_return", "n_nodes", "n_edges")
    )
    return (
        f"{len(summaries)} seeds: late return {late.mean():.1f} ± {late.std():.1f}, "
        f"{nodes.mean():.1f} ± {nodes.std():.1f} nodes, "
        f"{edges.mean():.0f} ± {edges.std():.0f} edges."
    )


def _short(number: float) -> str:
    for size, suffix in ((1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.1f}{suffix}"
    return f"{number:.0f}"
