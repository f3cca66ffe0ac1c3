"""Faults that once ended a process, were swallowed, or ran the code of a stranger.

Each is tried in a process of its own, which must end as it should.
"""

import os
import tracemalloc
from collections.abc import Callable
from copy import copy, deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smgrnn import Graph, Learner, StructuralPlasticity
from smgrnn.config import in_own_loop
from smgrnn.errors import ConfigError
from smgrnn.graph import check
from smgrnn.rules.statistics import absent_pairs
from support.commands import python
from support.flat import learner_of, network_config, paper_net
from support.learners import learner, stream
from support.training import by


def test_a_network_of_many_outputs_learns(capfd: pytest.CaptureFixture[str]) -> None:
    """A MemoryError inside compiled code was printed and ignored, and the learner went on."""
    brief = replace(in_own_loop("frugal").plasticity, window=2)  # 100 updates would take 0.5 GB
    made = learner_of(network_config(n_inputs=1, n_outputs=100_000), None, brief)
    made.learn_stream(np.ones((3, 1)), np.zeros(3, int))
    assert made._state.watched.statistics.absent.shape == (2, 20_000)
    assert capfd.readouterr() == ("", "")


def test_statistics_beyond_memory_are_refused_by_both_engines() -> None:
    graph = Graph.from_edges(1, 1, 200_000, edges=[(0, 1, 1.0)])
    sentence = "Statistics of 40000400001 absent edges would take 1.6 TB of memory"
    with pytest.raises(ConfigError, match=sentence):
        learner_of(network_config(n_inputs=1, n_outputs=1), graph=graph)
    with pytest.raises(ConfigError, match=sentence):
        StructuralPlasticity(paper_net(1, 1, graph=graph))


def test_statistics_take_the_memory_that_is_checked() -> None:
    """All pairs of nodes were marked, 10 GB for 100,000 outputs, and 8 MB were checked."""
    graph = Graph.from_edges(1, 20_000, edges=[(0, 1, 1.0)])
    tracemalloc.start()
    pairs = absent_pairs(graph)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert pairs.shape == (2, 19_999)
    assert peak < 100 * 20_000


