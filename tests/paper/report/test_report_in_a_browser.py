"""The report in a real browser: it opens from disk, its pictures load, its tables sort and fold."""

from pathlib import Path

import pytest

from smgrnn_paper.report.paper import load_paper
from support.browser import Browser
from support.commands import call
from support.fabricated import filled

pytestmark = pytest.mark.xdist_group("report")

SEEDS, EPISODES = 2, 40
DESKTOP, PHONE = (1280, 900), (390, 844)


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    filled(folder / "store", seeds=SEEDS, episodes=EPISODES)
    words = ("--seeds", SEEDS, "--episodes", EPISODES, "--quiet")
    call("report", "--store", folder / "store", "--out", folder, *words)
    return folder / "index.html"


@pytest.fixture
def desktop(browser: Browser, page: Path) -> Browser:
    browser.resize(*DESKTOP)
    browser.open(page)
    return browser


def test_all_pictures_load_and_nothing_is_complained_about_or_fetched(
    desktop: Browser, page: Path
) -> None:
    sizes = desktop.evaluate("[...document.images].map(image => image.naturalWidth)")
    assert len(sizes) == len(load_paper().figures)
    assert min(sizes) > 100
    assert desktop.complaints == []
    asked_for = {url for url in desktop.requests if not url.startswith("data:")}
    assert asked_for <= {"about:blank", page.as_uri()}


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_nothing_is_wider_than_the_window_nor_too_small_to_read(
    browser: Browser, page: Path, size: tuple[int, int]
) -> None:
    browser.resize(*size)
    browser.open(page)
    for script in ("0", "document.querySelectorAll('details').forEach(e => { e.open = true; })"):
        browser.evaluate(script)
        assert browser.evaluate("document.documentElement.scrollWidth") <= size[0]
    hidden = browser.evaluate(
        "[...document.querySelectorAll('table')].map(e => e.closest('.scroll'))"
        ".map(e => e.scrollWidth - e.clientWidth)"
    )
    assert len(hidden) > 30
    assert size == DESKTOP or max(hidden) == 0  # no table has to be moved sideways
    smallest = browser.evaluate(
        "Math.min(...[...document.querySelectorAll('p, td, th, li, span')]"
        ".filter(e => e.offsetHeight > 0 && e.textContent.trim())"
        ".map(e => parseFloat(getComputedStyle(e).fontSize)))"
    )
    assert smallest >= (12 if size == PHONE else 10)


def column(browser: Browser, table: str, index: int) -> list[str]:
    """Return the texts of a column, in the order in which they are shown."""
    found = browser.evaluate(
        f"[...document.querySelectorAll('{table} table')[0].tBodies[0].rows]"
        f".map(row => row.cells[{index}].innerText.split('\\n')[0])"
    )
    return [str(text) for text in found]


def test_a_header_sorts_its_column_up_and_down(desktop: Browser) -> None:
    """Numbers go by value, with their own minus sign; without one, ten would come before two."""
    table, nodes = "#table-a-vi", 2
    first = f"document.querySelectorAll('{table} table')[0].tBodies[0].rows[0].cells[2]"
    desktop.evaluate(f"{first}.querySelector('.first').textContent = '−94.0 ± 1'")
    started = column(desktop, table, nodes)
    press = f"document.querySelectorAll('{table} thead button')[2].click()"  # after the two labels
    desktop.evaluate(press)
    shown = [text.replace("−", "-") for text in column(desktop, table, nodes)]
    numbers = [float(text.split(" ")[0]) for text in shown]
    assert numbers[0] == -94
    assert numbers == sorted(numbers)
    desktop.evaluate(press)
    assert column(desktop, table, nodes)[::-1] == [text.replace("-", "−") for text in shown]
    assert sorted(started) == sorted(column(desktop, table, nodes))
    state = f"document.querySelectorAll('{table} thead th')[2].getAttribute('aria-sort')"
    assert desktop.evaluate(state) == "descending"
