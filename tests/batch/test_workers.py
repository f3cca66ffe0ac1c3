"""Workers may die: only their own call is lost, and nothing outlives the driver."""

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from smgrnn.batch import LocalProcesses, Store, run_experiments
from smgrnn.batch.runner import is_loss
from smgrnn.errors import ConfigError, MissingPackageError
from smgrnn.workers import Cluster
from support.errands import (
    PATIENCE,
    fail,
    interrupt_self,
    is_alive,
    kill_self,
    tell_and_wait,
    told,
    wait_for,
)
from support.trials import Inline, Replacing, asking, busy, hang_once, results, tiny, without_plan

pytestmark = [
    pytest.mark.xdist_group("experiments"),
    pytest.mark.filterwarnings("ignore:Creating scratch directories"),  # on a busy machine
    pytest.mark.filterwarnings("ignore:A worker was restarted"),  # the same
]

distributed = pytest.importorskip("distributed", reason="no Dask: pip install 'smgrnn[cluster]'")


def test_calls_return_and_raise_as_they_would_here_with_one_thread_for_arithmetic() -> None:
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    here = dict(os.environ)
    with LocalProcesses(1) as processes:
        assert {processes.submit(os.getenv, name).result() for name in names} == {"1"}
        assert dict(os.environ) == here
        assert processes.submit(divmod, 7, 2).result() == (3, 1)
        failed = processes.submit(fail, "It is wrong.").exception()
        assert isinstance(failed, ConfigError)
        assert str(failed) == "It is wrong."
        assert "raise ConfigError(sentence)" in str(failed.__cause__)
        assert "cannot pickle" in str(processes.submit(threading.Lock).exception())
        assert processes.submit(interrupt_self).result() == "still here"


def test_a_process_that_dies_loses_only_its_own_call(tmp_path: Path) -> None:
    for name in ("lost", "kept"):
        (tmp_path / name).mkdir()
    with LocalProcesses(2) as processes:
        lost = processes.submit(tell_and_wait, tmp_path / "lost")
        wait_for(lambda: told(tmp_path / "lost"))
        [victim] = told(tmp_path / "lost")
        kept = processes.submit(tell_and_wait, tmp_path / "kept")
        waiting = [processes.submit(os.getpid) for _ in range(3)]
        wait_for(lambda: told(tmp_path / "kept"))
        os.kill(victim, signal.SIGKILL)
        with pytest.raises(BrokenExecutor, match="The worker process died"):
            lost.result()
        (tmp_path / "kept" / "go").touch()
        assert victim not in {kept.result(), *(future.result() for future in waiting)}


def test_many_processes_may_die_at_once() -> None:
    with LocalProcesses(3) as processes:
        lost = [processes.submit(kill_self) for _ in range(6)]
        assert all(isinstance(future.exception(), BrokenExecutor) for future in lost)
        assert processes.submit(divmod, 7, 2).result() == (3, 1)


def test_leaving_by_an_exception_stops_the_processes_at_once(tmp_path: Path) -> None:
    futures: list[Any] = []

    def leave_early() -> None:
        with LocalProcesses(2) as processes:
            futures.extend(processes.submit(tell_and_wait, tmp_path) for _ in range(3))
            wait_for(lambda: len(told(tmp_path)) == 2)
            raise KeyboardInterrupt

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        leave_early()
    assert time.monotonic() - start < PATIENCE / 2
    assert not any(is_alive(pid) for pid in told(tmp_path))
    assert futures[0].exception() is not None
    assert futures[2].cancelled()


