"""`smgrnn expert`: train, convert, list and evaluate experts."""

from argparse import Namespace
from dataclasses import replace
from typing import Any

from smgrnn.commands.options import import_from_here
from smgrnn.commands.output import Output, aligned
from smgrnn.errors import ConfigError
from smgrnn.experts import evaluate_expert, find_expert, shipped_experts, write_expert
from smgrnn.storage import check_new_file
from smgrnn.tasks import find_task
from smgrnn.validation import Count, checked

CHOSEN_BY = {
    "own return": "its own return",
    "disturbed return": "its return with 30 % random actions",
    "students": "the return of MLP students",
}


def _evaluate(args: Namespace, output: Output) -> None:
    from smgrnn.commands.display import print_scores

    import_from_here(args.task, args.expert)
    checked(args.episodes, Count, "--episodes")
    task = find_task(args.task)
    returns = evaluate_expert(find_expert(args.expert, task)[1], task, args.episodes)
    what = f"{args.task}, expert {args.expert or 'of the package'}"
    print_scores([(what, returns, {})], output)


def _convert(args: Namespace, output: Output) -> None:
    from smgrnn.experts.sb3 import load_sb3_expert

    check_new_file(args.out)
    expert = load_sb3_expert(args.zip, args.statistics)
    write_expert(args.out, expert, {"method": "Stable-Baselines3"})
    figures = {"sizes": expert.sizes.tolist(), "n_parameters": expert.parameters.size}
    output.result(f"{args.out}: {expert}", {"file": str(args.out), **figures})


def _list(args: Namespace, output: Output) -> None:
    records, rows = shipped_experts(), []
    for name, record in records.items():
        mean, std, n = (record["held_out"][key] for key in ("mean", "std", "episodes"))
        by = CHOSEN_BY[record["chosen_by"]]
        rows.append((name, f"{mean:.1f} ± {std:.1f}", f"over {n} new episodes; selected by {by}"))
    output.result("\n".join(aligned(rows)), records)


def _train(args: Namespace, output: Output) -> None:
    from smgrnn.experts.choice import train_expert
    from smgrnn.experts.dqn import find_recipe

    check_new_file(args.out)
    task = find_task(args.task)
    if task.variant.cue or task.n_observed > task.n_inputs:
        raise ConfigError(
            f"An expert sees all of an observation and no cue. Leave hide and cue out of {task.id}."
        )
    recipe = find_recipe(args.task, args.recipe)
    if args.steps is not None:
        recipe = recipe._replace(config=replace(recipe.config, steps=args.steps))

    def report(scores: dict[str, Any]) -> None:
        own, disturbed, taught = (
            scores[kind] for kind in ("choosing", "disturbed", "teachability")
        )
        random = "" if disturbed is None else f", with random actions {disturbed['mean']:.1f}"
        students = "" if taught is None else f"; its MLP students {taught['mean']:.1f}"
        score = f"{own['mean']:.1f} ± {own['std']:.1f}"
        output.say(f"step {scores['step']}: {score}{random}{students}")

    expert, record = train_expert(args.task, recipe, args.seed, report=report)
    write_expert(args.out, expert, record)
    mean, std = record["held_out"]["mean"], record["held_out"]["std"]
    output.result(f"{args.out}: {mean:.1f} ± {std:.1f} on new episodes", record)


TRAIN = """
TASK                  a Gymnasium id
--out FILE !          .safetensors file to write
--recipe {smooth,robust,plain,printed} [smooth]
                      select the checkpoint by its students' return (smooth), by its return with
                      30 % random actions (robust), or by its own (plain; printed, with the paper's
                      settings)
--seed N [0]          seed of the training
--steps N             environment steps (default: the recipe's)
"""
CONVERT = """
ZIP                   a Stable-Baselines3 policy that you trust: reading it can run code
--out FILE !          .safetensors file to write, which cannot run code
--statistics FILE     file that VecNormalize saved with it; reading it can run code too
"""
EVALUATE = """
TASK                  a Gymnasium id
--expert EXPERT       a bundled expert, a file of weights, or your own module:function (default: the
                      bundled smooth expert)
--episodes N [100]    new episodes to play
"""
COMMANDS = {
    "train": ("Train an expert by deep Q-learning.", TRAIN, _train),
    "convert": ("Convert a Stable-Baselines3 policy to an expert file.", CONVERT, _convert),
    "list": ("List the bundled experts and their scores.", "", _list),
    "evaluate": ("Evaluate an expert on new episodes.", EVALUATE, _evaluate),
}
