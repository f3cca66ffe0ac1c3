"""`smgrnn expert`: train, convert, list and score teachers."""

import json
import sys
from dataclasses import replace
from pathlib import Path

from smgrnn.commands.display import print_score
from smgrnn.errors import ConfigError
from smgrnn.experts import evaluate_expert, find_expert, shipped_experts, write_expert
from smgrnn.experts.recipes import find_recipe
from smgrnn.storage import check_new_file
from smgrnn.tasks import find_task


def expert_evaluate_command(task: str, name: str | None, episodes: int, *, as_json: bool) -> None:
    """Score an expert on held-out episodes."""
    if episodes < 1:
        raise ConfigError(f"The number of episodes must be at least 1. Got {episodes} instead.")
    found = find_task(task)
    returns = evaluate_expert(find_expert(name, found), found, episodes)
    print_score(f"{task}, expert {name or 'of the package'}", returns, {}, as_json=as_json)


def expert_convert_command(file: Path, out: Path, statistics: Path | None) -> None:
    """Convert the expert in a Stable-Baselines3 zip to a file in our own format."""
    from smgrnn.experts.sb3 import load_sb3_expert

    check_new_file(out)
    expert = load_sb3_expert(file, statistics)
    write_expert(out, expert, {"method": "Stable-Baselines3"})
    print(f"{out}: {expert}")


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
    from smgrnn.runs.selection import ScoredCheckpoint, train_expert

    def report(checkpoint: ScoredCheckpoint) -> None:
        scored, taught = checkpoint.choosing, checkpoint.teachability
        students = "" if taught is None else f"; its MLP students {taught.mean:.1f}"
        print(
            f"step {checkpoint.step}: {scored.mean:.1f} ± {scored.std:.1f}, with random actions "
            f"{checkpoint.disturbed.mean:.1f}{students}",
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
