"""The report as a page, a text and numbers: complete, escaped, the same every time."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from smgrnn.batch import AnyCondition, Store
from smgrnn.pages.settings import stated_settings
from smgrnn_paper.commands.report import write_report
from smgrnn_paper.experiments import EXPERIMENTS, choose_experiments
from smgrnn_paper.report import contents
from smgrnn_paper.report.claims import load_claims
from smgrnn_paper.report.contents import Report, Section, build_report
from smgrnn_paper.report.figures import FIGURES as DRAWN
from smgrnn_paper.report.figures import FigureSpec
from smgrnn_paper.report.markdown import FIGURES, markdown
from smgrnn_paper.report.markup import Markup, element, join
from smgrnn_paper.report.page import page
from smgrnn_paper.report.paper import load_paper
from smgrnn_paper.report.pictures import take_picture
from smgrnn_paper.report.results import Results, base_name, short_name
from support.fabricated import fabricate, fill_store

pytestmark = pytest.mark.xdist_group("report")

SEEDS, EPISODES = 2, 8
PAPER = load_paper()


def scribble(*_: object) -> Figure:
    """Stand in for a figure: real ones are drawn, and opened, in the tests of the browser."""
    figure = Figure(figsize=(4, 2))
    figure.subplots().plot([1, 2])
    return figure


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Report]:
    store = Store(tmp_path_factory.mktemp("store"))
    fill_store(store, choose_experiments(seeds=SEEDS, episodes=EPISODES))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contents, "draw", scribble)
        yield build_report(Results(store, seeds=SEEDS, episodes=EPISODES))


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
        self.words.append(data)


def test_the_page_is_well_formed_and_its_links_lead_somewhere(report: Report) -> None:
    read = Reader(page(report))
    assert read.open == []
    assert len(read.ids) == len(set(read.ids))
    assert {link.removeprefix("#") for link in read.links} <= set(read.ids)


def test_the_page_asks_for_nothing_from_outside(report: Report) -> None:
    read = Reader(page(report))
    assert all(address.startswith(("data:", "#")) for address in read.addresses)
    assert "http" not in page(report).replace("http-equiv", "")


@pytest.mark.parametrize("write", [page, markdown])
def test_every_table_figure_claim_and_experiment_is_shown(report: Report, write: Any) -> None:
    text = write(report)
    shown = " ".join(Reader(text).words) if write is page else text
    for name in PAPER.tables:
        assert f"Table {name}. " in shown
    for name in PAPER.figures:
        assert f"Fig. {name}" in shown
    for claim in load_claims().values():
        assert claim.sentence in shown
    for experiment in EXPERIMENTS.values():
        assert experiment.question in shown
        assert experiment.id in shown


@pytest.mark.parametrize("write", [page, markdown])
def test_every_verdict_is_shown_with_family_test_margin_and_seeds(
    report: Report, write: Any
) -> None:
    text = write(report)
    shown = " ".join(Reader(text).words) if write is page else text
    for part in report.sections:
        for finding in part.findings:
            assert finding.rule in shown
            assert finding.caution in shown


@pytest.mark.parametrize("write", [page, markdown])
def test_claims_that_changed_their_verdict_are_shown(report: Report, write: Any) -> None:
    """Two runs that never ran decide next to nothing, so most of what held or did not changed."""
    found = report.changes
    assert found is not None
    assert found.n_judged == 67
    assert 30 < len(found.changed) <= 34 + 6
    assert found.text in write(report)
    numbers = report.to_dict()["changes"]
    assert (numbers["n_judged"], len(numbers["changed"])) == (67, len(found.changed))


def test_every_number_that_the_paper_prints_is_shown(report: Report) -> None:
    shown = [entry.printed for part in report.sections for t in part.tables for entry in t.entries]
    printed = {(cell.row, cell.column, cell.printed) for cell in shown if cell is not None}
    for table in PAPER.tables.values():
        assert {(cell.row, cell.column, cell.printed) for cell in table.cells} <= printed
    texts = {text for _, _, text in printed}
    assert {stated.printed for stated in PAPER.statements} <= texts


def test_a_name_means_the_same_condition_in_every_experiment() -> None:
    """What a table or a claim names is looked up without saying in which experiment."""
    meanings: dict[tuple[str, str], set[AnyCondition]] = {}
    for experiment in EXPERIMENTS.values():
        for name, condition in experiment.conditions.items():
            place = condition.task, short_name(condition, name)
            meanings.setdefault(place, set()).add(condition)
    assert {place for place, found in meanings.items() if len(found) > 1} == set()


def test_every_figure_is_of_conditions_that_its_experiment_runs() -> None:
    owners = {name: each for each in EXPERIMENTS.values() for name in each.artefacts}
    for figure in PAPER.figures.values():
        if figure.conditions:
            experiment = owners[f"Fig. {figure.id}"]
            names = {short_name(c, name) for name, c in experiment.conditions.items()}
            assert set(figure.conditions) <= names


def test_the_numbers_are_plain_json(report: Report) -> None:
    numbers = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    tables = {table["id"] for table in numbers["tables"]}
    ours = {"baselines", "improvements", "topologies", "grid", "teachers", "early"}
    assert tables == {*PAPER.tables, *ours}
    assert len(numbers["claims"]) == len(load_claims())
    [table] = [table for table in numbers["tables"] if table["id"] == "A.VI"]
    assert table["rows"][0]["labels"] == {"Task": "xor", "Condition": "smgrnn"}
    assert table["rows"][0]["cells"]["n_nodes"]["paper"]["std"] == 2.0
    [claim] = [claim for claim in numbers["claims"] if claim["id"] == "xor-smallest"]
    assert len(claim["parts"]) == 3
    assert 0.0 <= claim["p_for"] <= claim["p_for_corrected"] <= 1.0
    assert numbers["n_runs"] == numbers["n_asked"] == 300
    assert set(numbers["figures"]) == {f"Fig. {name}" for name in PAPER.figures}


def test_the_committed_results_are_of_what_there_is_now() -> None:
    """docs/results has every table, figure, claim and experiment of the registry, and no other."""
    committed = Path(__file__).parents[2] / "docs" / "results" / "summary.json"
    if not committed.exists():
        pytest.skip("The results of the whole set are not committed yet.")
    numbers = json.loads(committed.read_text(encoding="utf-8"))
    assert {table["id"] for table in numbers["tables"]} >= set(PAPER.tables)
    assert {claim["id"] for claim in numbers["claims"]} == set(load_claims())
    assert {experiment["id"] for experiment in numbers["experiments"]} == set(EXPERIMENTS)
    assert set(numbers["figures"]) == {f"Fig. {name}" for name in PAPER.figures}
    assert all(
        (committed.parent / FIGURES / file).is_file() for file in numbers["figures"].values()
    )


def test_the_same_runs_give_the_same_files(report: Report, tmp_path: Path) -> None:
    for name in ("once", "again"):
        write_report(report, tmp_path / name)
    files = sorted(path.relative_to(tmp_path / "once") for path in (tmp_path / "once").rglob("*.*"))
    assert {path.name for path in files} >= {"index.html", "report.md", "summary.json"}
    for path in files:
        assert (tmp_path / "once" / path).read_bytes() == (tmp_path / "again" / path).read_bytes()


def test_the_pictures_of_the_text_are_beside_it(report: Report, tmp_path: Path) -> None:
    write_report(report, tmp_path)
    linked = re.findall(r"!\[.*?\]\((.*?)\)", (tmp_path / "report.md").read_text(encoding="utf-8"))
    assert len(linked) == len(PAPER.figures)
    assert all((tmp_path / path).is_file() for path in linked)


def test_markdown_rows_have_as_many_cells_as_their_headings(report: Report) -> None:
    width = 0
    for line in markdown(report).splitlines():
        if not line.startswith("|"):
            width = 0
            continue
        n_cells = len(re.findall(r"(?<!\\)\|", line))
        width = width or n_cells
        assert n_cells == width, line


def test_missing_runs_are_stated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "draw", lambda *_: None)
    store = Store(tmp_path)
    [experiment] = choose_experiments(["task-difficulty"], seeds=1, episodes=EPISODES)
    fill_store(store, [experiment])
    found = build_report(Results(store, ["task-difficulty"], seeds=3, episodes=EPISODES))
    assert (found.overview.n_runs, found.overview.n_asked) == (4, 12)
    for text in (page(found), markdown(found)):
        assert "8 runs" in text
        assert "xor/smgrnn: 2 runs of 3" in text
        assert "Fig. 7 (Size by difficulty of the task) needs runs that are missing." in text
    assert [part.id for part in found.sections] == ["task-difficulty-v2"]


def test_warnings_of_runs_are_stated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "draw", lambda *_: None)
    store = Store(tmp_path)
    [experiment] = choose_experiments(["final-topologies"], seeds=1, episodes=EPISODES)
    for _, condition, seed in experiment.runs():
        record = replace(fabricate(condition, seed), warnings=("Growth <stopped> at 10 nodes.",))
        store.save(record)
    found = build_report(Results(store, ["final-topologies"], seeds=1, episodes=EPISODES))
    assert "3 runs warned: Growth &lt;stopped&gt; at 10 nodes." in page(found)


def section(report: Report, title: str) -> Section:
    [found] = [part for part in report.sections if part.title == title]
    return found


def test_the_settings_of_each_student_are_those_that_ran(report: Report) -> None:
    """MLPs were said to have one iteration, tanh outputs, no bias, carried states and pruning."""
    found = section(report, "Baseline comparison")
    shared, own = found.shared, {setup.name: setup.own for setup in found.setups}
    assert set(shared) == {"smgrnn", "mlp-100", "mlp-200", "neat", "ndp"}
    for name, bias in (("mlp-100", "True"), ("mlp-100-no-bias", "False"), ("mlp-200", "True")):
        mlp = shared[name.removesuffix("-no-bias")] | own[f"CartPole-v1/{name}"]
        assert (mlp["network.iterations"], mlp["network.output_activation"]) == ("2", "identity")
        assert (mlp["network.carry_state"], mlp["bias"]) == ("False", bias)
        assert (mlp["plasticity.growth"], mlp["plasticity.pruning"]) == ("none", "none")
        assert mlp["first_graph"] == "layered"
        assert not {"plasticity.window", "network.density", "learning.momentum"} & set(mlp)
    growing = shared["smgrnn"]
    assert (growing["network.iterations"], growing["bias"]) == ("1", "False")
    assert (growing["plasticity.window"], growing["plasticity.pruning"]) == ("100", "weak")
    assert shared["neat"]["population"] == "4"  # of 8 candidates in all


def test_a_setting_that_differs_is_stated_where_it_differs(report: Report) -> None:
    """XOR was said to have learned by cross-entropy."""
    found = section(report, "Task difficulty")
    own = {setup.name: setup.own for setup in found.setups}
    assert "learning.loss" not in found.shared["smgrnn"]
    assert own["xor/smgrnn"]["learning.loss"] == "mse"
    assert own["CartPole-v1/smgrnn"]["learning.loss"] == "cross_entropy"
    sweeps = section(report, "Hyperparameter sweeps")
    [widest] = [setup for setup in sweeps.setups if setup.name == "Acrobot-v1/window=400"]
    assert widest.own["plasticity.window"] == "400"


@pytest.mark.parametrize("title", ["Baseline comparison", "Task difficulty", "Growth ablation"])
def test_shared_and_own_settings_together_are_the_plan(report: Report, title: str) -> None:
    found = section(report, title)
    experiment = EXPERIMENTS[found.id].scaled(episodes=EPISODES)
    for setup in found.setups:
        condition = experiment.conditions[setup.name]
        stated = [stated_settings(condition.plan(seed)) for seed in range(SEEDS)]
        taught = dict.fromkeys(each["teacher"] for each in stated if "teacher" in each)
        expected = stated[0] | ({"teacher": " / ".join(taught)} if taught else {})
        assert found.shared[setup.student] | setup.own == expected


def test_all_teachers_of_a_condition_are_stated(report: Report) -> None:
    growing = section(report, "Optimizer sensitivity").setups[0]
    taught = growing.own["teacher"].split(" / ")
    assert [each.split(",")[0] for each in taught] == [
        f"shipped CartPole-v1-plain-{seed}" for seed in range(SEEDS)
    ]


def test_a_figure_of_our_own_is_shown_under_its_own_title(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = FigureSpec("mine", scribble, title="Lines of my own", caption="One line.")
    monkeypatch.setitem(DRAWN, "mine", spec)
    [experiment] = choose_experiments(["final-topologies"], seeds=1, episodes=EPISODES)
    mine = replace(experiment, artefacts=("Fig. mine",))
    monkeypatch.setitem(EXPERIMENTS, mine.id, mine)
    store = Store(tmp_path)
    fill_store(store, [mine])
    found = build_report(Results(store, ["final-topologies"], seeds=1, episodes=EPISODES))
    [shown] = found.sections[0].illustrations
    assert (shown.name, shown.file) == ("Lines of my own", "figure-mine.svg")
    assert "![Lines of my own](figures/figure-mine.svg)" in markdown(found)
    read = Reader(page(found))
    assert "lines-of-my-own" in read.ids
    assert "One line." in " ".join(read.words)


def test_the_version_of_an_experiment_is_not_its_name() -> None:
    assert base_name(EXPERIMENTS["growth-ablation-v2"]) == "growth-ablation"


def test_text_is_escaped_and_markup_is_not() -> None:
    assert element("p", "<b>", title='"') == '<p title="&quot;">&lt;b&gt;</p>'
    assert element("p", Markup("<b>")) == "<p><b></p>"
    assert join("&", None) == "&amp;"


def test_a_figure_of_too_many_lines_becomes_dots() -> None:
    lines = take_picture(scribble())
    assert lines.suffix == "svg"
    assert lines.data == take_picture(scribble()).data
    dots = take_picture(scribble(), limit=len(lines.data) - 1)
    assert (dots.suffix, dots.data[:4]) == ("png", b"\x89PNG")


def test_a_report_on_short_runs_says_so_first(report: Report, tmp_path: Path) -> None:
    said = "Short runs: 2 of 5 to 10 seeds, 8 of 500 to 2000 episodes."
    write_report(report, tmp_path)
    assert markdown(report).startswith(f"**{said} ")
    assert json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))["short"] == (
        f"{said} These are not the numbers of the experiments."
    )
    assert next(iter(report.to_dict())) == "short"
    shown = page(report)
    assert shown.index(said) < shown.index("<h1")


def test_a_report_on_whole_runs_has_no_such_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "draw", scribble)
    whole = build_report(Results(Store(tmp_path), ["final-topologies"], seeds=12))
    assert whole.overview.short == ""
    assert markdown(whole).startswith("# ")
    fewer = build_report(Results(Store(tmp_path), ["final-topologies"], seeds=3))
    assert fewer.overview.short.startswith("Short runs: 3 of 10 seeds. ")
