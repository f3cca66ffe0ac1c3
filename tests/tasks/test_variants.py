"""Variants of tasks: bit by bit those of Gymnasium, and what is refused."""

from itertools import count
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from smgrnn.errors import TaskError
from smgrnn.experts import evaluate_expert, find_expert, find_teacher, find_teacher_again
from smgrnn.experts.library import VARIANTS
from smgrnn.runs.course import _ends as scores_of_ends
from smgrnn.tasks import compiled, find_task, make_env
from smgrnn.tasks.compiled import CODES, USUAL, constants_of
from smgrnn.tasks.variants import PHYSICS, RANGE, plain_name, read_physics

N_EPISODES = 100
SETTINGS: list[tuple[str, dict[str, float], bool]] = [
    ("CartPole-v1", {"gravity": 20.0, "length": 1.0}, False),
    ("CartPole-v1", {"masscart": 1.7, "masspole": 0.33, "force_mag": 7.3, "tau": 0.013}, False),
    ("CartPole-v1", {}, True),
    ("CartPole-v1", {"gravity": 3.7, "length": 0.31}, True),
    ("Acrobot-v1", {"link_mass_2": 2.0}, False),
    ("Acrobot-v1", {"link_length_1": 1.3, "link_mass_1": 0.7, "link_com_pos_1": 0.61}, False),
    ("Acrobot-v1", {"link_mass_2": 1.9, "link_com_pos_2": 0.37, "link_moi": 0.83}, False),
    ("Acrobot-v1", {}, True),
]


def name_of(base: str, physics: dict[str, float], is_mirrored: bool) -> str:
    settings = [f"{key}={value!r}" for key, value in physics.items()]
    return ",".join([base, *settings, *(["mirrored"] if is_mirrored else [])])


def gymnasium_with(base: str, physics: dict[str, float]) -> Any:
    """Gymnasium's environment with attributes set by hand, by its own names."""
    env: Any = gym.make(base)
    for key, value in physics.items():
        name = key if base == "CartPole-v1" else key.upper()
        assert hasattr(env.unwrapped, name)
        setattr(env.unwrapped, name, value)
    if base == "CartPole-v1":
        cart = env.unwrapped
        cart.total_mass = cart.masspole + cart.masscart
        cart.polemass_length = cart.masspole * cart.length
    return env


def play_both(env: Any, id: str, seed: int, *, is_mirrored: bool = False) -> int:
    """Play an episode in Gymnasium and compiled; every bit must be the same."""
    task = find_task(id)
    assert task.compiled is not None
    rng, seen = np.random.default_rng(seed), np.empty(task.n_observed)
    state = compiled.start_states(task.compiled, [seed], task.constants)[0]
    shown, _ = env.reset(seed=seed)
    for time in count(1):
        compiled.observe(task.compiled, state, seen)
        assert np.array_equal(seen, shown)
        action = int(rng.integers(task.n_outputs)) if seed % 2 else time // 5 % task.n_outputs
        taken = task.n_outputs - 1 - action if is_mirrored else action
        shown, reward, is_terminated, is_truncated, _ = env.step(taken)
        assert compiled.step(task.compiled, state, action) == (reward, is_terminated)
        assert np.array_equal(state[:4], env.unwrapped.state)
        if is_terminated or is_truncated:
            return time
    raise AssertionError


@pytest.mark.parametrize(("base", "physics", "is_mirrored"), SETTINGS)
def test_a_variant_is_gymnasium_with_these_attributes_to_the_last_bit(
    base: str, physics: dict[str, float], is_mirrored: bool
) -> None:
    env, id = gymnasium_with(base, physics), name_of(base, physics, is_mirrored)
    lengths = {play_both(env, id, seed, is_mirrored=is_mirrored) for seed in range(N_EPISODES)}
    assert len(lengths) > 1 or base == "Acrobot-v1"


@pytest.mark.parametrize(("base", "physics", "is_mirrored"), SETTINGS)
def test_the_environment_of_a_variant_is_its_compiled_task(
    base: str, physics: dict[str, float], is_mirrored: bool
) -> None:
    id = name_of(base, physics, is_mirrored)
    env = make_env(find_task(id))
    for seed in range(3):
        play_both(env, id, seed)


@pytest.mark.parametrize("base", PHYSICS)
def test_each_constant_of_the_physics_matters(base: str) -> None:
    """A setting that did nothing would pass every comparison of one that does nothing either."""
    plain = find_task(base)
    assert plain.compiled is not None
    start = compiled.start_states(plain.compiled, [0], plain.constants)[0]
    for key, value in PHYSICS[base].items():
        varied = find_task(f"{base},{key}={2 * value}")
        after = []
        for task in (plain, varied):
            assert task.compiled is not None
            state = np.array([*start[: -len(task.constants)], *task.constants])
            for _ in range(3):
                compiled.step(task.compiled, state, 0)
            after.append(state[:4].tolist())
        assert after[0] != after[1], key


@pytest.mark.parametrize("base", PHYSICS)
def test_no_value_in_the_range_breaks_the_physics(base: str) -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        drawn = {key: value * RANGE ** rng.uniform(-1, 1) for key, value in PHYSICS[base].items()}
        task = find_task(name_of(base, drawn, bool(rng.integers(2))))
        assert task.compiled is not None
        state = compiled.start_states(task.compiled, [0], task.constants)[0]
        for _ in range(300):
            _, is_over = compiled.step(task.compiled, state, int(rng.integers(task.n_outputs)))
            assert np.isfinite(state).all()
            if is_over:
                break


