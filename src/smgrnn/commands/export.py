"""`smgrnn export`: write a network in another format."""

from argparse import Namespace
from pathlib import Path
from typing import Any

from smgrnn.commands.options import SELECTION, import_from_here, selection
from smgrnn.commands.output import Output
from smgrnn.errors import ConfigError
from smgrnn.export import CODE, FORMATS, NUMBERS, STYLES, controller_of, export
from smgrnn.export.c import Body, c_name
from smgrnn.export.program import Controller
from smgrnn.export.trial import find_place, try_beside
from smgrnn.export.wiring import facts
from smgrnn.policy import BARE, Policy
from smgrnn.runs.record import load
from smgrnn.text import quantity
from smgrnn.validation import Count, checked

OPTIONS = f"""
RUN                   a run, or a network that SMGrNN.save or Learner.save wrote
--to {{{",".join(FORMATS)}}} !
                      the format
--type {{{",".join(NUMBERS)}}} [float]
                      numbers of C and MicroPython: floats, or integers with weights of 16 or 8 bits
--scores              a step also gives the value of each output, of which it chooses the largest
--self-test           a third file of C, which replays recorded steps on the board
--min-return RETURN   refuse integers whose mean return on new episodes is lower
--held-out N [100]    new episodes that judge integers beside floats
--task TASK           the task of the run, if it is your own code
--style {{{",".join(STYLES)}}} [tables]
                      C with tables that a loop reads, or unrolled into straight-line code
--out FILE            file to write, without its ending (default: the task's name, next to the
                      network)
{SELECTION}"""


def run(args: Namespace, output: Output) -> None:
    """Write the network; print the files and their sizes."""
    source: Path = args.run
    policy = load(source, **selection(args))
    task, folder = policy.task.id, source if source.is_dir() else source.parent
    name = source.stem if task == BARE else c_name(task.split(":")[-1])
    out, judged = args.out or folder / name, dict[str, Any]()
    chosen, is_float = policy, args.type == "float"
    if args.to in CODE:
        import_from_here(args.task)
        chosen = controller_of(policy, args.type, style=args.style, task=args.task)
        judged = {} if is_float else _judged(policy, chosen, args)
    if is_float and args.min_return is not None:
        raise ConfigError("--min-return judges integers; add --type q15 or --type q7.")
    options = {"scores": args.scores, "self_test": args.self_test, "task": args.task}
    paths = export(chosen, out, to=args.to, type=args.type, **options)
    files = {str(path): path.stat().st_size for path in paths}
    report = {"format": args.to, "files": files, **facts(policy), **judged}
    lines = [f"{path}: {size} bytes" for path, size in files.items()]
    what = ", ".join(filter(None, (task, policy.student)))
    parameters = quantity(report["n_parameters"], "parameter")
    lines.append(f"{what}: {parameters}, {quantity(policy.graph.n_hidden, 'hidden node')}")
    if isinstance(chosen, Controller):
        program, body = chosen.program, Body(chosen)
        report |= {"weights": program.n_weights, "constants": program.n_constants}
        report |= {"table_bytes": body.table_bytes, "state_bytes": body.state_bytes}
        lines.append("{weights} weights + {constants} constants".format(**report))
        if args.to != "micropython":
            lines.append(
                f"{body.table_bytes} bytes of constant tables, {body.state_bytes} bytes of state, "
                f"at most {body.stack_bytes} bytes of stack"
            )
    if judged:
        lines.append(
            "return on new episodes: {return:.1f} in {type}, {float_return:.1f} in floats; the "
            "same action on {agreement:.2%} of steps".format(**judged)
        )
    output.result("\n".join(lines), report)


def _judged(policy: Policy, chosen: Controller, args: Namespace) -> dict[str, Any]:
    """Return how integers do beside floats; refuse them if they return too little."""
    place, n = find_place(policy, args.task), checked(args.held_out, Count, "--held-out")
    of_floats, trial = (try_beside(each, policy, place, n) for each in (policy, chosen))
    found = float(trial.returns.mean())
    if args.min_return is not None and found < args.min_return:
        raise ConfigError(
            f"In {args.type} the network returns {found:.1f} on {n} new episodes, less than "
            f"--min-return {args.min_return:g}. Use a wider --type."
        )
    return {
        "type": args.type,
        "return": found,
        "float_return": float(of_floats.returns.mean()),
        "agreement": trial.agreement,
    }
