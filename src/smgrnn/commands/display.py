"""Runs under way on a terminal and in TensorBoard, and their results once they are finished."""

import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from rich import progress as bars
from rich.console import RenderableType
from rich.text import Text

from smgrnn.arrays import Floats
from smgrnn.commands.output import Output, Terminal, say
from smgrnn.episodes.table import Episodes
from smgrnn.errors import needs
from smgrnn.interrupts import interrupts_raised
from smgrnn.runs.record import Record
from smgrnn.runs.run import Run
from smgrnn.runs.session import Session, Watch
from smgrnn.runs.words import describe, describe_all, score_text, short_text
from smgrnn.text import quantity


@contextmanager
def stoppable(sentence: str) -> Iterator[None]:
    """Let a Ctrl-C stop the block, and say how to resume once its display is closed."""
    try:
        with interrupts_raised():
            yield
    except KeyboardInterrupt:
        say(f"Stopped. {sentence}")
        raise


class Display(bars.Progress):
    """A progress bar on stderr, shown inside a `with` block, with a line of text under it.

    Both fit a narrow terminal.  A note below them names the work that follows the last episode.
    """

    def __init__(self, name: str, total: int | None, *, is_quiet: bool = False) -> None:
        self.line, self.note = "compiling …", ""  # first, as a bar is rendered when it is made
        super().__init__(
            bars.TextColumn("{task.description}", markup=False),
            bars.BarColumn(bar_width=20),
            bars.MofNCompleteColumn(),
            bars.TimeRemainingColumn(),
            console=Terminal(file=sys.stderr),
            disable=is_quiet,
        )
        self.bar = self.add_task(name, total=total)

    def get_renderables(self) -> Iterable[RenderableType]:
        """Return the bar, the line, and the note if there is one."""
        yield self.make_tasks_table(self.tasks)
        for line in filter(None, (self.line, self.note)):
            yield Text(line, overflow="ellipsis", no_wrap=True)

    def show(self, line: str, completed: int, total: int | None = None, note: str = "") -> None:
        """Show a line of text, and how much is completed; a note at once."""
        self.line, self.note = line, note
        self.update(self.bar, completed=completed, total=total, refresh=bool(note))

    def stop(self) -> None:
        """End the display, without its note."""
        self.note = ""
        super().stop()

    def show_run(self, run: Run) -> None:
        """Show the progress of a run: give this method as a watch."""
        episodes, plan = run.episodes, run.plan
        recent = slice(max(0, episodes.n - 50), episodes.n)
        n_recent = max(int(episodes.steps[recent].sum()), 1)
        if run.task.has_agreement:
            likeness = f"agrees {episodes.agreed[recent].sum() / n_recent:.0%}"
        else:
            likeness = f"loss {episodes.loss[recent].sum() / n_recent:.3f}"
        speed = episodes.steps.sum() / max(run.seconds, 1e-9)
        line = f"{size_text(episodes)} · {likeness} · {short_text(speed)} steps/s"
        if run.task.recording is None:  # which has no return
            mean = episodes.returns[recent].mean()
            line = f"return {episodes.returns[-1]:.0f} (of 50: {mean:.1f}) · {line}"
        if (search := run.record.search) is not None:
            line = f"size {search.size} · {line}"
        if not run.is_finished:
            self.show(line, episodes.n)
            return
        selects = plan.select != "final"
        note = f"{'selecting' if selects else 'evaluating'} the network …"
        if (polish := run.record.polish) is not None and not polish.has_searched(plan.polish):
            n = polish.n_generations(plan.polish)
            note = f"polishing the network: generation {polish.generation} of {n} …"
        self.show(line, episodes.n, total=episodes.n, note=note)  # it may have ended early


class TensorBoard:
    """Writes one scalar per episode and quantity, from episode `first` on: give it as a watch."""

    def __init__(self, folder: Path, first: int = 0) -> None:
        with needs("Logging"):
            from tensorboard.summary import Writer
        self._writer: Any = Writer(str(folder))
        self._n_written = first

    def __call__(self, run: Run) -> None:
        """Write the episodes that are new since the last call."""
        episodes = run.episodes
        for place in range(self._n_written, episodes.n):
            figures = {
                "return": episodes.returns[place],
                "agreement": episodes.agreed[place] / max(episodes.steps[place], 1),
                "loss": episodes.loss[place] / max(episodes.steps[place], 1),
                "nodes": episodes.n_nodes[place],
                "edges": episodes.n_edges[place],
            }
            for name, value in figures.items():
                self._writer.add_scalar(name, float(value), place + 1)
        self._n_written = episodes.n
        self._writer.flush()


def train(
    run: Session[Any],
    show: Callable[[Display, Any], None],
    output: Output,
    n_runs: int,
    *watches: Watch[Any],
) -> dict[str, Any]:
    """Train one of several runs, with progress, unless it is finished; draw and sum it up."""
    run.begin()  # refuses what it must before anything is shown
    plan, folder = run.plan, run.folder
    assert folder is not None
    hint = f"Resume with: smgrnn {plan.command} --resume {shlex.quote(str(folder))}"
    if n_runs > 1:
        hint = f"Repeat the command to resume all {n_runs} runs."
    with stoppable(hint):
        if run.held_out.size:
            output.say(f"The run in {folder} is finished.")
            run.train(*watches)  # which writes its results again
        else:
            name = f"{plan.task.id} {plan.student} seed {plan.seed}"
            with Display(name, plan.n_episodes, is_quiet=output.quiet) as display:
                if run.record.is_finished:  # and was stopped before it was evaluated
                    show(display, run)
                run.train(partial(show, display), *watches)
    draw_pictures(run.record, folder)
    return run.summary()


def draw_pictures(record: Record, folder: Path) -> None:
    """Draw the curves of a run, and its selected network, into its folder."""
    from smgrnn.runs.pictures import draw_curves, draw_topology

    draw_curves(record, folder / "curves.png")
    draw_topology(record, folder / "topology.png")


def print_summaries(
    summaries: list[dict[str, Any]],
    output: Output,
    words: Callable[[dict[str, Any]], str] = describe,
) -> None:
    """Print the figures of runs: a paragraph or an object for each, and a line on all of them."""
    paragraphs = [words(summary) for summary in summaries]
    if len(summaries) > 1:
        paragraphs.append(describe_all(summaries))
    output.result("\n".join(paragraphs), summaries[0] if len(summaries) == 1 else summaries)


def print_scores(scores: Iterable[tuple[str, Floats, dict[str, float]]], output: Output) -> None:
    """Print mean returns, or the likeness to a recording."""
    lines, figures = [], []
    for what, returns, likeness in scores:
        mean, std, n = float(returns.mean()), float(returns.std()), returns.size
        lines.append(f"{what}: {score_text(mean, std, n, likeness)}")
        figures.append({"what": what, **(likeness or {"episodes": n, "mean": mean, "std": std})})
    output.result("\n".join(lines), figures[0] if len(figures) == 1 else figures)


def size_text(episodes: Episodes) -> str:
    """Return the size of the network in the last episode."""
    n_nodes, n_edges = int(episodes.n_nodes[-1]), int(episodes.n_edges[-1])
    return f"{quantity(n_nodes, 'node')}, {quantity(n_edges, 'edge')}"
