"""`smgrnn tune` from the command line: what it leaves, and what it refuses."""

import csv
import json
import math
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from smgrnn.config import RunConfig
from support.commands import Command, refused
from support.errands import PATIENCE, wait_for

pytestmark = pytest.mark.xdist_group("experiments")

TINY = ("tune", "CartPole-v1", "--episodes", 2, "--held-out", 2, "--batch", 4, "--seeds", 2)
OVER = ("--over", "gain=1:10:log", "learning.learning_rate=0.001:0.1:log")
HERE = ("--trials", 4, "--jobs", 1, "--out", "study")


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run trials in a thread, as a worker process takes seconds to start."""
    monkeypatch.setattr("smgrnn.commands.tune.find_executor", lambda *_: ThreadPoolExecutor(1))


def test_it_leaves_settings_a_front_and_a_table(smgrnn: Command, tmp_path: Path) -> None:
    """The same command finds it all; settings files used to go that never were on the front."""
    said = smgrnn(*TINY, *OVER, *HERE, "--json")
    assert said.code == 0
    found = json.loads(said.out.splitlines()[-1])
    folder = tmp_path / "study"
    assert (found["trials"], found["settings"]) == (4, "study/settings.toml")
    fronts = {f"{each['trial']}.toml" for each in found["front"]}
    assert {path.name for path in (folder / "front").iterdir()} == fronts
    with (folder / "trials.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["trial"] for row in rows] == list("01234")
    config = RunConfig.for_task("CartPole-v1", preset=folder / "settings.toml")
    assert (config.episodes, config.held_out) == (2, 100)
    assert config.gain == found["best"]["settings"].get("gain", 5.0)

    for name in ("9.toml", "mine.toml"):
        (folder / "front" / name).write_text("")
    again = smgrnn(*TINY, *OVER, *HERE, "--json", "--quiet")
    assert {path.name for path in (folder / "front").iterdir()} == {*fronts, "mine.toml"}
    assert again.err == ""
    after = json.loads(again.out)
    assert (after["runs"], after["found"]) == (0, found["runs"])
    assert after["front"] == found["front"]
    refusal = refused(smgrnn(*TINY, "--over", "gain=1:9", *HERE))
    assert "study holds another study, with another 'over'" in refusal


def _finished(folder: Path) -> list[Path]:
    return list(folder.glob("store/*/*.safetensors"))


def test_the_limit_of_time_stops_runs_under_way_and_the_best_so_far_is_reported(
    smgrnn: Command, tmp_path: Path
) -> None:
    """A search used to end its batch first: three minutes became ten."""
    long = ("tune", "CartPole-v1", "--held-out", 2, "--batch", 4, "--jobs", 1, "--out", "study")
    endless = ("--over", "gain=1:10", "--episodes", 10**6, "--minutes", 0.05)
    start = time.monotonic()
    assert "No run finished in 0.05 minutes." in refused(smgrnn(*long, *endless, "--quiet"))
    assert time.monotonic() - start < PATIENCE
    assert not _finished(tmp_path / "study")


def test_after_ctrl_c_the_best_so_far_is_reported_too(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    words = (
        "tune",
        "CartPole-v1",
        "--held-out",
        "2",
        "--jobs",
        "1",
        "--out",
        str(folder),
        "--json",
    )
    over = ("--over", "gain=1:10", "--episodes", "30", "--seeds", "2", "--trials", "10000")
    process = subprocess.Popen(
        [sys.executable, "-m", "smgrnn", *words, *over], stdout=subprocess.PIPE, cwd=tmp_path
    )
    wait_for(lambda: len(_finished(folder)) > 4)  # the preset has two of them
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=PATIENCE)
    found = json.loads(out)
    assert (process.returncode, found["stopped"]) == (130, True)
    assert (folder / "settings.toml").exists()
    assert found["trials"] == 16 * math.ceil(found["trials"] / 16) > 0


def test_a_folder_of_other_things_is_refused(smgrnn: Command, tmp_path: Path) -> None:
    (tmp_path / "study" / "front").mkdir(parents=True)
    (tmp_path / "study" / "front" / "1.toml").write_text("mine")
    refusal = refused(smgrnn(*TINY, *OVER, *HERE))
    assert "study exists and holds no study. Use another --out." in refusal
    assert [path.name for path in (tmp_path / "study").iterdir()] == ["front"]
    assert (tmp_path / "study" / "front" / "1.toml").read_text() == "mine"


def test_a_floor_that_nothing_reaches_is_told_and_leaves_the_preset(
    smgrnn: Command, tmp_path: Path, in_this_process: None
) -> None:
    said = smgrnn(*TINY, *OVER, *HERE, "--floor", 501)
    assert said.code == 0
    assert "No trial returns 501.0 or more: the settings are those of the preset." in said.out
    assert list((tmp_path / "study" / "front").iterdir()) == []
    config = RunConfig.for_task("CartPole-v1", preset=tmp_path / "study" / "settings.toml")
    assert config == RunConfig.for_task("CartPole-v1", preset="frugal", episodes=2)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((*TINY,), "There is nothing to tune"),
        ((*TINY, "--over", "gain=10:1"), "of numbers that rise"),
        ((*TINY, "--over", "gian=1:10"), "Did you mean 'gain'?"),
        ((*TINY, *OVER, "--trials", 0), "--trials must be an int in [1, inf)"),
        ((*TINY, *OVER, "--minutes", 0), "--minutes must be a float in (0, inf)"),
        ((*TINY, *OVER, "--seeds", 0), "--seeds must be an int in [1, inf)"),
        ((*TINY, *OVER, "--floor", "nan"), "--floor must be a float in (-inf, inf)"),
        ((*TINY, *OVER, "--floor", "inf"), "--floor must be a float in (-inf, inf)"),
        ((*TINY, *OVER, "--jobs", 0), "--jobs must be an int in [1, inf)"),
        ((*TINY, *OVER, "--preset", "missing.toml"), "missing.toml cannot be read"),
        (("tune", "Cartpol-v1", *OVER), "Did you mean"),
        (("tune", *OVER), "Name a task"),
    ],
)
def test_what_is_wrong_is_met_by_one_sentence_and_starts_nothing(
    arguments: tuple[object, ...], sentence: str, smgrnn: Command, tmp_path: Path
) -> None:
    assert sentence in refused(smgrnn(*arguments))
    assert not list(tmp_path.glob("**/store"))
