"""What more than one file of tests is given."""

import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from smgrnn.cli import main
from support.browser import Browser, find_browser
from support.commands import Command, Said


def pytest_collection_finish() -> None:
    """Leave what is imported by now out of garbage collections: each took a third of a second."""
    gc.freeze()


@pytest.fixture
def smgrnn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    """Return the command line as a function, at work in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])  # which the command extends by that folder

    def run(*arguments: object) -> Said:
        monkeypatch.setattr(sys, "argv", ["smgrnn", *map(str, arguments)])
        code: Any = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        return Said(code, *capsys.readouterr())

    return run


@pytest.fixture
def own_modules() -> Iterator[None]:
    """Forget after a test the tasks that it registered and the modules that it imported."""
    tasks, modules = dict(gym.registry), set(sys.modules)
    yield
    gym.registry.clear()
    gym.registry.update(tasks)
    for name in set(sys.modules) - modules:
        if getattr(sys.modules[name], "__file__", None) and name.startswith("my_"):
            del sys.modules[name]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Return a browser, or skip the test where there is none."""
    with Browser(find_browser(), tmp_path_factory.mktemp("profile")) as found:
        yield found
