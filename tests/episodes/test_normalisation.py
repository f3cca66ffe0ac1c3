"""Normalised observations: the statistics, what sees them, and that nothing of it is lost."""

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import networkx as nx
import numpy as np
import onnxruntime
import pytest

from smgrnn import Run, distill, load
from smgrnn.episodes.backends import normalisation_by
from smgrnn.errors import FileFormatError
from smgrnn.experts import Expert
from smgrnn.export import export
from smgrnn.policy import Normalisation, Policy
from smgrnn.seeding import episode_seed
from smgrnn.storage import read_arrays, write_arrays
from smgrnn.tasks import find_task
from support import exports
from support.flat import flat_rules
from support.runs import RULES, TEACHERS, contents

SWING: Any = Expert.from_layers([([[0, -1.0], [0, 0], [0, 1.0]], [0, 0, 0])])
"""Pushes MountainCar the way it moves."""


def swing(observation: Any) -> int:
    return int(SWING.action(observation))


def damp(observation: Any) -> Any:
    return TEACHERS["Pendulum-v1"].values(observation)


TASKS: dict[str, Any] = {"MountainCar-v0": swing, "Pendulum-v1": damp}


@pytest.fixture(scope="module", params=TASKS)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a short run with edits, which no test changes."""
    return distill(
        request.param,
        expert=TASKS[request.param],
        normalise=True,
        episodes=10,
        bias=True,
        preset="paper",
        plasticity=flat_rules(RULES),
        select="final" if request.param == "Pendulum-v1" else "return",  # which takes seconds
        held_out=5,
        out=tmp_path_factory.mktemp("runs") / "run",
    )


@pytest.fixture
def policy(run: Run) -> Policy:
    """Return the policy that the run's folder holds."""
    return load(folder_of(run))


def folder_of(run: Run) -> Path:
    assert run.folder is not None
    return run.folder


# --- the statistics -------------------------------------------------------------------------------


def test_mean_and_deviation_by_hand() -> None:
    found = Normalisation.of([[1.0, 10.0], [3.0, 30.0]])
    assert found.mean.tolist() == [2.0, 20.0]
    assert found.scale.tolist() == [1.0, 0.1]
    assert found([2.0, 40.0]).tolist() == [0.0, 2.0]
    assert found([[2.0, 40.0], [1.0, 20.0]]).tolist() == [[0.0, 2.0], [-1.0, 0.0]]


def test_a_value_that_never_changes_is_only_moved() -> None:
    """The mean of 0.1 three times over is not 0.1, so a deviation would be rounding alone."""
    found = Normalisation.of(np.full((3, 1), 0.1))
    assert found.scale.tolist() == [1.0]
    assert abs(found([1.1])[0] - 1.0) < 1e-12


def test_the_statistics_are_those_of_disturbed_training_episodes() -> None:
    task = find_task("MountainCar-v0")
    found = normalisation_by(SWING, task, seed=3)
    env, seen = gym.make(task.id), []
    for number in range(10):
        seed = episode_seed(3, number, "train")
        rng, is_over = np.random.default_rng(seed), False
        observation, _ = env.reset(seed=seed)
        env.action_space.seed(seed)
        while not is_over:
            seen.append(observation)
            is_random = rng.random() < 0.5
            action = env.action_space.sample() if is_random else SWING.action(observation)
            observation, _, is_terminal, is_truncated, _ = env.step(action)
            is_over = is_terminal or is_truncated
    rows = np.array(seen, dtype=np.float64)
    np.testing.assert_array_equal(found.mean, rows.mean(axis=0))
    np.testing.assert_array_equal(found.scale, 1 / rows.std(axis=0))


# --- what sees them -------------------------------------------------------------------------------


def test_a_student_learns_as_it_would_in_a_normalised_environment(tmp_path: Path) -> None:
    """Only the student's eyes are changed: the expert and the environment are what they were."""
    settings: Any = {"preset": "paper", "episodes": 5, "plasticity": flat_rules(RULES)}
    run = distill("MountainCar-v0", expert=swing, normalise=True, **settings)
    normalise = normalisation_by(SWING, run.task, seed=0)

    def normalised() -> Any:
        env = gym.make("MountainCar-v0")
        space = gym.spaces.Box(-np.inf, np.inf, (2,), np.float64)
        return gym.wrappers.TransformObservation(env, lambda row: normalise(row), space)

    same = distill(
        normalised, expert=lambda row: swing(row / normalise.scale + normalise.mean), **settings
    )
    assert np.array_equal(same.episodes.returns, run.episodes.returns)
    assert same.graph == run.final.graph
    assert np.array_equal(same.held_out, run.held_out)


