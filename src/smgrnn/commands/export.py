"""What `smgrnn export` does and prints."""

import json
from pathlib import Path
from typing import Any

from smgrnn.export.c import c_name
from smgrnn.export.controller import Controller
from smgrnn.export.formats import write_controller
from smgrnn.export.sizes import COMPILE, Sizes, measure
from smgrnn.runs import load


def export_command(run: Path, to: str, out: Path | None, *, best: bool, as_json: bool) -> None:
    """Write the student of a run in another format and say what was written."""
    policy = load(run, best=best)
    controller = Controller.of(policy)
    name = c_name(policy.task.id.split(":")[-1])
    paths = write_controller(controller, to, run / name if out is None else out)
    sizes = measure(controller, paths[-1]) if to == "c" else None
    if as_json:
        print(json.dumps(_report(controller, to, paths, sizes)))
        return
    for path in paths:
        print(f"{path}: {path.stat().st_size} bytes")
    print(_describe(controller))
    if sizes is not None:
        print(_describe_sizes(sizes))


def _report(
    controller: Controller, to: str, paths: list[Path], sizes: Sizes | None
) -> dict[str, Any]:
    files = {str(path): path.stat().st_size for path in paths}
    figures = {} if sizes is None else sizes._asdict()
    return {"format": to, "files": files, **controller.facts, **figures}


def _describe(controller: Controller) -> str:
    n_parameters, n_hidden = controller.n_parameters, controller.graph.n_hidden
    return (
        f"{controller.task.id}, {controller.student}: {n_parameters} parameters, "
        f"{n_hidden} hidden nodes"
    )


def _describe_sizes(sizes: Sizes) -> str:
    what = f"{sizes.table_bytes} bytes of constant tables, {sizes.state_bytes} bytes of state"
    if sizes.compiled_bytes is None:
        return f"{what}; no C compiler was found to measure the code with"
    return f"{what}, {sizes.compiled_bytes} bytes of code and constants by {' '.join(COMPILE)}"
