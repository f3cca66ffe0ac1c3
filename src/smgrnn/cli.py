"""The command line: parsing only."""

import gc
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import fields
from functools import partial, wraps
from io import StringIO
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from smgrnn import __version__
from smgrnn.choices import USUAL_PRESET, Preset
from smgrnn.commands.flags import Earlier, Effort, Extras, RunOptions, Which, Workers
from smgrnn.commands.output import Flag, Output
from smgrnn.errors import ConfigError, SmgrnnError, needs, plain, reason, short
from smgrnn.first_use import watching_compilation
from smgrnn.interrupts import INTERRUPTED
from smgrnn.plugins import plugins

PROGRAM = "smgrnn"
DESCRIPTION = (
    "Neural networks that find their own size. Results go to stdout, progress to stderr; "
    "`smgrnn --version` prints the version."
)

Command = Callable[..., Any]
TUNING_SEED = 1000
"""First seed of trials: those of experiments, from 0 on, are to choose no settings."""
UNBROKEN = 120
"""Columns in which the longest option has room, and help is in one column."""
GARBAGE = 50_000
"""New objects after which garbage is looked for; with Python's 700 that was a tenth of a start."""


Options = Annotated[RunOptions, tyro.conf.arg(name="")]
Outputs = Annotated[Output, tyro.conf.arg(name="")]
Chosen = Annotated[Which, tyro.conf.arg(name="")]
WorkerFlags = Annotated[Workers, tyro.conf.arg(name="")]
TaskName = Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="TASK")]
TaskNames = Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="TASK ...")]
ShellName = Annotated[
    tyro.conf.Positional[Literal["bash", "zsh", "fish"]], tyro.conf.arg(metavar="SHELL")
]
RunPath = Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]
SomeRunPaths = Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RUN ...")]
RunPaths = Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="[RUN ...]")]


