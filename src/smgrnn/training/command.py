"""What the commands about runs and experts do, and what they print where."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from smgrnn.config import RunConfig
from smgrnn.errors import ConfigError
from smgrnn.experts import evaluate_expert, load_expert, shipped_experts, write_expert
from smgrnn.experts.recipes import find_recipe
from smgrnn.training.display import Display, describe, describe_all
from smgrnn.training.pictures import draw_curves, draw_topology
from smgrnn.training.run import Run, Watch, new_run
from smgrnn.training.tensorboard import TensorBoard


def prepare_runs(
    task: str, config: RunConfig, out: Path | None, resume: Path | None, n_seeds: int
) -> list[Run]:
    """Return the runs to train: one per seed in folders of their own, or the one to resume."""
    if resume is not None:
        if task or config != RunConfig() or out is not None or n_seeds != 1:
            raise ConfigError("A run is resumed with its own settings; give --resume alone.")
        return [Run.resume(resume)]
    if not task:
        raise ConfigError("Name a task, such as CartPole-v1, or a run to --resume.")
    if n_seeds < 1:
        raise ConfigError(f"The number of seeds must be at least 1. Got {n_seeds} instead.")
    seeds = range(config.seed, config.seed + n_seeds)
    return [_new_run(task, replace(config, seed=seed), out, n_seeds) for seed in seeds]


def distill_command(
    runs: list[Run], *, with_tensorboard: bool, as_json: bool, is_quiet: bool
) -> None:
    """Train, show progress, and print a summary."""
    summaries = [_train(run, with_tensorboard, is_quiet=is_quiet) for run in runs]
    if not is_quiet:
        for summary in summaries:
            print(describe(summary), file=sys.stderr)
        if len(summaries) > 1:
            print(describe_all(summaries), file=sys.stderr)
    if as_json:
        print(json.dumps(summaries[0] if len(summaries) == 1 else summaries))


def _new_run(task: str, config: RunConfig, out: Path | None, n_seeds: int) -> Run:
    name = f"{task.split(':')[-1].split('/')[-1]}-{config.student}-{config.seed}"
    folder = Path("runs") / name if out is None else out
    if out is not None and n_seeds > 1:
        folder = out / name
    return new_run(task, config, folder)


def _train(run: Run, with_tensorboard: bool, *, is_quiet: bool) -> dict[str, Any]:
    assert run.folder is not None
    run.begin()
    name = f"{run.task.id} seed {run.config.seed}"
    with Display(name, run.config.episodes, is_quiet=is_quiet) as display:
        watches: list[Watch] = [display]
        if with_tensorboard:
            watches.append(TensorBoard(run.folder / "tensorboard"))
        try:
            run.train(*watches)
        except KeyboardInterrupt:
            message = f"Stopped. Go on with: smgrnn distill --resume {run.folder}"
            print(message, file=sys.stderr)
            raise
    draw_curves(run, run.folder / "curves.png")
    draw_topology(run, run.folder / "topology.png")
    return run.summary()


def evaluate_command(folder: Path, episodes: int, *, is_best: bool, as_json: bool) -> None:
    """Score the student of a run on held-out episodes."""
    if episodes < 1:
        raise ConfigError(f"The number of episodes must be at least 1. Got {episodes} instead.")
    run = Run.resume(folder)
    returns = run.score(episodes, best=is_best)
    which = "best checkpoint" if is_best else "final student"
    _print_score(f"{run.task.id}, {which} of {folder}", returns, as_json=as_json)


def expert_evaluate_command(task: str, file: Path | None, episodes: int, *, as_json: bool) -> None:
    """Score an expert on held-out episodes."""
    if episodes < 1:
        raise ConfigError(f"The number of episodes must be at least 1. Got {episodes} instead.")
    expert = load_expert(str(file) if file is not None else task)
    returns = evaluate_expert(expert, task, episodes)
    _print_score(f"{task}, expert {file or 'of the package'}", returns, as_json=as_json)


def _print_score(what: str, returns: Any, *, as_json: bool) -> None:
    figures = {"episodes": returns.size, "mean": float(returns.mean()), "std": float(returns.std())}
    if as_json:
        print(json.dumps({"what": what, **figures}))
    else:
        mean, std = figures["mean"], figures["std"]
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
    from smgrnn.experts.selection import Candidate, train_expert

    def report(candidate: Candidate) -> None:
        scored = candidate.choosing
        print(f"step {candidate.step}: {scored.mean:.1f} ± {scored.std:.1f}", file=sys.stderr)

    recipe = find_recipe(task)
    config = recipe if steps is None else replace(recipe, steps=steps)
    expert, record = train_expert(task, config, seed, report=report)
    write_expert(out, expert, record)
    if as_json:
        print(json.dumps(record))
    else:
        held_out = record["held_out"]
        print(f"{out}: {held_out['mean']:.1f} ± {held_out['std']:.1f} on held-out episodes")
