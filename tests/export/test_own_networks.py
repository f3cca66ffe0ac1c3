"""A network of one's own loop is exported, saved and loaded as that of a run is."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Dict, Discrete
from gymnasium.spaces.utils import flatten

import smgrnn
from smgrnn import Graph, Learner, SMGrNN, StructuralPlasticity
from smgrnn.errors import ConfigError, FileFormatError
from smgrnn.export import FORMATS, export
from smgrnn.graph import EditDraft
from smgrnn.policy import Policy, policy_of
from smgrnn.runs.own_loop import record_of
from smgrnn.storage import read_arrays, write_arrays
from smgrnn.tasks import find_task
from smgrnn.view import Timeline
from support.commands import Command
from support.exports import STRICT, random_rows, replayed, tool
from support.flat import learner_of, network_config, paper_net, rules
from support.flat import learning as learning_config
from support.learners import learner, stream

HOSTILE = "*/ int main(void) /* <img src=x onerror=alert(1)>"


def named_net() -> SMGrNN:
    net = paper_net(3, 2, n_hidden=2, iterations=2, carry_state=False, seed=1)
    net.name(inputs=["height", "speed", HOSTILE[:40]], outputs=["wait??/\\", "brake"])
    return net


@pytest.mark.parametrize("to", FORMATS)
def test_a_network_of_any_kind_is_exported(to: str, tmp_path: Path) -> None:
    net = paper_net(4, 2)
    run = smgrnn.distill("xor", episodes=2)
    sources = {"net": net, "learner": Learner.from_network(net), "run": run, "record": run.record}
    for name, source in {**sources, "policy": policy_of(net)}.items():
        assert all(path.stat().st_size for path in export(source, tmp_path / name, to=to))


def test_what_is_no_network_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^Expected an SMGrNN, a Learner.* Got a Linear instead"):
        export(torch.nn.Linear(2, 2), tmp_path / "linear", to="c")
    with pytest.raises(ConfigError, match=r"scalar node states"):
        export(paper_net(4, 2, state_dim=2), tmp_path / "wide", to="c")


def test_the_policy_of_a_network_acts_as_the_network(tmp_path: Path) -> None:
    net = named_net()
    net.save(tmp_path / "own.safetensors")
    rows = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    wanted = net(torch.tensor(rows)).argmax(dim=1).numpy()
    for policy in (policy_of(net), smgrnn.load(tmp_path / "own.safetensors")):
        assert np.array_equal(policy(rows), wanted)
        assert policy.names.inputs[:2] == ("height", "speed")


def test_outputs_without_bounds_leave_c_as_they_are(tmp_path: Path) -> None:
    config = network_config(
        n_inputs=3, n_outputs=2, n_hidden=2, iterations=2, output_activation="identity"
    )
    learning = learning_config(loss="mse")
    graph = learner_of(config, learning).graph
    far = graph._replace(weight=40.0 * graph.weight)  # beyond ±1
    policy = policy_of(learner_of(config, learning, graph=far))
    played = random_rows(policy)
    assert np.abs(played.actions).max() > 3
    actions, _ = replayed(policy, played, tmp_path, *STRICT)
    np.testing.assert_allclose(actions, played.actions, rtol=1e-4, atol=1e-4)


def test_names_appear_in_every_format_and_end_no_comment(tmp_path: Path) -> None:
    header, source = export(named_net(), tmp_path / "own", to="c")
    text = header.read_text(encoding="utf-8")
    assert " *     observation[1]: speed\n" in text
    assert " *     output[1]: brake\n" in text
    subprocess.run(
        [tool("gcc"), *STRICT, "-Wtrigraphs", "-c", source, "-o", tmp_path / "own.o"], check=True
    )
    (file,) = export(named_net(), tmp_path / "own.json", to="json")
    nodes = json.loads(file.read_text())["nodes"]
    assert [node.get("name") for node in nodes[:2]] == ["height", "speed"]
    onnx = pytest.importorskip("onnx")
    (file,) = export(named_net(), tmp_path / "own.onnx", to="onnx")
    properties = {each.key: each.value for each in onnx.load(file).metadata_props}
    assert json.loads(properties["outputs_names"]) == ["wait??/\\", "brake"]


class _Room(gymnasium.Env[Any, Any]):
    """Two named observations, one of them a vector."""

    observation_space = Dict({"door": Box(-1, 1, (2,)), "air": Box(-1, 1, (1,))})
    action_space = Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> Any:
        return self.observation_space.sample(), 0.0, True, False, {}


def test_a_header_lists_the_keys_of_a_dict_observation_in_order(tmp_path: Path) -> None:
    """Gymnasium sorts the keys where it flattens them."""
    task = find_task(lambda: gymnasium.wrappers.FlattenObservation(_Room()))
    config = network_config(n_inputs=3, n_outputs=2)
    graph = Graph.from_edges(3, 2, edges=[(n, 3 + n % 2, 1.0) for n in range(3)])
    header, _ = export(Policy(graph, config, task), tmp_path / "room.c")
    named = re.findall(r"observation\[\d\]: (.*)\n", header.read_text())
    flat: Any = flatten(
        _Room.observation_space, {"door": np.array([0.1, 0.2]), "air": np.array([0.3])}
    )
    assert named == ["air", "door 0", "door 1"]
    np.testing.assert_allclose(flat, [0.3, 0.1, 0.2], rtol=1e-6)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (["a"], "There are 2 inputs. Got 1 names instead."),
        (["a", "b\n"], r"A name is text of 1 to 40 characters. Got 'b\\n' instead."),
    ],
)
def test_names_that_cannot_be_shown_are_refused(inputs: list[str], message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        paper_net(2, 1).name(inputs, ["out"])
    assert str(refused.value) == message


def test_a_saved_learner_goes_on_exactly_with_its_log(tmp_path: Path) -> None:
    made = learner()
    made.learn_stream(*stream(150))
    made.name([f"i{n}" for n in range(made.config.n_inputs)], "abcdefgh"[: made.config.n_outputs])
    made.save(tmp_path / "learner.safetensors")
    twin = Learner.load(tmp_path / "learner.safetensors")
    assert twin.names == made.names
    assert made.log.last == twin.log.last > (0, 0)
    for each in (made, twin):
        each.learn_stream(*stream(150))
    assert made.graph == twin.graph
    assert [update for update, _ in made.log.edits()] == [update for update, _ in twin.log.edits()]
    assert smgrnn.load(tmp_path / "learner.safetensors").graph.n_inputs == made.config.n_inputs


def test_a_file_that_describes_no_learner_is_refused(tmp_path: Path) -> None:
    made, file = learner(), tmp_path / "learner.safetensors"
    made.save(file)
    content, arrays = read_arrays(file, "learner")
    damage: dict[str, Any] = {
        "learning": (content | {"learning": {"optimizer": "none"}}, arrays),
        "log": (content, arrays | {"log.update": np.zeros(3, np.int64)}),
        "names": (content | {"network": content["network"] | {"names": [["a"], ["b"]]}}, arrays),
    }
    for name, (facts, columns) in damage.items():
        other = tmp_path / f"{name}.safetensors"
        write_arrays(other, "learner", facts, columns)
        with pytest.raises(FileFormatError, match="does not describe a learner"):
            Learner.load(other)


def test_the_command_line_exports_an_own_network(smgrnn: Command) -> None:
    named_net().save("own.safetensors")
    said = smgrnn("export", "own.safetensors", "--to", "c")
    assert said.code == 0, said.err
    assert Path("own.c").is_file()
    assert "network: " in said.out
    refused = smgrnn("export", "own.safetensors", "--to", "json", "--final")
    assert refused.code == 2
    assert "holds one network" in refused.err


def check_watched(watched: Any, graphs: dict[int, Graph]) -> None:
    """Check that a network's timeline has these graphs after these updates."""
    timeline = Timeline.of(record_of(watched))
    for update, graph in graphs.items():
        frame = timeline.frame(update)
        assert sorted(timeline.edges.id[frame.edges]) == sorted(graph.edge_ids)


