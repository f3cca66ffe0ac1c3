"""`smgrnn report`: what it writes, what it prints, and what it refuses."""

import json
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from smgrnn.commands.report import report_command
from smgrnn.errors import ConfigError
from smgrnn.experiments import Store, choose_experiments
from smgrnn.report import contents
from support.fabricated import fill_store

pytestmark = pytest.mark.xdist_group("report")

NAME = "task-difficulty"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(contents, "draw", lambda *_: Figure())
    folder = tmp_path / "store"
    fill_store(Store(folder), choose_experiments([NAME], seeds=1, episodes=4))
    return folder


def test_the_command_writes_a_page_a_text_and_numbers(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "some" / "report"
    report_command(store, out, [NAME], seeds=1, episodes=4, as_json=True)
    printed, told = capsys.readouterr()
    assert json.loads(printed) == json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert "4 of 4 runs.\nClaims: " in told
    assert told.endswith(f"The report is in {out / 'index.html'}.\n")
    assert (out / "report.md").is_file()
    assert (out / "figures" / "figure-7.svg").is_file()


def test_a_picture_of_an_earlier_report_does_not_stay(store: Path, tmp_path: Path) -> None:
    out = tmp_path / "report"
    (out / "figures").mkdir(parents=True)
    for name in ("figure-7.png", "mine.png"):
        (out / "figures" / name).write_bytes(b"")
    report_command(store, out, [NAME], seeds=1, episodes=4, is_quiet=True)
    found = {path.name for path in (out / "figures").iterdir()}
    assert found == {"figure-1.svg", "figure-2.svg", "figure-7.svg", "mine.png"}


def test_quiet_is_quiet(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report_command(store, tmp_path / "report", [NAME], seeds=1, episodes=4, is_quiet=True)
    assert capsys.readouterr() == ("", "")


def test_what_is_missing_is_told(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report_command(store, tmp_path / "report", [NAME], seeds=3, episodes=4)
    assert "4 of 12 runs. `smgrnn reproduce` runs what is missing." in capsys.readouterr().err


@pytest.mark.parametrize("names", [[NAME], ["all"]])
def test_a_store_without_such_runs_is_refused(
    store: Path, tmp_path: Path, names: list[str]
) -> None:
    with pytest.raises(ConfigError, match="has no finished run of these experiments"):
        report_command(store, tmp_path / "report", names)
    assert not (tmp_path / "report").exists()


def test_an_unknown_experiment_is_refused(store: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Did you mean 'task-difficulty-v1'"):
        report_command(store, tmp_path / "report", ["task-dificulty"])
