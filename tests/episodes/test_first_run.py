"""A first run has its loops compiled by another process, and no later one has."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from smgrnn.compile_cache import is_missing

import smgrnn
from smgrnn.engine import restructuring
from smgrnn.episodes import first_run
from smgrnn.episodes.rollout import distill_episodes
from smgrnn.kernels import kernel


class Process:
    """A process that was started and may be waited for."""

    def __init__(self, command: list[str], **_: object) -> None:
        self.command, self.was_waited_for = command, False

    def wait(self) -> None:
        self.was_waited_for = True


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Process]]:
    """Every process that is started, on a machine of two cores where nothing is compiled."""
    processes: list[Process] = []

    def start(command: list[str], **options: object) -> Process:
        processes.append(Process(command, **options))
        return processes[-1]

    monkeypatch.setattr(first_run, "Popen", start)
    monkeypatch.setattr(first_run, "is_missing", lambda _: True)
    monkeypatch.setattr(first_run, "usable_cores", lambda: 2)
    yield processes
    first_run._beside.clear()


def test_a_first_run_starts_one_process_and_waits_for_it(started: list[Process]) -> None:
    run = smgrnn.distill("CartPole-v1", episodes=2, held_out=1)
    assert run.episodes.n == 2
    (process,) = started
    assert process.command[-1] == "smgrnn.episodes.first_run"
    assert process.was_waited_for


def test_a_static_student_has_no_rules_to_compile_meanwhile(started: list[Process]) -> None:
    smgrnn.distill("CartPole-v1", student="static", episodes=1, held_out=1)
    assert not started


@pytest.mark.parametrize(
    ("name", "value"),
    [("smgrnn.episodes.first_run.usable_cores", 1), ("multiprocessing.parent_process", "another")],
)
def test_one_core_and_workers_compile_by_themselves(
    started: list[Process], monkeypatch: pytest.MonkeyPatch, name: str, value: object
) -> None:
    monkeypatch.setattr(name, lambda *_: value)
    first_run.compile_loops_beside()
    assert not started


def test_the_process_compiles_the_loops() -> None:
    """Where they are compiled already, it finds them."""
    command = [sys.executable, "-P", "-m", "smgrnn.episodes.first_run"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert not is_missing(distill_episodes)


def test_what_it_compiles_ahead_is_what_an_edit_calls() -> None:
    carrying: Any = restructuring.carry_state
    restructuring.compile_carrying()
    restructuring.RESTRUCTURE.address  # noqa: B018
    assert len(carrying.inner._cache._cache_file._load_index()) == 1  # whoever compiled it


def test_code_that_was_never_compiled_is_missing() -> None:
    @kernel
    def never_called(x: float) -> float:
        return x

    assert is_missing(never_called)
    assert not is_missing(len)
