"""What `smgrnn bench` compares is the same work, and its tables hold what was measured."""

import numpy as np
import pytest
import torch

from smgrnn.errors import ConfigError
from smgrnn_paper.bench.measure import markdown, measure, tables
from smgrnn_paper.bench.workload import (
    active_rules,
    eager_loop,
    grown_graph,
    new_learner,
    stream,
)

ROW: dict[str, float] = {"edges": 84, "iterations": 1, "plasticity": True}
ROW |= {"eager_us": 300.0, "torch_us": 330.0, "compiled_us": 0.5, "ratio": 600.0}
RESULTS = {
    **{"is_quick": False, "repeats": 7, "episodes": 2000, "rows": [ROW], "peak_memory_mb": 700.0},
    "machine": {"cpu": "a processor", "cores": 2},
    "edit": {"us": 16.0},
    "python_call": {"added_us": 2.0},
    "runs": [{"task": "CartPole-v1", "student": "smgrnn", "seconds": 1.5, "step_us": 1.55}],
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


@pytest.mark.filterwarnings("ignore::smgrnn.errors.GrowthLimitWarning")
def test_the_active_rules_edit_at_every_call_and_keep_the_size() -> None:
    graph = grown_graph(300)
    assert (graph.n_edges, graph.n_nodes) == (300, 100)
    learner = new_learner(graph, 1, active_rules(300))
    learner.learn_stream(*stream(5000))
    assert len(list(learner.log.edits())) >= 49
    assert 270 <= learner.graph.n_edges <= 300


def test_tables_and_markdown_hold_every_measurement() -> None:
    assert len(list(tables(RESULTS))) == 3
    text = markdown(RESULTS)
    for figure in ("| 300 | 330 | 0.50 | 600 |", "16.0 µs", "2.00 µs", "700 MB", "20.00 s"):
        assert figure in text
    for figure in ("1.00 s", "0.10 s", "0.20 s", "a processor", "| smgrnn | 1.50 | 1.55 |"):
        assert figure in text


def test_a_bench_without_repeats_is_refused() -> None:
    with pytest.raises(ConfigError, match="repeats must be at least 1"):
        measure(0, True, lambda what: None)
