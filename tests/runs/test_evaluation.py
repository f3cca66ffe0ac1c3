"""Scores on held-out episodes: of a student that stands still, on seeds it never trained on."""

from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

from smgrnn import distill, evaluate, load
from smgrnn.arrays import Floats
from smgrnn.errors import ConfigError
from smgrnn.policy import Policy
from smgrnn.runs.distillation import FIRST_COMPARED, N_COMPARED, Distillation
from smgrnn.runs.evaluation import score
from smgrnn.runs.record import Record
from smgrnn.runs.run import Run
from smgrnn.seeding import episode_seed
from support.learners import memory
from support.runs import planned, trained


def play(student: Policy, id: str, seeds: list[int]) -> Floats:
    """Return the returns of a policy in a plain Gymnasium loop."""
    env, returns = gym.make(id), []
    for seed in seeds:
        observation, _ = env.reset(seed=seed)
        student.reset()
        total, is_over = 0.0, False
        while not is_over:
            observation, reward, is_terminal, is_truncated, _ = env.step(student(observation))
            total, is_over = total + float(reward), is_terminal or is_truncated
        returns.append(total)
    env.close()
    return np.array(returns)


@pytest.mark.parametrize("backend", ["compiled", "gymnasium"])
def test_scoring_leaves_the_student_as_it_was(tmp_path: Path, backend: str) -> None:
    run = Distillation(planned(tmp_path, env_backend=backend))
    run.train(0, 3)
    run.learner.learn([0.1, 0.2, 0.3, 0.4], 1)  # so that node states are not zero
    before = memory(run.learner)
    first = score(run.backend, run.policy, 0, 3)
    assert memory(run.learner) == before
    assert np.array_equal(score(run.backend, run.policy, 0, 3), first)
    assert any(run.learner.forget_log().edits())  # it has not lost what it logged either


@pytest.mark.parametrize(("task", "episodes"), [("Acrobot-v1", 4), ("Pendulum-v1", 2)])
def test_a_loaded_policy_scores_in_a_plain_loop_what_the_run_scored(
    tmp_path: Path, task: str, episodes: int
) -> None:
    run = trained(tmp_path, task, episodes=episodes, held_out=4)
    seeds = [episode_seed(0, number, "held_out") for number in range(4)]
    scored = run.score(4)
    assert np.array_equal(scored, run.held_out[:4])
    assert np.array_equal(play(load(tmp_path / "run"), task, seeds), scored)
    assert np.array_equal(Run.resume(tmp_path / "run").score(4), scored)
    assert np.array_equal(evaluate(Record.load(tmp_path / "run"), 4), scored)


def test_held_out_seeds_are_no_training_seeds() -> None:
    seeds = {
        kind: {episode_seed(0, n, kind) for n in range(5000)} for kind in ("train", "held_out")
    }
    trained_on, held_out = seeds["train"], seeds["held_out"]
    compared = range(FIRST_COMPARED, FIRST_COMPARED + N_COMPARED)
    checked = {episode_seed(0, number, "held_out") for number in compared}
    assert not trained_on & (held_out | checked)
    assert not held_out & checked  # what chose the best checkpoint does not also judge it


def test_the_best_checkpoint_is_the_one_that_scored_best_when_it_was_made(tmp_path: Path) -> None:
    replayed = Distillation(planned(tmp_path, checkpoint_every=5, seed=5))
    seeds = [episode_seed(5, FIRST_COMPARED + n, "held_out") for n in range(N_COMPARED)]
    scores, graphs = [], []
    for first in range(0, 30, 5):
        replayed.train(first, first + 5)
        scores.append(replayed.backend.play(replayed.policy, seeds).returns.mean())
        graphs.append(replayed.learner.graph)
    best = int(np.argmax(scores))
    assert best < 5  # or it would be the final one
    run = trained(tmp_path, checkpoint_every=5, seed=5)
    assert run.record.students["best"].graph == graphs[best]
    assert run.summary()["best_checkpoint_score"] == max(scores)
    assert run.final.graph == graphs[-1]


def test_a_path_a_result_and_a_policy_are_evaluated_alike(tmp_path: Path) -> None:
    run = distill("CartPole-v1,hide=velocities", episodes=8, held_out=6, out=tmp_path / "run")
    run.policy.save(tmp_path / "policy.safetensors")
    for source in (run, run.record, tmp_path / "run", str(tmp_path / "policy.safetensors")):
        assert evaluate(source, 6).tolist() == run.held_out.tolist()
    assert evaluate(run.final.policy, 6).tolist() == evaluate(run, 6, final=True).tolist()
    assert evaluate(run.policy, 6, seed=1).tolist() != run.held_out.tolist()
    with pytest.raises(ConfigError, match="one network: leave final and max_parameters out"):
        evaluate(run.policy, final=True)


def test_predict_carries_the_state_that_it_is_given_and_no_other(tmp_path: Path) -> None:
    policy = distill("CartPole-v1,hide=velocities", episodes=30, held_out=1, select="final").policy
    rows = np.random.default_rng(0).normal(size=(20, 2))
    policy.reset()
    wanted, own = [policy(row) for row in rows], policy.player.carried
    state = None
    for row, action in zip(rows, wanted, strict=True):
        given, state = policy.predict(row, state)
        assert given == action
    assert state is not None
    assert own is not None
    assert state.tolist() == own.tolist()


def test_a_saved_policy_is_the_same_with_its_scale_and_names(tmp_path: Path) -> None:
    policy = distill("CartPole-v1", episodes=3, held_out=1, normalise=True).policy
    policy.save(tmp_path / "policy.safetensors")
    same = load(tmp_path / "policy.safetensors")
    assert (same.graph, same.config, same.task) == (policy.graph, policy.config, policy.task)
    assert (same.names, same.student) == (policy.names, policy.student)
    rows = np.random.default_rng(0).normal(size=(50, 4))
    assert same(rows).tolist() == policy(rows).tolist()
    written = [path.name for path in same.export(tmp_path / "cart.c")]
    assert written == ["cart.h", "cart.c"]
    with pytest.raises(
        ConfigError, match=r"cart.exe names no export format; end it with one of \.onn"
    ):
        same.export("cart.exe")
