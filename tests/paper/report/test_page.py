"""The report as a page, a text and numbers: complete, escaped, the same every time."""

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from smgrnn.batch import AnyCondition, Store
from smgrnn_paper.commands.report import write_report
from smgrnn_paper.experiments import EXPERIMENTS
from smgrnn_paper.report import contents
from smgrnn_paper.report.claims import load_claims
from smgrnn_paper.report.contents import Report, build_report
from smgrnn_paper.report.first_page import findings
from smgrnn_paper.report.markdown import markdown
from smgrnn_paper.report.page import Page, Points
from smgrnn_paper.report.paper import WORDS, load_paper
from smgrnn_paper.report.results import Results, base_name, short_name
from smgrnn_paper.report.verdicts import judge
from support.fabricated import filled

pytestmark = pytest.mark.xdist_group("report")

SEEDS, EPISODES = 2, 8
MOST_WORDS = 15_000
PAPER = load_paper()


def scribble(*_: object) -> Figure:
    """Stand in for a figure: real ones are drawn, and opened, in the tests of the browser."""
    figure = Figure(figsize=(4, 2))
    figure.subplots().plot([1, 2])
    return figure


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Report]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contents, "draw", scribble)
        folder = tmp_path_factory.mktemp("store")
        yield build_report(filled(folder, seeds=SEEDS, episodes=EPISODES))


class Reader(HTMLParser):
    """Checks that elements are closed in order, and collects ids, links and text."""

    VOID = ("meta", "link", "img", "br", "wbr")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self.addresses: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found["href"]] if tag == "a" else []
        self.addresses += [found[name] for name in ("src", "href") if name in found]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.words.append(data)


def test_the_page_is_whole_and_asks_for_nothing_from_outside(report: Report) -> None:
    text = report.page.html()
    read = Reader(text)
    assert read.open == []
    assert len(read.ids) == len(set(read.ids))
    assert {link.removeprefix("#") for link in read.links} <= set(read.ids)
    assert all(address.startswith(("data:", "#")) for address in read.addresses)
    assert "http" not in text.replace("http-equiv", "")


@pytest.mark.parametrize("write", [Page.html, markdown])
def test_every_table_figure_claim_and_experiment_is_shown(report: Report, write: Any) -> None:
    text = write(report.page)
    shown = "".join(Reader(text).words) if write is Page.html else text
    for name in PAPER.tables:
        assert f"Table {name}. " in shown
    for name in PAPER.figures:
        assert f"Fig. {name}" in shown
    for claim in load_claims().values():
        assert claim.sentence in shown
        assert claim.hardly_fails in shown
    for experiment in EXPERIMENTS.values():
        assert experiment.question in shown
        assert experiment.id in shown


