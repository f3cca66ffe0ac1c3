"""Local processes: one dies, and only its own call is lost."""

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from smgrnn.batch import LocalProcesses
from smgrnn.batch.local import WorkerLostError
from smgrnn.errors import ConfigError
from support.trials import PATIENCE, is_alive, wait_for

pytestmark = pytest.mark.xdist_group("experiments")


def fail(sentence: str) -> None:
    raise ConfigError(sentence)


def unpicklable() -> Any:
    return threading.Lock()


def interrupt_self() -> str:
    os.kill(os.getpid(), signal.SIGINT)
    return "still here"


def kill_self() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def wait_until(path: Path) -> int:
    wait_for(path.exists)
    return os.getpid()


def test_calls_return_and_raise_as_they_would_here() -> None:
    with LocalProcesses(1) as processes:
        assert processes.submit(divmod, 7, 2).result() == (3, 1)
        failed = processes.submit(fail, "It is wrong.").exception()
        assert isinstance(failed, ConfigError)
        assert str(failed) == "It is wrong."
        assert "raise ConfigError(sentence)" in failed.__notes__[0]
        assert "cannot pickle" in str(processes.submit(unpicklable).exception())
        with pytest.raises(AttributeError, match="local"):
            processes.submit(lambda: 0).result()
        assert processes.submit(interrupt_self).result() == "still here"


def test_each_process_has_one_thread_for_arithmetic() -> None:
    here = os.environ.get("OMP_NUM_THREADS")
    with LocalProcesses(1) as processes:
        assert processes.submit(os.getenv, "OMP_NUM_THREADS").result() == "1"
    assert os.environ.get("OMP_NUM_THREADS") == here


def test_a_process_that_dies_loses_only_its_own_call(tmp_path: Path) -> None:
    with LocalProcesses(2) as processes:
        lost = processes.submit(time.sleep, PATIENCE)
        wait_for(processes.pids)
        [victim] = processes.pids()
        kept = processes.submit(wait_until, tmp_path / "go")
        waiting = [processes.submit(os.getpid) for _ in range(3)]
        os.kill(victim, signal.SIGKILL)
        with pytest.raises(WorkerLostError, match="died with exit code -9"):
            lost.result()
        (tmp_path / "go").touch()
        assert victim not in {kept.result(), *(future.result() for future in waiting)}


def test_each_process_of_many_that_die_at_once_tells_its_own_exit_code() -> None:
    with LocalProcesses(4) as processes:
        lost = [processes.submit(kill_self) for _ in range(24)]
        assert {str(future.exception()) for future in lost} == {
            "The worker process died with exit code -9."
        }


def test_leaving_by_an_exception_stops_the_processes_at_once() -> None:
    processes = LocalProcesses(2)

    def leave_early() -> None:
        with processes:
            begun = [processes.submit(time.sleep, PATIENCE) for _ in range(2)]
            futures.extend([*begun, processes.submit(time.sleep, PATIENCE)])
            wait_for(lambda: len(processes.pids()) == 2)
            pids.extend(processes.pids())
            raise KeyboardInterrupt

    futures: list[Any] = []
    pids: list[int] = []
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        leave_early()
    assert time.monotonic() - start < PATIENCE / 2
    assert not any(is_alive(pid) for pid in pids)
    assert isinstance(futures[0].exception(), WorkerLostError)
    assert futures[2].cancelled()
