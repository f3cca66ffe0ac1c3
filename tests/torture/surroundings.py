"""Surroundings that no command expects: outputs, clocks, memory, signals, threads, neighbours."""

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from importlib.metadata import packages_distributions
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import smgrnn
from smgrnn import Learner
from smgrnn.config import PlasticityConfig
from smgrnn.errors import ConfigError
from smgrnn.graph import check
from smgrnn.runs.record_file import MODEL
from smgrnn.storage import read_arrays, write_arrays
from smgrnn.view import FolderView, LiveView
from torture.children import Child, Found, command, misbehaviour
from torture.filecalls import struck_at
from torture.works import OUT, Bench, settled

EXTREMES = [2**63 - 1, -(2**63), 2**62, 2**53, 2**53 + 1, 2**31, -1, 0, 1, np.nan, np.inf, 1e308]
USES = [
    ("distill", "--resume", OUT, "--quiet"),
    ("evaluate", OUT, "--episodes", "2"),
    ("view", OUT, "--no-open"),
    *(("export", OUT, "--to", to) for to in ("c", "json", "graphml")),
    ("compare", OUT),
]
BRIEF = ("--episodes", "4", "--held-out", "1")
STUDY = ("--over", "frugal", "--trials", "2", "--batch", "2", "--jobs", "2", "--seeds", "1")
COMMANDS: list[tuple[str, ...]] = [
    *USES,
    ("distill", "CartPole-v1", *BRIEF, "--live"),
    ("distill", "xor", *BRIEF),
    ("sequence", "CartPole-v1", "CartPole-v1,gravity=20", *BRIEF),
    ("tune", "xor", *STUDY, *BRIEF),
    ("evolve", "CartPole-v1", "--rollouts", "12", "--population", "6", "--method", "neat"),
    ("frontier", OUT),
    *(("export", OUT, "--to", to) for to in ("onnx", "micropython", "arduino")),
    *(("view", OUT, "--record", f"{OUT}.gif"), ("list",), ("list", OUT), ("settings",)),
    *(("expert", "list"), ("expert", "evaluate", "CartPole-v1", "--episodes", "2")),
]
"""Commands for the folder of a stranger, about a run that lies elsewhere."""
SETTINGS_FILES = {
    ".numba_config.yaml": "cache_dir: {0}/cache\nchrome_trace: {0}/trace\ndisable_jit: 1\n",
    "matplotlibrc": "backend: module://json\n",
    "smgrnn.mplstyle": "backend: module://json\n",
    **dict.fromkeys(["bokeh.yaml", "dask.yaml", "distributed.yaml", ".optuna"], "{{"),
    **dict.fromkeys(["setup.cfg", "pyproject.toml", ".env", "pyvenv.cfg"], "{{home = {0}"),
}
"""Settings that some package reads somewhere: none may be read from here."""
REQUESTS = ["/", "/moment", "/moment?after=1", "//[", "http://[/", "/\0", "*", "/%", "?", "/é"]


def strange_surroundings(rng: Random, bench: Bench) -> list[Found]:
    """Run a command where an output fails, the clock jumps or memory runs out; then go on."""
    work, folder = (
        rng.choice(bench.works),
        bench.new_folder() / rng.choice(["a\nb", "é\u202e", "a"]),
    )
    folder.mkdir()
    words = tuple(word for word in work.words if word != "--quiet")
    prepare = rng.choice([_close_outputs, _full_output, _only_ascii, _jumping_clock, _few_bytes])
    ended = Child(command(words, lambda: prepare(rng)), folder).wait()
    return [settled(bench, work, folder, ended)]


def _close_outputs(_: Random) -> None:
    for number in (1, 2):
        os.close(number)
    sys.stdout = sys.stderr = None  # as Python has them then


def _full_output(rng: Random) -> None:
    os.dup2(os.open("/dev/full", os.O_WRONLY), rng.choice([1, 2]))


def _only_ascii(_: Random) -> None:
    streams: Any = (sys.stdout, sys.stderr)
    for stream in streams:
        stream.reconfigure(encoding="ascii", errors="strict")


def _jumping_clock(rng: Random) -> None:
    now = time.time
    time.time = lambda: now() + rng.choice([-1e9, 0.0, 1e9])


def _few_bytes(rng: Random) -> None:
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + rng.randrange(2**26),) * 2)


def forged_number(rng: Random, bench: Bench) -> list[Found]:
    """Change one number in the record of a run under way, with a digest that fits, and use it."""
    work = rng.choice([each for each in bench.works if each.way == "--resume"])
    folder, stop = bench.new_folder(), bench.undisturbed(work).n_calls // 2
    Child(command(work.words, struck_at(stop, signal.SIGKILL)), folder).wait()
    content, arrays = read_arrays(folder / OUT / MODEL, "run")
    name = rng.choice([name for name, array in arrays.items() if array.size])
    array, value = np.array(arrays[name]), rng.choice(EXTREMES)
    with np.errstate(all="ignore"):
        array.flat[rng.randrange(array.size)] = np.array(value).astype(array.dtype)
    write_arrays(folder / OUT / MODEL, "run", content, arrays | {name: array})
    found = []
    for words in rng.sample(USES, 3):
        ended = Child(command(words), folder).wait()
        wrong = misbehaviour(ended)
        if wrong is None and ended.code and len(ended.err.strip().splitlines()) != 1:
            wrong = Found("wordy", ended.err[-300:])
        if wrong is not None:
            wrong = Found(wrong.outcome, f"{words} with {name} = {value}: {wrong.detail}")
        found.append(wrong or Found("refused" if ended.code else "worked"))
    return found


