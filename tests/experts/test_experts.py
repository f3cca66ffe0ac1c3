"""Experts: what they answer, what they are read from, and what is refused."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from safetensors.numpy import save_file
from safetensors.torch import load_file
from safetensors.torch import save_file as save_tensors

from smgrnn.errors import ExpertError, NonFiniteError, ShapeError
from smgrnn.experts import (
    Expert,
    evaluate_expert,
    find_teacher,
    find_teacher_again,
    load_expert,
    mlp,
    read_expert,
    shipped_experts,
    write_expert,
)
from smgrnn.experts.dqn import find_recipe
from smgrnn.experts.evaluation import FIRST_SEED
from smgrnn.experts.mlp import expert_action
from smgrnn.tasks import find_task

TASKS = ["Acrobot-v1", "CartPole-v1", "LunarLander-v3"]

# Two inputs, three hidden units, two outputs.
WEIGHT = [[1.0, -1.0], [-2.0, 1.0], [0.5, 0.5]]
HAND = [(WEIGHT, [0.0, 1.0, -1.0]), ([[1.0, 2.0, 0.0], [3.0, 0.0, -1.0]], [0.5, -0.5])]


def random_expert(*sizes: int, seed: int = 0, activations: Any = None) -> Expert:
    rng = np.random.default_rng(seed)
    layers = [(rng.normal(size=(b, a)) / a**0.5, rng.normal(size=b)) for a, b in pairwise(sizes)]
    return Expert.from_layers(layers, activations)


def reference(expert: Expert, observation: Any) -> Any:
    """Return the values in float64, by numpy."""
    values = np.asarray(observation, dtype=np.float64)
    for number, (weight, bias) in enumerate(expert.layers()):
        if number > 0:
            is_tanh = expert.activations[number - 1] == "tanh"
            values = np.tanh(values) if is_tanh else np.maximum(values, 0.0)
        values = weight.astype(np.float64) @ values + bias
    return values


# --- what they answer -----------------------------------------------------------------------------


def test_values_by_hand() -> None:
    """The hidden units are ReLU(3), ReLU(-4), ReLU(-0.5), so only the first is active."""
    expert = Expert.from_layers(HAND)
    assert expert.values([2.0, -1.0]).tolist() == [3.5, 8.5]
    assert expert.action([2.0, -1.0]) == 1
    assert expert.values([0.0, 2.0]).tolist() == [6.5, -0.5]
    assert expert.action([0.0, 2.0]) == 0
    layers = [([[1.0]], [0.0]), ([[2.0]], [1.0])]
    assert Expert.from_layers(layers[1:]).values([-3.0]).tolist() == [-5.0]  # the last is linear
    assert Expert.from_layers(layers).values([-3.0]).tolist() == [1.0]
    bent = Expert.from_layers(layers, ["tanh"]).values([-3.0])
    np.testing.assert_allclose(bent, [2 * np.tanh(-3.0) + 1], rtol=1e-6)
    tied = Expert.from_layers([(np.zeros((4, 2)), [0.0, 1.0, 1.0, 0.5])])
    assert tied.action([1.0, 1.0]) == 1  # the first


@given(
    sizes=st.lists(st.integers(1, 21), min_size=2, max_size=5),
    seed=st.integers(0, 2**32 - 1),
)
def test_values_agree_with_numpy_in_float64(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    activations = rng.choice(["relu", "tanh"], len(sizes) - 2).tolist()
    expert = random_expert(*sizes, seed=seed, activations=activations)
    observation = rng.normal(size=sizes[0]).astype(np.float32)
    np.testing.assert_allclose(
        expert.values(observation), reference(expert, observation), rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_kernel_takes_either_precision_inside_a_compiled_loop(dtype: Any) -> None:
    expert = random_expert(3, 50, 20, 4)

    @njit
    def actions(sizes: Any, parameters: Any, codes: Any, scratch: Any, observations: Any) -> Any:
        found = np.empty(len(observations), dtype=np.int64)
        for row in range(len(observations)):
            found[row] = expert_action(sizes, parameters, codes, scratch, observations[row])
        return found

    observations = np.random.default_rng(1).normal(size=(100, 3)).astype(np.float32)
    found = actions(*expert, expert.scratch(), observations.astype(dtype))
    assert found.tolist() == [expert.action(row) for row in observations]
    assert len(set(found)) > 1


def test_experts_are_equal_when_their_numbers_are_and_observations_must_fit() -> None:
    expert = random_expert(2, 3)
    assert repr(expert) == "Expert(2-3)"
    assert expert == random_expert(2, 3) != random_expert(2, 3, seed=1)
    assert expert != "an expert"
    assert random_expert(2, 3, 2) == random_expert(2, 3, 2, activations=["relu"])
    assert random_expert(2, 3, 2) != random_expert(2, 3, 2, activations=["tanh"])
    with pytest.raises(ShapeError, match=r"takes observations of shape \(2,\). Got \(3,\)."):
        expert.action([1.0, 2.0, 3.0])
    with pytest.raises(NonFiniteError, match="given to the expert is not finite"):
        expert.values([np.nan, 0.0])


# --- what is refused ------------------------------------------------------------------------------


SHAPE = "A layer of an expert has numbers as weight (out, in) and bias (out,). Got"
NAMES = "An expert of 2 layers has 1 activations, each relu or tanh. Got"
INFINITE = "Layer 1 of the expert has a NaN or an infinity."


@pytest.mark.parametrize(
    ("layers", "activations", "sentence"),
    [
        ([], None, "An expert needs at least one layer."),
        (
            [(np.ones((3, 2)), np.ones(3)), (np.ones((2, 4)), np.ones(2))],
            None,
            "Layer 2 of the expert takes 4 values, and the layer before it gives 3.",
        ),
        (
            [(np.ones((3, 2)), np.ones(2))],
            None,
            f"{SHAPE} float64 (3, 2) and float64 (2,) in layer 1.",
        ),
        ([(np.full((2, 2), 1e200), np.ones(2))], None, INFINITE),
        ([([[True]], [1.0])], None, f"{SHAPE} bool (1, 1) and float64 (1,) in layer 1."),
        (HAND, ["gelu"], f"{NAMES} ['gelu'] instead."),
    ],
)
def test_layers_that_are_no_network_are_refused(
    layers: Any, activations: Any, sentence: str
) -> None:
    with pytest.raises(ExpertError) as caught:
        Expert.from_layers(layers, activations)
    assert str(caught.value) == sentence


# --- files ----------------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "expert.safetensors"


@pytest.mark.parametrize("activations", [None, ["tanh", "relu"]])
def test_an_expert_and_its_record_come_back_exactly(path: Path, activations: Any) -> None:
    expert = random_expert(3, 17, 5, 2, activations=activations)
    write_expert(path, expert, {"seed": 3, "config": {"replay": 10}})
    assert read_expert(path) == (expert, {"seed": 3, "config": {"replay": 10}})
    assert load_expert(path) == load_expert(str(path)) == expert


@pytest.mark.parametrize("activations", [3, ["gelu"]])
def test_a_header_that_names_no_activations_is_refused(path: Path, activations: Any) -> None:
    write_expert(path, random_expert(2, 3, 2), {"activations": activations})
    with pytest.raises(ExpertError, match=r"is no expert \(layers '0', '2'\): "):
        read_expert(path)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_a_file_of_torch_is_an_expert(path: Path, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    widths = [3, *[6] * 6, 2]  # seven layers, so that "10.weight" must come after "8.weight"
    modules = [
        part for a, b in pairwise(widths) for part in (torch.nn.Linear(a, b), torch.nn.ReLU())
    ]
    network = torch.nn.Sequential(*modules[:-1]).to(dtype)
    save_tensors(network.state_dict(), path)
    expert, record = read_expert(path)
    assert record == {}
    observation = torch.tensor([0.5, -1.0, 2.0])
    expected = network.double()(observation.double()).detach().numpy()
    np.testing.assert_allclose(expert.values(observation), expected, rtol=1e-4, atol=1e-6)
    write_expert(path, expert, {})  # our file is a state dict of torch
    network.load_state_dict(load_file(path))
    found = network(observation.double()).detach().numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


def test_a_file_of_others_may_name_its_layers_as_it_likes(path: Path) -> None:
    arrays = {}
    for name, layer in zip(("q.0", "q.2"), random_expert(2, 4, 3).layers(), strict=True):
        for part, array in zip(("weight", "bias"), layer, strict=True):
            arrays[f"{name}.{part}"] = np.array(array, order="C")
    save_file(arrays, path, metadata={"note": '{"a": 1}'})
    assert read_expert(path) == (random_expert(2, 4, 3), {})
    save_file({"weight": np.eye(2), "bias": np.zeros(2)}, path)  # one layer needs no name
    assert load_expert(path).sizes.tolist() == [2, 2]


PAIRS = "is no expert: each layer needs weight and bias. It has"
ONES = {"0.weight": np.ones((3, 2)), "0.bias": np.ones(3)}


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({}, f"{PAIRS} nothing."),
        (ONES | {"2.bias": np.ones(3)}, f"{PAIRS} '0.bias', '0.weight', '2.bias'."),
        (
            ONES | {"2.weight": np.ones((2, 4)), "2.bias": np.ones(2)},
            "is no expert (layers '0', '2'): Layer 2 of the expert takes 4 values, "
            "and the layer before it gives 3.",
        ),
    ],
)
def test_a_file_that_is_no_expert_is_refused(
    path: Path, arrays: dict[str, Any], sentence: str
) -> None:
    save_file(arrays, path)
    with pytest.raises(ExpertError) as caught:
        load_expert(path)
    assert str(caught.value) == f"{path} {sentence}"


def test_damaged_and_foreign_files_are_refused(path: Path, tmp_path: Path) -> None:
    write_expert(path, random_expert(2, 3), {})
    whole = path.read_bytes()
    for broken in (b"", whole[:-4]):
        path.write_bytes(broken)
        with pytest.raises(ExpertError, match="is damaged or not a safetensors file"):
            load_expert(path)
    header = {"kind": "network", "version": 2, "content": {}}
    save_file({"weight": np.ones(3)}, path, metadata={"smgrnn": json.dumps(header)})
    with pytest.raises(ExpertError, match="does not hold a smgrnn expert"):
        load_expert(path)
    save_tensors({"weight": torch.ones(2, 2, dtype=torch.bfloat16)}, path)
    # numpy itself has no such numbers; with the package ml_dtypes it does
    with pytest.raises(ExpertError, match=r"is damaged or not a safetensors file|is no expert"):
        load_expert(path)
    with pytest.raises(ExpertError, match="There is no expert file"):
        read_expert(tmp_path / "absent.safetensors")


# --- those that are shipped -----------------------------------------------------------------------


def test_the_id_of_a_task_names_its_smooth_expert() -> None:
    for task_id in TASKS:
        task, smooth = find_task(task_id), load_expert(f"{task_id}-smooth")
        identity, found = find_teacher(None, task)
        assert (identity.kind, identity.name) == ("shipped", f"{task_id}-smooth")
        assert find_teacher(task_id, task)[0] == identity
        assert load_expert(task_id) == smooth == found
        assert find_teacher_again(identity, task) == smooth
        with pytest.raises(ExpertError, match=f"^No expert '{task_id}' is shipped"):
            find_teacher_again(replace(identity, name=task_id), task)


DIGESTS = {
    "CartPole-v1-smooth": "20bf7321a757",
    "Acrobot-v1-smooth": "482c5194e3b1",
    "LunarLander-v3-smooth": "bb7188178454",
    "CartPole-v1-robust": "742e771562c1",
    "Acrobot-v1-robust": "515b07ac2b44",
    "LunarLander-v3-robust": "422dd8680300",
    "CartPole-v1-plain-0": "aaa81ffd5b7d",
    "CartPole-v1-plain-1": "bebeb5ecb5aa",
    "CartPole-v1-plain-2": "2fd039f45047",
    "Acrobot-v1-plain-0": "beaa3815a001",
    "Acrobot-v1-plain-1": "81ca16261949",
    "Acrobot-v1-plain-2": "1e056ae6e46c",
    "LunarLander-v3-plain-0": "a05b427e6773",
    "LunarLander-v3-plain-1": "1ff0c430758d",
    "LunarLander-v3-plain-2": "17358806a699",
}


@pytest.mark.parametrize("name", DIGESTS)
def test_a_shipped_expert_is_what_it_was_and_has_the_paper_s_shape(name: str) -> None:
    """Every key of a store has the digest of an expert's weights in it."""
    expert, record = load_expert(name), shipped_experts()[name]
    assert expert.digest.startswith(DIGESTS[name])
    task = find_task(record["task"])
    assert name.startswith(task.id)
    assert expert.sizes.tolist() == [task.n_inputs, 2048, task.n_outputs]
    assert {"config", "changes", "seed", "step", "choosing", "held_out"} <= set(record)
    for purpose in ("choosing", "held_out"):
        score = record[purpose]
        assert (score["episodes"], score["first_seed"]) == (100, FIRST_SEED[purpose])
    assert "Set by hand." not in record["changes"].values()


