"""`smgrnn compare`, `list RUNS_FOLDER` and `evaluate` of several runs: what they tell of runs."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from smgrnn import Run
from smgrnn.batch import Condition
from smgrnn.pages.comparison import comparison_page, group_named, student_quantile
from smgrnn.runs.folder import RunFolder
from smgrnn.runs.record import Record
from smgrnn.runs.start import new_run
from support.browser import Browser, find_browser
from support.commands import Command, refused
from support.fabricated import fabricate
from support.runs import settings, trained

pytestmark = pytest.mark.xdist_group("compare")

RETURNS = {"slow-0": 400.0, "slow-1": 410.0, "fast": 450.0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of three runs, two of which differ in nothing but their seed."""
    found = tmp_path_factory.mktemp("runs")
    for name, seed, rate in (("slow-0", 0, 0.01), ("slow-1", 1, 0.01), ("fast", 0, 0.02)):
        run = trained(found, name=name, seed=seed, learning={"learning_rate": rate})
        held_out = RETURNS[name] + np.array([-1.0, 1.0])
        home = RunFolder(found / name)
        with home.owned():
            home.save(replace(run.record, held_out=held_out))
    return found


def test_runs_are_told_side_by_side_and_seeds_as_one(folder: Path, smgrnn: Command) -> None:
    said = smgrnn("compare", folder / "slow-0", folder / "slow-1", folder / "fast")
    assert (said.code, said.err) == (0, "")
    head, slow, fast, *_ = said.out.splitlines()
    assert head.split()[:3] == ["CartPole-v1", "Preset", "Runs"]
    assert slow.startswith(f"{folder / 'slow'} ")
    # 405 over two runs that are 10 apart: 12.7062 standard errors of 5 to either side.
    assert "405.0 [341.5, 468.5]" in slow
    # 450 over two episodes that are 2 apart.
    assert "450.0 [437.3, 462.7]" in fast
    assert f"learning.learning_rate: 0.01 ({folder / 'slow'});" in said.out.replace("\n    ", " ")
    assert " %" in slow
    assert max(map(len, said.out.splitlines()[:3])) <= len(str(folder)) + 75


def test_a_folder_of_runs_stands_for_all_of_them(folder: Path, smgrnn: Command) -> None:
    told = json.loads(smgrnn("compare", folder, "--json").out)
    assert [(it["name"], it["seeds"]) for it in told["groups"]] == [
        (str(folder / "fast"), [0]),
        (str(folder / "slow"), [0, 1]),
    ]
    assert told["groups"][1]["held_out"]["each"] == [400, 410]
    assert told["groups"][1]["held_out"]["mean"] == 405
    assert 0 < told["groups"][0]["late_agreement"] < 1
    assert told["settings"] == {
        "learning.learning_rate": {str(folder / "fast"): "0.02", str(folder / "slow"): "0.01"}
    }


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_has_the_table_and_the_curves(
    folder: Path, smgrnn: Command, tmp_path: Path, theme: str
) -> None:
    said = smgrnn("compare", folder, "--out", "compared.html")
    assert said.out.splitlines()[-1] == "The page is compared.html."
    with Browser(find_browser(), tmp_path / "profile") as browser:
        browser.resize(1280, 900)
        browser.prefer(theme)
        browser.open(tmp_path / "compared.html")
        text = browser.evaluate("document.body.innerText")
        assert "405.0 [341.5, 468.5]" in text
        assert "learning.learning_rate" in text
        n_pictures = "[...document.images].filter(each => each.naturalWidth > 300).length"
        assert browser.evaluate(n_pictures) == 1
        shade = browser.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (shade == "rgb(255, 255, 255)") == (theme == "light")
        assert browser.complaints == []


@pytest.mark.parametrize("n", [1, 2, 3, 4, 9, 10, 99, 1000])
def test_intervals_are_students(n: int) -> None:
    assert student_quantile(n) == pytest.approx(stats.t.ppf(0.975, n), rel=1e-12)


def test_names_of_strangers_are_text_on_the_page() -> None:
    """A run is named by its path, and a record names its task."""
    name = "<img src=x> | \x1b[31m $x^ y$"
    record = fabricate(Condition.distill("CartPole-v1", preset="paper", episodes=8), 0)
    task = replace(record.plan.task, id="<b>$\\bad{$</b>")
    groups = group_named({name: replace(record, plan=replace(record.plan, task=task))})
    text = comparison_page(groups)
    assert not any(each in text for each in ("<img src=x", "<b>$", "\x1b"))


def test_a_run_under_way_is_compared_by_what_there_is(
    folder: Path, smgrnn: Command, tmp_path: Path
) -> None:
    new_run("CartPole-v1", settings(tmp_path), tmp_path / "begun").begin()
    said = smgrnn("compare", tmp_path / "begun", folder / "fast", "--out", "compared.html")
    assert said.code == 0
    assert (tmp_path / "compared.html").is_file()
    begun = said.out.splitlines()[1]
    assert begun.split()[3:5] == ["–", "–"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nowhere"], "There is no run folder nowhere."),
        (["."], "No runs found. Name run folders, or a folder of runs."),
        (["{folder}", "--out", "a.png"], "A page is an .html file. Got a.png instead."),
    ],
)
def test_what_cannot_be_compared_is_refused(
    folder: Path, smgrnn: Command, words: list[str], sentence: str
) -> None:
    said = smgrnn("compare", *(word.format(folder=folder) for word in words))
    assert refused(said) == sentence


def test_the_runs_of_a_folder_are_listed_with_how_far_they_came(
    folder: Path, smgrnn: Command, tmp_path: Path
) -> None:
    def stop(run: Run) -> None:
        raise KeyboardInterrupt

    stopped = new_run("CartPole-v1", settings(tmp_path), tmp_path / "deep" / "stopped")
    with pytest.raises(KeyboardInterrupt):
        stopped.train(stop)
    Record.load(folder / "fast").save(tmp_path / "fast.safetensors")
    (tmp_path / "fast").mkdir()
    (tmp_path / "fast.safetensors").rename(tmp_path / "fast" / "model.safetensors")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "model.safetensors").write_bytes(b"?")
    said = smgrnn("list", tmp_path)
    head, broken, deep, fast = said.out.splitlines()
    assert head.split()[:3] == ["run", "task", "student"]
    assert "cannot be read" in broken
    assert deep.startswith("deep/stopped  CartPole-v1  smgrnn   0     10 of 30  interrupted")
    assert fast.split()[4:7] == ["30", "finished", "450"]
    with RunFolder(tmp_path / "fast").owned():
        listed = json.loads(smgrnn("list", tmp_path, "--json").out)
    assert [each["state"] for each in listed[1:]] == ["interrupted", "under way"]


def test_a_folder_without_runs_says_so(smgrnn: Command, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert smgrnn("list", "empty").out == "There are no runs in empty.\n"
    assert refused(smgrnn("list", "nowhere")) == "There is no folder nowhere."
