"""`smgrnn frontier`: return against parameters of runs."""

from argparse import Namespace

from smgrnn.batch import Store
from smgrnn.commands.compare import describe_table
from smgrnn.commands.options import STORE
from smgrnn.commands.output import Output
from smgrnn.errors import ConfigError, suggest
from smgrnn.plotting import save_figure
from smgrnn.runs.folder import load_runs
from smgrnn_paper.experiments.frontier import FRONTIERS
from smgrnn_paper.report.figures.frontier import draw_groups
from smgrnn_paper.report.frontier import frontier_numbers, frontier_table, group_runs
from smgrnn_paper.report.paper import load_paper
from smgrnn_paper.report.results import describe_shortness, find_results

OPTIONS = """
[RUN ...]             runs, or folders of runs (default: of the experiments `frontier…`)
--store FOLDER [results/store]
                      folder of finished runs, where the experiment's are
--out FILE            also draw a picture, an .svg or a .png
--task TASK           show the runs on this task only
"""
LEFT_OUT = ("std", "nearest_mlp")
"""Columns for which a terminal has no room."""


def run(args: Namespace, output: Output) -> None:
    """Compare runs, or the experiment in a store: print a table or JSON, and draw a picture."""
    paths, store_folder, out, task = args.runs, args.store, args.out, args.task
    if out is not None and out.suffix not in (".svg", ".png"):
        raise ConfigError(f"A picture is an .svg or a .png file. Got {out} instead.")
    lines = []
    if paths:
        if store_folder != STORE:
            raise ConfigError("--store is for the experiment: leave it out where runs are named.")
        records = list(load_runs(paths).values())
        refusal = "None of these runs is finished: only then is a network selected and judged."
    else:
        results = find_results(Store(store_folder), [each.id for each in FRONTIERS])
        records = results.all_records()
        lines.append(describe_shortness(results.chosen))
        refusal = (
            f"{store_folder} has no finished run of the experiment frontier; name runs, or run "
            "`smgrnn reproduce frontier` first."
        )
    groups = group_runs(records)
    if not groups:
        raise ConfigError(refusal)
    if task is not None:
        known = {each.task: None for each in groups}
        if task not in known:
            raise ConfigError(f"There is no run of {task}. {suggest(task, known)}".strip())
        groups = [each for each in groups if each.task == task]
    paper = load_paper()
    numbers = frontier_numbers(groups, paper)
    lines.append(describe_table(frontier_table(groups, numbers), LEFT_OUT))
    if out is not None:
        out.write_bytes(save_figure(draw_groups(groups, paper), out.suffix[1:]))
        lines.append(f"The picture is in {out}.")
    numbers["picture"] = None if out is None else str(out)
    output.result("\n".join(filter(None, lines)), numbers)
