"""Expert training: it learns, repeats exactly, and keeps the best checkpoint."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import gymnasium as gym
import numpy as np
import pytest
import torch

from smgrnn import distill
from smgrnn.errors import ExpertError
from smgrnn.experts import Expert, choice, load_expert, read_expert
from smgrnn.experts.choice import late_returns, rank, score_expert, train_expert
from smgrnn.experts.dqn import Choice, DQNConfig, Recipe, RecipeName, changes, find_recipe, train
from smgrnn.experts.files import Record
from smgrnn.tasks import find_task, make_env
from smgrnn.tasks.known import KNOWN
from support.commands import call

MIRRORS = {id: facts.mirror for id, facts in KNOWN.items() if facts.mirror is not None}

QUICK = DQNConfig(
    steps=3000, hidden=32, warmup=100, check_every=3000, policy_averaging=0.05, reward_scale=1.0
)


class Identity(gym.Env[Any, Any]):
    """Ten steps; the right action is the number of the input that is 1."""

    observation_space = gym.spaces.Box(0.0, 1.0, (3,), np.float32)
    action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.n_steps = 0
        return self._observe(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        reward = float(action == self.answer)
        self.n_steps += 1
        return self._observe(), reward, self.n_steps == 10, False, {}

    def _observe(self) -> Any:
        self.answer = int(self.np_random.integers(3))
        return np.eye(3, dtype=np.float32)[self.answer]


def last(checkpoints: Iterator[tuple[int, Expert]]) -> Expert:
    return list(checkpoints)[-1][1]


@pytest.mark.parametrize("standardise", [True, False])
def test_dqn_solves_the_identity(standardise: bool) -> None:
    config = DQNConfig.from_dict(QUICK.to_dict() | {"standardise": standardise})
    expert = last(train(Identity(), config, seed=0))
    assert [expert.action(row) for row in np.eye(3)] == [0, 1, 2]


def test_a_seed_gives_one_expert_whatever_the_global_generators_do() -> None:
    config = DQNConfig(steps=450, hidden=16, warmup=100, check_every=200)
    task = find_task("CartPole-v1")
    first = list(train(make_env(task), config, 1))
    torch.manual_seed(99)
    np.random.seed(99)  # noqa: NPY002
    assert list(train(make_env(task), config, 1)) == first
    assert list(train(make_env(task), config, 2)) != first
    assert [step for step, _ in first] == [200, 400, 450]  # the last one too
    assert first[0][1] != first[1][1]


class Uneven(Identity):
    """The same with inputs of very different size."""

    def _observe(self) -> Any:
        return super()._observe() * np.array([1.0, 0.01, 10.0], dtype=np.float32)


def test_the_scale_of_observations_ends_up_in_the_first_layer() -> None:
    """Before the first update the two policies differ only by the scale."""

    def first_layer(standardise: bool) -> Any:
        config = DQNConfig(steps=51, hidden=8, warmup=50, standardise=standardise)
        return last(train(Uneven(), config, 0)).layers()[0][0]

    ratio = first_layer(True) / first_layer(False)
    np.testing.assert_allclose(ratio, np.broadcast_to(ratio[0], ratio.shape), rtol=1e-5)
    np.testing.assert_allclose(ratio[0] * [1.0, 0.01, 10.0], 1 / 0.47, rtol=0.2)


@pytest.mark.parametrize("task_id", MIRRORS)
def test_a_mirrored_expert_is_symmetric(task_id: str) -> None:
    signs, order, actions = (list(part) for part in MIRRORS[task_id])
    config = DQNConfig(steps=300, hidden=16, warmup=100, mirror=True, policy_averaging=0.1)
    expert = last(train(make_env(find_task(task_id)), config, 0, MIRRORS[task_id]))
    assert expert.sizes[1] == 16
    for observation in np.random.default_rng(0).normal(size=(20, len(signs))):
        values, reflected = expert.values(observation), expert.values(observation[order] * signs)
        np.testing.assert_allclose(values, reflected[actions], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("task_id", ["CartPole-v1", "Acrobot-v1"])
def test_the_mirror_image_of_an_episode_is_an_episode(task_id: str) -> None:
    """What `mirror` takes for granted: Gymnasium's own dynamics have this symmetry."""
    signs, _, actions = MIRRORS[task_id]
    env, image = (make_env(find_task(task_id)) for _ in range(2))
    env.reset(seed=0)
    image.reset(seed=0)
    state: Any = env.unwrapped
    twin: Any = image.unwrapped
    twin.state = -np.asarray(state.state)
    rng = np.random.default_rng(0)
    for _ in range(50):
        action = int(rng.integers(state.action_space.n))
        seen, reward, ended, _, _ = env.step(action)
        reflected, same_reward, ended_too, _, _ = image.step(actions[action])
        np.testing.assert_allclose(seen * signs, reflected, atol=1e-5)
        assert (reward, ended) == (same_reward, ended_too)
        if ended:
            break


