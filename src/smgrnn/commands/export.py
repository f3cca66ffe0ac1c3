"""`smgrnn export`: write a network in another format."""

from argparse import Namespace
from pathlib import Path

from smgrnn.commands.options import SELECTION, selection
from smgrnn.commands.output import Output
from smgrnn.export import FORMATS, export_policy
from smgrnn.export.c import c_name, fixed_bytes
from smgrnn.export.wiring import facts
from smgrnn.policy import BARE
from smgrnn.runs.record import load
from smgrnn.text import quantity

OPTIONS = f"""
RUN                   a run, or a network that SMGrNN.save or Learner.save wrote
--to {{{",".join(FORMATS)}}} !
                      the format
--out FILE            file to write, without its ending (default: the task's name, next to the
                      network)
{SELECTION}"""


def run(args: Namespace, output: Output) -> None:
    """Write the network; print the files and their sizes."""
    source: Path = args.run
    policy = load(source, **selection(args))
    task, folder = policy.task.id, source if source.is_dir() else source.parent
    name = source.stem if task == BARE else c_name(task.split(":")[-1])
    paths = export_policy(policy, args.to, args.out or folder / name)
    files = {str(path): path.stat().st_size for path in paths}
    report = {"format": args.to, "files": files, **facts(policy)}
    lines = [f"{path}: {size} bytes" for path, size in files.items()]
    what = ", ".join(filter(None, (task, policy.student)))
    parameters = quantity(report["n_parameters"], "parameter")
    lines.append(f"{what}: {parameters}, {quantity(policy.graph.n_hidden, 'hidden node')}")
    if args.to == "c":
        report["table_bytes"], report["state_bytes"] = fixed_bytes(policy)
        lines.append(
            "{table_bytes} bytes of constant tables, {state_bytes} bytes of state".format(**report)
        )
    output.result("\n".join(lines), report)
