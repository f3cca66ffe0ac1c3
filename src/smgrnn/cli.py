"""The command line: parsing only."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import partial, wraps
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from smgrnn.config import USUAL_PRESET, EvolutionConfig, NetworkSettings, Preset, RunConfig
from smgrnn.errors import SmgrnnError, plain, reason
from smgrnn.interrupts import INTERRUPTED

Flag = tyro.conf.FlagCreatePairsOff[bool]
TUNING_SEED = 1000
"""First seed of trials: those of experiments, from 0 on, are to choose no settings."""
AsJson = Annotated[Flag, tyro.conf.arg(name="json")]


@dataclass(frozen=True, kw_only=True)
class RunFlags(RunConfig):
    """The settings of a run as flags: those of the network go by their own names."""

    network: Annotated[NetworkSettings, tyro.conf.arg(name="")] = field(
        default_factory=NetworkSettings
    )

    @classmethod
    def of(cls, config: RunConfig) -> "RunFlags":
        """Return the flags that give a run these settings."""
        return cls(**{entry.name: getattr(config, entry.name) for entry in fields(config)})

    def to_config(self) -> RunConfig:
        """Return the settings that the flags state."""
        return RunConfig(**{entry.name: getattr(self, entry.name) for entry in fields(self)})


@dataclass(frozen=True, kw_only=True)
class Output:
    """How a command that takes a while tells what came of it."""

    as_json: AsJson = False
    """Print one JSON object, or a list of them, as the last thing on stdout."""
    quiet: Flag = False
    """Print nothing else."""


@dataclass(frozen=True, kw_only=True)
class Extras:
    """Things that a run leaves beside its record."""

    tensorboard: Flag = False
    """Also write curves for TensorBoard into the run folder."""
    dry_run: Flag = False
    """Print the plan of the run, all settings as the engine would get them, and run nothing."""


@dataclass(frozen=True, kw_only=True)
class Search:
    """How long a search for settings takes, and what it is for."""

    trials: int = 160
    """Trials in all, rounded up to whole batches."""
    minutes: float | None = None
    """Begin no batch after this many minutes; the same command goes on later."""
    seeds: int = 8
    """Seeds of a trial; poor ones are stopped after one, two, four …"""
    batch: int = 16
    """Trials that are asked for at once, of which half are stopped at each stage."""
    price: float | None = None
    """Search for one number: the return, less this for each parameter; by default for a front."""
    floor: float | None = None
    """Least return on the front; that of the preset's worst run by default."""


@dataclass(frozen=True, kw_only=True)
class Workers:
    """Where runs happen."""

    jobs: int | None = None
    """Processes; one for each core by default."""
    scheduler: str | None = None
    """Address of a Dask scheduler to run on instead."""


@dataclass(frozen=True, kw_only=True)
class Which:
    """The student of a run to take; by default the one that it hands over."""

    final: Flag = False
    """Take the student that the run ended with."""
    parameters: int | None = None
    """Take the best student with at most this many parameters."""


Options = Annotated[RunFlags, tyro.conf.arg(name="")]
Outputs = Annotated[Output, tyro.conf.arg(name="")]
Chosen = Annotated[Which, tyro.conf.arg(name="")]
EvolutionOptions = Annotated[EvolutionConfig, tyro.conf.arg(name="")]
TaskName = Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="TASK")]
ExperimentNames = Annotated[
    tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="[NAME ...]")
]
RunPath = Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]
RunPaths = Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="[RUN ...]")]


def distill(
    task: TaskName = "",
    options: Options = RunFlags(),  # noqa: B008 - frozen
    preset: Preset | Path = USUAL_PRESET,
    out: Path | None = None,
    resume: Path | None = None,
    seeds: int = 1,
    extras: Annotated[Extras, tyro.conf.arg(name="")] = Extras(),  # noqa: B008 - frozen
    output: Outputs = Output(),  # noqa: B008 - frozen
) -> None:
    """Distil a frozen expert into a network that grows while it learns.

    Parameters
    ----------
    task
        A Gymnasium id, such as CartPole-v1 or my_module:MyEnv-v0, a file of recorded examples
        (.npz, .csv or .safetensors), or xor.
    options
        Settings of the run.
    preset
        What the other settings start from: frugal grows the smallest network that does the job;
        paper is the reading of the paper closest to its sizes (xor and recordings have rules of
        their own), as_printed the one that is printed; or a settings file, such as `smgrnn tune`
        writes.
    out
        Folder for the run, in which the same command goes on if it was stopped;
        runs/TASK-STUDENT-SEED by default.
    resume
        Go on with the run in this folder instead of starting one; a TASK or an --expert that is
        code of your own is given again.
    seeds
        Run this many seeds, from --seed upwards.
    extras
        More than the record, or less.
    output
        What is printed where.
    """
    from smgrnn.commands.distill import distill_command, prepare_runs, show_plans

    config = options.to_config()
    _look_here_for(task, config.expert)
    if extras.dry_run:
        show_plans(task, config, resume, seeds, as_json=output.as_json)
        return
    runs = prepare_runs(task, config, out, resume, seeds)
    distill_command(
        runs,
        with_tensorboard=extras.tensorboard,
        as_json=output.as_json,
        is_quiet=output.quiet,
    )


