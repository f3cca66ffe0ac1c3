"""The three students, their teacher and both backends: who starts, acts, learns and grows how."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from smgrnn.config import RunConfig, Student
from smgrnn.episodes import backends
from smgrnn.episodes.rollout import taught_step
from smgrnn.graph.edit import Operation
from smgrnn.graph.state import Graph
from smgrnn.runs.distillation import Distillation, new_learner
from smgrnn.runs.start import new_run
from smgrnn.tasks import Task, make_env
from support.runs import TEACHERS, planned, replay, trained

STUDENTS: tuple[Student, ...] = ("smgrnn", "static", "growth-only")


def first_graph(**settings: Any) -> Graph:
    """Return the graph that the student of a run on CartPole starts from."""
    plan = new_run(
        "CartPole-v1", RunConfig.for_task("CartPole-v1", **{"preset": "paper", **settings})
    ).plan
    return new_learner(plan).graph


# --- students ------------------------------------------------------------------------------------


def test_the_three_students_of_one_seed_start_from_the_identical_graph() -> None:
    for start in ({"seed": 0}, {"seed": 7, "n_hidden": 3}):
        first, *others = (first_graph(student=student, **start) for student in STUDENTS)
        assert first.n_edges > 0
        assert all(graph == first for graph in others)


def test_the_static_student_keeps_its_graph_and_the_growing_one_removes_nothing(
    tmp_path: Path,
) -> None:
    run = trained(tmp_path, name=None, student="static", episodes=10)
    start = new_learner(run.plan).graph
    assert run.edits.update.size == 0
    assert run.final.graph._replace(weight=start.weight) == start
    assert not np.array_equal(run.final.graph.weight, start.weight)
    run = trained(tmp_path, name=None, student="growth-only", episodes=10)
    kinds = set(run.edits.rows[:, 0].tolist())
    assert kinds == {Operation.ADD_NODE, Operation.ADD_EDGE}


def test_the_sizes_on_record_are_those_of_the_edits_applied_to_the_first_graph(
    tmp_path: Path,
) -> None:
    run = trained(tmp_path, name=None)
    assert set(run.edits.rows[:, 0].tolist()) == set(Operation)
    start = new_learner(run.plan).graph
    graphs = [(0, start), *replay(start, run.edits)]
    for last, n_nodes, n_edges in zip(
        np.cumsum(run.episodes.steps), run.episodes.n_nodes, run.episodes.n_edges, strict=True
    ):
        graph = [graph for update, graph in graphs if update <= last][-1]
        assert (graph.n_nodes, graph.n_edges) == (n_nodes, n_edges)
    final = graphs[-1][1]
    assert run.final.graph._replace(weight=final.weight) == final


# --- teacher -------------------------------------------------------------------------------------


class Recorder(gym.Wrapper[Any, Any, Any, Any]):
    """Notes every observation acted on, the action taken, and whether the episode ended."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self.steps: list[tuple[Any, Any, bool]] = []
        self._seen: Any = None

    def reset(self, **options: Any) -> Any:
        self._seen, info = super().reset(**options)
        return self._seen, info

    def step(self, action: Any) -> Any:
        result = super().step(action)
        self.steps.append((self._seen, action, bool(result[2] or result[3])))
        self._seen = result[0]
        return result


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Recorder]]:
    """Give every environment of a run a recorder."""
    recorders: list[Recorder] = []

    def make_recorded(task: Task) -> Recorder:
        recorders.append(Recorder(make_env(task)))
        return recorders[-1]

    monkeypatch.setattr(backends, "make_env", make_recorded)
    yield recorders
    for recorder in recorders:
        recorder.close()


def test_the_expert_labels_once_per_step_and_never_acts(
    tmp_path: Path, recorded: list[Recorder], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, expert = planned(tmp_path, env_backend="gymnasium"), TEACHERS["CartPole-v1"]
    asked: list[Any] = []

    def counted(*arguments: Any) -> tuple[int, float, int]:
        *_, observation, _ = arguments
        asked.append(observation.copy())
        return taught_step(*arguments)

    monkeypatch.setattr(backends, "taught_step", counted)
    Distillation(plan).train(0, 12)
    monkeypatch.undo()

    steps = recorded[0].steps
    assert len(steps) > 100
    assert np.array_equal(asked, [observation for observation, _, _ in steps])
    student, n_disagreed = new_learner(plan), 0
    for observation, action, is_over in steps:
        wanted = expert.action(observation)
        student.learn(observation, wanted)
        assert action == np.argmax(student.outputs)
        n_disagreed += action != wanted
        if is_over:
            student.end_episode()
    assert n_disagreed > 20  # or the student's choice could not be told from the expert's


# --- continuous actions --------------------------------------------------------------------------


def test_a_continuous_student_learns_within_the_bounds_of_its_actions(
    tmp_path: Path, recorded: list[Recorder]
) -> None:
    run = trained(tmp_path, "Pendulum-v1", name=None, episodes=6, student="static", density=1.0)
    actions = np.array([action for _, action, _ in recorded[0].steps])
    assert actions.shape[1:] == (1,)
    assert actions.dtype == np.float32
    assert (np.abs(actions) <= 2).all()
    assert len(np.unique(actions)) > 100
    loss = run.episodes.loss / run.episodes.steps
    assert loss[-1] < loss[0] / 10
