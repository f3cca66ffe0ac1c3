"""`smgrnn report`: what it writes, what it prints, and what it refuses."""

import json
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from smgrnn.errors import ConfigError
from smgrnn_paper.report import contents
from support.commands import Command, call, refused
from support.fabricated import filled

pytestmark = pytest.mark.xdist_group("report")

NAME = "task-difficulty"
ASKED = ("report", NAME, "--seeds", 1, "--episodes", 4)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(contents, "draw", lambda *_: Figure())
    folder = tmp_path / "store"
    filled(folder, NAME, seeds=1, episodes=4)
    return folder


def test_the_command_writes_a_page_a_text_and_numbers(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "some" / "report"
    (out / "figures").mkdir(parents=True)
    for name in ("figure-7.png", "mine.png"):  # of these the first is of an earlier report
        (out / "figures" / name).touch()
    call(*ASKED, "--store", store, "--out", out)
    told = capsys.readouterr().out
    assert "4 of 4 runs.\nClaims: " in told
    assert told.endswith(f"The report is in {out / 'index.html'}.\n")
    assert (out / "report.md").is_file()
    found = {path.name for path in (out / "figures").iterdir()}
    assert found == {"figure-7.svg", "mine.png"}
    call(*ASKED, "--store", store, "--out", out, "--json")
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((out / "summary.json").read_text(encoding="utf-8"))


def test_a_report_takes_the_length_of_the_runs_that_there_are(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After `reproduce --smoke` the same seeds and episodes had to be given once more."""
    call("report", NAME, "--store", store, "--out", tmp_path / "report")
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("Short runs: 1 of 10 seeds, 4 of 2000 episodes.")
    assert second == "4 of 4 runs."
    filled(store, NAME, seeds=2, episodes=6)
    words = ("--seeds", 3, "--episodes", 6)
    call("report", NAME, *words, "--store", store, "--out", tmp_path / "report")
    _, second, *_ = capsys.readouterr().out.splitlines()
    assert second == "8 of 12 runs. `smgrnn reproduce` runs what is missing."


def test_a_store_without_such_runs_is_refused(store: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has no finished run of these experiments;"):
        call("report", "frontier", "--store", store, "--out", tmp_path / "report")
    with pytest.raises(ConfigError, match="no finished run of these experiments of 5 episodes;"):
        call("report", NAME, "--episodes", 5, "--store", store, "--out", tmp_path / "report")
    with pytest.raises(ConfigError, match="Did you mean 'task-difficulty-v3'"):
        call("report", "task-dificulty", "--store", store, "--out", tmp_path / "report")
    assert not (tmp_path / "report").exists()


def test_runs_are_shown_by_another_command(smgrnn: Command) -> None:
    sentence = "A report is on experiments. `smgrnn compare runs/mine --out page.html` shows runs."
    assert refused(smgrnn("report", "runs/mine")) == sentence