@pytest.mark.parametrize("task_id", TASKS)
def test_shipped_experts_follow_their_recipes(task_id: str) -> None:
    """Teachers by a rule that was written down before: docs/deviations.md."""
    task, records = find_task(task_id), shipped_experts()
    smooth, good = records[f"{task_id}-smooth"], task.facts.good_return
    assert good is not None
    assert task.reward_threshold is not None
    assert min(smooth[purpose]["mean"] for purpose in ("choosing", "held_out")) >= good
    assert smooth["chosen_by"] == "students"
    assert smooth["config"] == find_recipe(task_id, "smooth").config.to_dict()
    robust = records[f"{task_id}-robust"]
    assert robust["config"] == find_recipe(task_id, "robust").config.to_dict()
    assert robust["chosen_by"] == "disturbed return"
    assert robust["choosing"]["mean"] >= task.reward_threshold
    assert (robust["disturbed"]["disturbance"], robust["disturbed"]["episodes"]) == (0.3, 300)
    for seed in range(3):
        record = records[f"{task_id}-plain-{seed}"]
        assert record["config"] == find_recipe(task_id, "plain").config.to_dict()
        assert (record["seed"], record["chosen_by"]) == (seed, "own return")
        assert record["disturbed"] is record["teachability"] is None
    assert evaluate_expert(load_expert(task_id), task, 5).mean() >= task.reward_threshold


