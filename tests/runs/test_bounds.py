"""What a run can come to is known before it begins, however long it lives."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smgrnn.config import RunConfig
from smgrnn.runs.bounds import CHANGE_BYTES, EPISODE_BYTES, most_kept, most_nodes_and_edges
from smgrnn.runs.run import new_run
from support.runs import settings, teacher


@pytest.mark.parametrize(
    "changes",
    [
        {"preset": "frugal", "parameters": 20},
        {"preset": "frugal", "normalise": True},
        {"preset": "paper", "plasticity": {"max_edges": 40, "max_nodes": 20, "interval": 20}},
        {"preset": "paper", "student": "mlp-100"},
        {"preset": "paper", "student": "static"},
    ],
)
@pytest.mark.filterwarnings("ignore::smgrnn.GrowthLimitWarning")
def test_a_record_is_no_larger_than_its_bound(tmp_path: Path, changes: dict[str, Any]) -> None:
    config = RunConfig.for_task("CartPole-v1", **{"episodes": 60, **changes})
    run = new_run("CartPole-v1", config, tmp_path / "run", teacher(tmp_path, "CartPole-v1"))
    run.train()
    size = (tmp_path / "run" / "model.safetensors").stat().st_size
    assert size <= most_kept(run.plan) + CHANGE_BYTES * run.edits.update.size
    n_nodes, n_edges = most_nodes_and_edges(run.plan)
    assert run.episodes.n_nodes.max() <= n_nodes
    assert run.episodes.n_edges.max() <= n_edges


def test_episodes_and_changes_take_no_more_than_is_said(tmp_path: Path) -> None:
    run = new_run("CartPole-v1", settings(tmp_path))
    run.train()
    for table, most in ((run.episodes, EPISODE_BYTES), (run.edits, CHANGE_BYTES)):
        columns: list[Any] = list(table)
        assert sum(np.asarray(each).nbytes for each in columns) <= most * len(columns[0])


def test_a_longer_run_keeps_more_episodes_and_nothing_else(tmp_path: Path) -> None:
    short, long = (
        most_kept(new_run("CartPole-v1", settings(tmp_path, episodes=n)).plan) for n in (10, 1010)
    )
    assert long - short == 1000 * EPISODE_BYTES
