"""An exported ONNX model acts as the engine does."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

from smgrnn import Policy
from smgrnn.export import export
from smgrnn.export.to_onnx import OPSET
from smgrnn.export.wiring import facts
from support import exports
from support.exports import TOLERANCE, Played, check, every_case, random_policy, random_rows


def session(policy: Policy, folder: Path) -> Any:
    (file,) = export(policy, folder / "controller", to="onnx")
    return onnxruntime.InferenceSession(file)


def run(policy: Policy, played: Played, folder: Path) -> tuple[Any, Any, Any]:
    """Return the actions, outputs and states of a model that sees the same observations."""
    model, rows = session(policy, folder), []
    zeros = state = np.zeros((1, played.states.shape[1]), np.float32)
    for is_start, observation in zip(played.starts, played.observations, strict=True):
        inputs = {"observation": observation[None], "state": zeros if is_start else state}
        action, outputs, state = model.run(["action", "outputs", "next_state"], inputs)
        rows.append((action[0], outputs[0], state[0]))
    actions, outputs, states = (np.array(column) for column in zip(*rows, strict=True))
    return actions, outputs, states


@every_case
def test_a_step_equals_the_engines(case: dict[str, Any], tmp_path: Path) -> None:
    policy = random_policy(**case)
    played = random_rows(policy)
    actions, outputs, states = run(policy, played, tmp_path)
    check(played, actions, states)
    np.testing.assert_allclose(outputs, played.outputs, atol=TOLERANCE, rtol=0)


def test_an_action_is_never_beyond_its_bounds(tmp_path: Path) -> None:
    policy, played = exports.bounded()
    actions, _, _ = run(policy, played, tmp_path)
    np.testing.assert_array_equal(actions, exports.BOUNDS)


@pytest.mark.xdist_group("export")
@pytest.mark.parametrize("task", exports.TASKS)
def test_a_hundred_episodes_are_played_alike(task: str, tmp_path: Path) -> None:
    """The same action at every step but ties, of which there may be one in ten thousand."""
    policy, played = exports.student(task)
    actions, _, states = run(policy, played, tmp_path)
    check(played, actions, states)
    assert played.is_tie.sum() <= 1 + 1e-4 * played.is_tie.size


@pytest.mark.parametrize("carry_state", [True, False])
@pytest.mark.parametrize("is_discrete", [True, False])
def test_the_model_has_the_signature_it_documents(
    carry_state: bool, is_discrete: bool, tmp_path: Path
) -> None:
    policy = random_policy(2, is_discrete=is_discrete, has_bias=True, carry_state=carry_state)
    model, task = session(policy, tmp_path), policy.task
    n_states = policy.graph.n_nodes - policy.graph.n_inputs
    assert {entry.name: entry.shape for entry in model.get_inputs()} == {
        "observation": ["batch", task.n_inputs],
        "state": ["batch", n_states],
    }
    assert {entry.name: (entry.type, entry.shape) for entry in model.get_outputs()} == {
        "action": ("tensor(int64)", ["batch"])
        if is_discrete
        else ("tensor(float)", ["batch", task.n_outputs]),
        "outputs": ("tensor(float)", ["batch", task.n_outputs]),
        "next_state": ("tensor(float)", ["batch", n_states]),
    }


def test_a_batch_is_many_controllers(tmp_path: Path) -> None:
    policy = random_policy(5, is_discrete=True, has_bias=True, iterations=2)
    played = random_rows(policy)
    model = session(policy, tmp_path)
    n_rows, n_states = played.states.shape
    state = np.random.default_rng(0).normal(size=(n_rows, n_states)).astype(np.float32)
    together = model.run(None, {"observation": played.observations, "state": state})
    for i in range(n_rows):
        rows = {"observation": played.observations[i : i + 1], "state": state[i : i + 1]}
        for whole, row in zip(together, model.run(None, rows), strict=True):
            np.testing.assert_allclose(whole[i], row[0], atol=1e-6)


def test_the_model_says_what_it_is(tmp_path: Path) -> None:
    policy = random_policy(1, is_discrete=True, has_bias=False, iterations=3, readout="sum")
    (file,) = export(policy, tmp_path / "controller.onnx", to="onnx")
    model = onnx.load(file)
    assert [(entry.domain, entry.version) for entry in model.opset_import] == [("", OPSET)]
    properties = {entry.key: entry.value for entry in model.metadata_props}
    assert {name: str(fact) for name, fact in facts(policy).items()}.items() <= properties.items()
    assert (properties["task"], properties["iterations"]) == ("random", "3")