def test_a_write_into_a_learners_graph_is_refused_by_numpy() -> None:
    """Compiled code read the node that was written there, and beyond the end of an array."""
    made = learner()
    for name in ("source", "target", "node_ids", "edge_ids"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(made.graph, name)[0] = 10**9
        with pytest.raises(ValueError, match="read-only"):
            getattr(paper_net(2, 1, seed=0).graph, name)[0] = 10**9
    made.graph.weight[0] = 10**9  # a copy, which may be written to
    assert made.graph.weight[0] != 10**9


BUSY = """
import os, signal, sys, threading
import numpy as np
import smgrnn
from smgrnn import Learner
from smgrnn.config import PlasticityConfig
from smgrnn.config import in_own_loop
from smgrnn.errors import ConfigError
from smgrnn.graph import check

rows = np.random.default_rng(0).normal(size=(4000, 3))
labels = rows[:, 0] > 0
often = PlasticityConfig.paper(interval=3, window=5)
learner = Learner(3, 2, preset="paper", plasticity=often)
"""
SIGNALS = """
class Stop(Exception): pass
def stop(*_):
    if armed:
        armed.clear()
        raise Stop
kind, armed, n_stopped = signal.Signals[sys.argv[1]], [], 0
signal.signal(kind, stop)
work = {
    "learn_stream": lambda: learner.learn_stream(rows, labels),
    "distill": lambda: smgrnn.distill("CartPole-v1", episodes=3, held_out=1, preset="paper"),
}[sys.argv[2]]
work()
for attempt in range(12):
    delay = 0.0005 * 2 ** (attempt % 8)
    armed.append(True)
    try:
        if kind == signal.SIGALRM:
            signal.setitimer(signal.ITIMER_REAL, delay, 0.003)
        else:
            threading.Timer(delay, os.kill, (os.getpid(), kind)).start()
        while armed:
            work()
    except Stop:
        n_stopped += 1
    check(learner.graph)
    learner.learn_stream(rows[:50], labels[:50])
signal.setitimer(signal.ITIMER_REAL, 0)
work()
print("survived", n_stopped >= 9)
"""


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such signals")
@pytest.mark.parametrize(
    ("kind", "work"), [("SIGALRM", "learn_stream"), ("SIGALRM", "distill"), ("SIGTERM", "distill")]
)
def test_a_handler_that_raises_ends_the_work_and_nothing_else(
    kind: str, work: str, tmp_path: Path
) -> None:
    """A signal that struck while compiled code called Python was a segmentation fault."""
    done = python("-c", BUSY + SIGNALS, kind, work, folder=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, "survived True"), done.stderr


THREADS = """
refused = []

def work():
    try:
        learner.learn_stream(rows, labels)
    except ConfigError as error:
        refused.append(str(error))

for _ in range(8):
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
check(learner.graph)
learner.learn_stream(rows, labels)
print(len(refused) >= 2, *set(refused))
"""
SENTENCE = "This Learner is in use by another thread or by its own rule."


def test_two_threads_on_one_learner_are_told_and_crash_nothing(tmp_path: Path) -> None:
    done = python("-c", BUSY + THREADS, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"True {SENTENCE}")


OUTLIVED = """
from smgrnn.engine.steps import learn_once
kept, row, no_target = [], rows[0], np.empty(0)
learner.learn_by(lambda handle, *rest: (kept.append(handle), learn_once(handle, *rest))[1],
                 row, 0, no_target)
learner = None
others = [np.full(n, np.nan) for n in range(1, 4000)]
print(learn_once(kept[0], row, 0, no_target)[1] > 0)
"""


def test_a_handle_that_outlives_its_learner_keeps_what_it_points_to(tmp_path: Path) -> None:
    """A step could keep it, and the next call with it wrote into memory that was free."""
    done = python("-c", BUSY + OUTLIVED, folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


def test_an_error_in_a_rule_or_a_call_of_its_learner_leaves_the_learner_whole(
    tmp_path: Path,
) -> None:
    def fail(*_: Any) -> Any:
        raise RuntimeError("a rule fails")

    cases: list[tuple[Any, type[Exception], str]] = [(fail, RuntimeError, "a rule fails")]
    uses: list[Callable[[Learner], object]] = [
        *(lambda each: each.learn(np.zeros(3), 0), lambda each: each.act(np.zeros(3))),
        *(Learner.arrays, Learner.settle, Learner.end_episode, Learner.forget_log, deepcopy),
        lambda each: each.save(tmp_path / "half"),  # arrays of before the edit, and a later clock
    ]
    cases += [(lambda *_, use=use: use(made), ConfigError, SENTENCE) for use in uses]
    for decide, error, sentence in cases:
        made: Learner = learner(plasticity=by(decide, interval=5))
        for n_updates in (5, 10):
            with pytest.raises(error, match=sentence):
                made.learn_stream(*stream(5))
            assert made.n_updates == n_updates
        check(made.graph)


def test_twins_do_not_share_a_log() -> None:
    made = learner()
    twin, before = copy(made), len(made.log.columns.update)
    twin.learn_stream(*stream(200))
    assert len(twin.log.columns.update) > before == len(made.log.columns.update)


# --- the folder of a stranger --------------------------------------------------------------------

POISON = """
import os, pickle, sys
from pathlib import Path
from smgrnn.first_use import stamped

class Poison:
    def __reduce__(self):
        return os.mkdir, (sys.argv[1],)

for file in Path(sys.argv[2]).rglob("*.nb?"):
    pickled = pickle.dumps(Poison())
    file.write_bytes(stamped(pickled) + pickled)
"""
USE = (
    "import numpy; from smgrnn.rules import UpdateHistory as H; H.start(1, 1).push(numpy.zeros(1))"
)
SETTINGS = "cache_dir: {0}/cache\nchrome_trace: {0}/trace\ndisable_jit: 1\nboundscheck: 1\n"
ASK = "; from numba import config; print(config.CACHE_DIR, config.DISABLE_JIT, config.BOUNDSCHECK)"


def test_a_strangers_folder_runs_no_code(tmp_path: Path) -> None:
    """Numba's settings there named a cache, and what that held was unpickled: code to run."""
    cache, mark = tmp_path / "cache", tmp_path / "mark"
    cache.mkdir()
    assert python("-c", USE, folder=tmp_path, NUMBA_CACHE_DIR=str(cache)).returncode == 0
    assert python("-c", POISON, str(mark), str(cache), folder=tmp_path).returncode == 0
    python("-c", USE, folder=tmp_path, NUMBA_CACHE_DIR=str(cache))
    mark.rmdir()  # the poison works where it is read
    (tmp_path / ".numba_config.yaml").write_text(SETTINGS.format(tmp_path))
    before = {file: file.stat().st_mtime_ns for file in cache.rglob("*")}
    distill = ("-m", "smgrnn", "distill", "CartPole-v1", "--episodes", "2", "--held-out", "1")
    for words in (distill, ("-c", USE + ASK)):
        done = python(*words, folder=tmp_path, NUMBA_CACHE_DIR="")
        assert done.returncode == 0, done.stderr
        assert not mark.exists()
        assert not (tmp_path / "trace").exists()
        assert before == {file: file.stat().st_mtime_ns for file in cache.rglob("*")}
    assert done.stdout.split() == ["0", "None"]


WORKERS = """
from smgrnn.workers import find_executor
if __name__ == "__main__":
    with find_executor(1, None) as workers:
        print(workers.submit(len, [1, 2]).result())
"""


def test_worker_processes_import_nothing_from_the_working_directory(tmp_path: Path) -> None:
    """They start as `python -c`, which looks there first, as in the folder of a stranger."""
    for name in ("importlib", "multiprocessing", "loky", "pkgutil", "pickle", "numpy", "smgrnn"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'trapped')!r}, 'w')")
    done = python("-P", "-c", WORKERS, folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr
    assert not (tmp_path / "trapped").exists()


def test_broken_settings_of_numba_in_the_working_directory_have_no_effect(tmp_path: Path) -> None:
    (tmp_path / ".numba_config.yaml").write_text("{")
    done = python("-c", f"import smgrnn.sklearn; {USE}{ASK}", folder=tmp_path)
    assert (done.stdout.split()[-2:], done.stderr) == (["0", "None"], "")
    assert [file.name for file in tmp_path.iterdir()] == [".numba_config.yaml"]