def test_a_loaded_policy_takes_raw_observations(run: Run, policy: Policy) -> None:
    env = gym.make(run.task.id)
    for number in range(3):
        observation, _ = env.reset(seed=episode_seed(0, number, "held_out"))
        policy.reset()
        total, is_over = 0.0, False
        while not is_over:
            observation, reward, is_terminal, is_truncated, _ = env.step(policy(observation))
            total, is_over = total + float(reward), is_terminal or is_truncated
        assert total == run.held_out[number]
    again = Run.resume(folder_of(run), expert=TASKS[run.task.id])
    assert np.array_equal(again.score(5), run.held_out)


# --- nothing is lost ------------------------------------------------------------------------------


def test_a_run_stopped_and_resumed_ends_bit_identical(run: Run, tmp_path: Path) -> None:
    def stop(run: Run) -> None:
        if run.episodes.n == 7:
            raise KeyboardInterrupt

    expert = TASKS[run.task.id]
    with pytest.raises(KeyboardInterrupt):
        Run(run.plan, tmp_path / "stopped", expert=expert).train(stop)
    resumed = Run.resume(tmp_path / "stopped", expert=expert)
    assert resumed.episodes.n == 7
    resumed.train()
    assert contents(tmp_path / "stopped") == contents(folder_of(run))


def test_a_folder_whose_statistics_are_damaged_is_refused(run: Run, tmp_path: Path) -> None:
    content, arrays = read_arrays(folder_of(run) / "model.safetensors", "run")
    name = "students.final.normalisation.mean"
    for spoiled in ({}, {name: arrays[name][:1]}, {name: arrays[name] * np.nan}):
        others = {each: array for each, array in arrays.items() if each != name}
        write_arrays(tmp_path / "model.safetensors", "run", content, others | spoiled)
        with pytest.raises(FileFormatError, match=r"does not describe a run|out of range"):
            load(tmp_path)


# --- exports --------------------------------------------------------------------------------------


def test_c_and_onnx_take_raw_observations_over_whole_episodes(
    policy: Policy, tmp_path: Path
) -> None:
    played = exports.play_episodes(policy, 10)
    by_c = exports.replayed(policy, played, tmp_path, *exports.SANITIZED)
    (file,) = export(policy, tmp_path / "controller", to="onnx")
    session, rows = onnxruntime.InferenceSession(file), []
    assert session.get_modelmeta().custom_metadata_map["normalise"] == "True"
    state = np.zeros((1, played.states.shape[1]), np.float32)
    for is_start, observation in zip(played.starts, played.observations, strict=True):
        state = np.zeros_like(state) if is_start else state
        given = {"observation": observation[None], "state": state}
        action, state = session.run(["action", "next_state"], given)
        rows.append((action[0], state[0]))
    by_onnx = (np.array(column) for column in zip(*rows, strict=True))
    for actions, states in (by_c, by_onnx):
        assert np.abs(states - played.states).max() < exports.TOLERANCE
        np.testing.assert_allclose(actions, played.actions, atol=1e-4)


def test_graphs_tell_what_their_inputs_are_normalised_by(policy: Policy, tmp_path: Path) -> None:
    assert policy.normalisation is not None
    mean, scale = policy.normalisation
    (graphml,) = export(policy, tmp_path / "controller", to="graphml")
    (file,) = export(policy, tmp_path / "controller", to="json")
    node_link = nx.node_link_graph(json.loads(file.read_text()), edges="edges")
    for graph in (nx.read_graphml(graphml, node_type=int), node_link):
        assert graph.graph["normalise"]
        for node in range(policy.task.n_inputs):
            assert graph.nodes[node]["mean"] == mean[node]
            assert graph.nodes[node]["scale"] == scale[node]
        assert "mean" not in graph.nodes[policy.task.n_inputs]  # the bias
