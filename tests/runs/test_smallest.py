"""The smallest network that keeps a fraction: the next size, the target, and exact resuming."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smgrnn import Run
from smgrnn.config import RunConfig
from smgrnn.errors import ConfigError
from smgrnn.experts.evaluation import evaluate_expert
from smgrnn.runs.record import Record
from smgrnn.runs.smallest import Search
from smgrnn.runs.start import new_run
from support.runs import TEACHERS, contents, teacher


def searched(*rows: tuple[float, float], judged: Any = ()) -> Search:
    """Return a search for a mean of 10 after failures of some sizes with some means."""
    failed = [(size, size, mean, 1.0) for size, mean in rows]
    return Search(0.0, 10.0, np.array(failed).reshape(-1, 4), np.array(judged, dtype=float))


@pytest.mark.parametrize(
    ("rows", "size"),
    [
        ([], 2),
        ([(2, 5.0)], 3),
        ([(2, 8.0)], 2),  # within three standard errors
        ([(2, 8.0), (2, 9.0)], 2),
        ([(2, 8.0), (2, 9.0), (2, 9.0)], 3),  # no fourth time
        ([(3, 0.0)], 4),
        ([(4, 0.0)], 6),
        ([(6, 0.0)], 8),
        ([(16, 0.0)], 24),
    ],
)
def test_an_open_size_is_tried_again_and_else_the_next_one(rows: Any, size: int) -> None:
    assert searched(*rows).size == size


def test_the_lower_bound_of_the_judged_mean_decides() -> None:
    judged = np.tile([10.0, 12.0], 50)
    error = judged.std(ddof=1) / 10.0
    assert searched(judged=judged).lower_bound == pytest.approx(11.0 - 1.645 * error)
    assert searched(judged=judged).is_over(2)
    assert not searched(judged=judged - 1.0).is_over(2)  # to be tried again
    assert not searched(judged=judged - 9.0).is_over(3)
    assert searched(judged=judged - 9.0).is_over(2)  # the next is too large
    assert not searched().is_over(2)


def config(folder: Path, **changes: Any) -> RunConfig:
    """Return the settings of short trainings; their teacher balances the pole for a while."""
    start = {"expert": teacher(folder, "CartPole-v1"), "plasticity": {"least_updates": 50}}
    few = {"episodes": 40, "polish": 240, "keep": 1.0, "checkpoint_every": 9}
    return RunConfig.for_task("CartPole-v1", preset="frugal", **{**start, **few, **changes})


def test_the_target_is_a_fraction_of_what_the_expert_returns_beyond_chance(tmp_path: Path) -> None:
    expert = TEACHERS["CartPole-v1"]
    taught = evaluate_expert(expert, "CartPole-v1", 100, "choosing").mean()
    chance = evaluate_expert(expert, "CartPole-v1", 100, "choosing", disturbance=1.0).mean()
    record = new_run("CartPole-v1", config(tmp_path, keep=0.5, polish=0)).train()
    kept = record.summary()["keep"]
    assert kept["target_return"] == pytest.approx(0.5 * (taught + chance))
    assert kept["is_reached"]
    assert record.held_out.mean() > kept["lower_bound"] >= kept["target_return"]
    assert record.selected.n_parameters <= 2 + len(kept["failed"])
    assert record.summary()["polish"]["episodes"] > 9_000  # each size is polished by default


def test_a_search_that_was_stopped_at_any_time_ends_the_same(tmp_path: Path) -> None:
    rules = {"least_updates": 50, "size": 3}
    settings = config(tmp_path, plasticity=rules, keep=1.0, expert=None)  # of the bundled expert
    run = new_run("CartPole-v1", settings, tmp_path / "whole")
    moments: list[Any] = []
    kept = run.train(lambda run: moments.append(run.record.extent)).summary()["keep"]
    assert kept["failed"][0]["size"] == 2
    assert run.record.search is not None
    assert run.record.search.size == 3
    for n in range(3, len(moments), len(moments) // 4):
        count = iter(range(n))

        def stop(_: Run, count: Any = count) -> None:
            if next(count, None) is None:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            new_run("CartPole-v1", settings, tmp_path / f"{n}").train(stop)
        assert Record.load(tmp_path / f"{n}").extent == moments[n]
        new_run("CartPole-v1", settings, tmp_path / f"{n}").train()
        assert contents(tmp_path / f"{n}") == contents(tmp_path / "whole")


def test_a_search_is_polished_as_it_goes_and_not_afterwards(tmp_path: Path) -> None:
    run = new_run("CartPole-v1", config(tmp_path, keep=0.1))
    run.train()
    with pytest.raises(ConfigError, match="--keep polishes each size"):
        run.polish(500)
