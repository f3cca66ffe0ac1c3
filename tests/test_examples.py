"""The examples and the README do what they say."""

import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import FancyArrowPatch

from smgrnn.graph.drawing import OUTLINE

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/exporting.md", "docs/your-own-task.md")


def blocks(page: str, language: str) -> list[str]:
    """Return the blocks of a page in a language."""
    pattern = rf"^```{language}[^\n]*\n(.*?)^```"
    return re.findall(pattern, (ROOT / page).read_text(), re.M | re.S)


BLOCKS = [(page, n, block) for page in PAGES for n, block in enumerate(blocks(page, "python"))]


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
    page: str, block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_modules: None
) -> None:
    save_files(page, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    exec(compile(block, page, "exec"), {"__name__": "__main__"})


def save_files(page: str, folder: Path) -> None:
    """Save the blocks of a page that begin with the name of a file."""
    for block in blocks(page, "python"):
        if named := re.match(r"# (\w+\.py)\n", block):
            (folder / named[1]).write_text(block)


def test_every_command_for_a_task_of_one_s_own_works(tmp_path: Path) -> None:
    page = "docs/your-own-task.md"
    save_files(page, tmp_path)
    commands = [line for block in blocks(page, "console") for line in block.splitlines()]
    assert len(commands) == 7
    for command in commands:
        program, *arguments = shlex.split(command)
        path = Path(sys.executable).with_name(program)  # of this environment
        done = subprocess.run(
            [path, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"
    assert (tmp_path / "my-run" / "dock_v0.c").exists()


def test_a_ppo_policy_for_pendulum_is_distilled_into_a_few_dozen_parameters() -> None:
    """The short form of the table in docs/your-own-task.md."""
    pendulum = example("pendulum_from_ppo")
    outcome = pendulum.distil(pendulum.EXPERT, seed=10, episodes=200, held_out=20)
    assert outcome.share >= 0.9
    assert outcome.n_parameters <= 100
