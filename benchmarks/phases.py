"""Inside a compiled step: its phases, a lower bound, and how step and edit scale with the graph.

python benchmarks/phases.py --repeats 7
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.config import PlasticityConfig
from smgrnn.engine.learner import Learner
from smgrnn.engine.protection import spared_edges
from smgrnn.engine.state import EngineSettings, LearnerState
from smgrnn.errors import GrowthLimitWarning
from smgrnn.graph.propagation import forward
from smgrnn.graph.state import Graph
from smgrnn.kernels import inlined, kernel, reduction
from smgrnn.learning.backprop import backward
from smgrnn.learning.loss import cross_entropy
from smgrnn.learning.optimizers import Pace, optimize
from smgrnn.learning.rule import Pass
from smgrnn.plasticity.history import push
from smgrnn.plasticity.schedule import Plasticity, decide
from smgrnn_paper.bench.measure import median_us
from smgrnn_paper.bench.workload import (
    N_INPUTS,
    N_OUTPUTS,
    active_rules,
    compiled_engine,
    grown_graph,
    new_learner,
    stream,
)

# Statistics at every update, and nothing ever found.
WATCHING = PlasticityConfig(
    interval=1,
    growth="relay-alone",
    orphan_removal=False,
    fluctuation_threshold=1e9,
    weight_threshold=0.0,
)


@inlined
def _forwards(state: LearnerState, settings: EngineSettings, observation: Floats, n: int) -> None:
    graph, starts, trace = state.graph, state.room.starts, state.trace
    for _ in range(n):
        forward(graph.source, graph.weight, starts, trace, observation, settings.network)


@inlined
def _backwards(state: LearnerState, settings: EngineSettings, n: int) -> None:
    graph, room, trace = state.graph, state.room, state.trace
    seen = Pass(
        graph.source,
        graph.weight,
        room.starts,
        trace,
        room.adjoint,
        room.gradient,
        room.errors,
        state.credit,
        state.feedback,
        settings.learning.trace_decay,
        settings.network,
    )
    for _ in range(n):
        cross_entropy(trace, room.adjoint, N_INPUTS, N_INPUTS + N_OUTPUTS, 0)
        backward(seen)


@inlined
def _optimizations(state: LearnerState, settings: EngineSettings, n: int) -> None:
    weight, moments, room = state.graph.weight, state.moments, state.room
    gradient, delta, first, last = room.gradient, room.delta, room.first, room.last
    for step in range(1, n + 1):
        pace = Pace(step, settings.learning.learning_rate)
        optimize(settings.learning, pace, weight, gradient, moments, delta, first, last)


@inlined
def _pushes(state: LearnerState, n: int) -> None:
    for _ in range(n):
        push(state.history, state.room.delta, state.room.first, state.room.last)


@kernel
def _decisions(state: LearnerState, rules: Plasticity, rng: np.random.Generator, n: int) -> None:
    spared = spared_edges(state.protection)
    for call in range(n):
        decide(rules, state.graph, state.history, state.noticed, spared, call + 1, rng)


def phases(graph: Graph, iterations: int, repeats: int) -> dict[str, float]:
    """Return the median µs that each phase of one learning step takes on its own.

    "plasticity" is one decision of the paper's rules, without applying it, divided by the 100
    updates between two calls.
    """
    learner = new_learner(graph, iterations, None)
    learner.learn_stream(*stream(200))
    state, settings = _inside(learner)
    rules = timed_rules(learner)
    rng, observation = np.random.default_rng(0), np.full(N_INPUTS, 0.5)
    runs: dict[str, tuple[Callable[[int], None], float]] = {
        "forward": (lambda n: _forwards(state, settings, observation, n), 1),
        "backward": (lambda n: _backwards(state, settings, n), 1),
        "optimizer": (lambda n: _optimizations(state, settings, n), 1),
        "history": (lambda n: _pushes(state, n), 1),
        "plasticity": (lambda n: _decisions(state, rules, rng, n), 100),
    }
    n = max(200, 200_000 // graph.n_edges)
    return {name: median_us(run, n, repeats) / share for name, (run, share) in runs.items()}


def timed_rules(learner: Learner) -> Plasticity:
    """Return the paper's rules, whose decisions are timed on a learner that makes none."""
    return Plasticity.of(replace(learner.plasticity, growth="relay", pruning="weak"))


