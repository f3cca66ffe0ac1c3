"""`smgrnn evolve`: breed controllers."""

from pathlib import Path

from smgrnn.commands.display import RunDisplay, print_summaries
from smgrnn.commands.distill import draw_pictures, each_seed, run_folder
from smgrnn.config import EvolutionConfig
from smgrnn.runs.evolution import new_evolution
from smgrnn.runs.folder import check_new


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
    configs = each_seed(config, n_seeds)
    folders = [run_folder(task, config.method, each.seed, out, n_seeds) for each in configs]
    for folder in folders:
        check_new(folder)
    evolutions = [new_evolution(task, each) for each in configs]
    summaries = []
    for evolution, folder in zip(evolutions, folders, strict=True):
        name = f"{task} {config.method} seed {evolution.plan.seed}"
        with RunDisplay(name, config.rollouts, is_quiet=is_quiet) as display:
            record = evolution.train(display.show_generation)
        summaries.append(evolution.save(folder))
        draw_pictures(record, folder)
    print_summaries(summaries, as_json=as_json, is_quiet=is_quiet)
