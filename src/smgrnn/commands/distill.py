"""What the commands about runs and experts do, and what they print where."""

import json
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from smgrnn.commands.display import (
    Display,
    describe,
    describe_all,
    describe_evolution,
    describe_likeness,
)
from smgrnn.config import RECORDINGS, EvolutionConfig, RunConfig
from smgrnn.errors import ConfigError
from smgrnn.experts import evaluate_expert, find_expert, shipped_experts, write_expert
from smgrnn.experts.recipes import find_recipe
from smgrnn.runs.evolution import Evolution
from smgrnn.runs.folder import check_new
from smgrnn.runs.metrics import held_out_likeness
from smgrnn.runs.pictures import draw_curves, draw_topology
from smgrnn.runs.run import Run, Watch, new_run
from smgrnn.runs.tensorboard import TensorBoard
from smgrnn.storage import check_new_file
from smgrnn.tasks import find_task


def prepare_runs(
    task: str, config: RunConfig, out: Path | None, resume: Path | None, n_seeds: int
) -> list[Run]:
    """Return the runs to train: one per seed in folders of their own, or the one to resume."""
    if resume is not None:
        if task or config != RunConfig.for_task(task) or out is not None or n_seeds != 1:
            raise ConfigError("A run is resumed with its own settings; give --resume alone.")
        return [Run.resume(resume)]
    if not task:
        raise ConfigError("Name a task, such as CartPole-v1, or a run to --resume.")
    return [
        new_run(task, each, _folder(task, each.student, each.seed, out, n_seeds))
        for each in _each_seed(config, n_seeds)
    ]


def _each_seed(config: Any, n_seeds: int) -> list[Any]:
    """Return the settings once for each seed, upwards from their own."""
    if n_seeds < 1:
        raise ConfigError(f"The number of seeds must be at least 1. Got {n_seeds} instead.")
    return [replace(config, seed=config.seed + number) for number in range(n_seeds)]


def _folder(task: str, student: str, seed: int, out: Path | None, n_seeds: int) -> Path:
    """Return the folder of a run: `out`, or one of its own in `out` if there are several."""
    short = Path(task).stem if task.endswith(RECORDINGS) else task.split(":")[-1].split("/")[-1]
    name = f"{short}-{student}-{seed}"
    if out is None:
        return Path("runs") / name
    return out if n_seeds == 1 else out / name


def distill_command(
    runs: list[Run], *, with_tensorboard: bool, as_json: bool, is_quiet: bool
) -> None:
    """Train, show progress, and print a summary."""
    summaries = [_train(run, with_tensorboard, is_quiet=is_quiet) for run in runs]
    _print_summaries(summaries, describe, as_json=as_json, is_quiet=is_quiet)


def evolve_command(
    task: str,
    config: EvolutionConfig,
    out: Path | None,
    n_seeds: int,
    *,
    as_json: bool,
    is_quiet: bool,
) -> None:
    """Evolve, show progress, and print a summary."""
    configs = _each_seed(config, n_seeds)
    folders = [_folder(task, config.method, each.seed, out, n_seeds) for each in configs]
    for folder in folders:
        check_new(folder)
    evolutions = [Evolution(task, each) for each in configs]
    summaries = []
    for evolution, folder in zip(evolutions, folders, strict=True):
        name = f"{task} {config.method} seed {evolution.config.seed}"
        with Display(name, config.rollouts, is_quiet=is_quiet) as display:
            evolution.train(display.show_generation)
        summaries.append(evolution.save(folder))
        _draw(Run.resume(folder), folder)
    _print_summaries(summaries, describe_evolution, as_json=as_json, is_quiet=is_quiet)


def _print_summaries(
    summaries: list[dict[str, Any]],
    describe_one: Callable[[dict[str, Any]], str],
    *,
    as_json: bool,
    is_quiet: bool,
) -> None:
    if not is_quiet:
        for summary in summaries:
            print(describe_one(summary), file=sys.stderr)
        if len(summaries) > 1:
            print(describe_all(summaries), file=sys.stderr)
    if as_json:
        print(json.dumps(summaries[0] if len(summaries) == 1 else summaries))