def test_the_side_engines_of_the_lander_mirror_each_other() -> None:
    """One step of each engine from one start: what the mirror swaps moves the lander oppositely.

    The start, the ground and the engines' own noise are not symmetric, so this looks at the spin
    that an engine adds to what happens without it.
    """
    added = []
    for action in (0, 1, 3):
        env = make_env(find_task("LunarLander-v3"))
        env.reset(seed=5)
        added.append(env.step(action)[0][5])
    still, left, right = added
    assert (left - still) * (right - still) < 0
    mirror = MIRRORS["LunarLander-v3"]
    assert [mirror.actions[action] for action in mirror.actions] == [0, 1, 2, 3]
    assert mirror.actions[1] == 3


@pytest.mark.parametrize(
    ("id", "config", "sentence"),
    [
        ("CartPole-v1", DQNConfig(hidden=15, mirror=True), "A mirrored expert needs an even"),
        ("MountainCar-v0", DQNConfig(mirror=True), "The task has no known mirror image; train its"),
        ("Pendulum-v1", QUICK, "DQN needs discrete actions. The task has Box"),
    ],
)
def test_what_cannot_be_trained_is_refused(id: str, config: DQNConfig, sentence: str) -> None:
    with pytest.raises(ExpertError, match=f"^{sentence}"):
        next(train(make_env(find_task(id)), config, 0, MIRRORS.get(id)))


@pytest.mark.parametrize("task_id", MIRRORS)
@pytest.mark.parametrize("name", get_args(RecipeName))
def test_every_change_of_a_recipe_has_a_reason(name: RecipeName, task_id: str) -> None:
    reasons = changes(find_recipe(task_id, name).config)
    assert ("policy_averaging" in reasons) == (name != "printed")
    assert "Set by hand." not in reasons.values()


def test_the_recipe_printed_is_the_papers() -> None:
    paper = DQNConfig.paper()  # Sec. IV-A1
    assert (paper.hidden, paper.learning_rate, paper.discount) == (2048, 1e-3, 0.99)
    assert (paper.replay, paper.batch, paper.update_every) == (10_000, 64, 4)
    assert changes(paper) == {}
    assert changes(DQNConfig(batch=32))["batch"] == "Set by hand."
    assert find_recipe("Taxi-v3", "plain") == (DQNConfig(), "own return")
    assert find_recipe("CartPole-v1,gravity=20", "printed") == (paper, "own return")
    lander = find_recipe("LunarLander-v3", "printed").config
    assert lander == DQNConfig.paper(steps=400_000, check_every=20_000)


CONFIG = DQNConfig(steps=2000, hidden=16, warmup=100, check_every=500, policy_averaging=0.05)