def test_a_learner_is_watched_with_the_edits_that_it_saw(smgrnn: Command) -> None:
    made = learner()
    before = made.graph
    made.learn_stream(*stream(150))
    names = [f"<b>{n}</b>" for n in range(made.config.n_inputs)]
    made.name(names, [f"o{n}" for n in range(made.config.n_outputs)])
    check_watched(made, {0: before, made.n_updates: made.graph})
    made.save("learner.safetensors")
    said = smgrnn("view", "learner.safetensors", "--no-open")
    assert (said.code, said.out.strip()) == (0, "learner.html")
    page = Path("learner.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;0&lt;" in page
    assert "<b>0" not in page


@pytest.mark.parametrize("way", ["plasticity", "by hand"])
def test_a_module_is_watched_with_the_edits_that_it_saw(smgrnn: Command, way: str) -> None:
    net = paper_net(4, 2, density=1.0, seed=1)
    before = net.graph
    if way == "plasticity":
        spm = StructuralPlasticity(net, config=rules(window=5, interval=10))
        rng = np.random.default_rng(0)
        for _ in range(60):
            with torch.no_grad():
                net.weight.add_(torch.as_tensor(rng.normal(size=net.weight.numel())))
            spm.step()
    else:
        for _ in range(2):
            draft = EditDraft(net.graph)
            draft.add_edge(0, draft.add_node(), 0.1)
            net.restructure(draft.finish())
    assert net.graph.n_nodes > before.n_nodes
    net.save("net.safetensors")
    again = SMGrNN.load("net.safetensors")
    for watched in (net, again):
        check_watched(watched, {0: before, 60: net.graph})
    said = smgrnn("view", "net.safetensors", "--no-open")
    assert (said.code, said.out.strip()) == (0, "net.html")
    again.load_state_dict(paper_net(4, 2).state_dict())
    assert not any(again.log.edits())
