"""`smgrnn distill`: train networks, or show what would be trained."""

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smgrnn.commands.options import (
    RUN_SETTINGS,
    TASK,
    given_settings,
    import_from_here,
    run_settings,
)
from smgrnn.commands.output import Output, aligned, open_from_terminal, say
from smgrnn.config import with_settings
from smgrnn.errors import ConfigError, short
from smgrnn.machine import check_memory
from smgrnn.tasks.recording import RECORDINGS
from smgrnn.validation import Count, checked, flatten

if TYPE_CHECKING:  # a dry run needs none of them
    from smgrnn.runs.plan import AnyPlan
    from smgrnn.runs.run import Run
    from smgrnn.runs.session import Watch

OPTIONS = f"""{TASK}{RUN_SETTINGS}
the run:
  --seeds N [1]       run N seeds, from --seed upwards
  --out FOLDER        folder of the run (default: runs/TASK-STUDENT-SEED); repeat to resume
  --resume RUN        resume a run; repeat TASK and --expert if they are your own code
  --from RUN          start from the selected network of a run on a task of the same shape
  --dry-run           print all settings as resolved, and run nothing
  --live              show growth live in the browser
  --tensorboard       also write curves for TensorBoard
"""

EXAMPLES = """examples:
  smgrnn distill LunarLander-v3 --max-parameters 44
  smgrnn distill Hopper-v5 --expert policy.zip --keep 0.95 --out hopper
  smgrnn distill CartPole-v1 --seeds 10 --set learning_rate=0.01
"""


def run(args: Namespace, output: Output) -> None:
    """Train one run per seed, or the one to resume, and print summaries; or print the plans."""
    if getattr(args, "from") is not None and (args.preset is not None or args.resume is not None):
        raise ConfigError(
            "--from starts from the settings of that run: give neither --preset nor --resume."
        )
    if args.resume is not None and (
        given_settings(args).keys() - {"expert"}
        or args.set
        or (args.preset, args.out, args.seeds) != (None, None, 1)
    ):
        raise ConfigError(
            "A run is resumed with its own settings. Give --resume, and repeat TASK and --expert "
            "only if they are your own code."
        )
    import_from_here(args.task, args.expert)
    runs = prepare_runs(args)
    if args.dry_run:
        print_plans([each.plan for each in runs], output)
        return
    from smgrnn.commands.display import Display, TensorBoard, print_summaries, train
    from smgrnn.experts import Expert

    first = runs[0]  # all learn from the same expert
    first.begin()  # refuses what it must before anything is printed
    if isinstance(first.teacher, Expert):
        n_hidden, n_parameters = first.teacher.sizes[1:-1].sum(), first.teacher.parameters.size
        output.say(f"The expert has {n_hidden:,} hidden units and {n_parameters:,} parameters.")
    summaries = []
    with _live(first) if args.live else nullcontext() as show:
        for each in runs:
            watches: list[Watch[Run]] = [] if show is None else [show]
            if args.tensorboard and each.folder is not None:
                watches.append(TensorBoard(each.folder / "tensorboard", first=each.episodes.n))
            summaries.append(train(each, Display.show_run, output, len(runs), *watches))
            if show:
                show(each)  # with its score
    print_summaries(summaries, output)


def prepare_runs(args: Namespace) -> "list[Run]":
    """Return the runs that the options ask for, one per seed, each in its folder."""
    from smgrnn.runs.run import Run
    from smgrnn.runs.start import new_run, settings_to_continue, start_from

    if args.resume is not None:
        return [Run.resume(args.resume, task=args.task, expert=args.expert)]
    task, source, start, mark = named(args.task), getattr(args, "from"), None, ""
    if source is None:
        config = run_settings(args, task)
    else:
        start = start_from(source)
        mark = f"-from-{start.plan.key()[:8]}"
        config = settings_to_continue(start, task).with_changes(**given_settings(args))
        config = with_settings(config, args.set)
    runs = []
    for each in each_seed(config, args.seeds):
        folder = run_folder(task, each.student + mark, each.seed, args.out, args.seeds)
        runs.append(new_run(task, each, folder, start=start))
    return runs


def named(task: str | None) -> str:
    """Return the name of a task; refuse an empty one."""
    if not task:
        raise ConfigError("Name a task, such as CartPole-v1, or a run to --resume.")
    return task


def each_seed(config: Any, n_seeds: int) -> list[Any]:
    """Return the settings for each seed, counting up from their own."""
    checked(n_seeds, Count, "--seeds")
    check_memory(1e5 * n_seeds, f"A list of {n_seeds} runs")
    return [config, *(replace(config, seed=config.seed + n) for n in range(1, n_seeds))]


def run_folder(task: str, student: str, seed: int, out: Path | None, n_seeds: int) -> Path:
    """Return the folder of a run: `out`, or one of several below it."""
    short = Path(task).stem if task.endswith(RECORDINGS) else task.split(":")[-1].split("/")[-1]
    if out is not None and n_seeds == 1:
        return out
    return (out or Path("runs")) / f"{short}-{student}-{seed}"


def print_plans(plans: "list[AnyPlan]", output: Output) -> None:
    """Print plans as lines of a setting and its value, or as JSON."""
    figures, paragraphs = [plan.to_dict() for plan in plans], []
    for content in figures:
        rows = [
            (name, short(value, 200) if isinstance(value, tuple) else str(value))
            for name, value in flatten(content).items()
            if not name.startswith("asked.")
        ]
        paragraphs.append("\n".join(aligned(rows)))
    output.result("\n\n".join(paragraphs), figures[0] if len(figures) == 1 else figures)


@contextmanager
def _live(first: "Run") -> "Iterator[Watch[Run]]":
    """Open a page that shows the run under way; yield what shows another run on it."""
    from smgrnn.view.live import LiveView  # which imports Bokeh

    shown = [first.record]

    def show(run: "Run") -> None:
        shown[0] = run.record

    with LiveView(lambda: shown[0]) as view:
        say(f"Watch it at {view.url}")
        if open_from_terminal(view.url, opens=True):
            view.expect_page()
        yield show
