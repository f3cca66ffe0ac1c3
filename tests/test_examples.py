"""The examples and the README do what they say."""

import importlib.util
import re
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import FancyArrowPatch

from smgrnn.graph.drawing import OUTLINE

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/exporting.md", "docs/viewing.md")
BLOCKS = [
    (page, number, block)
    for page in PAGES
    for number, block in enumerate(
        re.findall(r"^```python[^\n]*\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)
    )
]


def example(name: str) -> ModuleType:
    """Load a file of examples/, which is not a package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_xor_is_learned_from_no_hidden_node_by_a_small_network() -> None:
    outcomes = [example("xor").learn_xor(seed) for seed in range(10)]
    assert sum(outcome.learned for outcome in outcomes) >= 9
    assert median(outcome.graph.n_nodes for outcome in outcomes) <= 40
    assert all(outcome.graph.n_hidden >= 1 for outcome in outcomes if outcome.learned)


def test_relay_insertion_draws_an_edge_and_the_relay_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "figure.svg"
    before, after = example("relay_insertion").main(str(path)).axes
    assert path.read_text().count("</svg>") == 1

    def drawn(ax: Any) -> tuple[list[str], int, list[str]]:
        (nodes,) = ax.collections
        kinds = {colour: kind for kind, colour in OUTLINE.items()}
        outlines = [kinds[to_hex(colour)] for colour in nodes.get_edgecolors()]
        arrows = [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]
        return outlines, len(arrows), [text.get_text() for text in ax.texts]

    assert drawn(before) == (["input", "output"], 1, ["$i$", "$j$"])
    assert drawn(after) == (["input", "output", "hidden"], 3, ["$i$", "$j$", "$h$"])
    assert after.get_title() == "after inserting a relay"


def test_every_page_shows_python() -> None:
    assert {page for page, _, _ in BLOCKS} == set(PAGES)


@pytest.mark.parametrize(
    ("page", "block"),
    [(page, block) for page, _, block in BLOCKS],
    ids=[f"{page}-{number}" for page, number, _ in BLOCKS],
)
def test_every_python_block_of_a_page_runs(
    page: str, block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(block, page, "exec"), {"__name__": "__main__"})
