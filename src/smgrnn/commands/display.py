"""Display: live progress on stderr, of a run or of a session of many, and results in words."""

import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import progress as bars
from rich.console import RenderableType
from rich.text import Text

from smgrnn.arrays import Floats
from smgrnn.commands.output import Output, Terminal, say
from smgrnn.episodes.table import Episodes
from smgrnn.experts import Expert, Teacher
from smgrnn.interrupts import interrupts_raised
from smgrnn.runs.record import Record
from smgrnn.runs.run import Run
from smgrnn.tasks import XOR
from smgrnn.text import duration, quantity

if TYPE_CHECKING:  # it imports all experiments
    from smgrnn.batch.runner import Progress as SessionProgress

N_SHOWN = 10
"""Most failures of a session that are listed one by one."""


def way_on(command: str, folder: Path, n_runs: int) -> str:
    """Return a sentence that says how a command goes on that was stopped in one of its runs.

    >>> way_on("distill", Path("runs/a"), 1), way_on("distill", Path("runs/a"), 2)
    ('Go on with: smgrnn distill --resume runs/a', 'The same command goes on with all 2 runs.')
    """
    if n_runs > 1:
        return f"The same command goes on with all {n_runs} runs."
    return f"Go on with: smgrnn {command} --resume {shlex.quote(str(folder))}"


@contextmanager
def stoppable(sentence: str) -> Iterator[None]:
    """Let a Ctrl-C stop the block, and say how to go on once its display is closed."""
    try:
        with interrupts_raised():
            yield
    except KeyboardInterrupt:
        say(f"Stopped. {sentence}")
        raise


class Display(bars.Progress):
    """A progress bar on stderr, shown inside a `with` block, with a line of text under it.

    The line is one of its own, so that both fit a narrow terminal.  A note below it says what goes
    on while the bar stands, and is gone in the end.
    """

    def __init__(
        self, name: str, line: str, last: bars.ProgressColumn, *, is_quiet: bool, **task: Any
    ) -> None:
        self.line, self.note = line, ""  # first, as a bar is rendered when it is made
        super().__init__(
            bars.TextColumn("{task.description}", markup=False),  # a name is no markup
            bars.BarColumn(bar_width=20),
            bars.MofNCompleteColumn(),
            last,
            console=Terminal(file=sys.stderr),
            disable=is_quiet,
        )
        self.bar = self.add_task(name, **task)

    def get_renderables(self) -> Iterable[RenderableType]:
        """Return the bar, the line, and the note if there is one."""
        yield self.make_tasks_table(self.tasks)
        for line in filter(None, (self.line, self.note)):
            yield Text(line, overflow="ellipsis", no_wrap=True)

    def wait(self, note: str) -> None:
        """Show at once what goes on after the last episode."""
        self.note = note
        self.refresh()

    def stop(self) -> None:
        """End the display, without its note."""
        self.note = ""
        super().stop()


class RunDisplay(Display):
    """Live progress of one run: give an instance as a watch, inside a `with` block."""

    def __init__(self, run_name: str, episodes: int, *, is_quiet: bool = False) -> None:
        left = bars.TimeRemainingColumn()
        super().__init__(run_name, "compiling …", left, is_quiet=is_quiet, total=episodes)

    def __call__(self, run: Run) -> None:
        """Show the progress of the run."""
        episodes = run.episodes
        recent = slice(max(0, episodes.n - 50), episodes.n)
        n_recent = max(int(episodes.steps[recent].sum()), 1)
        if run.task.has_agreement:
            likeness = f"agrees {episodes.agreed[recent].sum() / n_recent:.0%}"
        else:
            likeness = f"loss {episodes.loss[recent].sum() / n_recent:.3f}"
        speed = episodes.steps.sum() / max(run.seconds, 1e-9)
        last, mean = episodes.returns[-1], episodes.returns[recent].mean()
        # Of a recording the return is nothing but the likeness.
        score = f"return {last:.0f} (of 50: {mean:.1f}) · " if run.task.recording is None else ""
        self.line = f"{score}{size_text(episodes)} · {likeness} · {short_text(speed)} steps/s"
        # A run that ends early has no episodes left.
        total = episodes.n if run.is_finished else run.plan.n_episodes
        self.update(self.bar, completed=episodes.n, total=total)
        if run.is_finished:
            asked = run.plan.episodes
            chooses = asked.handover == "best" and asked.keep is None  # else that is done by now
            self.wait(f"{'choosing' if chooses else 'judging'} the student to hand over …")


