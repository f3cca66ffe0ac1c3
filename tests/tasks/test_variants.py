"""Variants of tasks, tasks that need memory, their teachers, and what is refused."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import smgrnn
from smgrnn.errors import TaskError
from smgrnn.experts import (
    evaluate_expert,
    find_expert,
    find_teacher,
    find_teacher_again,
    load_expert,
)
from smgrnn.runs.stage_scores import _ends as scores_of_ends
from smgrnn.tasks import Task, find_again, find_task, make_env, recall


@pytest.mark.parametrize(
    ("name", "id"),
    [
        ("CartPole-v1,length=1.0,gravity=2e1", "CartPole-v1,gravity=20,length=1"),
        (
            "CartPole-v1,mirrored,hide=velocities,gravity=9.80",
            "CartPole-v1,hide=velocities,mirrored",
        ),
        ("recall,cue=1of2,delay=04", "recall,delay=4,cue=1of2"),
        ("recall,delay=8", "recall"),
    ],
)
def test_equal_variants_have_one_name(name: str, id: str) -> None:
    assert find_task(name).id == id
    assert find_task(name) == find_task(id)


@pytest.mark.parametrize(
    ("id", "shown", "n_whole"),
    [
        ("CartPole-v1,gravity=20,hide=velocities,cue=2of3,mirrored", [0, 1, 0], 7),
        ("recall,delay=2,cue=1of2", [1, 0], 5),
        ("MountainCar-v0,cue=1of2", [1, 0], 4),
    ],
)
def test_a_cue_is_shown_behind_the_observation(id: str, shown: list[int], n_whole: int) -> None:
    task = find_task(id)
    env: Any = make_env(task)
    observation, _ = env.reset(seed=0)
    assert observation[-len(shown) :].tolist() == shown
    assert len(observation) == task.n_inputs
    assert task.n_observed == n_whole == getattr(env, "whole", observation).size
    if "gravity" in id:
        assert env.unwrapped.gravity == 20
        assert task.places == (0, 2, 4, 5, 6)
        assert task.names.inputs == ("position", "angle", "cue 1", "cue 2", "cue 3")


FORM = (
    "A variant of a task is written as key=value, each key once, such as "
    "CartPole-v1,hide=velocities, or as mirrored."
)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("CartPole-v1,positions", f"{FORM} Got 'CartPole-v1,positions' instead."),
        ("recall,delay=2,delay=3", FORM),
        ("CartPole-v1,mirrored=1", FORM),
        ("CartPole-v1,wind=20", "has no setting 'wind'. It has hide=velocities, gravity=9.8,"),
        ("CartPole-v1,gravty=20", "Did you mean 'gravity'?"),
        ("recall,hide=cue", "The task 'recall' has no setting 'hide'. It has delay=8, cue=1of2."),
        ("xor,cue=1of2", "The task 'xor' has no setting 'cue'. It has none."),
        ("CartPole-v1,hide=speed", "velocities of 'CartPole-v1' can be hidden. Got 'speed' inst"),
        ("CartPole-v1,gravity=500", "The setting 'gravity' of 'CartPole-v1' is a number in"),
        ("CartPole-v1,gravity=-1", "in [0.98, 98]. Got '-1' instead."),
        ("CartPole-v1,gravity=nan", "Got 'nan' instead."),
        ("recall,delay=-1", "'delay' of 'recall' is an int in [0, 9998]. Got '-1' instead."),
        ("recall,delay=1.5", "Got '1.5' instead."),
        ("CartPole-v1,cue=3of2", "A cue is the number of a task among 2 to 100"),
        ("CartPole-v1,cue=1", "such as 1of2. Got '1' instead."),
    ],
)
def test_a_wrong_variant_is_refused_in_one_sentence(name: str, sentence: str) -> None:
    with pytest.raises(TaskError) as caught:
        find_task(name)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


# --- teachers -------------------------------------------------------------------------------------


def test_a_mirrored_task_mirrors_its_teacher() -> None:
    tasks = [find_task(id) for id in ("CartPole-v1", "CartPole-v1,mirrored")]
    experts = [find_expert(None, task)[1] for task in tasks]
    identity, teacher = find_teacher(None, find_task("Acrobot-v1,mirrored,cue=2of2"))
    assert find_teacher_again(identity, find_task("Acrobot-v1,mirrored,cue=2of2")) == teacher
    plain, mirrored = (evaluate_expert(*pair, 3) for pair in zip(experts, tasks, strict=True))
    assert plain.tolist() == mirrored.tolist()
    assert evaluate_expert(experts[0], tasks[1], 3).mean() < 20


def test_a_teacher_does_not_see_the_cue() -> None:
    task, rng = find_task("CartPole-v1,cue=1of2"), np.random.default_rng(0)
    plain, blind = (find_expert(None, each)[1] for each in (find_task("CartPole-v1"), task))
    for row in rng.normal(size=(50, 4)):
        assert blind.action([*row, *rng.normal(size=2)]) == plain.action(row)
    _, asked = find_expert(lambda observation: len(observation) == 4, task)
    assert asked.action(np.zeros(6)) == 1


@pytest.mark.parametrize("id", ["CartPole-v1,gravity=20", "Acrobot-v1,link_mass_2=2"])
def test_teachers_of_variants_return_what_is_recorded_of_them(id: str) -> None:
    task = find_task(id)
    returns = evaluate_expert(find_expert(None, task)[1], task)
    assert (returns.mean(), returns.std()) == pytest.approx(task.teacher_score, abs=0.01)


def test_a_teacher_that_is_known_or_measured_to_be_weak_is_told() -> None:
    """Nothing is on record of the second variant; a sequence measures the teachers of its tasks."""
    with pytest.warns(UserWarning, match=r"returns -128\.1 on average, below the threshold of -10"):
        find_teacher(None, find_task("Acrobot-v1,link_mass_2=2,cue=1of2"))
    with pytest.warns(UserWarning, match=r"The teacher of Acrobot-v1,link_mass_2=3 returns -"):
        scores_of_ends("Acrobot-v1,link_mass_2=3")


HIDDEN = [("CartPole-v1", (0, 2)), ("Acrobot-v1", (0, 1, 2, 3))]
BLIND = [f"{id},hide=velocities" for id, _ in HIDDEN]


@pytest.mark.parametrize(("id", "places"), HIDDEN)
def test_a_student_sees_positions_and_its_expert_everything(
    id: str, places: tuple[int, ...]
) -> None:
    plain, task = find_task(id), find_task(f"{id},hide=velocities")
    assert task.places == places
    assert (task.n_inputs, task.n_observed) == (len(places), plain.n_inputs)
    assert task.facts.code == plain.facts.code
    for name in ("n_outputs", "max_steps", "reward_threshold"):
        assert getattr(task, name) == getattr(plain, name)
    identity, teacher = find_teacher(None, task)
    assert identity.name == f"{id}-smooth"
    assert teacher == load_expert(id)
    assert Task.from_dict(task.to_dict()) == task
    assert find_again(task) == task
    assert (task.facts.needs_memory, plain.facts.needs_memory) == (True, False)
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
    for shown in ([-1, 0, -1], [0, 0, -1], [0, 0, -1], [0, 1, -1]):
        recall.observe(state, seen)
        assert seen.tolist() == shown
        if not shown[1]:
            assert recall.step(state, 2) == (0.0, False)
    assert recall.step(state.copy(), 1) == (0.0, True)
    assert recall.step(state.copy(), 2) == (0.0, True)
    assert recall.step(state, 0) == (1.0, True)
    assert recall.step(np.array([0.0, 1.0, 3.0]), 1) == (0.0, False)  # before it is asked


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
