"""The commands of the reproduction; `smgrnn` finds them through an entry point."""

from pathlib import Path
from typing import Annotated, Any

import tyro

from smgrnn.cli import Outputs, RunPaths, TaskName, WorkerFlags, look_here_for
from smgrnn.commands.flags import STORE, Workers
from smgrnn.commands.output import Flag, Output
from smgrnn_paper.evolution.config import EvolutionConfig

EvolutionOptions = Annotated[EvolutionConfig, tyro.conf.arg(name="")]
ExperimentNames = Annotated[
    tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="[NAME ...]")
]


def evolve(
    task: TaskName = "",
    options: EvolutionOptions = EvolutionConfig(),
    out: Path | None = None,
    resume: Path | None = None,
    seeds: int = 1,
    output: Outputs = Output(),
) -> None:
    """Evolve a controller by NEAT or NDP on the budget of a distillation.

    Parameters
    ----------
    task
        A Gymnasium id with discrete actions.
    options
        Settings of the search.
    out
        Folder for the run, in which the same command goes on if it was stopped;
        runs/TASK-METHOD-SEED by default.
    resume
        Go on with the search in this folder instead of starting one; a TASK that is code of your
        own is given again.
    seeds
        Run this many seeds, from --seed upwards.
    output
        How results are printed.
    """
    from smgrnn_paper.commands.evolve import evolve_command, prepare_evolutions

    look_here_for(task)
    evolve_command(prepare_evolutions(task, options, out, resume, seeds), output)


def reproduce(
    names: ExperimentNames = (),
    seeds: int | None = None,
    episodes: int | None = None,
    workers: WorkerFlags = Workers(),
    smoke: Flag = False,
    store: Path = STORE,
    output: Outputs = Output(),
) -> None:
    """Run the paper's experiments, except runs that are in the store already.

    Parameters
    ----------
    names
        Experiments to run, or all of the paper's by default; `smgrnn list` names them.
    seeds
        Run this many seeds of each condition instead of those that the experiments have.
    episodes
        Run this many episodes instead of the paper's.
    workers
        Where runs happen.
    smoke
        Run everything tiny, to see that it runs.
    store
        Folder of finished runs.
    output
        How results are printed.
    """
    from smgrnn_paper.commands.reproduce import reproduce_command
    from smgrnn_paper.experiments.registry import choose_experiments

    experiments = choose_experiments(names, seeds=seeds, episodes=episodes, smoke=smoke)
    reproduce_command(experiments, store, workers, output)


def report(
    names: ExperimentNames = (),
    store: Path = STORE,
    out: Path = Path("report"),
    seeds: int | None = None,
    episodes: int | None = None,
    output: Outputs = Output(),
) -> None:
    """Report on experiments, beside what the paper printed.

    Parameters
    ----------
    names
        Experiments to report on, or all of the paper's by default.
    store
        Folder of finished runs.
    out
        Folder to write index.html, report.md and summary.json to.
    seeds
        Report on runs of this many seeds instead of those that the experiments have.
    episodes
        Report on runs of this many episodes; by default of the experiments' own length or, if there
        are none, of the longest that the store has.
    output
        How results are printed.
    """
    from smgrnn_paper.commands.report import report_command

    report_command(store, out, names, output, seeds=seeds, episodes=episodes)


def frontier(
    runs: RunPaths = (),
    store: Path = STORE,
    out: Path | None = None,
    task: str | None = None,
    output: Outputs = Output(),
) -> None:
    """Show return against parameters, for any runs side by side.

    Parameters
    ----------
    runs
        Run folders, files of the store, or folders of runs; the experiment `frontier` by default.
    store
        Folder of finished runs, where the experiment's are.
    out
        Also draw a picture into this file, an .svg or a .png.
    task
        Show the runs on this task only.
    output
        How results are printed.
    """
    from smgrnn_paper.commands.frontier import frontier_command

    frontier_command(runs, store, out, task, output)


def bench(
    repeats: int = 7,
    quick: Flag = False,
    out: Path | None = None,
    output: Outputs = Output(),
) -> None:
    """Measure the engines against a plain PyTorch loop, side by side.

    Parameters
    ----------
    repeats
        Repeats of each measurement; the median counts.
    quick
        Small networks only, few repeats, no start-up times: for a first look.
    out
        Also write the tables to this Markdown file.
    output
        How results are printed.
    """
    from smgrnn_paper.commands.bench import bench_command

    bench_command(repeats, out, output, quick=quick)


COMMANDS = {
    "evolve": evolve,
    "reproduce": reproduce,
    "report": report,
    "frontier": frontier,
    "bench": bench,
}
"""The commands by name."""


def listed() -> dict[str, dict[str, Any]]:
    """Return what `smgrnn list` shows of this package: methods and experiments."""
    from smgrnn_paper.evolution.config import METHODS
    from smgrnn_paper.experiments import EXPERIMENTS, STUDIES

    experiments = {id: each.question for id, each in (EXPERIMENTS | STUDIES).items()}
    return {"methods": METHODS, "experiments": experiments}
