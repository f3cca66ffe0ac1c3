"""Odd settings and files are refused by one sentence, or do no harm."""

from pathlib import Path
from random import Random

import pytest

from torture.children import GOOD
from torture.inputs import Kind, make_kinds, outcome, try_file, try_settings

pytestmark = [pytest.mark.xdist_group("torture"), pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("odd")


@pytest.fixture(scope="module")
def kinds(folder: Path) -> list[Kind]:
    return make_kinds(folder)


@pytest.mark.parametrize("seed", range(60))
def test_odd_settings_are_refused_or_run(seed: int, folder: Path) -> None:
    found = outcome(lambda: try_settings(Random(seed), folder))
    assert found.outcome in GOOD, found.detail


@pytest.mark.parametrize("seed", range(150))
def test_a_file_that_is_odd_in_a_place_or_two_is_refused_or_used(
    seed: int, kinds: list[Kind], folder: Path
) -> None:
    found = outcome(lambda: try_file(kinds, Random(seed), folder))
    assert found.outcome in GOOD, found.detail