def test_a_report_on_every_experiment_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables of tables had come to 39,000 words in Markdown, and to 87,000 on the page."""
    monkeypatch.setattr(contents, "draw", scribble)
    names = ("all", "beyond", "frontier")
    found = build_report(filled(tmp_path, *names, seeds=1, episodes=EPISODES))
    for text in (" ".join(Reader(found.page.html()).words), markdown(found.page)):
        assert 5_000 < len(text.split()) < MOST_WORDS


def test_findings_are_sentences_with_the_numbers_of_the_runs(tmp_path: Path) -> None:
    def figures(condition: AnyCondition, seed: int) -> dict[str, Any]:
        return {"late_return": {"smgrnn": 120.0, "static": 110.0}[condition.variant] + seed}

    results = filled(tmp_path, "growth-ablation", seeds=SEEDS, episodes=4, figures=figures)
    judged = judge([load_claims()["growth-lifts-return"]], results)
    [points] = findings(judged, results, PAPER)
    assert isinstance(points, Points)
    told = {word: (text, verdicts) for word, text, verdicts in points.items}
    assert set(told) == {"Return.", "Growth."}  # those whose runs are there
    text, [(verdict, about)] = told["Growth."]
    assert text.startswith("Without growth, networks return 110.5, 110.5 and 110.5.")
    assert "deviation over seeds is 0.5, 0.5 and 0.5" in text
    assert "The paper prints 497.7, −94.0 and 207.6." in told["Return."][0]
    assert (verdict.text, about) == (judged[0].standing, judged[0].claim.sentence)


def test_every_claim_of_a_finding_exists() -> None:
    named = [id for item in WORDS["findings"]["items"] for id in item["claims"]]
    assert set(named) <= load_claims().keys()
    assert len(WORDS["findings"]["items"]) == 5


def test_every_number_that_the_paper_prints_is_shown(report: Report) -> None:
    shown = {
        (table["id"], name, cell["paper"]["printed"])
        for table in report.numbers["tables"]
        for row in table["rows"]
        for name, cell in row["cells"].items()
        if "paper" in cell
    }
    for table in PAPER.tables.values():
        cells = table.cells.values()
        assert {(table.id, cell.metric, cell.printed) for cell in cells} <= shown
    assert {stated.printed for stated in PAPER.statements} <= {text for *_, text in shown}


def test_a_name_means_the_same_condition_in_every_experiment() -> None:
    """What a table or a claim names is looked up without saying in which experiment."""
    meanings: dict[tuple[str, str], set[AnyCondition]] = {}
    for experiment in EXPERIMENTS.values():
        for name, condition in experiment.conditions.items():
            place = condition.task, short_name(condition, name)
            meanings.setdefault(place, set()).add(condition)
    assert {place for place, found in meanings.items() if len(found) > 1} == set()
    assert base_name(EXPERIMENTS["growth-ablation-v3"]) == "growth-ablation"


def test_the_numbers_are_plain_json(report: Report) -> None:
    numbers = json.loads(json.dumps(report.numbers, allow_nan=False))
    tables = {table["id"]: table for table in numbers["tables"]}
    assert tables.keys() > PAPER.tables.keys()
    assert len(numbers["claims"]) == len(load_claims())
    assert next(iter(numbers)) == "short"
    [claim] = [claim for claim in numbers["claims"] if claim["id"] == "xor-smallest"]
    assert len(claim["parts"]) == 3
    assert 0.0 <= claim["p"]["holds"] <= claim["p_corrected"]["holds"] <= 1.0
    assert sum(numbers["likeness"].values()) == sum(numbers["distances"].values())
    assert {len(it) for it in numbers["evidence"].values()} == {len(numbers["standings"])}
    assert numbers["n_runs"] == numbers["n_asked"] == 318


def test_the_same_runs_give_the_same_files(report: Report, tmp_path: Path) -> None:
    for name in ("once", "again"):
        write_report(report, tmp_path / name)
    files = sorted(path.relative_to(tmp_path / "once") for path in (tmp_path / "once").rglob("*.*"))
    assert {path.name for path in files} >= {"index.html", "report.md", "summary.json"}
    for path in files:
        assert (tmp_path / "once" / path).read_bytes() == (tmp_path / "again" / path).read_bytes()
    text = (tmp_path / "once" / "report.md").read_text(encoding="utf-8")
    linked = re.findall(r"!\[.*?\]\((.*?)\)", text)
    assert len(linked) == len(PAPER.figures)
    assert all((tmp_path / "once" / path).is_file() for path in linked)


def test_missing_runs_are_stated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "draw", lambda *_: None)
    short = filled(tmp_path, "task-difficulty", seeds=1, episodes=EPISODES)
    damaged = short.find("xor", "smgrnn").condition.key(0)
    short.store.path(damaged).write_bytes(b"half a record")
    found = build_report(Results(Store(tmp_path), ["task-difficulty"], seeds=3, episodes=EPISODES))
    assert (found.numbers["n_runs"], found.numbers["n_asked"]) == (3, 12)
    assert len(found.numbers["damaged"]) == 1
    for text in (found.page.html(), markdown(found.page)):
        assert "9 runs missing" in text
        assert "Files that could not be read" in text
        shown = "".join(Reader(text).words) if text.startswith("<!") else text.replace(" | ", "")
        assert "task-difficulty-v39 of 12" in shown
        assert "Fig. 7 (Size by difficulty of the task) needs runs that are missing." in text


def test_the_settings_of_each_student_are_those_that_ran(report: Report) -> None:
    """MLPs were said to have one iteration, tanh outputs, no bias, carried states and pruning."""
    experiments = {each["id"]: each for each in report.numbers["experiments"]}
    shared = experiments["baseline-comparison-v3"]["settings"]
    assert set(shared) == {"smgrnn", "mlp-100", "mlp-200", "neat", "ndp"}
    mlp = shared["mlp-200"]
    assert (mlp["network.iterations"], mlp["network.output_activation"]) == ("2", "identity")
    assert (mlp["network.carry_state"], mlp["network.bias"]) == ("False", "True")
    assert (mlp["plasticity.growth"], mlp["plasticity.pruning"]) == ("none", "none")
    assert not {"plasticity.window", "network.density", "learning.momentum"} & set(mlp)
    growing = shared["smgrnn"]
    assert (growing["network.iterations"], growing["network.bias"]) == ("1", "False")
    assert (growing["plasticity.window"], growing["plasticity.pruning"]) == ("100", "weak")
    assert shared["neat"]["population"] == "4"  # of 8 candidates in all