def test_equal_variants_have_one_name() -> None:
    assert find_task("CartPole-v1,length=1.0,gravity=2e1").id == "CartPole-v1,gravity=20,length=1"
    assert find_task("CartPole-v1,gravity=9.80") == find_task("CartPole-v1")
    assert plain_name("CartPole-v1,mirrored,hide=velocities") == (
        "CartPole-v1,hide=velocities,mirrored"
    )


def test_a_variant_can_hide_velocities_and_show_a_cue() -> None:
    task = find_task("CartPole-v1,gravity=20,hide=velocities,cue=2of3,mirrored")
    assert (task.n_inputs, task.n_observed, task.places) == (5, 7, (0, 2, 4, 5, 6))
    env: Any = make_env(task)
    shown, _ = env.reset(seed=0)
    assert shown[2:].tolist() == [0, 1, 0]
    assert env.whole.shape == (7,)
    assert env.unwrapped.gravity == 20


def test_recall_can_have_a_cue() -> None:
    task = find_task("recall,delay=2,cue=1of2")
    env: Any = make_env(task)
    assert env.reset(seed=0)[0].tolist()[2:] == [1, 0]
    assert (task.n_inputs, task.n_observed) == (4, env.whole.size)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("CartPole-v1,gravity=500", "The setting 'gravity' of 'CartPole-v1' is a number in"),
        ("CartPole-v1,gravity=-1", "in [0.98, 98]. Got '-1' instead."),
        ("CartPole-v1,gravity=nan", "Got 'nan' instead."),
        ("CartPole-v1,gravity=heavy", "Got 'heavy' instead."),
        ("CartPole-v1,gravty=20", "Did you mean 'gravity'?"),
        ("CartPole-v1,link_mass_2=2", "The task 'CartPole-v1' has no setting 'link_mass_2'."),
        ("LunarLander-v3,mirrored", "The task 'LunarLander-v3' has no setting 'mirrored'."),
        ("CartPole-v1,mirrored=1", "or as mirrored. Got 'CartPole-v1,mirrored=1' instead."),
        ("CartPole-v1,mirrored,mirrored", "each key once"),
        ("CartPole-v1,gravity", "written as key=value"),
        ("CartPole-v1,cue=3of2", "A cue is the number of a task among so many"),
        ("CartPole-v1,cue=1", "such as 1of2. Got '1' instead."),
        ("recall,gravity=20", "The task 'recall' has no setting 'gravity'."),
    ],
)
def test_a_wrong_variant_is_refused_in_one_sentence(name: str, sentence: str) -> None:
    with pytest.raises(TaskError) as caught:
        find_task(name)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_mirrored_task_mirrors_its_teacher() -> None:
    plain, mirrored = find_task("CartPole-v1"), find_task("CartPole-v1,mirrored")
    experts = [find_expert(None, task) for task in (plain, mirrored)]
    returns = [
        evaluate_expert(expert, task, 3)
        for expert, task in zip(experts, (plain, mirrored), strict=True)
    ]
    assert returns[0].tolist() == returns[1].tolist()
    assert evaluate_expert(experts[0], mirrored, 3).mean() < 20


def test_a_teacher_does_not_see_the_cue() -> None:
    task, rng = find_task("CartPole-v1,cue=1of2"), np.random.default_rng(0)
    plain, blind = find_expert(None, find_task("CartPole-v1")), find_expert(None, task)
    for row in rng.normal(size=(50, 4)):
        assert blind.action([*row, *rng.normal(size=2)]) == plain.action(row)
    shown: list[int] = []

    def own(observation: Any) -> int:
        shown.append(len(observation))
        return 0

    _, asked = find_teacher(own, task)
    assert asked is not None
    asked.action(np.zeros(6))
    assert shown == [4]


@pytest.mark.parametrize("id", ["CartPole-v1,gravity=20", "Acrobot-v1,link_mass_2=2"])
def test_teachers_of_variants_return_what_is_recorded_of_them(id: str) -> None:
    task = find_task(id)
    returns, recorded = evaluate_expert(find_expert(None, task), task), VARIANTS[id]
    assert (returns.mean(), returns.std()) == pytest.approx((recorded.mean, recorded.std), abs=0.01)


def test_the_teacher_of_a_variant_is_found_again_by_its_record() -> None:
    task = find_task("Acrobot-v1,mirrored,cue=2of2")
    identity, teacher = find_teacher(None, task)
    assert find_teacher_again(identity, task) == teacher


@pytest.mark.parametrize("id", ["Acrobot-v1,link_mass_2=2", "Acrobot-v1,link_mass_2=2,cue=1of2"])
def test_a_teacher_that_is_known_to_be_weak_is_told(id: str) -> None:
    with pytest.warns(UserWarning, match=r"returns -128\.1 on average, below the threshold of -10"):
        find_teacher(None, find_task(id))


def test_a_teacher_that_is_measured_to_be_weak_is_told() -> None:
    """Nothing is on record of this variant; a sequence measures the teachers of its tasks."""
    with pytest.warns(UserWarning, match=r"The teacher of Acrobot-v1,link_mass_2=3 returns -"):
        scores_of_ends("Acrobot-v1,link_mass_2=3")


def test_every_compiled_task_has_constants_and_no_other_has() -> None:
    for id, code in CODES.items():
        assert len(constants_of(code, read_physics(id, {}), 9)) == len(USUAL[code])
    with pytest.raises(ValueError, match="There is no compiled task 99"):
        constants_of(99, read_physics("recall", {}), 9)