def evolve(
    task: TaskName = "",
    options: EvolutionOptions = EvolutionConfig(),  # noqa: B008 - frozen
    out: Path | None = None,
    resume: Path | None = None,
    seeds: int = 1,
    output: Outputs = Output(),  # noqa: B008 - frozen
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
        What is printed where.
    """
    from smgrnn.commands.evolve import evolve_command, prepare_evolutions

    _look_here_for(task)
    evolutions = prepare_evolutions(task, options, out, resume, seeds)
    evolve_command(evolutions, as_json=output.as_json, is_quiet=output.quiet)


def tune(
    task: TaskName = "",
    options: Options = RunFlags(),  # noqa: B008 - frozen
    preset: Preset | Path = USUAL_PRESET,
    over: tuple[str, ...] = (),
    search: Annotated[Search, tyro.conf.arg(name="")] = Search(),  # noqa: B008 - frozen
    workers: Annotated[Workers, tyro.conf.arg(name="")] = Workers(),  # noqa: B008 - frozen
    out: Path | None = None,
    output: Outputs = Output(),  # noqa: B008 - frozen
) -> None:
    """Search for settings: the front of return against parameters, or the best by one number.

    Parameters
    ----------
    task
        The task to tune on, as for `smgrnn distill`.
    options
        Settings of the runs that are not tuned; --seed is the first seed of each trial, and that
        of the search.
    preset
        What all settings start from: a preset, or a settings file.
    over
        Settings to tune, each with a range or with values, such as plasticity.window=10:200:log or
        learning.schedule=constant,falling; or ready spaces: plasticity, learning, frugal.
    search
        How long to search, and for what.
    workers
        Where runs happen.
    out
        Folder for the study, in which the same command goes on if it was stopped;
        runs/TASK-tune-SEED by default.
    output
        What is printed where.
    """
    config = options.to_config()
    _look_here_for(task, config.expert)
    from smgrnn.commands.tune import Budget, ask, tune_command

    question = ask(
        task,
        config,
        over,
        n_seeds=search.seeds,
        batch=search.batch,
        price=search.price,
        floor=search.floor,
    )
    tune_command(
        question,
        preset,
        out,
        budget=Budget(search.trials, search.minutes),
        workers=(workers.jobs, workers.scheduler),
        command=sys.argv[1:],
        as_json=output.as_json,
        is_quiet=output.quiet,
    )


def list_names(as_json: AsJson = False) -> None:
    """List the tasks, students, methods and experiments there are.

    Parameters
    ----------
    as_json
        Print one JSON object.
    """
    from smgrnn.commands.listing import list_command

    list_command(as_json=as_json)


def evaluate(
    run: RunPath,
    episodes: int = 100,
    task: str | None = None,
    which: Chosen = Which(),  # noqa: B008 - frozen
    as_json: AsJson = False,
) -> None:
    """Score what a run hands over, frozen and greedy, on held-out episodes.

    Parameters
    ----------
    run
        A run folder, or a file of the store.
    episodes
        Held-out episodes to play.
    task
        The task of the run, where it is code of your own, such as my_module:MyEnv-v0.
    which
        The student to score.
    as_json
        Print one JSON object.
    """
    from smgrnn.commands.evaluate import evaluate_command

    _look_here_for(task)
    evaluate_command(
        run, episodes, task, final=which.final, parameters=which.parameters, as_json=as_json
    )


def expert_train(
    task: TaskName,
    out: Path,
    recipe: Literal["smooth", "plain", "printed"] = "smooth",
    seed: int = 0,
    steps: int | None = None,
    as_json: AsJson = False,
) -> None:
    """Train an expert by deep Q-learning and write it to a file.

    Parameters
    ----------
    task
        A Gymnasium id.
    out
        File to write, in the safetensors format.
    recipe
        For an expert that students learn well from (smooth), which students choose; or for the one
        that returns most by settings that no student chose (plain), or by the paper's (printed).
    seed
        Seed of the training.
    steps
        Environment steps; those of the recipe for the task by default.
    as_json
        Print the training record as one JSON object.
    """
    from smgrnn.commands.expert import expert_train_command

    expert_train_command(task, out, recipe, seed, steps, as_json=as_json)


def expert_convert(
    file: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="ZIP")],
    out: Path,
    statistics: Path | None = None,
) -> None:
    """Turn a Stable-Baselines3 policy into an expert file, which cannot run code.

    Parameters
    ----------
    file
        A zip of Stable-Baselines3 that you trust: reading it can run code.
    out
        File to write, in the safetensors format.
    statistics
        File that VecNormalize saved beside it; it must be as trusted as the zip.
    """
    from smgrnn.commands.expert import expert_convert_command

    expert_convert_command(file, out, statistics)


def expert_list(as_json: AsJson = False) -> None:
    """List the experts that come with the package and how good they are.

    Parameters
    ----------
    as_json
        Print one JSON object.
    """
    from smgrnn.commands.expert import expert_list_command

    expert_list_command(as_json=as_json)


def expert_evaluate(
    task: TaskName, expert: str | None = None, episodes: int = 100, as_json: AsJson = False
) -> None:
    """Score an expert on held-out episodes.

    Parameters
    ----------
    task
        A Gymnasium id.
    expert
        Name of a shipped expert, file of its weights, or a function as module:function; the smooth
        one of the package by default.
    episodes
        Held-out episodes to play.
    as_json
        Print one JSON object.
    """
    from smgrnn.commands.expert import expert_evaluate_command

    _look_here_for(task, expert)
    expert_evaluate_command(task, expert, episodes, as_json=as_json)


def reproduce(
    names: ExperimentNames = (),
    seeds: int | None = None,
    episodes: int | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    smoke: Flag = False,
    store: Path = Path("results/store"),
    output: Outputs = Output(),  # noqa: B008 - frozen
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
    jobs
        Processes; one for each core by default.
    scheduler
        Address of a Dask scheduler to run on instead.
    smoke
        Run everything tiny, to see that it runs.
    store
        Folder of finished runs.
    output
        What is printed where.
    """
    from smgrnn.commands.reproduce import reproduce_command
    from smgrnn.experiments.registry import choose_experiments

    reproduce_command(
        choose_experiments(names, seeds=seeds, episodes=episodes, smoke=smoke),
        jobs=jobs,
        scheduler=scheduler,
        store=store,
        as_json=output.as_json,
        is_quiet=output.quiet,
    )


def report(
    names: ExperimentNames = (),
    store: Path = Path("results/store"),
    out: Path = Path("report"),
    seeds: int | None = None,
    episodes: int | None = None,
    output: Outputs = Output(),  # noqa: B008 - frozen
) -> None:
    """Report on experiments, beside what the paper printed, or on runs of your own.

    Parameters
    ----------
    names
        Experiments to report on, or all of the paper's by default; or run folders and files of the
        store.
    store
        Folder of finished runs.
    out
        Folder to write index.html, report.md and summary.json to.
    seeds
        Report on runs of this many seeds instead of those that the experiments have.
    episodes
        Report on runs of this many episodes instead of the paper's.
    output
        What is printed where; with --json, all numbers.
    """
    from smgrnn.commands.report import report_command

    report_command(
        store,
        out,
        names,
        seeds=seeds,
        episodes=episodes,
        as_json=output.as_json,
        is_quiet=output.quiet,
    )


def frontier(
    runs: RunPaths = (),
    store: Path = Path("results/store"),
    out: Path | None = None,
    task: str | None = None,
    as_json: AsJson = False,
) -> None:
    """Show return against parameters, for any runs side by side.

    Parameters
    ----------
    runs
        Run folders, or files of the store; the experiment `frontier` by default.
    store
        Folder of finished runs, where the experiment's are.
    out
        Also draw a picture into this file, an .svg or a .png.
    task
        Show the runs on this task only.
    as_json
        Print one JSON object instead of tables.
    """
    from smgrnn.commands.frontier import frontier_command

    frontier_command(runs, store, out, task=task, as_json=as_json)


def export(
    run: RunPath,
    to: Literal["onnx", "c", "graphml", "json"],
    out: Path | None = None,
    which: Chosen = Which(),  # noqa: B008 - frozen
    as_json: AsJson = False,
) -> None:
    """Take what a run hands over with you: as C, as ONNX, or as a graph.

    Parameters
    ----------
    run
        A run folder, or a file of the store.
    to
        The format.
    out
        File to write, without its ending; in the run folder by default.
    which
        The student to export.
    as_json
        Print one JSON object.
    """
    from smgrnn.commands.export import export_command

    export_command(run, to, out, final=which.final, parameters=which.parameters, as_json=as_json)


def view(
    run: RunPath,
    out: Path | None = None,
    record: Path | None = None,
    which: Chosen = Which(),  # noqa: B008 - frozen
    no_open: Flag = False,
) -> None:
    """Watch the network that a run hands over grow, on a page in your browser.

    Parameters
    ----------
    run
        A run folder, or a file of the store.
    out
        File to write the page to; growth.html in the run folder by default.
    record
        Also record a film into this file, a .gif or, with ffmpeg, an .mp4.
    which
        The student to watch.
    no_open
        Write the page and do not open it.
    """
    from smgrnn.commands.view import view_command

    view_command(
        run, out, record, final=which.final, parameters=which.parameters, opens=not no_open
    )


def bench(
    repeats: int = 7, quick: Flag = False, as_json: AsJson = False, out: Path | None = None
) -> None:
    """Measure the engines against a plain PyTorch loop, side by side.

    Parameters
    ----------
    repeats
        Repeats of each measurement; the median counts.
    quick
        Small networks only, few repeats, no start-up times: for a first look.
    as_json
        Print one JSON object instead of tables.
    out
        Also write the tables to this Markdown file.
    """
    from smgrnn.commands.bench import bench_command

    bench_command(repeats, out, quick=quick, as_json=as_json)


def _app(arguments: list[str]) -> tyro.extras.SubcommandApp:
    expert = tyro.extras.SubcommandApp()
    expert.command(name="train")(expert_train)
    expert.command(name="convert")(expert_convert)
    expert.command(name="list")(expert_list)
    expert.command(name="evaluate")(expert_evaluate)
    app = tyro.extras.SubcommandApp()
    app.command(name="distill")(partial(distill, options=_start_of(arguments)))
    app.command(name="tune")(partial(tune, options=_start_of(arguments)))
    app.command(evolve)
    app.command(evaluate)
    app.command(expert, name="expert", help="Teachers: train, evaluate and list them.")
    app.command(view)
    app.command(export)
    app.command(reproduce)
    app.command(report)
    app.command(frontier)
    app.command(bench)
    app.command(name="list")(list_names)
    return app


def _look_here_for(*names: str | None) -> None:
    """Let a module that the user names, as in module:id, be found in the working directory.

    A command that names none imports nothing from there: it may be the folder of a stranger.
    """
    if any(name is not None and ":" in name for name in names):
        sys.path.append(str(Path.cwd()))


def _start_of(arguments: list[str]) -> RunFlags:
    """Return the values that the flags of a run start from, given task, preset and student.

    The command line is read twice to find these; mistakes in it are reported the second time.
    """
    commands: dict[str, tuple[Callable[..., None], int]] = {
        "distill": (distill, RunConfig.seed),
        "tune": (tune, TUNING_SEED),
    }
    if not arguments or arguments[0] not in commands:
        return RunFlags()
    command, seed = commands[arguments[0]]

    @wraps(command)
    def look(*values: Any, **named: Any) -> RunConfig:
        given = signature(command).bind(*values, **named).arguments
        student = given["options"].student
        return RunConfig.for_task(given["task"], preset=given["preset"], student=student, seed=seed)

    words = [word for word in arguments[1:] if word not in ("-h", "--help")]
    try:
        return RunFlags.of(tyro.cli(look, args=words, console_outputs=False))
    except SystemExit:
        return RunFlags()


def _refuse(sentence: str) -> None:
    print(f"smgrnn: {plain(sentence)}", file=sys.stderr)
    sys.exit(2)


def main() -> None:
    """Run the command line; a user's mistake ends it with one sentence and exit code 2."""
    try:
        _app(sys.argv[1:]).cli(
            prog="smgrnn",
            description="Neural networks that find their own size.",
        )
    except SmgrnnError as error:
        _refuse(str(error))
    except OSError as error:
        _refuse(f"{error.filename or 'A file'} cannot be written: {error.strerror}.")
    except MemoryError as error:
        _refuse(f"There is not enough memory: {reason(error)}.")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
