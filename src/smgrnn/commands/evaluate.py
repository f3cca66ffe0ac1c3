"""`smgrnn evaluate`: score the networks of runs on new episodes."""

from argparse import Namespace

from smgrnn.commands.display import print_scores
from smgrnn.commands.options import SELECTION, import_from_here, selection
from smgrnn.commands.output import Output
from smgrnn.runs.evaluation import evaluate
from smgrnn.runs.folder import load_runs
from smgrnn.runs.metrics import held_out_likeness
from smgrnn.validation import Count, checked

OPTIONS = f"""
RUN ...               a run, or a folder of runs
--episodes N [100]    new episodes to play
--task TASK           the task of the run, if it is your own code
{SELECTION}"""


def run(args: Namespace, output: Output) -> None:
    """Score the network of each run."""
    import_from_here(args.task)
    checked(args.episodes, Count, "--episodes")
    scores = []
    for name, record in load_runs(args.runs).items():
        task, student = record.plan.task, record.student(**selection(args))
        returns = evaluate(record, args.episodes, task=args.task, **selection(args))
        moment = "the champion" if record.is_evolved else f"episode {student.episode}"
        what = f"{task.id}, {student.n_parameters} parameters, {moment} of {name}"
        scores.append((what, returns, held_out_likeness(task, returns)))
    print_scores(scores, output)
