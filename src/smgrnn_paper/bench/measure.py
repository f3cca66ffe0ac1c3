"""All the measurements of `smgrnn bench`, side by side in one process, and their tables."""

import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch

from smgrnn.config import RunConfig, Student
from smgrnn.errors import ConfigError, GrowthLimitWarning
from smgrnn.runs.start import new_run
from smgrnn_paper.bench import workload
from smgrnn_paper.bench.workload import active_rules, eager_loop, grown_graph, stream

TASKS = ("CartPole-v1", "Acrobot-v1")
STUDENTS: tuple[Student, ...] = ("smgrnn", "static")
EDGES = 84
"""Size at which the cost of a call and of an edit is reported."""
_START = """
import numpy as np
from smgrnn import Learner
learner = Learner(4, 2)
learner.learn_stream(np.ones((200, 4)), np.ones(200, dtype=int))
learner.learn(np.ones(4), 1)
"""
STARTS = {
    "cold": "first learning, nothing compiled yet",
    "cached": "first learning, compiled before",
    "import": "python -c 'import smgrnn'",
    "help": "smgrnn --help",
}
"""What the start-up times are of."""


def _peak_memory() -> float | None:
    """Return the most memory that this process had, in MB; None where the system does not tell."""
    try:
        import resource
    except ModuleNotFoundError:  # as on Windows
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(repeats: int, quick: bool, report: Callable[[str], None]) -> dict[str, Any]:
    """Measure everything, each figure a median of repeats.

    `report` is called with the name of each measurement before it starts.  `quick` takes small
    networks only, two repeats and no start-up times.
    """
    if repeats < 1:
        raise ConfigError(f"The number of repeats must be at least 1. Got {repeats} instead.")
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", GrowthLimitWarning)  # the active rules live at their limit
    repeats, episodes = (2, 200) if quick else (repeats, 2000)
    rows = []
    for n_edges in (10, EDGES) if quick else (10, EDGES, 1000, 10_000):
        for iterations in (1, 3):
            report(f"{n_edges} edges, K = {iterations}")
            rows += _rows(n_edges, iterations, repeats)
    report("calls from Python")
    called = median_us(workload.called_from_python(grown_graph(EDGES), 1), 20_000, repeats)
    usual = [row for row in rows if (row["edges"], row["iterations"]) == (EDGES, 1)]
    fused, edited = (row["compiled_us"] for row in usual)
    report("whole runs")
    results = {
        "is_quick": quick,
        "repeats": repeats,
        "episodes": episodes,
        "machine": {"cpu": _cpu(), "cores": os.cpu_count()},
        "rows": rows,
        "edit": {"edges": EDGES, "us": 100 * (edited - fused)},
        "python_call": {"edges": EDGES, "called_us": called, "added_us": called - fused},
        "runs": [_whole_run(*it, episodes) for it in product(TASKS, STUDENTS)],
        "peak_memory_mb": _peak_memory(),
    }
    if not quick:
        report("start-up times")
        results["startup_s"] = _startup()
    return results


def _rows(n_edges: int, iterations: int, repeats: int) -> list[dict[str, Any]]:
    """Measure the three engines in turn, so that a slow moment of the machine meets them all."""
    graph = grown_graph(n_edges)
    runs: dict[str, workload.Run] = {
        "eager": lambda n: eager_loop(graph, iterations, *stream(n)),
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
    rows = []
    for suffix in ("", "+"):
        eager, taught, compiled = us["eager"], us["torch" + suffix], us["compiled" + suffix]
        row: dict[str, Any] = {"edges": n_edges, "iterations": iterations}
        row |= {"plasticity": bool(suffix), "eager_us": eager, "torch_us": taught}
        rows.append(row | {"compiled_us": compiled, "ratio": eager / compiled})
    return rows


def median_us(run: workload.Run, n: int, repeats: int) -> float:
    """Return the median over `repeats` of the µs that one of `n` steps takes; one warm-up first."""
    run(min(n, 10))
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        run(n)
        times.append((time.perf_counter() - begin) / n * 1e6)
    return float(np.median(times))


def _whole_run(task: str, student: Student, episodes: int) -> dict[str, Any]:
    """Time one run with the paper's settings."""
    run = new_run(
        task, RunConfig.for_task(task, preset="paper", student=student, episodes=episodes)
    )
    run.train()
    us_per_step = 1e6 * run.seconds / run.episodes.steps.sum()
    return {"task": task, "student": student, "seconds": run.seconds, "step_us": us_per_step}


def _startup() -> dict[str, float]:
    """Time the first learning in a new process, without and with the compiled code on disk."""

    def timed(*arguments: str, **environment: str) -> float:
        begin, given = time.perf_counter(), os.environ | environment
        subprocess.run([sys.executable, *arguments], env=given, check=True, capture_output=True)
        return time.perf_counter() - begin

    with tempfile.TemporaryDirectory() as cache:
        cold, cached = (timed("-c", _START, NUMBA_CACHE_DIR=cache) for _ in range(2))
    package, usage = timed("-c", "import smgrnn"), timed("-m", "smgrnn", "--help")
    return {"cold": cold, "cached": cached, "import": package, "help": usage}


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def title(results: dict[str, Any]) -> str:
    """Return in one sentence what was measured, and how often."""
    sizes = ", ".join(f"{n:,}" for n in sorted({row["edges"] for row in results["rows"]}))
    return (
        f"{'A quick look' if results['is_quick'] else 'All measurements'}: medians of "
        f"{results['repeats']} repeats, networks of {sizes} edges, runs of {results['episodes']} "
        f"episodes, {'start-up times' if 'startup_s' in results else 'no start-up times'}."
    )


def tables(results: dict[str, Any]) -> Iterable[tuple[str, Sequence[str], Sequence[Any]]]:
    """Return each table as its title, its header and its rows."""
    heads = ("edges", "K", "plasticity", "eager", "torch", "compiled", "eager / compiled")
    line = "{edges:,}|{iterations}|{on}|{eager_us:.0f}|{torch_us:.0f}|{compiled_us:.2f}|{ratio:.0f}"
    rows = [
        line.format(**row, on="on" if row["plasticity"] else "off").split("|")
        for row in results["rows"]
    ]
    yield "µs per learning step", heads, rows
    about = f"{results['episodes']} episodes; a step is environment, expert, learning, plasticity"
    runs = [
        (row["task"], row["student"], f"{row['seconds']:.2f}", f"{row['step_us']:.2f}")
        for row in results["runs"]
    ]
    yield f"Whole runs ({about})", ("task", "student", "seconds", "µs per step"), runs
    machine, memory = results["machine"], results["peak_memory_mb"]
    facts = {
        "machine": f"{machine['cpu']}, {machine['cores']} cores",
        f"one edit, {EDGES} edges": f"{results['edit']['us']:.1f} µs",
        "one call from Python per step adds": f"{results['python_call']['added_us']:.2f} µs",
        "peak memory of this process": "unknown" if memory is None else f"{memory:.0f} MB",
    }
    startup = results.get("startup_s", {})
    facts |= {STARTS[name]: f"{seconds:.2f} s" for name, seconds in startup.items()}
    yield "Other figures", ("what", "measured"), list(facts.items())


def markdown(results: dict[str, Any]) -> str:
    """Return all tables as Markdown."""
    parts = [title(results)]
    for heading, header, rows in tables(results):
        lines = [header, ["---"] * len(header), *rows]
        parts.append(f"## {heading}\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines))
    return "\n\n".join(parts) + "\n"