def distill(
    task: TaskName = "",
    options: Options = RunOptions(),
    preset: Preset | Path | None = None,
    out: Path | None = None,
    earlier: Annotated[Earlier, tyro.conf.arg(name="")] = Earlier(),
    seeds: int = 1,
    extras: Annotated[Extras, tyro.conf.arg(name="")] = Extras(),
    output: Outputs = Output(),
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
        The settings that the others start from: frugal, by default, grows the smallest network that
        does the job; paper is the reading of the paper closest to its sizes (xor and recordings
        have rules of their own), as_printed the one that is printed; or a settings file, such as
        `smgrnn tune` writes.
    out
        Folder for the run, in which the same command goes on if it was stopped;
        runs/TASK-STUDENT-SEED by default.
    earlier
        An earlier run to go on with.
    seeds
        Run this many seeds, from --seed upwards.
    extras
        More than the record, or less.
    output
        How results are printed.
    """
    from smgrnn.commands.distill import Asked, distill_command, prepare_runs, show_plans

    if earlier.start is not None and (preset is not None or earlier.resume is not None):
        raise ConfigError(
            "--from starts from the settings of that run: give neither --preset nor --resume."
        )
    look_here_for(task, options.expert)
    asked = Asked(task, options, preset, earlier, seeds)
    if extras.dry_run:
        show_plans(asked, output)
        return
    distill_command(prepare_runs(asked, out), extras, output)


def sequence(
    tasks: TaskNames = (),
    options: Options = RunOptions(),
    preset: Preset | Path = USUAL_PRESET,
    cue: Flag = False,
    out: Path | None = None,
    output: Outputs = Output(),
) -> None:
    """Teach one student several tasks, one after the other, and see what it keeps.

    Parameters
    ----------
    tasks
        Tasks of one shape in the order in which they are learned; a task may come again.
    options
        Settings of each stage.
    preset
        The settings that the others start from, as in distill.
    cue
        Add one input per task that says which it is.
    out
        Folder for the stages, in which the same command goes on if it was stopped;
        runs/sequence-STUDENT-SEED by default.
    output
        How results are printed.
    """
    from smgrnn.commands.sequence import sequence_command

    sequence_command(tasks, options.to_config("".join(tasks[:1]), preset), out, output, has_cue=cue)


def tune(
    task: TaskName = "",
    options: Options = RunOptions(),
    preset: Preset | Path = USUAL_PRESET,
    over: tuple[str, ...] = (),
    effort: Annotated[Effort, tyro.conf.arg(name="")] = Effort(),
    workers: WorkerFlags = Workers(),
    out: Path | None = None,
    output: Outputs = Output(),
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
        The settings to start from: a preset, or a settings file.
    over
        Settings to tune, each with a range or with values, such as plasticity.window=10:200:log or
        learning.schedule=constant,falling; or ready spaces: plasticity, learning, frugal.
    effort
        How long to search, and for what.
    workers
        Where runs happen.
    out
        Folder for the study, in which the same command goes on if it was stopped;
        runs/TASK-tune-SEED by default.
    output
        How results are printed.
    """
    from smgrnn.commands.tune import ask, tune_command

    look_here_for(task, options.expert)
    config = options.to_config(task, preset, seed=TUNING_SEED)
    question = ask(task, config, over, effort)
    tune_command(question, preset, out, effort, workers, output, command=sys.argv[1:])


def list_names(
    folder: Annotated[
        tyro.conf.Positional[Path | None], tyro.conf.arg(metavar="[RUNS_FOLDER]")
    ] = None,
    output: Outputs = Output(),
) -> None:
    """List the tasks, students, methods, rules and experiments there are, or the runs in a folder.

    Parameters
    ----------
    folder
        A folder of runs.
    output
        How results are printed.
    """
    from smgrnn.commands.listing import list_command, list_runs_command

    if folder is None:
        list_command(output)
    else:
        list_runs_command(folder, output)


def settings(
    output: Outputs = Output(),
) -> None:
    """List every setting that --set can change, with its owner, default and meaning.

    Parameters
    ----------
    output
        How results are printed.
    """
    from smgrnn.commands.settings import settings_command

    settings_command(output)


def evaluate(
    runs: SomeRunPaths,
    episodes: int = 100,
    task: str | None = None,
    which: Chosen = Which(),
    output: Outputs = Output(),
) -> None:
    """Score what runs hand over, frozen and greedy, on held-out episodes.

    Parameters
    ----------
    runs
        Run folders, files of the store, or folders of runs.
    episodes
        Held-out episodes to play.
    task
        The task of the run, where it is code of your own, such as my_module:MyEnv-v0.
    which
        The student to score.
    output
        How results are printed.
    """
    from smgrnn.commands.evaluate import evaluate_command

    look_here_for(task)
    evaluate_command(runs, episodes, task, which, output)


def expert_train(
    task: TaskName,
    out: Path,
    recipe: Literal["smooth", "plain", "printed"] = "smooth",
    seed: int = 0,
    steps: int | None = None,
    output: Outputs = Output(),
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
    output
        How results are printed.
    """
    from smgrnn.commands.expert import expert_train_command

    expert_train_command(task, out, recipe, seed, steps, output)


def expert_convert(
    file: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="ZIP")],
    out: Path,
    statistics: Path | None = None,
    output: Outputs = Output(),
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
    output
        How results are printed.
    """
    from smgrnn.commands.expert import expert_convert_command

    expert_convert_command(file, out, statistics, output)


def expert_list(
    output: Outputs = Output(),
) -> None:
    """List the experts that come with the package and how good they are.

    Parameters
    ----------
    output
        How results are printed.
    """
    from smgrnn.commands.expert import expert_list_command

    expert_list_command(output)


def expert_evaluate(
    task: TaskName,
    expert: str | None = None,
    episodes: int = 100,
    output: Outputs = Output(),
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
    output
        How results are printed.
    """
    from smgrnn.commands.expert import expert_evaluate_command

    look_here_for(task, expert)
    expert_evaluate_command(task, expert, episodes, output)


def compare(
    runs: SomeRunPaths,
    out: Path | None = None,
    no_open: Flag = False,
    output: Outputs = Output(),
) -> None:
    """Show runs side by side: return, size, agreement, time, and the settings that differ.

    Parameters
    ----------
    runs
        Run folders, files of the store, or folders of runs.
    out
        Also write a page with curves into this .html file.
    no_open
        Write the page and do not open it.
    output
        How results are printed.
    """
    from smgrnn.commands.compare import compare_command

    compare_command(runs, out, output, opens=not no_open)


def export(
    run: RunPath,
    to: Literal["onnx", "c", "graphml", "json"],
    out: Path | None = None,
    which: Chosen = Which(),
    output: Outputs = Output(),
) -> None:
    """Take what a run hands over, or a network of your own, with you: as C, as ONNX, or as a graph.

    Parameters
    ----------
    run
        A run folder, a file of the store, or a network that SMGrNN.save or Learner.save wrote.
    to
        The format.
    out
        File to write, without its ending; in the run folder, or beside the file, by default.
    which
        The student to export.
    output
        How results are printed.
    """
    from smgrnn.commands.export import export_command

    export_command(run, to, out, which, output)


def view(
    run: RunPath,
    out: Path | None = None,
    record: Path | None = None,
    which: Chosen = Which(),
    no_open: Flag = False,
    live: Flag = False,
    output: Outputs = Output(),
) -> None:
    """Watch the network that a run hands over grow, on a page in your browser.

    Parameters
    ----------
    run
        A run folder, a file of the store, or a network that SMGrNN.save or Learner.save wrote.
    out
        File to write the page to; growth.html in the run folder by default.
    record
        Also record a film into this file, a .gif or, with ffmpeg or the extra film, an .mp4.
    which
        The student to watch.
    no_open
        Write the page and do not open it.
    live
        Follow a run under way, on a page that this machine alone can open, until Ctrl-C.
    output
        How results are printed.
    """
    from smgrnn.commands.view import view_command

    view_command(run, out, record, which, output, opens=not no_open, live=live)


def completion(
    shell: ShellName,
    out: Path | None = None,
    output: Outputs = Output(),
) -> None:
    """Print a script by which your shell completes commands, options and their values.

    Parameters
    ----------
    shell
        The shell that is to read it.
    out
        Write the script to this file instead.
    output
        How results are printed.
    """
    from smgrnn.commands.completion import completion_command

    completion_command(_completion(shell), out, output)


def _app() -> tyro.extras.SubcommandApp:
    expert = tyro.extras.SubcommandApp()
    expert.command(name="train")(_bound(expert_train))
    expert.command(name="convert")(_bound(expert_convert))
    expert.command(name="list")(_bound(expert_list))
    expert.command(name="evaluate")(_bound(expert_evaluate))
    app = tyro.extras.SubcommandApp()
    app.command(_bound(distill))
    app.command(_bound(sequence))
    app.command(_bound(tune))
    app.command(_bound(evaluate))
    app.command(expert, name="expert", help="Teachers: train, evaluate and list them.")
    app.command(_bound(view))
    app.command(_bound(export))
    app.command(_bound(compare))
    for name, command in _further_commands().items():
        app.command(name=name)(_bound(command))
    app.command(_bound(settings))
    app.command(name="list")(_bound(list_names))
    app.command(_bound(completion))
    return app


def _further_commands() -> dict[str, Command]:
    """Return the commands of installed packages, by the entry points `smgrnn.commands`."""
    return {name: each for plugin in plugins() for name, each in plugin.COMMANDS.items()}


def _bound(command: Command) -> Command:
    """Return a function with the flags of a command, which is called when all are understood."""

    @wraps(command)
    def bind(*values: Any, **named: Any) -> Callable[[], None]:
        return partial(command, *values, **named)

    return bind


def parse(arguments: list[str]) -> Callable[[], None]:
    """Return the command that the arguments name, with what they say, ready to be called.

    An argument that is not understood ends the process with one sentence and where to look.
    """
    if arguments == ["--version"]:
        return partial(print, f"smgrnn {__version__}")
    if os.environ.get("NO_COLOR"):
        tyro._experimental_options["ansi_codes"] = False  # it does not look
    told = StringIO()
    try:
        with redirect_stderr(told):
            command: Callable[[], None] = _app().cli(
                args=arguments, prog=PROGRAM, description=DESCRIPTION
            )
            return command
    except SystemExit as stop:
        if stop.code:
            _refuse_usage(arguments)
        print(told.getvalue(), end="", file=sys.stderr)
        raise


def _refuse_usage(arguments: list[str]) -> None:
    """End the process with a sentence on a command line that is not understood."""
    from smgrnn.commands.flags import renamed_flag

    if arguments[:1] in (["distill"], ["sequence"], ["tune"]):
        known = {f"--{entry.name.replace('_', '-')}" for entry in fields(RunOptions)}
        for word in arguments:
            now = renamed_flag(word) if word.startswith("--") and word not in known else None
            if now is not None:
                _refuse(f"{word.partition('=')[0]} is now {now}=VALUE; smgrnn settings lists all.")
    from smgrnn.commands.usage import Manual, refusal

    names = list(takewhile(lambda word: not word.startswith("-"), arguments))
    manual = Manual.read(_tell([*names[:1], "--help"]))
    if manual.has_commands:  # the next word may be one of them
        manual = Manual.read(_tell([*names[:2], "--help"]))
    print(f"smgrnn: {refusal(_tell(arguments), manual)}\n{manual.hint()}", file=sys.stderr)
    sys.exit(2)


def _tell(arguments: list[str]) -> str:
    """Return the words of the parser on a command line, in lines that break no word."""
    told, columns = StringIO(), os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(UNBROKEN)
    try:
        with redirect_stdout(told), redirect_stderr(told), suppress(SystemExit):
            _app().cli(args=arguments, prog=PROGRAM)
    finally:
        del os.environ["COLUMNS"]
        if columns is not None:
            os.environ["COLUMNS"] = columns
    return told.getvalue()


def _completion(shell: str) -> str:
    """Return the script for a shell."""
    script = StringIO()
    with redirect_stdout(script), suppress(SystemExit):
        _app().cli(args=["--tyro-print-completion", shell], prog=PROGRAM)
    from smgrnn.commands.completion import mended

    return mended(script.getvalue())


def look_here_for(*names: str | None) -> None:
    """Let a module that the user names, as in module:id, be found in the working directory.

    A command that names none imports nothing from there: it may be the folder of a stranger.
    """
    if any(name is not None and ":" in name for name in names):
        sys.path.append(str(Path.cwd()))


def _warn(message: Warning | str, *_: Any) -> None:
    """Print a warning as a sentence, without the place in our code that gave it."""
    text = re.sub(r"\x1b\[[\d;]*m", "", str(message))  # Gymnasium's are coloured
    print(f"smgrnn: {plain(text)}", file=sys.stderr)


def _tell_of_compilation() -> None:
    if sys.stderr.isatty() and "--quiet" not in sys.argv:
        print("Compiling for this machine, once: 20 to 30 seconds …", file=sys.stderr)


def _refuse(sentence: str) -> None:
    print(f"smgrnn: {plain(sentence)}", file=sys.stderr)
    sys.exit(2)


def main() -> None:
    """Run the command line; a user's mistake ends it with one sentence and exit code 2."""
    arguments = sys.argv[1:]
    gc.set_threshold(GARBAGE)
    try:
        with warnings.catch_warnings(), needs():
            warnings.showwarning = _warn  # type: ignore[assignment]
            if "--quiet" in arguments:
                warnings.simplefilter("ignore")
            _check_text(arguments)
            command = parse(arguments)
            with watching_compilation(_tell_of_compilation):
                command()
        sys.stdout.flush()
    except BrokenPipeError:  # as `head` closes it when it has seen enough
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):  # which Python flushes once more when it ends
            os.dup2(nowhere, stream.fileno())
    except (SmgrnnError, OSError, MemoryError) as error:
        if "--debug" in arguments:
            traceback.print_exc()
        _refuse(_explain(error))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _check_text(arguments: list[str]) -> None:
    """Refuse what cannot be the name of a file, as any argument may become one."""
    for word in arguments:
        try:
            is_text = b"\0" not in os.fsencode(word)
        except UnicodeEncodeError:  # half of a character
            is_text = False
        if not is_text:
            raise ConfigError(f"An argument is no text: {short(word)}.")


def _explain(error: Exception) -> str:
    """Return in one sentence why a command failed."""
    if isinstance(error, MemoryError):
        return f"There is not enough memory: {reason(error)}."
    if isinstance(error, OSError):
        return f"{error.filename or 'A file'} cannot be written: {error.strerror}."
    return str(error)
