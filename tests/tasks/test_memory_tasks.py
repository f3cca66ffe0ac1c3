"""Tasks that need memory: hidden velocities, and recall, compiled and in Gymnasium."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import smgrnn
from smgrnn.experts import evaluate_expert, find_teacher, load_expert
from smgrnn.tasks import Task, find_again, find_task, make_env, recall

HIDDEN = [("CartPole-v1", (0, 2)), ("Acrobot-v1", (0, 1, 2, 3))]
BLIND = [f"{id},hide=velocities" for id, _ in HIDDEN]


@pytest.mark.parametrize(("id", "places"), HIDDEN)
def test_a_student_sees_positions_and_its_expert_everything(
    id: str, places: tuple[int, ...]
) -> None:
    plain, task = find_task(id), find_task(f"{id},hide=velocities")
    assert task.places == places
    assert (task.n_inputs, task.n_observed) == (len(places), plain.n_inputs)
    assert (task.n_outputs, task.max_steps) == (plain.n_outputs, plain.max_steps)
    assert task.reward_threshold == plain.reward_threshold
    assert task.compiled == plain.compiled
    identity, teacher = find_teacher(None, task)
    assert identity.name == f"{id}-smooth"
    assert teacher == load_expert(id)
    assert Task.from_dict(task.to_dict()) == task
    assert find_again(task) == task
    assert (task.needs_memory, plain.needs_memory) == (True, False)
    env: Any
    found, alike = (evaluate_expert(load_expert(id), each, 3) for each in (task, plain))
    assert found.tolist() == alike.tolist()
    both, env = gym.make(id), make_env(task)
    whole, shown = both.reset(seed=3)[0], env.reset(seed=3)[0]
    for _ in range(5):
        assert np.array_equal(shown, whole[list(places)])
        assert np.array_equal(env.whole, whole)
        assert env.observation_space.contains(shown)
        whole, shown = both.step(1)[0], env.step(1)[0]


def test_normalisation_is_of_what_the_student_sees_and_an_expert_sees_everything() -> None:
    seen = []

    def lean(observation: Any) -> int:
        seen.append(len(observation))
        return int(observation[2] + 0.5 * observation[3] > 0)

    run = smgrnn.distill(BLIND[0], expert=lean, episodes=2, normalise=True, held_out=1)
    assert set(seen) == {4}
    policy = run.record.students["final"]
    assert policy.normalisation is not None
    assert policy.normalisation.mean.shape == (2,)
    assert policy([0.0, 0.1]) in (0, 1)


# --- recall --------------------------------------------------------------------------------------


def test_an_episode_of_recall_by_hand() -> None:
    state, seen = np.array([0.0, -1.0, 4.0]), np.empty(3)
    shown = []
    for _ in range(3):
        recall.observe(state, seen)
        shown.append(seen.tolist())
        assert recall.step(state, 2) == (0.0, False)
    recall.observe(state, seen)
    shown.append(seen.tolist())
    assert shown == [[-1, 0, -1], [0, 0, -1], [0, 0, -1], [0, 1, -1]]
    assert recall.step(state.copy(), 1) == (0.0, True)
    assert recall.step(state.copy(), 2) == (0.0, True)
    assert recall.step(state, 0) == (1.0, True)
    assert recall.step(np.array([0.0, 1.0, 3.0]), 1) == (0.0, False)  # before it is asked


def test_the_question_looks_the_same_whatever_the_cue_was() -> None:
    """So that without memory no network is right more often than half of the time."""
    env = make_env(find_task("recall,delay=2"))
    asked: dict[float, set[tuple[float, ...]]] = {}
    for seed in range(20):
        shown, _ = env.reset(seed=seed)
        cue = float(shown[0])
        for _ in range(3):
            shown, *_ = env.step(2)
        asked.setdefault(cue, set()).add(tuple(shown.tolist()))
    assert asked == {-1.0: {(0.0, 1.0)}, 1.0: {(0.0, 1.0)}}


def test_the_rule_itself_is_the_expert_of_recall_and_always_right() -> None:
    task = find_task("recall,delay=5")
    identity, expert = find_teacher(None, task)
    assert (identity.kind, identity.name) == ("shipped", "recall")
    assert expert is not None
    assert evaluate_expert(expert, task, 50).tolist() == [1.0] * 50
    chance = evaluate_expert(expert, task, 300, disturbance=1.0).mean()
    assert chance == pytest.approx(1 / 3, abs=0.1)


def test_cues_are_drawn_evenly_and_without_a_seed_too() -> None:
    cues = [recall.start(seed)[1] for seed in range(2000)]
    assert abs(np.mean(cues)) < 0.1
    env = make_env(find_task("recall,delay=1"))
    assert {float(env.reset()[0][0]) for _ in range(40)} == {-1.0, 1.0}


def test_a_run_on_recall_is_saved_evaluated_and_loaded(tmp_path: Path) -> None:
    run = smgrnn.distill("recall,delay=2", episodes=5, held_out=3, out=tmp_path / "run")
    policy = smgrnn.load(tmp_path / "run")
    policy.reset()
    assert policy([1.0, 0.0]) in (0, 1, 2)
    assert run.plan.task.id == "recall,delay=2"
    assert run.plan.network.carry_state
    assert run.plan.learning.through_time > 0