class SessionDisplay(Display):
    """Live progress of a session: give an instance as a watch, inside a `with` block."""

    def __init__(self, *, is_quiet: bool = False) -> None:
        left = bars.TextColumn("{task.fields[left]}")
        super().__init__("runs", "starting …", left, is_quiet=is_quiet, total=None, left="")

    def __call__(self, progress: "SessionProgress") -> None:
        """Show the progress of the session."""
        left = progress.seconds_left
        n_failed = len(progress.failures)
        notes = [f"{duration(left)} left"] if left is not None else []
        notes += [f"{n_failed} failed"] if n_failed else []
        if progress.latest is not None:
            self.line = _describe_latest(*progress.latest)
        self.update(
            self.bar,
            completed=progress.n_found + progress.n_done + n_failed,
            total=progress.n_runs,
            left=", ".join(notes),
        )


def describe(summary: dict[str, Any]) -> str:
    """Return the summary of a finished run, or of a search, in a few sentences."""
    is_evolved = "generations" in summary
    length = (
        f"{quantity(summary['generations'], 'generation')} of {summary['population']}"
        if is_evolved
        else quantity(summary["episodes"], "episode")
    )
    lines = [
        *(_champion_lines(summary) if is_evolved else _score_lines(summary)),
        f"{summary['task']}, {summary['student']}, seed {summary['seed']}: {length}, "
        f"{short_text(summary['steps'])} steps in {summary['seconds']:.1f} s of training.",
        *(_evolution_lines(summary) if is_evolved else _run_lines(summary)),
    ]
    if summary["run_dir"]:
        folder = summary["run_dir"]
        lines.append(f"Everything is in {folder}; {folder}/topology.png shows the network.")
    return "\n".join(lines)


def _run_lines(summary: dict[str, Any]) -> list[str]:
    return [
        f"It ended with {quantity(summary['n_nodes'], 'node')} ({summary['n_hidden']} hidden) and "
        f"{quantity(summary['n_edges'], 'edge')}, a change of "
        f"{_change(summary['net_growth_nodes'], 'node')} and "
        f"{_change(summary['net_growth_edges'], 'edge')}, with a churn ratio of "
        f"{summary['churn_ratio']:.1f}; {_likeness(summary)}.",
    ]


def _champion_lines(summary: dict[str, Any]) -> list[str]:
    return [
        f"Held-out return {summary['held_out_mean']:.1f} ± {summary['held_out_std']:.1f} (over "
        f"{quantity(summary['held_out_episodes'], 'episode')}) of the champion: "
        f"{quantity(summary['n_parameters'], 'parameter')}, "
        f"{quantity(summary['n_nodes'], 'node')} ({summary['n_hidden']} hidden).",
    ]


def _evolution_lines(summary: dict[str, Any]) -> list[str]:
    return [
        f"The best of the last generation returned {summary['generation_best']:.1f}, the champion "
        f"{summary['champion_return']:.1f} in generation {summary['champion_generation']}"
        f"{_convergence(summary)}.",
    ]


def print_summaries(summaries: list[dict[str, Any]], output: Output) -> None:
    """Print the figures of runs: a paragraph or an object for each, and a line on all of them."""
    paragraphs = [describe(summary) for summary in summaries]
    if len(summaries) > 1:
        paragraphs.append(describe_all(summaries))
    figures = summaries[0] if len(summaries) == 1 else summaries
    output.result("\n".join(paragraphs), figures)


def print_score(what: str, returns: Floats, likeness: dict[str, float], output: Output) -> None:
    """Print the mean return, or the likeness to a recording, which has no returns."""
    words = (
        describe_likeness(likeness)
        if likeness
        else f"{returns.mean():.1f} ± {returns.std():.1f} over "
        f"{quantity(returns.size, 'held-out episode')}"
    )
    output.result(f"{what}: {words}", score_figures(what, returns, likeness))


def score_figures(what: str, returns: Floats, likeness: dict[str, float]) -> dict[str, Any]:
    """Return a score as plain values."""
    mean, std = float(returns.mean()), float(returns.std())
    return {"what": what, **(likeness or {"episodes": returns.size, "mean": mean, "std": std})}


def _score_lines(summary: dict[str, Any]) -> list[str]:
    """Return how good the student is that is handed over, and then how well the training went."""
    given = summary["handed_over"]
    student = (
        f"{quantity(given['n_parameters'], 'parameter')}, {quantity(given['n_nodes'], 'node')}, "
        f"from episode {given['episode']}"
    )
    if "held_out_agreement" in summary or "held_out_mse" in summary:  # of a recording
        return [f"What it hands over {describe_likeness(summary)}: {student}."]
    return [
        f"Held-out return {given['held_out_mean']:.1f} ± {given['held_out_std']:.1f} (over "
        f"{quantity(summary['held_out_episodes'], 'episode')}) of what it hands over: {student}.",
        *_share_lines(summary),
        f"Late return {summary['late_return']:.1f} (mean of the final quarter), best "
        f"{summary['best_return']:.1f}{_convergence(summary)}.",
    ]


