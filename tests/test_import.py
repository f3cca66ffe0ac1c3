"""Importing the package is cheap, its public names exist, and its doctests pass."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import smgrnn
from support.commands import python

HEAVY = ("torch", "numba", "scipy", "matplotlib", "networkx", "numpy")


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        ("import smgrnn.cli", HEAVY),
        (
            "import smgrnn; assert smgrnn.rules.__name__ == 'smgrnn.rules'  # as an attribute\n"
            "from smgrnn import Graph, Learner, experts\n"
            "experts.load_expert('CartPole-v1').action([0] * 4)",
            ("torch", "matplotlib"),
        ),
        (
            # scoring a policy took four seconds, of which three were imports that only pages need
            "import smgrnn.commands.evaluate, smgrnn.commands.compare",
            ("torch", "bokeh", "matplotlib"),
        ),
        ("from smgrnn import tasks; tasks.find_task('LunarLander-v3')", ("gymnasium", "torch")),
    ],
)
def test_what_is_not_needed_is_not_imported(code: str, heavy: tuple[str, ...]) -> None:
    shown = f"import sys; {code}\nprint([name for name in {heavy} if name in sys.modules])"
    done = python("-c", shown, folder=Path.cwd())
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize("name", smgrnn.__all__)
def test_every_public_name_resolves(name: str) -> None:
    value = getattr(smgrnn, name)
    assert value.__name__ == name
    assert value.__doc__
    assert name in dir(smgrnn)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"^module 'smgrnn' has no attribute 'SMGrN'$"):
        _ = smgrnn.SMGrN


MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(smgrnn.__path__, prefix="smgrnn.")
    if not module.name.endswith("__main__")  # importing it is running it
)


@pytest.mark.parametrize("name", MODULES)
def test_every_module_says_what_it_is_for_and_its_examples_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # examples that save something may do so
    module = importlib.import_module(name)
    assert module.__doc__
    assert doctest.testmod(module).failed == 0