def _train(run: Run, with_tensorboard: bool, *, is_quiet: bool) -> dict[str, Any]:
    assert run.folder is not None
    run.begin()
    name = f"{run.task.id} seed {run.config.seed}"
    with Display(name, run.config.episodes, is_quiet=is_quiet) as display:
        watches: list[Watch] = [display]
        if with_tensorboard:
            watches.append(TensorBoard(run.folder / "tensorboard", first=run.episodes.n))
        try:
            run.train(*watches)
        except KeyboardInterrupt:
            folder = shlex.quote(str(run.folder))
            message = f"Stopped. Go on with: smgrnn distill --resume {folder}"
            print(message, file=sys.stderr)
            raise
    _draw(run, run.folder)
    return run.summary()


def _draw(run: Run, folder: Path) -> None:
    draw_curves(run, folder / "curves.png")
    draw_topology(run, folder / "topology.png")


def evaluate_command(folder: Path, episodes: int, *, is_best: bool, as_json: bool) -> None:
    """Score the student of a run on held-out episodes."""
    if episodes < 1:
        raise ConfigError(f"The number of episodes must be at least 1. Got {episodes} instead.")
    run = Run.resume(folder)
    returns = run.score(episodes, best=is_best)
    which = "best checkpoint" if is_best else "final student"
    likeness = held_out_likeness(run.task, returns)
    _print_score(f"{run.task.id}, {which} of {folder}", returns, likeness, as_json=as_json)


def expert_evaluate_command(task: str, name: str | None, episodes: int, *, as_json: bool) -> None:
    """Score an expert on held-out episodes."""
    if episodes < 1:
        raise ConfigError(f"The number of episodes must be at least 1. Got {episodes} instead.")
    found = find_task(task)
    returns = evaluate_expert(find_expert(name, found), found, episodes)
    _print_score(f"{task}, expert {name or 'of the package'}", returns, {}, as_json=as_json)


def expert_convert_command(file: Path, out: Path, statistics: Path | None) -> None:
    """Write the expert in a zip of Stable-Baselines3 to a file of our own."""
    from smgrnn.experts.sb3 import load_sb3_expert

    check_new_file(out)
    expert = load_sb3_expert(file, statistics)
    write_expert(out, expert, {"method": "Stable-Baselines3"})
    print(f"{out}: {expert}")


def _print_score(what: str, returns: Any, likeness: dict[str, float], *, as_json: bool) -> None:
    """Print the mean return, or of a recording, which has none, the likeness to it."""
    mean, std = float(returns.mean()), float(returns.std())
    figures = likeness or {"episodes": returns.size, "mean": mean, "std": std}
    if as_json:
        print(json.dumps({"what": what, **figures}))
    elif likeness:
        print(f"{what}: {describe_likeness(likeness)}")
    else:
        print(f"{what}: {mean:.1f} ± {std:.1f} over {returns.size} held-out episodes")


def expert_list_command(*, as_json: bool) -> None:
    """List the shipped experts with their held-out scores."""
    records = shipped_experts()
    if as_json:
        print(json.dumps(records))
        return
    for name, record in records.items():
        held_out = record["held_out"]
        mean, std = held_out["mean"], held_out["std"]
        print(f"{name}: {mean:.1f} ± {std:.1f} over {held_out['episodes']} held-out episodes")


def expert_train_command(
    task: str, out: Path, seed: int, steps: int | None, *, as_json: bool
) -> None:
    """Train an expert and write it."""
    from smgrnn.runs.selection import Candidate, train_expert

    def report(candidate: Candidate) -> None:
        scored, taught = candidate.choosing, candidate.teachability
        students = "" if taught is None else f"; its MLP students {taught.mean:.1f}"
        print(
            f"step {candidate.step}: {scored.mean:.1f} ± {scored.std:.1f}, with random actions "
            f"{candidate.disturbed.mean:.1f}{students}",
            file=sys.stderr,
        )

    check_new_file(out)
    recipe = find_recipe(task)
    config = recipe if steps is None else replace(recipe, steps=steps)
    expert, record = train_expert(task, config, seed, report=report)
    write_expert(out, expert, record)
    if as_json:
        print(json.dumps(record))
    else:
        held_out = record["held_out"]
        print(f"{out}: {held_out['mean']:.1f} ± {held_out['std']:.1f} on held-out episodes")
