"""The export formats by name, and how their files are named and written."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from smgrnn.errors import ConfigError, needs
from smgrnn.export.c import c_files
from smgrnn.export.graph_files import graphml_files, json_files
from smgrnn.policy import Policy, policy_of
from smgrnn.storage import check_new_file, write_file, writing


class Format(NamedTuple):
    """An export format: the function that makes its files, and their suffixes."""

    files: Callable[[Policy, str], dict[str, bytes]]
    """Returns the contents of a policy's files by suffix; takes the policy and the files' stem."""
    suffixes: tuple[str, ...]


def _onnx_files(policy: Policy, stem: str) -> dict[str, bytes]:
    with needs("ONNX"):
        from smgrnn.export.to_onnx import onnx_files
    return onnx_files(policy, stem)


FORMATS = {
    "onnx": Format(_onnx_files, (".onnx",)),
    "c": Format(c_files, (".h", ".c")),
    "graphml": Format(graphml_files, (".graphml",)),
    "json": Format(json_files, (".json",)),
}


def export_policy(
    network: Any, to: str, out: str | Path, *, is_choice: bool | None = None
) -> list[Path]:
    """Write a network in the format `to` and return the new files.

    Parameters
    ----------
    network
        A policy, as `smgrnn.load` returns it, a run, an `SMGrNN` or a `Learner`.
    to
        "onnx", "c", "graphml" or "json".
    out
        The file to write, with or without its suffix; C is a header and a source of that name.
    is_choice
        Whether the largest output of a bare network is the action, or all of them are; by default
        as its loss says, and of an `SMGrNN` the largest, unless there is but one.

    Examples
    --------
    >>> import smgrnn
    >>> run = smgrnn.distill("xor", episodes=20, out="a-run")
    >>> header, source = export_policy(smgrnn.load("a-run"), "c", "controller.c")
    >>> source.name
    'controller.c'
    >>> [file.name for file in export_policy(smgrnn.SMGrNN(4, 2), "json", "own")]
    ['own.json']
    """
    out, policy = Path(out), policy_of(network, is_choice=is_choice)
    if to not in FORMATS:
        raise ConfigError(f"There is no export format {to!r}; choose from {', '.join(FORMATS)}.")
    files, suffixes = FORMATS[to]
    stem = out.stem if out.suffix in suffixes else out.name
    paths = {suffix: out.with_name(stem + suffix) for suffix in suffixes}
    for path in paths.values():
        check_new_file(path)
    contents = files(policy, stem)
    for suffix, path in paths.items():
        with writing(path):
            write_file(path, contents[suffix])
    return list(paths.values())
