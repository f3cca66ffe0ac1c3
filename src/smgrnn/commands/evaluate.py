"""`smgrnn evaluate`: score the networks of runs on new episodes."""

from argparse import Namespace

from smgrnn.commands.display import print_scores
from smgrnn.commands.options import SELECTION, import_from_here, selection
from smgrnn.commands.output import Output
from smgrnn.errors import ConfigError
from smgrnn.runs.evaluation import evaluate
from smgrnn.runs.folder import load_runs
from smgrnn.runs.metrics import held_out_likeness

OPTIONS = f"""
RUN ...               a run, or a folder of runs
--episodes N [100]    new episodes to play
--task TASK           the task of the run, if it is your own code
{SELECTION}"""


def run(args: Namespace, output: Output) -> None:
    """Score the network of each run."""
    import_from_here(args.task)
    if args.episodes < 1:
        raise ConfigError(
            f"The number of episodes must be at least 1. Got {args.episodes} instead."
        )
    scores = []
    for name, record in load_runs(args.runs).items():
        returns = evaluate(record, args.episodes, task=args.task, **selection(args))
        student = record.student(**selection(args))
        moment = "the champion" if record.is_evolved else f"episode {student.episode}"
        what = f"{record.plan.task.id}, {student.n_parameters} parameters, {moment} of {name}"
        scores.append((what, returns, held_out_likeness(record.plan.task, returns)))
    print_scores(scores, output)
