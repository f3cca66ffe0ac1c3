"""`smgrnn expert`: train, convert, list and score teachers."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from smgrnn.commands.display import print_score
from smgrnn.errors import ConfigError
from smgrnn.experts import evaluate_expert, find_expert, shipped_experts, write_expert
from smgrnn.experts.recipes import RecipeName, find_recipe
from smgrnn.storage import check_new_file
from smgrnn.tasks import find_task

if TYPE_CHECKING:  # it imports torch
    from smgrnn.runs.selection import ScoredCheckpoint

CHOSEN_BY = {"own return": "its own return", "students": "what MLP students made of it"}


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
    """List the shipped experts with their held-out scores and how each was chosen."""
    records = shipped_experts()
    if as_json:
        print(json.dumps(records))
        return
    width = max(map(len, records)) + 2
    for name, record in records.items():
        held_out = record["held_out"]
        score = f"{held_out['mean']:.1f} ± {held_out['std']:.1f}"
        print(
            f"{name:<{width}}{score:<16}over {held_out['episodes']} held-out episodes; "
            f"chosen by {CHOSEN_BY[record['chosen_by']]}"
        )


def expert_train_command(
    task: str, out: Path, recipe: RecipeName, seed: int, steps: int | None, *, as_json: bool
) -> None:
    """Train an expert and write it."""
    from smgrnn.runs.selection import train_expert

    check_new_file(out)
    found = find_recipe(task, recipe)
    if steps is not None:
        found = found._replace(config=replace(found.config, steps=steps))
    expert, record = train_expert(task, found, seed, report=_report)
    write_expert(out, expert, record)
    if as_json:
        print(json.dumps(record))
    else:
        held_out = record["held_out"]
        print(f"{out}: {held_out['mean']:.1f} ± {held_out['std']:.1f} on held-out episodes")


def _report(checkpoint: "ScoredCheckpoint") -> None:
    scored, disturbed, taught = checkpoint.choosing, checkpoint.disturbed, checkpoint.teachability
    random = "" if disturbed is None else f", with random actions {disturbed.mean:.1f}"
    students = "" if taught is None else f"; its MLP students {taught.mean:.1f}"
    line = f"step {checkpoint.step}: {scored.mean:.1f} ± {scored.std:.1f}{random}{students}"
    print(line, file=sys.stderr)
