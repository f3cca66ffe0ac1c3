"""`smgrnn reproduce`: run the experiments."""

import sys
from argparse import Namespace
from functools import partial

from smgrnn.batch import Store
from smgrnn.batch.runner import Progress, run_experiments
from smgrnn.commands.display import Display, size_text, stoppable
from smgrnn.commands.options import WORKERS
from smgrnn.commands.output import Output
from smgrnn.text import duration
from smgrnn.workers import find_executor

N_SHOWN = 10
"""Most failures that are listed one by one."""

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
    store = Store(args.store)
    with (
        stoppable(f"Finished runs are in {args.store}; repeat the command to resume."),
        Display("runs", None, is_quiet=output.quiet) as display,
        find_executor(args.jobs, args.scheduler) as executor,
    ):
        done = run_experiments(experiments, store, executor, watch=partial(_show, display))
    failures = done.failures
    words = [
        f"{done.n_runs} runs: {done.n_found} were in {args.store}, {done.n_done} were run in "
        f"{duration(done.seconds)} ({done.steps / 1e6:.1f}M steps), {len(failures)} failed."
    ]
    if done.n_lost:
        words.append(f"Workers were lost {done.n_lost} times and their runs run again.")
    words += [f"{failure.name} failed: {failure.error}" for failure in failures[:N_SHOWN]]
    if len(failures) > N_SHOWN:
        words.append(f"And {len(failures) - N_SHOWN} more failed; --json has them all.")
    words += [f"{reason} It was run again." for reason in store.damaged.values()]
    figures = {
        "experiments": [experiment.id for experiment in experiments],
        "runs": done.n_runs,
        "found": done.n_found,
        "done": done.n_done,
        "lost": done.n_lost,
        "steps": done.steps,
        "seconds": done.seconds,
        "failures": [failure._asdict() for failure in failures],
        "store": str(args.store),
    }
    output.result("\n".join(words), figures)
    if failures:
        sys.exit(1)


def _show(display: Display, progress: Progress) -> None:
    n_failed = len(progress.failures)
    line = f"{n_failed} failed · " if n_failed else ""
    if progress.latest is not None:
        name, record = progress.latest
        late, size = record.summary()["late_return"], size_text(record.episodes)
        line += f"{name}: late return {late:.1f}, {size} · {duration(record.spent.seconds)}"
    n_finished = progress.n_found + progress.n_done + n_failed
    display.show(line, n_finished, total=progress.n_runs)
