"""A Dask cluster gives the records that local processes give, and a killed worker loses none."""

import errno
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

from smgrnn.batch import LocalProcesses, Store, run_experiments
from smgrnn.batch.cluster import cluster_executor
from smgrnn.batch.runner import is_loss
from smgrnn.errors import ConfigError
from support.trials import Inline, Replacing, asking, busy, hang_once, results, tiny, wait_for

pytestmark = [
    pytest.mark.xdist_group("experiments"),
    pytest.mark.filterwarnings("ignore:Creating scratch directories"),  # on a busy machine
]

distributed = pytest.importorskip("distributed", reason="no Dask: pip install 'smgrnn[cluster]'")


def test_a_run_that_dask_gave_up_or_could_not_reach_was_lost() -> None:
    """A refused connection counted as a failure of the run, which was not run again."""
    assert is_loss(distributed.KilledWorker("run", None, 3))
    assert is_loss(distributed.comm.CommClosedError("in <TCP>: Stream is closed"))
    assert is_loss(OSError("Timed out trying to connect to tcp://127.0.0.1:9 after 30 s"))
    assert is_loss(ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"))
    assert is_loss(TimeoutError())
    assert not is_loss(ValueError())
    assert not is_loss(FileNotFoundError(errno.ENOENT, "No such file or directory"))


class Unreachable(Executor):
    """Loses the first call of each run to a connection, and makes the second."""

    def __init__(self) -> None:
        self._inline, self._seen = Inline(), set[str]()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if args[2] in self._seen:
            return self._inline.submit(fn, *args, **kwargs)
        self._seen.add(args[2])
        future: Future[Any] = Future()
        future.set_exception(OSError("Timed out trying to connect to tcp://127.0.0.1:9"))
        return future


def test_a_refused_connection_is_a_loss_that_is_run_again(tmp_path: Path) -> None:
    experiment, store = asking({"a": tiny(tmp_path)}, n_seeds=2), Store(tmp_path / "store")
    done = run_experiments([experiment], store, Unreachable())
    assert (done.n_done, done.n_lost, done.failures) == (2, 2, [])


def start(program: str, *flags: str) -> subprocess.Popen[bytes]:
    """Start a process of Dask on the loopback interface."""
    command = [sys.executable, "-m", f"distributed.cli.dask_{program}", "--host", "127.0.0.1"]
    paths = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": paths}
    return subprocess.Popen([*command, "--no-dashboard", *flags], **quiet)


def is_whole(file: Path) -> bool:
    """Return whether Dask has written all of a file, which is there before its content."""
    try:
        return bool(json.loads(file.read_text()))
    except (FileNotFoundError, json.JSONDecodeError):
        return False


def test_a_scheduler_that_dies_is_one_sentence(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """It was 1,243 lines, from many threads, and a failure of every run."""
    told, file = tmp_path / "pid", tmp_path / "scheduler.json"
    experiment, store = asking({"a": tiny(tmp_path)}, n_seeds=2), Store(tmp_path / "store")
    scheduler = start("scheduler", "--port", "0", "--scheduler-file", str(file))
    processes = [scheduler]

    def kill() -> None:
        wait_for(told.exists)
        scheduler.kill()

    killer = threading.Thread(target=kill)
    try:
        wait_for(lambda: is_whole(file))
        address = json.loads(file.read_text())["address"]
        processes.append(start("worker", address, "--nthreads", "1", "--no-nanny"))
        with cluster_executor(address) as executor:
            killer.start()
            calls = Replacing(executor, hang_once, tmp_path)
            with pytest.raises(ConfigError) as caught:
                run_experiments([experiment], store, calls)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    killer.join()
    assert str(caught.value) == (
        f"The Dask scheduler at {address} is gone; runs that had finished are kept, and the same "
        f"command goes on with the others."
    )
    assert capfd.readouterr() == ("", "")


def test_a_cluster_gives_the_same_records_though_a_worker_is_killed(tmp_path: Path) -> None:
    experiment = asking({"a": busy(tmp_path), "b": busy(tmp_path, n_hidden=2)}, n_seeds=2)
    told = tmp_path / "pid"

    def kill() -> None:
        wait_for(told.exists)
        os.kill(int(told.read_text()), signal.SIGKILL)

    stores = Store(tmp_path / "cluster"), Store(tmp_path / "local")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1"
    )
    with cluster, cluster_executor(cluster.scheduler_address) as executor:
        killer = threading.Thread(target=kill)
        killer.start()
        done = run_experiments([experiment], stores[0], Replacing(executor, hang_once, tmp_path))
        killer.join()
    assert (done.n_done, done.failures) == (4, [])
    with LocalProcesses(2) as processes:
        run_experiments([experiment], stores[1], processes)
    there, here = (store.records(experiment) for store in stores)
    for name in experiment.conditions:
        assert list(map(results, there[name])) == list(map(results, here[name]))
