"""The report in a real browser: it opens from disk, its pictures load, its tables sort and fold."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from smgrnn.batch import Store
from smgrnn.runs import distill
from smgrnn_paper.experiments import choose_experiments
from smgrnn_paper.report.claims import load_claims
from smgrnn_paper.report.paper import load_paper
from support.browser import Browser, find_browser
from support.commands import call
from support.fabricated import fill_store
from support.runs import trained

pytestmark = pytest.mark.xdist_group("report")

SEEDS, EPISODES = 2, 40
DESKTOP, PHONE = (1280, 900), (390, 844)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(find_browser(), tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    fill_store(Store(folder / "store"), choose_experiments(seeds=SEEDS, episodes=EPISODES))
    words = ("--seeds", SEEDS, "--episodes", EPISODES, "--quiet")
    call("report", "--store", folder / "store", "--out", folder, *words)
    return folder / "index.html"


@pytest.fixture
def desktop(browser: Browser, page: Path) -> Browser:
    browser.resize(*DESKTOP)
    browser.open(page)
    return browser


@pytest.fixture
def phone(browser: Browser, page: Path) -> Browser:
    browser.resize(*PHONE)
    browser.open(page)
    return browser


def column(browser: Browser, table: str, index: int) -> list[str]:
    """Return the texts of a column, in the order in which they are shown."""
    found = browser.evaluate(
        f"[...document.querySelectorAll('{table} table')[0].tBodies[0].rows]"
        f".map(row => row.cells[{index}].innerText.split('\\n')[0])"
    )
    return [str(text) for text in found]


def test_all_pictures_load(desktop: Browser) -> None:
    sizes = desktop.evaluate("[...document.images].map(image => image.naturalWidth)")
    assert len(sizes) == len(load_paper().figures)
    assert min(sizes) > 100


def test_nothing_is_complained_about_and_nothing_is_fetched(desktop: Browser, page: Path) -> None:
    assert desktop.complaints == []
    asked_for = {url for url in desktop.requests if not url.startswith("data:")}
    assert asked_for <= {"about:blank", page.as_uri()}


def test_a_complaint_would_be_noticed(desktop: Browser) -> None:
    desktop.evaluate("console.error('here'); setTimeout(() => { throw new Error('there'); })")
    desktop.evaluate("fetch('https://example.com').catch(() => 0)")
    desktop.settle()
    told = " ".join(desktop.complaints)
    assert "here" in told
    assert "there" in told
    assert "Content Security Policy" in told
    desktop.complaints.clear()


def test_a_header_sorts_its_column_up_and_down(desktop: Browser) -> None:
    table, nodes = "#table-a-vi", 3
    started = column(desktop, table, nodes)
    press = f"document.querySelectorAll('{table} thead button')[2].click()"  # after the two labels
    desktop.evaluate(press)
    numbers = [float(text.split(" ")[0]) for text in column(desktop, table, nodes)]
    assert numbers == sorted(numbers)
    desktop.evaluate(press)
    falling = [float(text.split(" ")[0]) for text in column(desktop, table, nodes)]
    assert falling == sorted(falling, reverse=True)
    assert sorted(started) == sorted(column(desktop, table, nodes))
    state = f"document.querySelectorAll('{table} thead th')[3].getAttribute('aria-sort')"
    assert desktop.evaluate(state) == "descending"


def test_negative_numbers_sort_below_positive_ones(desktop: Browser) -> None:
    desktop.evaluate(
        "document.querySelectorAll('#table-ii table')[0].tBodies[0].rows[3].cells[3]"
        ".querySelector('.first').textContent = '−94.0 ± 1'"
    )
    desktop.evaluate("document.querySelectorAll('#table-ii thead button')[2].click()")
    first = "document.querySelectorAll('#table-ii table')[0].tBodies[0].rows[0].cells[3]"
    assert desktop.evaluate(f"{first}.innerText").startswith("−94.0")


def test_a_long_table_folds_and_unfolds(desktop: Browser) -> None:
    table = "#growing-fixed-and-evolved-networks"
    shown = (
        f"[...document.querySelectorAll('{table} table')[0].tBodies[0].rows]"
        ".filter(row => row.offsetHeight > 0).length"
    )
    assert desktop.evaluate(shown) == 12
    desktop.evaluate(f"document.querySelector('{table} .more').click()")
    assert desktop.evaluate(shown) == 21
    desktop.evaluate(f"document.querySelector('{table} .more').click()")
    assert desktop.evaluate(shown) == 12


def test_a_short_table_does_not_fold(desktop: Browser) -> None:
    assert desktop.evaluate("document.querySelector('#table-a-vi .sheet > .more')") is None


def test_claims_can_be_filtered_by_their_verdict(desktop: Browser) -> None:
    rows = "[...document.querySelectorAll('table.filtered > tbody > tr')]"
    shown = f"{rows}.filter(e => e.offsetHeight > 0).length"
    buttons = "document.querySelectorAll('.filter button')"
    n_buttons = desktop.evaluate(f"{buttons}.length")
    assert n_buttons >= 2  # all, and at least one verdict
    counts = [desktop.evaluate(f"{buttons}[{i}].click(); {shown}") for i in range(n_buttons)]
    assert counts[0] == sum(counts[1:]) == len(load_claims())
    assert 0 not in counts


@pytest.mark.parametrize("opened", [False, True])
def test_nothing_is_wider_than_a_phone(phone: Browser, opened: bool) -> None:
    if opened:
        phone.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true; })")
    width = phone.evaluate("document.documentElement.scrollWidth")
    assert width <= PHONE[0]


def test_no_table_has_to_be_moved_sideways_on_a_phone(phone: Browser) -> None:
    phone.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true; })")
    hidden = phone.evaluate(
        "[...document.querySelectorAll('table')].map(e => e.closest('.scroll'))"
        ".map(e => e.scrollWidth - e.clientWidth)"
    )
    assert len(hidden) > 50
    assert max(hidden) == 0


@pytest.mark.parametrize("opened", [False, True])
def test_nothing_is_wider_than_a_desktop(desktop: Browser, opened: bool) -> None:
    if opened:
        desktop.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true; })")
    assert desktop.evaluate("document.documentElement.scrollWidth") <= DESKTOP[0]


def test_all_columns_of_tables_on_runs_are_seen_on_a_desktop(
    browser: Browser, tmp_path: Path
) -> None:
    folders = [tmp_path / f"CartPole-v1-smgrnn-{seed}" for seed in range(3)]
    for number, folder in enumerate(folders[:2], 1):
        distill("CartPole-v1", episodes=number, held_out=2, seed=number, out=folder)
    trained(tmp_path, name=folders[2].name, episodes=3)  # by another teacher
    page = tmp_path / "compared.html"
    call("compare", *folders, "--out", page, "--quiet", "--no-open")
    assert "shipped CartPole-v1-smooth, SHA-256" in page.read_text(encoding="utf-8")
    browser.resize(*DESKTOP)
    browser.open(page)
    hidden = browser.evaluate(
        "[...document.querySelectorAll('.sheet > .scroll')].map(e => e.scrollWidth - e.clientWidth)"
    )
    assert hidden == [0, 0]


def test_text_on_a_phone_is_large_enough_to_read(phone: Browser) -> None:
    smallest = phone.evaluate(
        "Math.min(...[...document.querySelectorAll('p, td, th, li, span')]"
        ".filter(e => e.offsetHeight > 0 && e.textContent.trim())"
        ".map(e => parseFloat(getComputedStyle(e).fontSize)))"
    )
    assert smallest >= 12
