"""`smgrnn export`: write the student of a run in another format."""

from pathlib import Path
from typing import Any

from smgrnn.commands.flags import Which
from smgrnn.commands.output import Output
from smgrnn.export.c import c_name
from smgrnn.export.formats import export_policy
from smgrnn.export.sizes import COMPILE, CodeSize, measure
from smgrnn.export.wiring import facts, n_parameters
from smgrnn.policy import BARE, Policy
from smgrnn.runs import load
from smgrnn.text import quantity


def export_command(
    run: Path, to: str, out: Path | None, which: Which = Which(), output: Output = Output()
) -> None:
    """Write the student of a run in another format and say what was written."""
    policy = load(run, **vars(which))
    folder, name = run if run.is_dir() else run.parent, c_name(policy.task.id.split(":")[-1])
    if policy.task.id == BARE:
        name = run.stem
    paths = export_policy(policy, to, folder / name if out is None else out)
    sizes = measure(policy, paths[-1]) if to == "c" else None
    output.result(_describe(policy, paths, sizes), _report(policy, to, paths, sizes))


def _describe(policy: Policy, paths: list[Path], sizes: CodeSize | None) -> str:
    what = ", ".join(filter(None, (policy.task.id, policy.student)))
    lines = [f"{path}: {path.stat().st_size} bytes" for path in paths]
    parameters = quantity(n_parameters(policy), "parameter")
    lines.append(f"{what}: {parameters}, {quantity(policy.graph.n_hidden, 'hidden node')}")
    return "\n".join(lines if sizes is None else [*lines, _describe_sizes(sizes)])


def _report(policy: Policy, to: str, paths: list[Path], sizes: CodeSize | None) -> dict[str, Any]:
    files = {str(path): path.stat().st_size for path in paths}
    figures = {} if sizes is None else sizes._asdict()
    return {"format": to, "files": files, **facts(policy), **figures}


def _describe_sizes(sizes: CodeSize) -> str:
    what = f"{sizes.table_bytes} bytes of constant tables, {sizes.state_bytes} bytes of state"
    if sizes.compiled_bytes is None:
        return f"{what}; {sizes.obstacle}"
    return f"{what}, {sizes.compiled_bytes} bytes of code and constants by {' '.join(COMPILE)}"
