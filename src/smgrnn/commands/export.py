"""`smgrnn export`: write the selected network of a run in another format."""

from pathlib import Path

from smgrnn.commands.flags import Which
from smgrnn.commands.output import Output
from smgrnn.export.c import COMPILE, c_name, measure
from smgrnn.export.formats import export_policy
from smgrnn.export.wiring import facts, n_parameters
from smgrnn.policy import BARE
from smgrnn.runs import load
from smgrnn.text import quantity


def export_command(
    run: Path, to: str, out: Path | None, which: Which = Which(), output: Output = Output()
) -> None:
    """Write a network of a run in another format; print the files and their sizes."""
    policy = load(run, **vars(which))
    task, folder = policy.task.id, run if run.is_dir() else run.parent
    name = run.stem if task == BARE else c_name(task.split(":")[-1])
    paths = export_policy(policy, to, folder / name if out is None else out)
    files = {str(path): path.stat().st_size for path in paths}
    report = {"format": to, "files": files, **facts(policy)}
    lines = [f"{path}: {size} bytes" for path, size in files.items()]
    what = ", ".join(filter(None, (task, policy.student)))
    parameters = quantity(n_parameters(policy), "parameter")
    lines.append(f"{what}: {parameters}, {quantity(policy.graph.n_hidden, 'hidden node')}")
    if to == "c":
        sizes = measure(policy, paths[-1])
        report |= sizes._asdict()
        text = f"{sizes.table_bytes} bytes of constant tables, {sizes.state_bytes} bytes of state"
        if sizes.compiled_bytes is None:
            lines.append(f"{text}; {sizes.obstacle}")
        else:
            code = f"{sizes.compiled_bytes} bytes of code and constants"
            lines.append(f"{text}, {code} by {' '.join(COMPILE)}")
    output.result("\n".join(lines), report)
