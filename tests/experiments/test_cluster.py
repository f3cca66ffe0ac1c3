"""A Dask cluster gives the records that local processes give, and a killed worker loses none."""

import os
import signal
import threading
from pathlib import Path

import pytest

from smgrnn.experiments import LocalProcesses, Store, run_experiments
from smgrnn.experiments.cluster import cluster_executor
from smgrnn.experiments.runner import is_loss
from support.trials import Replacing, asking, busy, hang_once, results, wait_for

pytestmark = pytest.mark.xdist_group("experiments")

distributed = pytest.importorskip("distributed", reason="no Dask: pip install 'smgrnn[cluster]'")


def test_a_run_that_dask_gave_up_was_lost() -> None:
    assert is_loss(distributed.KilledWorker("run", None, 3))
    assert not is_loss(ValueError())


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
