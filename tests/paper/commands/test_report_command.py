"""`smgrnn report`: what it writes, what it prints, and what it refuses."""

import json
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from smgrnn.batch import Store
from smgrnn.commands.output import Output
from smgrnn.errors import ConfigError
from smgrnn.runs import Record
from smgrnn.text import number
from smgrnn_paper import evolve
from smgrnn_paper.commands.report import report_command
from smgrnn_paper.experiments import choose_experiments
from smgrnn_paper.report import contents
from support.commands import Command, refused
from support.fabricated import fill_store
from support.runs import trained

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
    fill_store(Store(store), choose_experiments([NAME], seeds=2, episodes=6))
    report_command(store, tmp_path / "report", [NAME])
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("Short runs: 2 of 10 seeds, 6 of 2000 episodes.")
    assert second == "8 of 8 runs."


def test_a_picture_of_an_earlier_report_does_not_stay(store: Path, tmp_path: Path) -> None:
    out = tmp_path / "report"
    (out / "figures").mkdir(parents=True)
    for name in ("figure-7.png", "mine.png"):
        (out / "figures" / name).write_bytes(b"")
    report_command(store, out, [NAME], seeds=1, episodes=4, output=Output(quiet=True))
    found = {path.name for path in (out / "figures").iterdir()}
    assert found == {"figure-1.svg", "figure-2.svg", "figure-7.svg", "mine.png"}


def test_quiet_is_quiet(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report_command(
        store, tmp_path / "report", [NAME], seeds=1, episodes=4, output=Output(quiet=True)
    )
    assert capsys.readouterr() == ("", "")


def test_what_is_missing_is_told(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report_command(store, tmp_path / "report", [NAME], seeds=3, episodes=4)
    assert "4 of 12 runs. `smgrnn reproduce` runs what is missing." in capsys.readouterr().out


def test_a_store_without_such_runs_is_refused(store: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has no finished run of these experiments;"):
        report_command(store, tmp_path / "report", ["frontier"])
    with pytest.raises(ConfigError, match="no finished run of these experiments of 5 episodes;"):
        report_command(store, tmp_path / "report", [NAME], episodes=5)
    assert not (tmp_path / "report").exists()


def test_an_unknown_experiment_is_refused(store: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Did you mean 'task-difficulty-v2'"):
        report_command(store, tmp_path / "report", ["task-dificulty"])


# --- on runs of one's own -------------------------------------------------------------------------


@pytest.fixture
def runs(tmp_path: Path) -> list[str]:
    """Return two run folders and a file of the store."""
    trained(tmp_path, name="growing", episodes=4, seed=3)
    trained(tmp_path, name="mlp", student="mlp-100", episodes=4)
    evolve("CartPole-v1", rollouts=8, population=4, held_out=2, out=tmp_path / "evolved")
    record = Record.load(tmp_path / "evolved")
    kept = Store(tmp_path / "kept")
    kept.save(record)
    return [
        *(str(tmp_path / name) for name in ("growing", "mlp")),
        str(kept.path(record.plan.key())),
    ]


def test_a_report_on_runs_states_settings_figures_and_curves(
    runs: list[str], smgrnn: Command, tmp_path: Path
) -> None:
    said = smgrnn("report", *runs, "--json")
    assert said.code == 0
    numbers = json.loads(said.out)
    settings = numbers["experiments"][0]["settings"]
    assert set(settings) == {"smgrnn", "mlp-100", "neat"}
    assert settings["mlp-100"]["network.iterations"] == "2"
    assert numbers["figures"] == {
        "Return, size and agreement over training": "figure-runs.svg",
        "Return against parameters": "figure-frontier.svg",
    }
    *_, table = numbers["tables"]
    shown = [row["cells"]["late_return"]["ours"] for row in table["rows"]]
    late = [Record.load(path).summary()["late_return"] for path in runs]
    assert shown == [number(value, 1) for value in late]
    text = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "paper" not in text.lower()
    for path in runs:
        assert path in text
    words = smgrnn("report", *runs).out
    assert "3 of 3 runs." in words
    assert "Claims" not in words
    assert (tmp_path / "report" / "index.html").is_file()


def test_runs_and_experiments_are_not_mixed(runs: list[str], smgrnn: Command) -> None:
    sentence = "A report is on experiments or on runs; name one or the other."
    assert refused(smgrnn("report", runs[0], NAME)) == sentence
    for flag in (("--seeds", 2), ("--episodes", 2), ("--store", "elsewhere")):
        assert "are for experiments: leave them out" in refused(smgrnn("report", runs[0], *flag))
    assert "leave it out" in refused(smgrnn("frontier", runs[0], "--store", "elsewhere"))


def test_a_run_that_is_not_there_is_refused(smgrnn: Command, tmp_path: Path) -> None:
    assert refused(smgrnn("report", "runs/nowhere")) == "There is no run folder runs/nowhere."
    assert not (tmp_path / "report").exists()
