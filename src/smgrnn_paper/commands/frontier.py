"""`smgrnn frontier`: return against parameters of runs."""

from argparse import Namespace

from smgrnn.commands.output import Output

OPTIONS = """
[RUN ...]             runs, or folders of runs (default: those of the experiment `frontier`)
--store FOLDER [results/store]
                      folder of finished runs, where the experiment's are
--out FILE            also draw a picture, an .svg or a .png
--task TASK           show the runs on this task only
"""


def run(args: Namespace, output: Output) -> None:
    """Print the table, and draw the picture."""
    from smgrnn_paper.report.frontier import frontier_command

    frontier_command(args.runs, args.store, args.out, args.task, output)