def test_evaluation_repeats_and_differs_by_purpose_and_disturbance() -> None:
    expert = load_expert("Acrobot-v1")
    held_out = evaluate_expert(expert, "Acrobot-v1", 4)
    assert held_out.tolist() == evaluate_expert(expert, find_task("Acrobot-v1"), 4).tolist()
    assert held_out.tolist() != evaluate_expert(expert, "Acrobot-v1", 4, "choosing").tolist()
    disturbed = [evaluate_expert(expert, "Acrobot-v1", 4, disturbance=0.8) for _ in range(2)]
    assert disturbed[0].tolist() == disturbed[1].tolist()
    assert disturbed[0].mean() < held_out.mean()


def test_an_unknown_expert_is_refused_with_those_there_are() -> None:
    assert list(shipped_experts()) == sorted(DIGESTS)
    with pytest.raises(ExpertError, match=f"^There is no expert 'Cartpole'. .*{min(DIGESTS)}, "):
        load_expert("Cartpole")


def test_an_expert_that_python_asks_answers_by_compiled_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As plain Python it took seconds for an episode, and its sums were rounded otherwise."""
    expert = load_expert("CartPole-v1")
    expert.values(np.ones(4))  # compiled by now

    def refuse(*_: Any) -> Any:
        raise AssertionError("called as plain Python")

    monkeypatch.setattr(mlp, "expert_values", refuse)
    assert expert.action(np.ones(4)) == expert.values(np.ones(4)).argmax()
