"""What `smgrnn bench` compares is the same work, and its tables hold what was measured."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from smgrnn.errors import ConfigError
from smgrnn.graph import Graph
from smgrnn_paper.bench.eager import eager_loop
from smgrnn_paper.bench.measure import measure
from smgrnn_paper.bench.phases import multiply_adds, timed_rules
from smgrnn_paper.bench.tables import markdown, tables
from smgrnn_paper.bench.workload import (
    N_INPUTS,
    N_OUTPUTS,
    active_rules,
    grown_graph,
    new_learner,
    stream,
)

ROW = {
    "edges": 84,
    "iterations": 1,
    "plasticity": True,
    "eager_us": 300.0,
    "torch_us": 330.0,
    "compiled_us": 0.5,
    "ratio": 600.0,
    "floor_us": 0.1,
}
LINE = {"edges": (84, 300), "us": [0.5, 1.1], "us_per_edge": 0.003, "us_fixed": 0.25, "r2": 1.0}
RESULTS = {
    "is_quick": False,
    "repeats": 7,
    "episodes": 2000,
    "machine": {"cpu": "a processor", "cores": 2},
    "peak_multiply_adds_per_us": 6000.0,
    "rows": [ROW],
    "phases": [
        {
            "edges": 84,
            "iterations": 1,
            "forward": 0.125,
            "backward": 0.04,
            "optimizer": 0.08,
            "history": 0.07,
            "plasticity": 0.01,
        }
    ],
    "fit": LINE,
    "edit": LINE,
    "statistics_every_update": {"ratio": 1.25},
    "python_call": {"added_us": 2.0},
    "runs": [{"task": "CartPole-v1", "student": "smgrnn", "seconds": 1.5, "step_us": 1.55}],
    "beside_environment": {
        "task": "LunarLander-v3",
        "run_us": 45.0,
        "bare_us": 36.0,
        "ratio": 1.25,
    },
    "peak_memory_mb": 700.0,
    "startup_s": {"cold": 20.0, "cached": 1.0, "import": 0.1, "help": 0.2},
}


@pytest.mark.parametrize("iterations", [1, 3])
def test_the_plain_loop_trains_the_same_network_as_the_compiled_engine(iterations: int) -> None:
    graph = grown_graph(84)
    plain = eager_loop(graph, iterations, *stream(50))
    learner = new_learner(graph, iterations, None)
    learner.learn_stream(*stream(50))
    torch.testing.assert_close(
        plain.double(), torch.from_numpy(learner.graph.weight), rtol=0, atol=1e-3
    )
    assert np.abs(plain.numpy() - graph.weight).max() > 0.05


@pytest.mark.parametrize("n_edges", [10, 84, 1000])
def test_the_measured_networks_have_the_edges_they_are_named_for(n_edges: int) -> None:
    graph = grown_graph(n_edges)
    assert graph.n_edges == n_edges
    assert graph.n_nodes == max(n_edges // 3, N_INPUTS + N_OUTPUTS)


@pytest.mark.filterwarnings("ignore::smgrnn.errors.GrowthLimitWarning")
def test_the_active_rules_edit_at_every_call_and_keep_the_size() -> None:
    learner = new_learner(grown_graph(300), 1, active_rules(300))
    learner.learn_stream(*stream(5000))
    assert len(list(learner.log.edits())) >= 49
    assert 270 <= learner.graph.n_edges <= 300


def test_the_decisions_that_are_timed_are_those_of_rules() -> None:
    """They were those of a module without rules, which decides on nothing."""
    rules = timed_rules(new_learner(grown_graph(84), 1, None))
    assert rules.growth.decide != 0
    assert rules.pruning.decide != 0


def test_the_multiply_adds_of_a_core_are_counted_in_a_process_of_its_own() -> None:
    """After other kernels it compiled, and alone it did not."""
    code = "from smgrnn_paper.bench.phases import peak_multiply_adds as peak; print(peak(1))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert float(done.stdout) > 0, done.stderr


def test_multiply_adds_of_a_small_network_counted_by_hand() -> None:
    edges = [(0, 2, 1.0), (1, 2, 1.0), (0, 3, 1.0), (3, 2, 1.0)]
    graph = Graph.from_edges(2, 1, 1, edges)
    one_iteration = 4 + 2 * 20 + 3 + 8 * 3
    assert multiply_adds(graph, 1) == one_iteration
    assert multiply_adds(graph, 2) == 2 * (4 + 2 * 20) + 3 + 2 * 4 + 8 * 4


def test_tables_and_markdown_hold_every_measurement() -> None:
    assert len(list(tables(RESULTS))) == 4
    text = markdown(RESULTS)
    for figure in ("300", "330", "0.50", "0.100", "600", "0.125", "3.00 ns per edge", "1.25 ×"):
        assert figure in text
    for figure in ("2.00 µs", "700 MB", "20.00 s", "1.00 s", "0.10 s", "0.20 s", "a processor"):
        assert figure in text
    for figure in ("| CartPole-v1 | smgrnn | 1.50 | 1.55 |", "45.0 µs / 36.0 µs = 1.25"):
        assert figure in text


def test_a_bench_without_repeats_is_refused() -> None:
    with pytest.raises(ConfigError, match="repeats must be at least 1"):
        measure(0, True, lambda what: None)
