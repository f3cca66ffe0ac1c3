"""Importing the package is cheap, its public names exist, and its examples are true."""

import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import smgrnn

HEAVY = ("torch", "numba", "scipy", "matplotlib", "networkx", "numpy")


def output_of(code: str) -> str:
    """Run code in a Python that has imported nothing yet."""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return run.stdout.strip()


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        ("import smgrnn", HEAVY),
        ("import smgrnn.cli", HEAVY),
        ("from smgrnn import NetworkConfig, PlasticityConfig, RunConfig", ("torch", "matplotlib")),
        ("from smgrnn import Graph, Learner, UpdateHistory", ("torch", "matplotlib")),
        (
            # scoring a policy took four seconds, of which three were imports that only pages need
            "import smgrnn.commands.evaluate, smgrnn.commands.compare",
            ("torch", "bokeh", "matplotlib"),
        ),
        ("from smgrnn import tasks; tasks.find_task('LunarLander-v3')", ("gymnasium", "torch")),
        (
            "from smgrnn import experts; experts.load_expert('CartPole-v1').action([0] * 4)",
            ("torch",),
        ),
    ],
)
def test_what_is_not_needed_is_not_imported(code: str, heavy: tuple[str, ...]) -> None:
    shown = f"import sys; {code}; print([name for name in {heavy} if name in sys.modules])"
    assert output_of(shown) == "[]"


@pytest.mark.parametrize("name", ["nn", "graph", "engine", "rules", "config", "errors"])
def test_a_subpackage_is_reached_as_an_attribute(name: str) -> None:
    assert output_of(f"import smgrnn; print(smgrnn.{name}.__name__)") == f"smgrnn.{name}"


@pytest.mark.parametrize("name", smgrnn.__all__)
def test_every_public_name_resolves(name: str) -> None:
    value = getattr(smgrnn, name)
    assert value.__name__ == name
    assert value.__doc__
    assert name in dir(smgrnn)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"^module 'smgrnn' has no attribute 'SMGrN'$"):
        _ = smgrnn.SMGrN


def test_the_version_is_that_of_the_distribution() -> None:
    from importlib.metadata import version

    assert smgrnn.__version__ == version("smgrnn")


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


def examples_in(documented: Any) -> list[str]:
    """Return the lines of code that a docstring shows."""
    parsed = doctest.DocTestParser().get_examples(inspect.getdoc(documented) or "")
    return [example.source for example in parsed]


@pytest.mark.parametrize("name", smgrnn.__all__)
def test_every_public_name_has_an_example(name: str) -> None:
    assert examples_in(getattr(smgrnn, name))


CALLED_BY_TORCH = {"SMGrNN.forward", "SMGrNN.extra_repr"}
METHODS = [
    (kind, method)
    for kind in map(smgrnn.__getattr__, smgrnn.__all__)
    for method in vars(kind)
    if inspect.isclass(kind)
    and not method.startswith("_")
    and inspect.isroutine(getattr(kind, method))
    and f"{kind.__name__}.{method}" not in CALLED_BY_TORCH
]


@pytest.mark.parametrize(
    ("kind", "method"), METHODS, ids=[f"{kind.__name__}.{method}" for kind, method in METHODS]
)
def test_every_public_method_is_shown_at_work(kind: type, method: str) -> None:
    shown = examples_in(kind) + examples_in(getattr(kind, method))
    assert f".{method}(" in "".join(shown)
