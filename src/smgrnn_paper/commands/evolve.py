"""`smgrnn evolve`: breed controllers."""

from argparse import Namespace
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from smgrnn.commands.display import Display, print_summaries, size_text, train
from smgrnn.commands.distill import each_seed, named, run_folder
from smgrnn.commands.options import TASK, import_from_here
from smgrnn.commands.output import Output
from smgrnn.errors import ConfigError
from smgrnn.runs.words import score_text, short_text
from smgrnn.text import quantity
from smgrnn_paper.evolution.config import EvolutionConfig

if TYPE_CHECKING:  # it imports neat-python
    from smgrnn_paper.evolution.evolution import Evolution

OPTIONS = f"""{TASK}
the search:
  --method {{neat,ndp}}
                      topologies and weights by NEAT, or developmental programs (NDP) by CMA-ES
                      (default: neat)
  --rollouts N        episodes in all, one for each candidate (default: 2000)
  --population N      candidates in a generation (default: 50)
  --held-out N        new episodes that evaluate the champion (default: 100)
  --neat-config FILE  configuration file for neat-python (default: the package's for the task)
the run:
  --seed N            seed of the search and of the episodes (default: 0)
  --seeds N [1]       run N seeds, from --seed upwards
  --out FOLDER        folder of the run; the same command resumes a run that was stopped (default:
                      runs/TASK-METHOD-SEED)
  --resume RUN        resume the search in this folder; repeat TASK if it is your own code
"""


def run(args: Namespace, output: Output) -> None:
    """Evolve, show progress, and print a summary."""
    from smgrnn_paper.evolution.evolution import Evolution, new_evolution

    import_from_here(args.task)
    found = {entry.name: getattr(args, entry.name) for entry in fields(EvolutionConfig)}
    given = {name: value for name, value in found.items() if value is not None}
    if args.resume is None:
        task, made = named(args.task), []
        for each in each_seed(EvolutionConfig(**given), args.seeds):
            folder = run_folder(task, each.method, each.seed, args.out, args.seeds)
            made.append(new_evolution(task, each, folder))
    elif given or (args.out, args.seeds) != (None, 1):
        raise ConfigError("A search is resumed with its own settings: give --resume alone.")
    else:
        made = [Evolution.resume(args.resume, task=args.task)]
    print_summaries([train(each, show, output, len(made)) for each in made], output, describe)


def show(display: Display, evolution: "Evolution") -> None:
    """Show the progress of a search."""
    episodes, best = evolution.episodes, evolution.generations
    recent = episodes.returns[-evolution.plan.population :]
    speed = episodes.steps.sum() / max(evolution.record.times.training, 1e-9)
    line = (
        f"generation {best.n}: best {best.returns[-1]:.0f}, mean {recent.mean():.1f} · "
        f"{size_text(best)} · {short_text(speed)} steps/s"
    )
    note = "evaluating the champion …" if best.n == evolution.plan.generations else ""
    display.show(line, episodes.n, note=note)


def describe(summary: dict[str, Any]) -> str:
    """Return the summary of a finished search in a few lines."""
    mean, std, n = (summary[f"held_out_{name}"] for name in ("mean", "std", "episodes"))
    size = quantity(summary["n_parameters"], "parameter")
    size += f", {quantity(summary['n_nodes'], 'node')}"
    converged, folder = "", summary["run_dir"]
    if summary["threshold"] is not None:
        episode = summary["convergence_episode"]
        when = "never reached" if episode is None else f"first reached in episode {episode}"
        converged = f"; threshold {summary['threshold']:g} {when}"
    lines = [
        f"Champion: {score_text(mean, std, n, summary)}; {size} ({summary['n_hidden']} hidden).",
        f"Search: {quantity(summary['generations'], 'generation')} of {summary['population']}, "
        f"{short_text(summary['steps'])} steps in {summary['seconds']:.1f} s; best of the last "
        f"{summary['generation_best']:.1f}, champion {summary['champion_return']:.1f} in "
        f"generation {summary['champion_generation']}{converged}.",
    ]
    if folder:
        run = f"{summary['task']}, {summary['student']}, seed {summary['seed']}"
        lines.append(f"{run} is in {folder}; {folder}/topology.png shows the network.")
    return "\n".join(lines)