def _share_lines(summary: dict[str, Any]) -> list[str]:
    """Return whether the student keeps the share of the expert's return that was asked for."""
    if "kept" not in summary:
        return []
    kept = summary["kept"]
    share = f"{100 * kept['share']:g}% of what the expert returns beyond chance"
    if kept["is_reached"]:
        return [
            f"It keeps {share}: at least {kept['lower_bound']:.1f} (lower bound), where "
            f"{kept['bar']:.1f} was asked for."
        ]
    return [f"No student kept {share}, {kept['bar']:.1f}: the best one is handed over."]


def describe_teacher(teacher: Teacher | None) -> str:
    """Return the size of an expert in words; nothing if it is a function or there is none."""
    if not isinstance(teacher, Expert):
        return ""
    return (
        f"The expert has {teacher.sizes[1:-1].sum():,} hidden units and "
        f"{teacher.parameters.size:,} parameters."
    )


def describe_likeness(figures: dict[str, Any]) -> str:
    """Return in words how well a student matches the held-out rows of a recording."""
    if "held_out_agreement" in figures:
        return f"agrees with {figures['held_out_agreement']:.1%} of the held-out examples"
    return (
        f"has a mean squared error of {figures['held_out_mse']:.4f} on the held-out examples, with "
        f"the bounds of the action at ±1"
    )


def _convergence(summary: dict[str, Any]) -> str:
    """Return when the task's threshold was first reached, if it has one."""
    if summary["threshold"] is None:
        return ""
    episode = summary["convergence_episode"]
    when = "in no episode" if episode is None else f"first in episode {episode}"
    return f"; the threshold of {summary['threshold']:g} was reached {when}"


def _likeness(summary: dict[str, Any]) -> str:
    if summary["agreement"] is None:
        return f"its late loss is {summary['late_loss']:.4f}"
    teacher = "is right" if summary["task"] == XOR.id else "agrees with the expert"
    return f"it {teacher} on {summary['agreement']:.1%} of the late steps"


def describe_all(summaries: list[dict[str, Any]]) -> str:
    """Return mean ± std over several seeds."""
    given = [summary.get("handed_over", summary) for summary in summaries]  # an evolution's is all
    size = _spread([each["n_parameters"] for each in given], 0)
    for name in ("held_out_agreement", "held_out_mse"):
        if name in summaries[0]:  # of a recording, which has no returns
            score = _spread([summary[name] for summary in summaries], 4)
            return f"{len(summaries)} seeds: {name.replace('_', ' ')} {score}, {size} parameters."
    held_out = _spread([each["held_out_mean"] for each in given], 1)
    late = _spread([summary["late_return"] for summary in summaries], 1)
    return (
        f"{len(summaries)} seeds: held-out return {held_out}, {size} parameters; late return "
        f"{late}."
    )


def _spread(values: list[float], digits: int) -> str:
    return f"{np.mean(values):.{digits}f} ± {np.std(values):.{digits}f}"


def _change(n: int, noun: str) -> str:
    """Return by how many things a number changed.

    >>> _change(1, "node"), _change(-1, "node"), _change(0, "edge")
    ('+1 node', '-1 node', '+0 edges')
    """
    return f"{n:+} {noun}{'' if abs(n) == 1 else 's'}"


def size_text(episodes: Episodes) -> str:
    """Return the size of the network in the last episode."""
    n_nodes, n_edges = int(episodes.n_nodes[-1]), int(episodes.n_edges[-1])
    return f"{quantity(n_nodes, 'node')}, {quantity(n_edges, 'edge')}"


def short_text(number: float) -> str:
    """Return a number with its suffix for thousands or millions."""
    for size, suffix in ((1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.1f}{suffix}"
    return f"{number:.0f}"


def describe_session(progress: "SessionProgress", folder: object) -> str:
    """Return the results of a session in a few sentences."""
    lines = [
        f"{progress.n_runs} runs: {progress.n_found} were in {folder}, {progress.n_done} were run "
        f"in {duration(progress.seconds)} ({progress.steps / 1e6:.1f}M steps), "
        f"{len(progress.failures)} failed."
    ]
    if progress.n_lost:
        lines.append(f"Workers were lost {progress.n_lost} times and their runs run again.")
    lines += [f"{failure.name} failed: {failure.error}" for failure in progress.failures[:N_SHOWN]]
    if len(progress.failures) > N_SHOWN:
        lines.append(f"And {len(progress.failures) - N_SHOWN} more failed; --json has them all.")
    return "\n".join(lines)


def _describe_latest(name: str, record: Record) -> str:
    summary = record.summary()
    return (
        f"{name}: late return {summary['late_return']:.1f}, "
        f"{quantity(summary['n_nodes'], 'node')}, {quantity(summary['n_edges'], 'edge')} · "
        f"{duration(record.spent.seconds)}"
    )
