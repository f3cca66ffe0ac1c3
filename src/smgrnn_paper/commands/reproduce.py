"""`smgrnn reproduce`: run the experiments."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from smgrnn.batch import Experiment, Store
from smgrnn.batch.runner import Progress, run_experiments
from smgrnn.batch.workers import find_executor
from smgrnn.commands.display import SessionDisplay, describe_session, stoppable
from smgrnn.commands.flags import Workers
from smgrnn.commands.output import Output


def reproduce_command(
    experiments: Sequence[Experiment],
    store: Path,
    workers: Workers = Workers(),
    output: Output = Output(),
) -> None:
    """Run what the experiments still lack; exit with 1 if a run failed."""
    kept = Store(store)
    with (
        stoppable(f"Finished runs are in {store}; the same command goes on."),
        SessionDisplay(is_quiet=output.quiet) as display,
        find_executor(workers.jobs, workers.scheduler) as executor,
    ):
        progress = run_experiments(experiments, kept, executor, watch=display)
    words = [describe_session(progress, store)]
    words += [f"{reason} It was run again." for reason in kept.damaged.values()]
    ids = [experiment.id for experiment in experiments]
    figures = {"experiments": ids, **_figures(progress), "store": str(store)}
    output.result("\n".join(words), figures)
    if progress.failures:
        sys.exit(1)


def _figures(progress: Progress) -> dict[str, Any]:
    return {
        "runs": progress.n_runs,
        "found": progress.n_found,
        "done": progress.n_done,
        "lost": progress.n_lost,
        "steps": progress.steps,
        "seconds": progress.seconds,
        "failures": [failure._asdict() for failure in progress.failures],
    }
