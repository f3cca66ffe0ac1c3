"""All the measurements of `smgrnn bench`, side by side in one process."""

import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from smgrnn.engine import Learner
from smgrnn.errors import ConfigError, GrowthLimitWarning
from smgrnn_paper.bench import workload
from smgrnn_paper.bench.phases import median_us, multiply_adds, peak_multiply_adds, phases
from smgrnn_paper.bench.runs import beside_the_environment, whole_runs
from smgrnn_paper.bench.workload import WATCHING, active_rules, grown_graph, new_learner

_START = """
import numpy as np
from smgrnn import Learner, NetworkConfig
learner = Learner(NetworkConfig(n_inputs=4, n_outputs=2))
learner.learn_stream(np.ones((200, 4)), np.ones(200, dtype=int))
learner.learn(np.ones(4), 1)
"""


def measure(repeats: int, quick: bool, report: Callable[[str], None]) -> dict[str, Any]:
    """Measure everything, each figure a median of repeats.

    `report` is called with the name of each measurement before it starts.  `quick` takes small
    networks only, two repeats and no start-up times.
    """
    if repeats < 1:
        raise ConfigError(f"The number of repeats must be at least 1. Got {repeats} instead.")
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", GrowthLimitWarning)  # the active rules live at their limit
    repeats = 2 if quick else repeats
    episodes = 200 if quick else 2000
    sizes = (10, 84) if quick else (10, 84, 1000, 10_000)
    report("machine peak")
    peak = peak_multiply_adds(repeats)
    rows, parts = [], []
    for n_edges in sizes:
        graph = grown_graph(n_edges)
        for iterations in (1, 3):
            report(f"{n_edges} edges, K = {iterations}")
            floor = multiply_adds(graph, iterations) / peak
            rows += _rows(n_edges, iterations, floor, repeats)
            times = phases(graph, iterations, repeats)
            parts.append({"edges": n_edges, "iterations": iterations, **times})
    report("linear fit, statistics at every update, calls from Python")
    results: dict[str, Any] = {
        "is_quick": quick,
        "repeats": repeats,
        "episodes": episodes,
        "machine": {"cpu": _cpu(), "cores": os.cpu_count()},
        "peak_multiply_adds_per_us": peak,
        "rows": rows,
        "phases": parts,
        "fit": _fit((84, 300) if quick else (84, 300, 1000, 3000, 10_000), repeats),
        "edit": _edits((84, 300) if quick else (300, 1000, 3000, 10_000, 30_000), repeats),
        "statistics_every_update": _watching(repeats),
        "python_call": _python_call(repeats),
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    report("whole runs")
    results["runs"] = whole_runs(episodes)
    results["beside_environment"] = beside_the_environment(10 if quick else 300)
    if not quick:
        report("start-up times")
        results["startup_s"] = _startup()
    return results


def _rows(n_edges: int, iterations: int, floor: float, repeats: int) -> list[dict[str, Any]]:
    """Measure the three engines in turn, so that a slow moment of the machine meets them all."""
    graph = grown_graph(n_edges)
    runs = {
        "eager": workload.eager(graph, iterations),
        "torch": workload.torch_engine(graph, iterations, None),
        "torch+": workload.torch_engine(graph, iterations, active_rules(n_edges)),
        "compiled": workload.compiled_engine(graph, iterations, None),
        "compiled+": workload.compiled_engine(graph, iterations, active_rules(n_edges)),
    }
    for run in runs.values():
        run(250)  # compiles what a call of the plasticity module needs
    n_fast = int(np.clip(5_000_000 // n_edges, 2000, 50_000))
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            times[name].append(median_us(run, n_fast if "compiled" in name else 200, 1))
    us = {name: float(np.median(values)) for name, values in times.items()}
    return [
        {
            "edges": n_edges,
            "iterations": iterations,
            "plasticity": bool(suffix),
            "eager_us": us["eager"],
            "torch_us": us["torch" + suffix],
            "compiled_us": us["compiled" + suffix],
            "ratio": us["eager"] / us["compiled" + suffix],
            "floor_us": floor,
        }
        for suffix in ("", "+")
    ]


def _fit(sizes: tuple[int, ...], repeats: int) -> dict[str, Any]:
    """Fit a line through the compiled step times at K = 1 over network sizes."""
    times = []
    for n_edges in sizes:
        run = workload.compiled_engine(grown_graph(n_edges), 1, None)
        times.append(median_us(run, int(np.clip(5_000_000 // n_edges, 2000, 50_000)), repeats))
    return _line(sizes, times)


def _edits(sizes: tuple[int, ...], repeats: int) -> dict[str, Any]:
    """Fit a line through the times of one structural edit: decided, applied, state carried over."""
    times = []
    for n_edges in sizes:
        learner = new_learner(grown_graph(n_edges), 1, active_rules(n_edges))
        learner.learn_stream(*workload.stream(150))

        def edit(n: int, learner: Learner = learner) -> None:
            for _ in range(n):
                learner._restructure()

        times.append(median_us(edit, 20, repeats))
    return _line(sizes, times)


def _line(sizes: tuple[int, ...], times: list[float]) -> dict[str, Any]:
    slope, intercept = np.polyfit(sizes, times, 1)
    residual = np.array(times) - (slope * np.array(sizes) + intercept)
    r2 = 1 - residual.var() / np.var(times)
    return {"edges": sizes, "us": times, "us_per_edge": slope, "us_fixed": intercept, "r2": r2}


def _watching(repeats: int) -> dict[str, float]:
    """Compare a step that takes statistics at every update with one that never does."""
    graph = grown_graph(84)
    plain, watching = (workload.compiled_engine(graph, 1, rules) for rules in (None, WATCHING))
    never, every = median_us(plain, 50_000, repeats), median_us(watching, 50_000, repeats)
    return {"edges": 84, "never_us": never, "every_us": every, "ratio": every / never}


def _python_call(repeats: int) -> dict[str, float]:
    """Compare one call from Python per step with a fused stream."""
    graph = grown_graph(84)
    fused = median_us(workload.compiled_engine(graph, 1, None), 50_000, repeats)
    called = median_us(workload.called_from_python(graph, 1), 20_000, repeats)
    return {"edges": 84, "fused_us": fused, "called_us": called, "added_us": called - fused}


def _startup() -> dict[str, float]:
    """Time the first learning in a new process, without and with the compiled code on disk."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        cold, cached = (_timed([sys.executable, "-c", _START], environment) for _ in range(2))
    package = _timed([sys.executable, "-c", "import smgrnn"], dict(os.environ))
    usage = _timed([sys.executable, "-m", "smgrnn", "--help"], dict(os.environ))
    return {"cold": cold, "cached": cached, "import": package, "help": usage}


def _timed(command: list[str], environment: dict[str, str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, env=environment, check=True, capture_output=True)
    return time.perf_counter() - begin


def _cpu() -> str:
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as lines:
            names = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
        return names[0]
    except (OSError, IndexError):
        return platform.processor() or platform.machine()