@pytest.mark.parametrize("chosen_by", get_args(Choice))
def test_training_keeps_the_checkpoint_that_does_best_and_records_it(chosen_by: Choice) -> None:
    """None of these reaches the threshold, so all choices come to the same."""
    heard: list[Record] = []
    recipe, task = Recipe(CONFIG, chosen_by), find_task("CartPole-v1")
    expert, record = train_expert(task.id, recipe, 3, episodes=3, report=heard.append)
    assert [each["step"] for each in heard] == [500, 1000, 1500, 2000]
    assert len({each["choosing"]["mean"] for each in heard}) > 1
    best = max(heard, key=lambda each: each["choosing"]["mean"])
    assert best.items() <= record.items()
    assert record["chosen_by"] == chosen_by
    assert score_expert(expert, task, 3, "choosing") == record["choosing"]
    assert (record["disturbed"] is None) == (chosen_by != "students")
    assert record["held_out"] == score_expert(expert, task, 3, "held_out")
    assert record["config"] == CONFIG.to_dict()
    assert (record["task"], record["seed"]) == ("CartPole-v1", 3)
    assert record["changes"]["hidden"] == "Set by hand."


def test_by_its_own_return_the_first_of_the_best_is_kept_and_no_student_is_trained(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All checkpoints count as good, so that a choice by students would train some."""
    means = iter([300.0, 500.0, 500.0, 400.0])

    def score(expert: Expert, *settings: Any) -> Record:
        assert len(settings) == 3  # no random actions
        heard.append(expert)
        return {"mean": next(means, 0.0)}

    def refuse(*_: Any) -> Any:
        raise AssertionError("a student was trained")

    heard: list[Expert] = []
    monkeypatch.setattr(choice, "score_expert", score)
    monkeypatch.setattr(choice, "late_returns", refuse)
    expert, record = train_expert("CartPole-v1", Recipe(CONFIG, "own return"), 3)
    assert (record["step"], record["choosing"]["mean"]) == (1000, 500.0)
    assert expert == heard[1] != heard[2]
    assert record["teachability"] is None
    monkeypatch.setattr(choice, "score_expert", lambda *_: {"mean": 500.0})
    with pytest.raises(AssertionError):
        train_expert("CartPole-v1", Recipe(CONFIG, "students"), 3)


def test_good_checkpoints_are_ranked_by_their_students_then_by_themselves() -> None:
    ordered = [(240, 90, None), (249, 80, None), (270, 70, 200), (260, 60, 210), (261, 50, 210)]
    ranks = []
    for means in [*ordered, (261, 55, 210)]:
        scores = [None if mean is None else {"mean": mean} for mean in means]
        names = ("choosing", "disturbed", "teachability")
        ranks.append(rank(dict(zip(names, scores, strict=True)), "students"))
    assert all(worse < better for worse, better in pairwise(ranks))


def test_by_its_disturbed_return_a_checkpoint_above_the_threshold_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first returns most while disturbed, but it is below the threshold of 475."""
    own, disturbed = iter([470.0, 480.0, 500.0, 490.0]), iter([300.0, 350.0, 340.0])

    def score(*settings: Any) -> Record:
        if len(settings) == 4:
            return {"mean": next(own, 0.0)}
        assert settings[2:] == (300, "choosing", 0.3)
        return {"mean": next(disturbed)}

    monkeypatch.setattr(choice, "score_expert", score)
    _, record = train_expert("CartPole-v1", Recipe(CONFIG, "disturbed return"), 3)
    assert (record["step"], record["disturbed"]["mean"]) == (1500, 350.0)


def test_the_command_trains_by_the_recipe_that_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / name for name in ("plain", "printed")]
    for file in files:
        words = ("--recipe", file.name, "--steps", 1500, "--out", file)
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
    run = distill(task.id, episodes=20, seed=1001, select="final", **settings)
    assert run.final.graph.n_hidden == 16
    (mean,) = late_returns(load_expert(task.id), task, 20, [1001])
    assert mean == run.episodes.returns[-5:].mean()
