"""`smgrnn distill`: train students, or show what would be trained."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from smgrnn.commands.display import (
    RunDisplay,
    describe_teacher,
    print_summaries,
    stoppable,
    way_on,
)
from smgrnn.commands.flags import Earlier, Extras, RunOptions
from smgrnn.commands.output import Output, open_from_terminal, say
from smgrnn.config import RECORDINGS, RunConfig
from smgrnn.errors import ConfigError, short
from smgrnn.machine import check_memory
from smgrnn.pages.settings import flatten
from smgrnn.runs.pictures import draw_curves, draw_topology
from smgrnn.runs.plan import Start
from smgrnn.runs.record import Record
from smgrnn.runs.run import Run, new_run, settings_to_go_on, start_from
from smgrnn.runs.session import Watch
from smgrnn.runs.tensorboard import TensorBoard


class Asked(NamedTuple):
    """The runs that a command line asks for."""

    task: str
    options: RunOptions
    preset: str | Path | None
    earlier: Earlier
    n_seeds: int

    @property
    def start(self) -> Start | None:
        """The student to go on from, if there is one."""
        return None if self.earlier.start is None else start_from(self.earlier.start)

    def configs(self, start: Start | None) -> list[RunConfig]:
        """Return the settings of each run: one per seed."""
        if start is None:
            config = self.options.to_config(named(self.task), self.preset)
        else:
            config = self.options.changes(settings_to_go_on(start, self.task))
        return each_seed(config, self.n_seeds)

    def check_bare(self, out: Path | None = None) -> None:
        """Refuse settings for a run that is resumed; a task or an expert that is code is repeated.

        The rest is in its record.
        """
        given = (replace(self.options, expert=None), self.preset, out, self.n_seeds)
        if given != (RunOptions(), None, None, 1):
            raise ConfigError(
                "A run is resumed with its own settings. Give --resume, and repeat TASK and "
                "--expert only if they are your own code."
            )


def prepare_runs(asked: Asked, out: Path | None) -> list[Run]:
    """Return the runs to train: one per seed in folders of their own, or the one to resume."""
    task, earlier, n_seeds = asked.task, asked.earlier, asked.n_seeds
    if earlier.resume is not None:
        asked.check_bare(out)
        return [Run.resume(earlier.resume, task=task or None, expert=asked.options.expert)]
    beginning = asked.start
    mark = "" if beginning is None else f"-from-{beginning.ancestor.run[:8]}"
    return [
        new_run(
            named(task),
            each,
            run_folder(task, f"{each.student}{mark}", each.seed, out, n_seeds),
            start=beginning,
        )
        for each in asked.configs(beginning)
    ]


def named(task: str) -> str:
    """Return the name of a task; refuse none at all."""
    if not task:
        raise ConfigError("Name a task, such as CartPole-v1, or a run to --resume.")
    return task


def each_seed(config: Any, n_seeds: int) -> list[Any]:
    """Return a copy of the settings for each seed, counting up from their own."""
    if n_seeds < 1:
        raise ConfigError(f"The number of seeds must be at least 1. Got {n_seeds} instead.")
    check_memory(1e5 * n_seeds, f"A list of {n_seeds} runs")
    return [replace(config, seed=config.seed + number) for number in range(n_seeds)]


def run_folder(task: str, student: str, seed: int, out: Path | None, n_seeds: int) -> Path:
    """Return the folder of a run: `out`, or one of its own in `out` if there are several."""
    short = Path(task).stem if task.endswith(RECORDINGS) else task.split(":")[-1].split("/")[-1]
    name = f"{short}-{student}-{seed}"
    if out is None:
        return Path("runs") / name
    return out if n_seeds == 1 else out / name


def show_plans(asked: Asked, output: Output) -> None:
    """Print the plans of runs, and run nothing."""
    if asked.earlier.resume is not None:
        asked.check_bare()
        plans: list[Any] = [Record.load(asked.earlier.resume).plan]
    else:
        beginning = asked.start
        configs = asked.configs(beginning)
        plans = [new_run(named(asked.task), each, start=beginning).plan for each in configs]
    figures = [plan.to_dict() for plan in plans]
    words = "\n\n".join(map(describe_plan, plans))
    output.result(words, figures[0] if len(figures) == 1 else figures)


def describe_plan(plan: Any) -> str:
    """Return a plan as lines of a setting and its value, as resolved."""
    settings = {
        name: short(value, 200) if isinstance(value, tuple) else value
        for name, value in flatten(plan.to_dict()).items()
        if not name.startswith("asked.")
    }
    width = max(map(len, settings)) + 2
    return "\n".join(f"{name:<{width}}{value}" for name, value in settings.items())


def distill_command(runs: list[Run], extras: Extras, output: Output) -> None:
    """Train, show progress, on a page too if it is to be live, and print a summary."""
    first = runs[0]  # all learn from the same expert
    first.begin()  # refuses what it must before anything is said
    if words := describe_teacher(first.teacher):
        output.say(words)
    with _live(first) if extras.live else nullcontext() as show:
        summaries = [_train(run, extras, show, output, len(runs)) for run in runs]
    print_summaries(summaries, output)


@contextmanager
def _live(first: Run) -> Iterator[Watch[Run]]:
    """Serve a page on which runs are seen as they go on, and open it; yield what shows it one."""
    from smgrnn.view.live import LiveView  # which imports Bokeh

    shown = [first.record]

    def show(run: Run) -> None:
        shown[0] = run.record

    with LiveView(lambda: shown[0]) as view:
        say(f"Watch it at {view.url}")
        if open_from_terminal(view.url, opens=True):
            view.expect_page()
        yield show


def _train(
    run: Run, extras: Extras, show: Watch[Run] | None, output: Output, n_runs: int
) -> dict[str, Any]:
    """Train one of several runs, with progress, unless it is finished."""
    assert run.folder is not None
    run.begin()
    watches = [] if show is None else [show]
    if extras.tensorboard:
        watches.append(TensorBoard(run.folder / "tensorboard", first=run.episodes.n))
    with stoppable(way_on("distill", run.folder, n_runs)):
        if run.held_out.size:
            output.say(f"This run is in {run.folder} already, and finished.")
            run.train(*watches)  # which writes its results again
        else:
            name = f"{run.task.id} seed {run.plan.seed}"
            with RunDisplay(name, run.plan.n_episodes, is_quiet=output.quiet) as display:
                if run.is_finished:  # and was stopped before it was judged
                    display(run)
                run.train(display, *watches)
    if show:
        show(run)  # as it is now that it is judged
    draw_pictures(run.record, run.folder)
    return run.summary()


def draw_pictures(record: Record, folder: Path) -> None:
    """Draw the curves of a run, and the network that it hands over, into its folder."""
    draw_curves(record, folder / "curves.png")
    draw_topology(record, folder / "topology.png")
