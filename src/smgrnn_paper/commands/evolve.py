"""`smgrnn evolve`: breed controllers."""

from pathlib import Path
from typing import Any

from rich import progress as bars

from smgrnn.commands.display import (
    Display,
    print_summaries,
    short_text,
    size_text,
    stoppable,
    way_on,
)
from smgrnn.commands.distill import draw_pictures, each_seed, named, run_folder
from smgrnn.commands.output import Output
from smgrnn.errors import ConfigError
from smgrnn.runs.folder import folder_summary
from smgrnn_paper.evolution.config import EvolutionConfig
from smgrnn_paper.evolution.evolution import Evolution, new_evolution


class EvolutionDisplay(Display):
    """Live progress of a search: give an instance as a watch, inside a `with` block."""

    def __init__(self, name: str, rollouts: int, *, is_quiet: bool = False) -> None:
        left = bars.TimeRemainingColumn()
        super().__init__(name, "compiling …", left, is_quiet=is_quiet, total=rollouts)

    def __call__(self, evolution: Evolution) -> None:
        """Show the progress of an evolutionary search."""
        episodes, best = evolution.episodes, evolution.generations
        recent = episodes.returns[-evolution.plan.population :]
        speed = episodes.steps.sum() / max(evolution.record.times.training, 1e-9)
        self.line = (
            f"generation {best.n}: best {best.returns[-1]:.0f}, mean {recent.mean():.1f} · "
            f"{size_text(best)} · {short_text(speed)} steps/s"
        )
        self.update(self.bar, completed=episodes.n)
        if best.n == evolution.plan.generations:
            self.wait("judging the champion …")


def prepare_evolutions(
    task: str, config: EvolutionConfig, out: Path | None, resume: Path | None, n_seeds: int
) -> list[Evolution]:
    """Return the searches to run: one per seed in folders of their own, or the one to resume."""
    if resume is not None:
        if config != EvolutionConfig() or out is not None or n_seeds != 1:
            raise ConfigError(
                "A search is resumed with its own settings; give --resume, and TASK only where it "
                "is code."
            )
        return [Evolution.resume(resume, task=task or None)]
    return [
        new_evolution(named(task), each, run_folder(task, each.method, each.seed, out, n_seeds))
        for each in each_seed(config, n_seeds)
    ]


def evolve_command(evolutions: list[Evolution], output: Output) -> None:
    """Evolve, show progress, and print a summary."""
    n = len(evolutions)
    print_summaries([_evolve(evolution, output, n) for evolution in evolutions], output)


def _evolve(evolution: Evolution, output: Output, n_runs: int) -> dict[str, Any]:
    """Run one of several searches, with progress, unless it is finished."""
    evolution.begin()  # refuses what it must before anything is shown
    plan, folder = evolution.plan, evolution.folder
    assert folder is not None
    with stoppable(way_on("evolve", folder, n_runs)):
        if evolution.held_out.size:
            output.say(f"This search is in {folder} already, and finished.")
            record = evolution.train()  # which writes its results again
        else:
            name = f"{plan.task.id} {plan.method} seed {plan.seed}"
            with EvolutionDisplay(name, plan.rollouts, is_quiet=output.quiet) as display:
                record = evolution.train(display)
    draw_pictures(record, folder)
    return folder_summary(record, folder)
