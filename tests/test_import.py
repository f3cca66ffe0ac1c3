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


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = f"import sys, smgrnn; print([name for name in {HEAVY} if name in sys.modules])"
    assert output_of(code) == "[]"


def test_the_settings_need_no_torch() -> None:
    code = (
        "import sys; from smgrnn import NetworkConfig, PlasticityConfig, SmgrnnError; "
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    assert output_of(code) == "[]"


def test_the_graph_needs_no_torch() -> None:
    code = "import sys; from smgrnn import Graph, UpdateHistory; print('torch' in sys.modules)"
    assert output_of(code) == "False"


def test_a_command_without_pictures_imports_no_library_for_them() -> None:
    """Scoring a policy took four seconds, of which three were imports that only pages need."""
    code = (
        "import sys, smgrnn.commands.evaluate, smgrnn.commands.compare; "
        "print([name for name in ('torch', 'bokeh', 'matplotlib') if name in sys.modules])"
    )
    assert output_of(code) == "[]"


@pytest.mark.parametrize("name", smgrnn.__all__)
def test_every_public_name_resolves(name: str) -> None:
    value = getattr(smgrnn, name)
    assert value.__name__ == name
    assert value.__doc__
    assert name in dir(smgrnn)


@pytest.mark.parametrize("name", ["nn", "graph", "engine", "plasticity", "config", "errors"])
def test_a_subpackage_is_reached_as_an_attribute(name: str) -> None:
    code = f"import smgrnn; print(smgrnn.{name}.__name__)"
    assert output_of(code) == f"smgrnn.{name}"


def test_the_public_names_are_these() -> None:
    assert smgrnn.__all__ == sorted(smgrnn.__all__)
    assert {"GrowthLimitWarning", "Learner", "LearningConfig", "SMGrNN"} <= set(smgrnn.__all__)


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


def test_no_example_is_left_out() -> None:
    """An example that is skipped looks as true as the others."""
    sources = Path(smgrnn.__file__).parent.rglob("*.py")
    assert [path for path in sources if "+SKIP" in path.read_text(encoding="utf-8")] == []
