"""The choice among checkpoints: by their own returns alone, or by their students."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smgrnn.experts import Expert, choice, load_expert, read_expert, score_expert
from smgrnn.experts.choice import ScoredCheckpoint, Teachability, late_returns, train_expert
from smgrnn.experts.dqn import Choice, DQNConfig, Recipe
from smgrnn.experts.evaluation import Score
from smgrnn.runs import distill
from smgrnn.tasks import Task, find_task
from support.commands import call

CONFIG = DQNConfig(steps=2000, hidden=16, warmup=100, check_every=500, policy_averaging=0.05)
EXPERT = Expert.from_layers([([[1.0]], [0.0])])


@pytest.mark.parametrize("chosen_by", ["own return", "students"])
def test_training_keeps_the_checkpoint_that_does_best_and_records_it(chosen_by: Choice) -> None:
    """None of these is good enough for students, so both choices come to the same."""
    heard: list[ScoredCheckpoint] = []
    recipe = Recipe(CONFIG, chosen_by)
    expert, record = train_expert("CartPole-v1", recipe, 3, episodes=3, report=heard.append)
    assert [each.step for each in heard] == [500, 1000, 1500, 2000]
    assert len({each.choosing.mean for each in heard}) > 1
    best = max(heard, key=lambda each: each.choosing.mean)
    assert expert == best.expert
    assert record["step"] == best.step
    assert record["chosen_by"] == chosen_by
    assert record["choosing"] == best.choosing._asdict()
    assert (record["disturbed"] is None) == (chosen_by == "own return")
    assert record["held_out"] == score_expert(expert, "CartPole-v1", 3)._asdict()
    assert record["config"] == CONFIG.to_dict()
    assert (record["task"], record["seed"]) == ("CartPole-v1", 3)
    assert record["changes"]["hidden"] == "Set by hand."


def test_by_its_own_return_the_first_of_the_best_is_kept_and_no_student_is_trained(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All checkpoints count as good, so that a choice by students would train some."""
    means = iter([300.0, 500.0, 500.0, 400.0])

    def score(*_: Any, **settings: Any) -> Score:
        assert not settings  # no random actions
        return Score(next(means, 0.0), 1.0, 3, 30_000, 0.0)

    def refuse(*_: Any) -> Any:
        raise AssertionError("a student was trained")

    monkeypatch.setattr(Task, "good_return", 0.0)
    monkeypatch.setattr(choice, "score_expert", score)
    monkeypatch.setattr(choice, "late_returns", refuse)
    heard: list[ScoredCheckpoint] = []
    recipe = Recipe(CONFIG, "own return")
    expert, record = train_expert("CartPole-v1", recipe, 3, report=heard.append)
    assert (record["step"], record["choosing"]["mean"]) == (1000, 500.0)
    assert expert == heard[1].expert != heard[2].expert
    assert record["teachability"] is None
    means = iter([300.0])
    with pytest.raises(AssertionError):
        train_expert("CartPole-v1", Recipe(CONFIG, "students"), 3)


def test_good_checkpoints_are_ranked_by_their_students_then_by_themselves() -> None:
    def checkpoint(mean: float, disturbed: float, taught: float | None) -> ScoredCheckpoint:
        scores = Score(mean, 0.0, 5, 30_000, 0.0), Score(disturbed, 9.0, 5, 30_000, 0.3)
        students = None if taught is None else Teachability(taught, 1.0, 200, (1000,), 16)
        return ScoredCheckpoint(1, EXPERT, *scores, students)

    ordered = [
        checkpoint(240.0, 90.0, None),
        checkpoint(249.0, 80.0, None),
        checkpoint(270.0, 70.0, 200.0),
        checkpoint(260.0, 60.0, 210.0),
        checkpoint(261.0, 50.0, 210.0),
        checkpoint(261.0, 55.0, 210.0),
    ]
    assert all(worse.rank < better.rank for worse, better in pairwise(ordered))


def test_the_command_trains_by_the_recipe_that_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / name for name in ("plain", "printed")]
    for file in files:
        words = ("--out", file, "--recipe", file.name, "--steps", 1500)
        call("expert", "train", "CartPole-v1", *words)
    records = [read_expert(file)[1] for file in files]
    assert [record["chosen_by"] for record in records] == ["own return"] * 2
    assert records[0]["config"] == DQNConfig(steps=1500).to_dict()
    assert records[1]["config"] == DQNConfig.paper(steps=1500).to_dict()
    assert records[1]["changes"] == {}
    assert load_expert(files[0]) != load_expert(files[1])
    assert "random actions" not in capsys.readouterr().err


def test_a_smooth_teacher_is_teachable_and_a_useless_one_is_not() -> None:
    task, direction = find_task("CartPole-v1"), np.array([0.1, 0.3, 1.0, 0.5])
    hidden = (np.stack([direction, -direction]), np.zeros(2))
    smooth = Expert.from_layers([hidden, (np.array([[-1.0, 1.0], [1.0, -1.0]]), np.zeros(2))])
    useless = Expert.from_layers([hidden, (np.zeros((2, 2)), np.array([1.0, 0.0]))])
    good, bad = (late_returns(teacher, task, 100, (1000,)).mean() for teacher in (smooth, useless))
    assert good > 400
    assert bad < 20


def test_the_students_that_choose_are_those_of_a_run_with_as_many_units() -> None:
    task, n_parameters = find_task("Acrobot-v1"), 16 * (6 + 1 + 3) + 3
    settings: Any = {"student": "mlp-100", "budget": n_parameters, "preset": "paper", "held_out": 1}
    run = distill(task.id, episodes=20, seed=1001, handover="final", **settings)
    assert run.graph.n_hidden == 16
    (mean,) = late_returns(load_expert(task.id), task, 20, [1001])
    assert mean == run.episodes.returns[-5:].mean()
