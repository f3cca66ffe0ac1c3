"""`smgrnn view`: for every kind of run a page, for wrong input one sentence, and films."""

import re
import sys
import webbrowser
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from smgrnn import Run, distill
from smgrnn.errors import ConfigError
from smgrnn.names import LONGEST, Names
from smgrnn.runs.record import Record
from smgrnn.runs.start import new_run
from smgrnn.view import film, write_page
from smgrnn.view.page import page
from smgrnn.view.recording import Film
from smgrnn.view.timeline import Timeline
from smgrnn_paper import evolve
from support.commands import Command, call, refused
from support.runs import RULES, settings, trained


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("runs")
    trained(found)
    return found / "run"


def test_the_page_is_written_into_the_run_folder_beside_a_file_or_elsewhere(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "kept.safetensors"
    replace(Record.load(folder), resume=None).save(file)
    for words, place in (
        ([folder], folder / "growth.html"),
        ([file], tmp_path / "kept.html"),
        ([folder, "--out", tmp_path / "a.html"], tmp_path / "a.html"),
    ):
        call("view", *words, "--no-open")
        assert capsys.readouterr().out.split() == [str(place)]
        assert "CartPole-v1, smgrnn, seed 0" in place.read_text(encoding="utf-8")
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize(("opens", "is_terminal"), [(True, True), (True, False), (False, True)])
def test_the_page_is_opened_for_a_person_at_a_terminal_only(
    folder: Path, monkeypatch: pytest.MonkeyPatch, opens: bool, is_terminal: bool
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal, raising=False)
    call("view", folder, *[] if opens else ["--no-open"])
    assert opened == ([(folder / "growth.html").as_uri()] if opens and is_terminal else [])


def test_every_kind_of_run_has_a_page(tmp_path: Path) -> None:
    for student in ("static", "growth-only", "mlp-100"):
        run = trained(tmp_path, name=student, student=student, episodes=4)
        text = page(Record.load(tmp_path / student))
        assert f"CartPole-v1, {student}, seed 0" in text
        assert f"({run.final.graph.n_hidden:,} hidden)" in text
        assert 'id="notices"></div>' in text
    xor = page(distill("xor", seed=0).record)
    assert '"bias"' in xor
    assert "kept no weights on the way" in xor  # it has no folder
    champion = evolve("CartPole-v1", method="neat", rollouts=40, population=20, held_out=1)
    assert "This network was evolved" in page(champion.record)


@pytest.mark.parametrize("n", [0, 10])
def test_the_page_of_an_interrupted_run_shows_what_there_is_and_says_so(
    tmp_path: Path, n: int
) -> None:
    def interrupt(run: Run) -> None:
        raise KeyboardInterrupt

    run = new_run("CartPole-v1", settings(tmp_path), tmp_path / "run")
    run.begin()
    if n:
        with pytest.raises(KeyboardInterrupt):
            run.train(interrupt)
    record = Record.load(tmp_path / "run")
    assert f"interrupted after {n} of 30 episodes" in page(record)
    if not n:
        with pytest.raises(ConfigError, match="nothing to record"):
            film(record, tmp_path / "a.gif")


def test_the_page_ends_with_the_student_that_is_asked_for(tmp_path: Path) -> None:
    run = trained(tmp_path, select="return", seed=5)
    given = run.selected
    assert given.episode < 30
    call("view", tmp_path / "run", "--no-open")
    text = (tmp_path / "run" / "growth.html").read_text(encoding="utf-8")
    assert f"{given.episode} episodes, " in text
    assert f"and {given.n_parameters} edges." in text
    assert f"This is the network of episode {given.episode} of 30." in text
    assert "interrupted" not in text
    call("view", tmp_path / "run", "--no-open", "--final")
    text = (tmp_path / "run" / "growth.html").read_text(encoding="utf-8")
    assert f"and {run.final.graph.n_edges} edges." in text
    assert "This is the network of" not in text


@pytest.mark.parametrize("interval", [20, "episode"])
def test_the_timeline_to_a_student_ends_with_its_graph(tmp_path: Path, interval: int | str) -> None:
    rules = {**RULES, "interval": interval}
    record = trained(tmp_path, select="return", seed=5, plasticity=rules).record
    for student in (*record.checkpoints, record.final):
        cut, graph = record.until(student), student.policy.graph
        timeline = Timeline.of(cut)
        last = timeline.frame(int(timeline.ends[-1]))
        assert timeline.edges.id[last.edges].tolist() == sorted(graph.edge_ids.tolist())
        assert timeline.nodes.n == len(np.unique(timeline.nodes.id))
        weight = dict(zip(graph.edge_ids.tolist(), graph.weight.tolist(), strict=True))
        ids = timeline.edges.id[last.edges].tolist()
        assert last.weight.tolist() == [weight[id] for id in ids]
        assert cut.episodes.n_edges[-1] == graph.n_edges


def test_a_film_has_frames_and_is_small(folder: Path, tmp_path: Path) -> None:
    call("view", folder, "--out", tmp_path / "a.html", "--record", tmp_path / "a.gif")
    with Image.open(tmp_path / "a.gif") as image:
        frames = getattr(image, "n_frames", 1)
        assert image.size == (600, 400)
        last = image.convert("RGB")
        image.seek(frames - 1)
        assert image.convert("RGB").tobytes() != last.tobytes()
    assert frames > 20
    assert (tmp_path / "a.gif").stat().st_size < 1_200_000  # all of its edges change all the time


def test_the_names_in_a_film_are_whole_or_cut_at_their_ends(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = Record.load(folder)
    inputs, long = ("a", "b", "c", "angular velocity"), "W" * LONGEST
    for outputs in (("left", "right"), (long, "$right$")):
        monkeypatch.setattr(record.selected.policy, "names", Names(inputs, outputs))
        picture = Film(record).draw(0)
        texts = picture.axes[0].texts
        assert [each.get_text() for each in texts[:-2]] == list(inputs)
        assert texts[-1].get_text() == outputs[1]
        assert re.fullmatch("left|W{9,}…", texts[-2].get_text())
        edges = [each.get_window_extent() for each in texts]
        assert min(each.x0 for each in edges) > 0
        assert max(each.x1 for each in edges) < picture.bbox.width


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nowhere"], "There is no run folder nowhere."),
        (["."], "There is no run here."),
        (["{folder}", "--record", "a.png"], "A film is a .gif file. Got a.png instead."),
        (["{folder}", "--out", "no/a.html"], "no/a.html cannot be written"),
        (
            ["{folder}", "--live", "--final"],
            "--live follows the run as it trains and takes no other option.",
        ),
        (["a.safetensors", "--live"], "--live needs the folder of a run."),
    ],
)
def test_wrong_input_is_refused_with_one_sentence(
    folder: Path, tmp_path: Path, smgrnn: Command, words: list[str], sentence: str
) -> None:
    assert sentence in refused(smgrnn("view", *(word.format(folder=folder) for word in words)))
    assert list(tmp_path.iterdir()) == []


def test_names_from_a_file_cannot_write_markup(folder: Path, tmp_path: Path) -> None:
    """A task's id comes from the folder, which may be a stranger's."""
    record = Record.load(folder)
    task = replace(record.plan.task, id="<b>&")
    write_page(replace(record, plan=replace(record.plan, task=task)), tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "<b>&" not in text.split("<script")[0]
    assert "&lt;b&gt;&amp;" in text
