"""The export formats by name, and how their files are named and written."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from smgrnn.errors import ConfigError
from smgrnn.export.c import c_files
from smgrnn.export.graph_files import graphml_files, json_files
from smgrnn.policy import Policy
from smgrnn.storage import check_new_file, write_file, writing


class Format(NamedTuple):
    """An export format: the function that makes its files, and their suffixes."""

    files: Callable[[Policy, str], dict[str, bytes]]
    """Returns the contents of a policy's files by suffix; takes the policy and the files' stem."""
    suffixes: tuple[str, ...]


def _onnx_files(policy: Policy, stem: str) -> dict[str, bytes]:
    try:
        from smgrnn.export.to_onnx import onnx_files
    except ImportError as error:
        raise ConfigError("ONNX needs a package: pip install 'smgrnn[export]'.") from error
    return onnx_files(policy, stem)


FORMATS = {
    "onnx": Format(_onnx_files, (".onnx",)),
    "c": Format(c_files, (".h", ".c")),
    "graphml": Format(graphml_files, (".graphml",)),
    "json": Format(json_files, (".json",)),
}


def export_policy(policy: Policy, to: str, out: str | Path) -> list[Path]:
    """Write the network of a policy in the format `to` and return the new files.

    Parameters
    ----------
    policy
        A policy, as `smgrnn.load` returns it.
    to
        "onnx", "c", "graphml" or "json".
    out
        The file to write, with or without its suffix; C is a header and a source of that name.

    Examples
    --------
    >>> import smgrnn
    >>> run = smgrnn.distill("xor", episodes=20, out="a-run")
    >>> header, source = export_policy(smgrnn.load("a-run"), "c", "controller.c")
    >>> source.name
    'controller.c'
    """
    out = Path(out)
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
