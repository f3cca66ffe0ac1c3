"""The paper's numbers as data: complete, consistent, and with the oddities they are known for."""

from typing import Any

import pytest

from smgrnn.config import RunConfig
from smgrnn_paper.report.paper import Paper, PaperTable, load_paper, parse_printed

CONTROL = {"CartPole-v1": 4 + 2, "Acrobot-v1": 6 + 3, "LunarLander-v3": 8 + 4}
"""Inputs and outputs of each control task."""


@pytest.fixture(scope="module")
def paper() -> Paper:
    return load_paper()


def mean(table: PaperTable, row: str, column: str) -> float:
    value = table.cell(row, column).mean
    assert value is not None
    return value


def test_a_printed_number_is_read_with_its_deviation() -> None:
    printed: dict[str, tuple[Any, Any]] = {
        "-94.0 ± 1.9": (-94.0, 1.9),
        "500.0 ± 0.0": (500.0, 0.0),
        "1e-4": (0.0001, None),
    }
    printed |= dict.fromkeys(("Enabled", "12 ±"), (None, None))
    assert {text: parse_printed(text) for text in printed} == printed


def test_every_table_has_all_its_cells_and_every_figure_its_panels(paper: Paper) -> None:
    cells = {"I": 12, "II": 30, "III": 12, "A.I": 12, "A.II": 12, "A.III": 9}
    cells |= {"A.IV": 18, "A.V": 27, "A.VI": 8}
    assert {id: len(table.cells) for id, table in paper.tables.items()} == cells
    for table in paper.tables.values():
        assert len(table.cells) == len(table.rows) * len(table.columns)
    panels = {"3": 6, "4": 6, "5": 4, "6": 6, "7": 2, "8": 3, "A.1": 4, "A.2": 6}
    assert {id: len(figure.panels) for id, figure in paper.figures.items()} == panels


def test_the_same_number_is_printed_wherever_it_appears_again(paper: Paper) -> None:
    """Rows of the standard network appear in four tables, and Table II in the text of its section.

    Adam at 0.01 is the exception: Tables A.I and A.II ran it twice.
    """
    seen: dict[tuple[str, str, str], set[tuple[float | None, float | None]]] = {}
    for table in paper.tables.values():
        for row in table.rows:
            for column in table.columns:
                if row.task and row.condition:
                    condition = "smgrnn" if row.condition == "n_hidden=0" else row.condition
                    cell = table.cell(row.name, column.name)
                    place = seen.setdefault((row.task, condition, column.name), set())
                    place.add((cell.mean, cell.std))
    for statement in paper.statements:
        place = seen.setdefault((statement.task, statement.condition, statement.metric), set())
        place.add((statement.mean, statement.std))
    several = {where: numbers for where, numbers in seen.items() if len(numbers) > 1}
    # Table A.IV prints sizes without the deviations that Table A.VI has.
    assert set(several) == {(task, "smgrnn", "n_nodes") for task in CONTROL}
    assert several["CartPole-v1", "smgrnn", "n_nodes"] == {(30.3, None), (30.3, 5.6)}


def test_what_the_paper_calls_hidden_nodes_are_all_nodes(paper: Paper) -> None:
    """Without growth there is no hidden node, and yet the sizes are 6, 9 and 12."""
    table = paper.tables["A.IV"]
    for task, n_fixed in CONTROL.items():
        assert mean(table, f"{task}/static", "n_nodes") == n_fixed


def test_net_growth_is_counted_from_after_the_first_episode(paper: Paper) -> None:
    """Size less growth is more than what the network starts with, most of all on Acrobot."""
    table, missing = paper.tables["A.VI"], {}
    for task, n_fixed in CONTROL.items():
        size, growth = (
            mean(table, f"{task}/smgrnn", name) for name in ("n_nodes", "net_growth_nodes")
        )
        missing[task] = round(size - growth - n_fixed, 1)
    assert missing == {"CartPole-v1": 0.1, "Acrobot-v1": 3.1, "LunarLander-v3": 2.8}


@pytest.mark.parametrize("name", ["density", "n_hidden", "iterations", "episodes", "activation"])
def test_the_settings_of_the_preset_are_those_stated(paper: Paper, name: str) -> None:
    config = RunConfig.for_task("CartPole-v1", preset="paper")
    owner: Any = config.network if hasattr(config.network, name) else config
    assert getattr(owner, name) == paper.settings[name].value