DRIVER = """
import signal
import sys
from pathlib import Path
from smgrnn.workers import LocalProcesses
from support.errands import tell_and_wait

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's "&" ignores
with LocalProcesses(2) as processes:
    for future in [processes.submit(tell_and_wait, Path(sys.argv[1])) for _ in range(2)]:
        future.result()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_processes_end_with_their_driver(number: signal.Signals, tmp_path: Path) -> None:
    """Also in the middle of a call; a Ctrl-C goes to the whole group, as from a terminal."""
    paths = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", DRIVER, str(tmp_path)]
    heard: Any = {"stderr": subprocess.PIPE, "text": True, "env": paths}
    with subprocess.Popen(command, start_new_session=True, **heard) as driver:
        wait_for(lambda: len(told(tmp_path)) == 2)
        if number == signal.SIGINT:
            os.killpg(driver.pid, number)
        else:
            driver.send_signal(number)
        said = driver.communicate()[1]
    assert driver.returncode == -number
    assert said.count("Traceback") == (number == signal.SIGINT)  # the driver's own
    wait_for(lambda: not any(is_alive(pid) for pid in told(tmp_path)))


def test_missing_loky_is_one_sentence_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "loky", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'smgrnn\[paper\]'"):
        LocalProcesses(1)


def test_a_run_that_dask_gave_up_or_could_not_reach_was_lost() -> None:
    """A refused connection counted as a failure of the run, which was not run again."""
    lost = [
        distributed.KilledWorker("run", None, 3),
        distributed.comm.CommClosedError("in <TCP>: Stream is closed"),
        OSError("Timed out trying to connect to tcp://127.0.0.1:9 after 30 s"),
        ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"),
        TimeoutError(),
    ]
    assert all(map(is_loss, lost))
    failed = [ValueError(), FileNotFoundError(errno.ENOENT, "No such file or directory")]
    assert not any(map(is_loss, failed))


@contextmanager
def once_hung(folder: Path, act: Callable[[int], object]) -> Iterator[None]:
    """Act on the process that hangs, as soon as it has told its id, while the block runs."""

    def wait() -> None:
        wait_for((folder / "pid").exists)
        act(int((folder / "pid").read_text()))

    thread = threading.Thread(target=wait, daemon=True)  # so that a failing block ends the test
    thread.start()
    yield
    thread.join()


def start(program: str, *flags: str) -> subprocess.Popen[bytes]:
    """Start a process of Dask on the loopback interface."""
    command = [sys.executable, "-m", f"distributed.cli.dask_{program}", "--host", "127.0.0.1"]
    paths = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": paths}
    return subprocess.Popen([*command, "--no-dashboard", *flags], **quiet)


def test_a_scheduler_that_dies_is_one_sentence(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """It was 1,243 lines, from many threads, and a failure of every run."""
    file, store = tmp_path / "scheduler.json", Store(tmp_path / "store")
    experiment = asking({"a": tiny(tmp_path)}, n_seeds=2)
    scheduler = start("scheduler", "--port", "0", "--scheduler-file", str(file))
    processes = [scheduler]
    try:
        wait_for(lambda: file.exists() and file.read_text().endswith("}"))
        address = json.loads(file.read_text())["address"]
        processes.append(start("worker", address, "--nthreads", "1", "--no-nanny"))
        with (
            Cluster(address) as executor,
            once_hung(tmp_path, lambda _: scheduler.kill()),
            pytest.raises(ConfigError) as caught,
        ):
            run_experiments([experiment], store, Replacing(executor, hang_once, tmp_path))
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert str(caught.value) == (
        f"The Dask scheduler at {address} is gone. Finished runs are kept; the same command runs "
        f"the others."
    )
    assert capfd.readouterr() == ("", "")


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """Return the address of a cluster of two workers."""
    here: Any = {"dashboard_address": "127.0.0.1:0", "host": "127.0.0.1"}
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, **here) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(params=["processes", "dask"])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    is_dask = request.param == "dask"
    address = request.getfixturevalue("scheduler") if is_dask else ""
    with Cluster(address) if is_dask else LocalProcesses(2) as found:
        yield found


def test_a_plan_that_cannot_be_built_in_a_worker_is_a_failure_even_without_words(
    executor: Executor, tmp_path: Path
) -> None:
    """A Dask worker waited for ever, and so did its driver."""
    experiment, store = asking({"a": tiny(tmp_path)}), Store(tmp_path / "store")
    done = run_experiments([experiment], store, Replacing(executor, without_plan))
    names = [(failure.name, failure.error, failure.is_own) for failure in done.failures]
    assert names == [(f"trial-v1 a seed {seed}", "UnspeakableError", True) for seed in (0, 1)]


def test_a_worker_killed_in_the_middle_of_a_run_loses_nothing(
    executor: Executor, tmp_path: Path
) -> None:
    experiment = asking({"a": busy(tmp_path), "b": busy(tmp_path, n_hidden=2)}, n_seeds=2)
    stores = Store(tmp_path / "there"), Store(tmp_path / "here")
    with once_hung(tmp_path, lambda pid: os.kill(pid, signal.SIGKILL)):
        done = run_experiments([experiment], stores[0], Replacing(executor, hang_once, tmp_path))
    assert (done.n_done, done.failures) == (4, [])
    if isinstance(executor, LocalProcesses):
        assert done.n_lost == 1  # Dask runs it again by itself
    run_experiments([experiment], stores[1], Inline())
    there, here = (store.records(experiment) for store in stores)
    for name in experiment.conditions:
        assert list(map(results, there[name])) == list(map(results, here[name]))