def _inside(learner: Learner) -> tuple[LearnerState, EngineSettings]:
    return learner._state, learner._settings


@reduction
def _multiply_adds(sums: Floats, n: int) -> None:
    """Do 32 · n independent multiply-adds on 32 sums, enough to keep every unit busy."""
    for _ in range(n):
        for k in range(32):
            sums[k] = sums[k] * 0.999 + 0.001


def peak_multiply_adds(repeats: int) -> float:
    """Return the most multiply-adds per µs that one core was seen to do."""
    sums, n = np.zeros(32), 200_000
    _multiply_adds(sums, 10)
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        _multiply_adds(sums, n)
        times.append(time.perf_counter() - begin)
    return 32 * n / min(times) / 1e6


def multiply_adds(graph: Graph, iterations: int) -> int:
    """Count the multiply-adds that one learning step with Adam cannot do without.

    Forward: one per edge and iteration, 20 per tanh.  Backward: one per edge into an output for the
    last iteration, two per edge for each one before.  Adam: 8 per edge that learns.
    """
    live = graph.target >= graph.n_inputs
    into_outputs = live & (graph.target < graph.n_inputs + graph.n_outputs)
    n_live, n_last = int(live.sum()), int(into_outputs.sum())
    n_learning = n_last if iterations == 1 else n_live
    forward_count = iterations * (n_live + 20 * (graph.n_nodes - graph.n_inputs))
    return forward_count + n_last + 2 * (iterations - 1) * n_live + 8 * n_learning


def scaling(sizes: tuple[int, ...], repeats: int) -> dict[str, dict[str, float]]:
    """Fit lines through the µs of one step at K = 1, and of one edit, over network sizes."""
    steps, edits = [], []
    for n_edges in sizes:
        run = compiled_engine(grown_graph(n_edges), 1, None)
        steps.append(median_us(run, int(np.clip(5_000_000 // n_edges, 2000, 50_000)), repeats))
        learner = new_learner(grown_graph(n_edges), 1, active_rules(n_edges))
        learner.learn_stream(*stream(150))

        def edit(n: int, learner: Learner = learner) -> None:
            for _ in range(n):
                learner._restructure()

        edits.append(median_us(edit, 20, repeats))
    return {"step": _line(sizes, steps), "edit": _line(sizes, edits)}


def _line(sizes: tuple[int, ...], times: list[float]) -> dict[str, float]:
    slope, intercept = np.polyfit(sizes, times, 1)
    residual = np.array(times) - (slope * np.array(sizes) + intercept)
    return {
        "us_fixed": intercept,
        "us_per_edge": slope,
        "r2": float(1 - residual.var() / np.var(times)),
    }


def main() -> None:
    """Measure, and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    warnings.simplefilter("ignore", GrowthLimitWarning)  # the active rules live at their limit
    peak, rows = peak_multiply_adds(repeats), []
    for n_edges in (10, 84, 1000, 10_000):
        graph = grown_graph(n_edges)
        for iterations in (1, 3):
            floor = multiply_adds(graph, iterations) / peak
            times = phases(graph, iterations, repeats)
            rows.append({"edges": n_edges, "iterations": iterations, "floor": floor, **times})
    plain, watching = (compiled_engine(grown_graph(84), 1, rules) for rules in (None, WATCHING))
    never, every = (median_us(run, 50_000, repeats) for run in (plain, watching))
    found = {
        "peak_multiply_adds_per_us": peak,
        "phases_us": rows,
        **scaling((300, 1000, 3000, 10_000, 30_000), repeats),
        "statistics_every_update": every / never,
    }
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
