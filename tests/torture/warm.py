"""Compiles and loads what every child needs; processes are forked when this is imported."""

import contextlib
import io
import multiprocessing
import multiprocessing.forkserver
import sys
import tempfile
from pathlib import Path

from smgrnn.cli import main
from smgrnn.experiments import execution
from support.runs import teacher

__all__ = ["execution"]


def warm_up(*commands: tuple[str, ...]) -> None:
    """Run commands in this process, which says nothing of them."""
    for words in dict.fromkeys(commands):
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            sys.argv = ["smgrnn", *words]
            with contextlib.redirect_stdout(io.StringIO()):
                main()


def serve_workers() -> None:
    """Start the server that workers of `reproduce` are forked from, for all children at once."""
    multiprocessing.set_forkserver_preload([__name__])
    server = multiprocessing.forkserver._forkserver
    server.ensure_running()
    # A child is not its parent, and could not tell that it runs.
    server.ensure_running = lambda: None  # type: ignore[method-assign]


with tempfile.TemporaryDirectory() as place:
    expert = teacher(Path(place), "CartPole-v1")
    short = ("--episodes", "3", "--held-out", "1", "--quiet", "--preset", "paper")
    warm_up(("distill", "CartPole-v1", "--expert", expert, *short))