def hostile_folder(rng: Random, bench: Bench) -> list[Found]:
    """Run a command in a folder that is full of modules and settings of a stranger."""
    folder, run = bench.new_folder(), bench.new_folder() / OUT
    work = next(each for each in bench.works if each.name == "distill")
    Child(command(work.words), run.parent).wait()
    mark = folder.with_name(f"{folder.name}.trapped")
    modules = {*sys.stdlib_module_names, *packages_distributions(), "sitecustomize"}
    for name in filter(str.isidentifier, modules | {"usercustomize"}):
        (folder / f"{name}.py").write_text(f"open({str(mark)!r}, 'w').write(__file__)")
    for name, content in SETTINGS_FILES.items():
        (folder / name).write_text(content.format(folder))
    words = rng.choice([tuple(word for word in each if word != "--quiet") for each in COMMANDS])
    start = rng.choice([("-P", "-m", "smgrnn"), (str(Path(sys.executable).with_name("smgrnn")),)])
    done = subprocess.run(
        [sys.executable, *start, *(str(run) if word == OUT else word for word in words)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(Path(smgrnn.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    for obeyed in filter(Path.exists, (mark, folder / "cache", folder / "trace")):
        said = obeyed.read_text() if obeyed.is_file() else obeyed.name
        return [Found("ran code", f"{start[-1]} {words}: {said}")]
    if done.returncode == 2 and len(done.stderr.strip().splitlines()) == 1:
        return [Found("refused")]
    return [Found("worked") if done.returncode == 0 else Found("crash", done.stderr[-500:])]


class _StopError(Exception):
    pass


def _learner() -> tuple[Learner, Any, Any]:
    rows = np.random.default_rng(0).normal(size=(2000, 3))
    rules = PlasticityConfig.paper(interval=3, window=5)
    return Learner(3, 2, preset="paper", plasticity=rules), rows, rows[:, 0] > 0


def raising_handlers(rng: Random, bench: Bench) -> list[Found]:
    """Let handlers of signals raise while a learner learns; it must stay whole."""
    kinds = [signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF]
    numbers = [signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF]
    turns = [(rng.randrange(3), rng.uniform(1e-4, 0.05)) for _ in range(20)]

    def work() -> None:
        learner, rows, labels = _learner()
        armed: list[bool] = []

        def stop(*_: Any) -> None:
            if armed:
                armed.clear()
                raise _StopError

        for number in numbers:
            signal.signal(number, stop)
        for which, delay in turns:
            try:
                armed.append(True)
                signal.setitimer(kinds[which], delay)
                learner.learn_stream(rows, labels)
                armed.clear()
            except _StopError:
                pass
            check(learner.graph)
            learner.restore(learner.arrays())

    return [_quiet(Child(work, bench.new_folder()))]


def threads_on_one_learner(rng: Random, bench: Bench) -> list[Found]:
    """Call one learner from several threads; what is not refused must leave it whole."""
    seeds = [rng.random() for _ in range(3)]

    def work() -> None:
        learner, rows, labels = _learner()

        def use(seed: float) -> None:
            own = Random(seed)
            for _ in range(60):
                calls: list[Callable[[], object]] = [
                    lambda: learner.learn_stream(rows, labels),
                    lambda: learner.learn(rows[0], 1),
                    lambda: learner.act(rows[0]),
                    lambda: learner.graph.edges(),
                    learner.end_episode,
                    lambda: learner.restore(learner.arrays()),
                    lambda: deepcopy(learner),
                    lambda: learner.save(f"learner-{seed}"),
                ]
                with suppress(ConfigError):
                    own.choice(calls)()

        threads = [threading.Thread(target=use, args=(seed,)) for seed in seeds]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        check(learner.graph)
        learner.learn_stream(rows, labels)

    return [_quiet(Child(work, bench.new_folder()))]


def odd_requests(rng: Random, bench: Bench) -> list[Found]:
    """Ask the page of a run under way for odd things, during the run and after its end."""
    work = next(each for each in bench.works if each.name == "distill")
    folder = bench.new_folder()
    Child(command(work.words), folder).wait()
    asked = [rng.choice(REQUESTS) + rng.choice(["", "9" * 5000, "?after=x"]) for _ in range(30)]

    def serve() -> None:
        with LiveView(FolderView(folder / OUT)) as view:
            host = f"127.0.0.1:{view.port}"
            for path in asked:
                address = ("127.0.0.1", view.port)
                with suppress(OSError), socket.create_connection(address, timeout=20) as page:
                    page.sendall(f"GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
                    while page.recv(2**16):
                        pass

    found = _quiet(Child(serve, folder))
    return [found] * (len(asked) if found.outcome == "same" else 1)


def _quiet(child: Child) -> Found:
    """Return whether a child ended well and without a word."""
    ended = child.wait()
    if ended.code or ended.err:
        wrong = misbehaviour(ended) or Found("crash", f"code {ended.code}: {ended.err[-400:]}")
        return Found(wrong.outcome, json.dumps(wrong.detail))
    return Found("same")
