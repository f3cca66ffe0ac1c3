"""`smgrnn expert`: train, convert, list and score teachers."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smgrnn.commands.output import Output
from smgrnn.errors import ConfigError
from smgrnn.experts import evaluate_expert, find_expert, shipped_experts, write_expert
from smgrnn.storage import check_new_file
from smgrnn.tasks import find_task

if TYPE_CHECKING:  # it imports torch
    from smgrnn.experts.choice import ScoredCheckpoint
    from smgrnn.experts.dqn import RecipeName

CHOSEN_BY = {"own return": "its own return", "students": "what MLP students made of it"}


def expert_evaluate_command(task: str, name: str | None, episodes: int, output: Output) -> None:
    """Score an expert on held-out episodes."""
    from smgrnn.commands.display import print_score

    if episodes < 1:
        raise ConfigError(f"The number of episodes must be at least 1. Got {episodes} instead.")
    found = find_task(task)
    returns = evaluate_expert(find_expert(name, found), found, episodes)
    what = f"{task}, expert {name or 'of the package'}"
    print_score(what, returns, {}, output)


def expert_convert_command(
    file: Path, out: Path, statistics: Path | None, output: Output = Output()
) -> None:
    """Convert the expert in a Stable-Baselines3 zip to a file in our own format."""
    from smgrnn.experts.sb3 import load_sb3_expert

    check_new_file(out)
    expert = load_sb3_expert(file, statistics)
    write_expert(out, expert, {"method": "Stable-Baselines3"})
    figures = {
        "file": str(out),
        "sizes": expert.sizes.tolist(),
        "n_parameters": expert.parameters.size,
    }
    output.result(f"{out}: {expert}", figures)


def expert_list_command(output: Output) -> None:
    """List the shipped experts with their held-out scores and how each was chosen."""
    records = shipped_experts()
    width = max(map(len, records)) + 2
    lines = [f"{name:<{width}}{_describe(record)}" for name, record in records.items()]
    output.result("\n".join(lines), records)


def _describe(record: dict[str, Any]) -> str:
    held_out = record["held_out"]
    score = f"{held_out['mean']:.1f} ± {held_out['std']:.1f}"
    return (
        f"{score:<16}over {held_out['episodes']} held-out episodes; "
        f"chosen by {CHOSEN_BY[record['chosen_by']]}"
    )


def expert_train_command(
    task: str,
    out: Path,
    recipe: "RecipeName",
    seed: int,
    steps: int | None,
    output: Output = Output(),
) -> None:
    """Train an expert and write it."""
    from smgrnn.experts.choice import train_expert
    from smgrnn.experts.dqn import find_recipe

    check_new_file(out)
    described = find_task(task)
    if described.cue or described.n_observed > described.n_inputs:
        raise ConfigError(
            f"An expert sees all of an observation and no cue: train one of {described.physics_id}."
        )
    found = find_recipe(task, recipe)
    if steps is not None:
        found = found._replace(config=replace(found.config, steps=steps))
    expert, record = train_expert(
        task, found, seed, report=lambda each: output.say(_describe_checkpoint(each))
    )
    write_expert(out, expert, record)
    held_out = record["held_out"]
    words = f"{out}: {held_out['mean']:.1f} ± {held_out['std']:.1f} on held-out episodes"
    output.result(words, record)


def _describe_checkpoint(checkpoint: "ScoredCheckpoint") -> str:
    scored, disturbed, taught = checkpoint.choosing, checkpoint.disturbed, checkpoint.teachability
    random = "" if disturbed is None else f", with random actions {disturbed.mean:.1f}"
    students = "" if taught is None else f"; its MLP students {taught.mean:.1f}"
    return f"step {checkpoint.step}: {scored.mean:.1f} ± {scored.std:.1f}{random}{students}"
