"""`smgrnn reproduce`: run the experiments."""

import sys
from argparse import Namespace

from smgrnn.batch import Store
from smgrnn.batch.runner import run_experiments
from smgrnn.batch.workers import find_executor
from smgrnn.commands.display import Display, describe_session, stoppable
from smgrnn.commands.options import WORKERS
from smgrnn.commands.output import Output

OPTIONS = f"""
[NAME ...]            experiments, as `smgrnn list` names them (default: all of the paper's)
--seeds N             seeds of each condition (default: those of the experiments)
--episodes N          episodes of each run (default: the paper's)
--smoke               run everything tiny, to see that it runs
--store FOLDER [results/store]
                      folder of finished runs
{WORKERS}"""


def run(args: Namespace, output: Output) -> None:
    """Run what the experiments still lack; exit with 1 if a run failed."""
    from smgrnn_paper.experiments.registry import choose_experiments

    experiments = choose_experiments(
        args.names, seeds=args.seeds, episodes=args.episodes, smoke=args.smoke
    )
    kept = Store(args.store)
    with (
        stoppable(f"Finished runs are in {args.store}; repeat the command to resume."),
        Display("runs", None, is_quiet=output.quiet) as display,
        find_executor(args.jobs, args.scheduler) as executor,
    ):
        progress = run_experiments(experiments, kept, executor, watch=display.show_session)
    words = [describe_session(progress, args.store)]
    words += [f"{reason} It was run again." for reason in kept.damaged.values()]
    figures = {
        "experiments": [experiment.id for experiment in experiments],
        "runs": progress.n_runs,
        "found": progress.n_found,
        "done": progress.n_done,
        "lost": progress.n_lost,
        "steps": progress.steps,
        "seconds": progress.seconds,
        "failures": [failure._asdict() for failure in progress.failures],
        "store": str(args.store),
    }
    output.result("\n".join(words), figures)
    if progress.failures:
        sys.exit(1)
