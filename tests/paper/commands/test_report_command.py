"""`smgrnn report`: what it writes, what it prints, and what it refuses."""

import json
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from smgrnn.commands.output import Output
from smgrnn.errors import ConfigError
from smgrnn_paper.commands.report import report_command
from smgrnn_paper.report import contents
from support.commands import Command, refused
from support.fabricated import filled

pytestmark = pytest.mark.xdist_group("report")

NAME = "task-difficulty"


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
    report_command(store, out, [NAME], seeds=1, episodes=4)
    told = capsys.readouterr().out
    assert "4 of 4 runs.\nClaims: " in told
    assert told.endswith(f"The report is in {out / 'index.html'}.\n")
    assert (out / "report.md").is_file()
    assert (out / "figures" / "figure-7.svg").is_file()
    report_command(store, out, [NAME], seeds=1, episodes=4, output=Output(as_json=True))
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((out / "summary.json").read_text(encoding="utf-8"))


def test_a_report_takes_the_length_of_the_runs_that_there_are(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After `reproduce --smoke` the same seeds and episodes had to be given once more."""
    report_command(store, tmp_path / "report", [NAME])
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("Short runs: 1 of 10 seeds, 4 of 2000 episodes.")
    assert second == "4 of 4 runs."
    filled(store, NAME, seeds=2, episodes=6)
    report_command(store, tmp_path / "report", [NAME])
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("Short runs: 2 of 10 seeds, 6 of 2000 episodes.")
    assert second == "8 of 8 runs."
    report_command(store, tmp_path / "report", [NAME], seeds=3, episodes=6)
    _, second, *_ = capsys.readouterr().out.splitlines()
    assert second == "8 of 12 runs. `smgrnn reproduce` runs what is missing."


def test_a_picture_of_an_earlier_report_does_not_stay(store: Path, tmp_path: Path) -> None:
    out = tmp_path / "report"
    (out / "figures").mkdir(parents=True)
    for name in ("figure-7.png", "mine.png"):
        (out / "figures" / name).write_bytes(b"")
    report_command(store, out, [NAME], seeds=1, episodes=4, output=Output(quiet=True))
    found = {path.name for path in (out / "figures").iterdir()}
    assert found == {"figure-1.svg", "figure-2.svg", "figure-7.svg", "mine.png"}


def test_a_store_without_such_runs_is_refused(store: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has no finished run of these experiments;"):
        report_command(store, tmp_path / "report", ["frontier"])
    with pytest.raises(ConfigError, match="no finished run of these experiments of 5 episodes;"):
        report_command(store, tmp_path / "report", [NAME], episodes=5)
    with pytest.raises(ConfigError, match="Did you mean 'task-difficulty-v2'"):
        report_command(store, tmp_path / "report", ["task-dificulty"])
    assert not (tmp_path / "report").exists()


def test_runs_are_shown_by_another_command(smgrnn: Command) -> None:
    sentence = "A report is on experiments. `smgrnn compare runs/mine --out page.html` shows runs."
    assert refused(smgrnn("report", "runs/mine")) == sentence
