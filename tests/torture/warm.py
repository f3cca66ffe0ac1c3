"""Compiles and loads what every child needs; processes are forked when this is imported."""

import contextlib
import io
import sys
import tempfile
from pathlib import Path

from smgrnn.cli import main
from support.runs import teacher


def warm_up(*commands: tuple[str, ...]) -> None:
    """Run commands in this process, which says nothing of them."""
    for words in dict.fromkeys(commands):
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            sys.argv = ["smgrnn", *words]
            with contextlib.redirect_stdout(io.StringIO()):
                main()


with tempfile.TemporaryDirectory() as place:
    expert = teacher(Path(place), "CartPole-v1")
    short = ("--episodes", "3", "--held-out", "1", "--quiet", "--preset", "paper")
    warm_up(("distill", "CartPole-v1", "--expert", expert, *short))
