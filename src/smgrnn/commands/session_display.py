"""What a person sees of many runs: live progress on stderr, and in words what came of them."""

import sys
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

from smgrnn.commands.display import TwoLines
from smgrnn.experiments import runner
from smgrnn.experiments.record import RunRecord

N_SHOWN = 10
"""Failures that are told one by one."""


class Display:
    """Live progress of a session: give an instance as a watch, inside a `with` block."""

    def __init__(self, *, is_quiet: bool = False) -> None:
        self._progress = TwoLines(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}"),
            console=Console(file=sys.stderr),
            disable=is_quiet,
        )
        self._progress.line = "starting …"
        self._bar = self._progress.add_task("runs", total=None, left="")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._progress.stop()

    def __call__(self, progress: runner.Progress) -> None:
        """Show how the session stands."""
        left = progress.seconds_left
        n_failed = len(progress.failures)
        notes = [f"{span(left)} left"] if left is not None else []
        notes += [f"{n_failed} failed"] if n_failed else []
        if progress.latest is not None:
            self._progress.line = _describe(*progress.latest)
        self._progress.update(
            self._bar,
            completed=progress.n_found + progress.n_done + n_failed,
            total=progress.n_runs,
            left=", ".join(notes),
        )


def describe(progress: runner.Progress, folder: object) -> str:
    """Return in a few sentences what came of a session."""
    lines = [
        f"{progress.n_runs} runs: {progress.n_found} were in {folder}, {progress.n_done} were run "
        f"in {span(progress.seconds)} ({progress.steps / 1e6:.1f}M steps), "
        f"{len(progress.failures)} failed."
    ]
    if progress.n_lost:
        lines.append(f"Workers were lost {progress.n_lost} times and their runs run again.")
    lines += [f"{failure.name} failed: {failure.error}" for failure in progress.failures[:N_SHOWN]]
    if len(progress.failures) > N_SHOWN:
        lines.append(f"And {len(progress.failures) - N_SHOWN} more failed; --json has them all.")
    return "\n".join(lines)


def span(seconds: float) -> str:
    """Return a time for people.

    >>> span(42.3), span(125), span(7260)
    ('42 s', '2 min 5 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _describe(name: str, record: RunRecord) -> str:
    summary = record.summary
    return (
        f"{name}: late return {summary['late_return']:.1f}, {summary['n_nodes']} nodes, "
        f"{summary['n_edges']} edges · {span(record.seconds)}"
    )
