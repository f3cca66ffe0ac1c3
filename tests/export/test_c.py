"""An exported C program acts as the engine does."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from smgrnn import Graph, Policy, load
from smgrnn.errors import ConfigError
from smgrnn.export import STYLES, controller_of, export
from smgrnn.export.c import Body, c_name
from smgrnn.export.wiring import facts
from smgrnn.policy import Normalisation
from smgrnn.tasks import Task
from smgrnn_paper import evolve
from support import exports
from support.exports import (
    SANITIZED,
    STRICT,
    Played,
    build,
    check,
    choosing,
    random_policy,
    random_rows,
    replayed,
)
from support.flat import network_config
from support.networks import LOOP
from support.runs import trained


def test_a_step_by_hand(tmp_path: Path) -> None:
    """Input 2 reaches the output by 0.5 and the hidden node by -0.4; then the loop closes."""
    config = network_config(
        n_inputs=1, n_outputs=1, activation="relu", output_activation="identity"
    )
    task = Task("loop", 1, 1, is_discrete=False, action_low=(-10.0,), action_high=(30.0,))
    policy = Policy(LOOP, config, task)
    played = exports.play_rows(policy, [True, False], np.array([[2.0], [-1.0]], np.float32))
    actions, states = replayed(policy, played, tmp_path, *STRICT)
    # First 2·0.5 and max(0, -0.8); then -0.5 + 0.8·0 and max(0, 0.4 + 0.3·1).
    np.testing.assert_allclose(states, [[1.0, 0.0], [-0.5, 0.7]], atol=1e-6)
    np.testing.assert_allclose(actions, [[30.0], [0.0]], atol=1e-5)


def test_an_action_is_never_beyond_its_bounds(tmp_path: Path) -> None:
    """In single precision -0.1 + 2·0.15 is above 0.2, and 0.3 + 2·0.2 above 0.7."""
    policy, played = exports.bounded()
    actions, _ = replayed(policy, played, tmp_path, *STRICT)
    np.testing.assert_array_equal(actions, exports.BOUNDS)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e20])
def test_a_step_that_is_not_finite_is_refused_and_changes_nothing(
    value: float, tmp_path: Path
) -> None:
    """The last observation is finite, and its output overflows."""
    graph = Graph.from_edges(1, 2, edges=[(0, 1, 1e30), (0, 2, 1.0)])
    policy = choosing(graph, output_activation="identity")
    rows = np.array([[1.0], [value], [1.0]], np.float32)
    played = exports.play_rows(policy, [True, False, False], np.ones((3, 1), np.float32))
    played = played._replace(observations=rows)
    actions, states = replayed(policy, played, tmp_path, *SANITIZED)
    assert actions.tolist() == [0, -1, 0]
    np.testing.assert_array_equal(states[1], states[0])


@pytest.mark.parametrize("style", STYLES)
def test_what_no_action_depends_on_is_not_in_the_code(style: str, tmp_path: Path) -> None:
    """Input 2 is not read, node 6 reaches no output, and iterations change nothing.

    The normalisation and the constant input 3 become 2 constants beside 3 weights.
    """
    edges = [(0, 4, 1.5), (1, 4, -2.0), (1, 5, 0.5), (3, 5, 0.25), (0, 6, 1.0)]
    graph = Graph.from_edges(4, 2, 1, edges)
    config = network_config(
        n_inputs=3, n_outputs=2, bias=True, iterations=3, readout="sum", carry_state=False
    )
    scales = Normalisation(np.array([0.5, -1.0, 9.0]), np.array([2.0, 0.1, 9.0]))
    task = Task("dead", 3, 2, is_discrete=True)
    policy = Policy(graph, config, task, normalisation=scales)
    observations = np.random.default_rng(1).normal(size=(10_000, 3)).astype(np.float32)
    played = Played(
        np.ones(10_000, bool),
        observations,
        policy(observations),
        policy.player.act(scales(observations))[1],
        np.zeros((10_000, 3)),
    )
    actions, _ = replayed(policy, played, tmp_path / style, *STRICT, style=style)
    assert (actions == played.actions)[~played.is_tie].all()
    assert 0.4 < played.actions.mean() < 0.9
    header, source = ((tmp_path / style / f"controller.{end}").read_text() for end in "hc")
    assert "3 weights + 2 constants in float" in header
    assert "observation[2]: in 2 (not read)" in header
    assert not re.search("math.h|tanhf|mean|scale|observation.2", source)


def test_a_network_without_edges_compiles_and_chooses_the_first_action(tmp_path: Path) -> None:
    policy = choosing(Graph.from_edges(1, 2))
    played = random_rows(policy)
    actions, states = replayed(policy, played, tmp_path, *SANITIZED)
    assert not actions.any()
    assert not states.any()


def test_tables_are_as_large_as_counted_by_hand() -> None:
    """Two sums have 4 edges: 3·1 + 4·1 + 4·4 bytes.

    Of LOOP's two states, both are read by the next step.  Edges into inputs are left out.
    """
    small = choosing(Graph.from_edges(1, 2, edges=[(0, 1, 1.0), (2, 0, 1.0)]))
    assert facts(small)["n_parameters"] == 1
    policy = choosing(LOOP)
    body = Body(controller_of(policy))
    assert (body.table_bytes, body.state_bytes) == (23, 8)


@pytest.mark.parametrize(("n_inputs", "types"), [(255, "uint8_t"), (300, "uint16_t")])
def test_indices_take_the_smallest_type_and_still_work(
    n_inputs: int, types: str, tmp_path: Path
) -> None:
    edges = [(source, n_inputs, 0.5) for source in range(n_inputs)]
    policy = choosing(Graph.from_edges(n_inputs, 2, 1, edges))
    played = random_rows(policy)
    check(played, *replayed(policy, played, tmp_path, *SANITIZED))
    source = (tmp_path / "controller.c").read_text()
    assert f"static const {types} first_edge[3]" in source
    assert f"static const {types} source[{n_inputs}]" in source


def test_the_header_works_from_cpp_and_two_controllers_link_together(tmp_path: Path) -> None:
    for number, name in enumerate(("left.c", "right.c")):
        export(random_policy(number, is_discrete=True, has_bias=False), tmp_path / name, to="c")
    (tmp_path / "main.cpp").write_text(
        '#include "left.h"\n#include "right.h"\n'
        "int main() { left_state left; right_state right; left_reset(&left);\n"
        "right_reset(&right); float x[LEFT_OBSERVATIONS + RIGHT_OBSERVATIONS] = {};\n"
        "return left_step(&left, x) + right_step(&right, x); }\n"
    )
    commands = [
        [exports.tool("cc"), *STRICT, "-c", "left.c", "right.c"],
        [exports.tool("g++"), "-Wall", "-Werror", "main.cpp", "left.o", "right.o", "-lm"],
        ["./a.out"],
    ]
    for command in commands:
        subprocess.run(command, cwd=tmp_path, check=True)


def test_any_file_name_becomes_an_identifier() -> None:
    stems = ("CartPole-v1", "my.controller", "2nd", "ü", "__x__")
    names = ["cartpole_v1", "my_controller", "controller_2nd", "controller", "x"]
    assert list(map(c_name, stems)) == names


BUILDS = {
    "strict": ((*STRICT, "-O2"), ()),
    "sanitized": (SANITIZED, ()),
    "valgrind": ((*STRICT, "-g"), ("valgrind", "--error-exitcode=1", "--leak-check=full")),
}


@pytest.mark.xdist_group("export")
@pytest.mark.parametrize("task", exports.TASKS)
@pytest.mark.parametrize("how", BUILDS)
def test_a_hundred_episodes_are_played_alike(task: str, how: str, tmp_path: Path) -> None:
    """The same action at every step but ties, of which there may be one in ten thousand."""
    flags, checker = BUILDS[how]
    command = [exports.tool(word) if word[0] != "-" else word for word in checker]
    policy, played = exports.student(task)
    assert played.starts.sum() == 100
    check(played, *replayed(policy, played, tmp_path, *flags, by=command))
    assert played.is_tie.sum() <= 1 + 1e-4 * played.is_tie.size


@pytest.mark.parametrize("student", ["mlp-100", "neat", "ndp", "continuous"])
def test_any_kind_of_student_is_played_alike(student: str, tmp_path: Path) -> None:
    if student == "mlp-100":
        trained(tmp_path, student=student)
    elif student == "continuous":
        trained(tmp_path, "Pendulum-v1", episodes=10)
    else:
        folder = tmp_path / "run"
        evolve("CartPole-v1", method=student, rollouts=60, population=20, out=folder)
    policy = load(tmp_path / "run")
    played = exports.play_episodes(policy, 5)
    check(played, *replayed(policy, played, tmp_path, *SANITIZED))


def test_the_name_of_a_task_stays_in_its_comment(tmp_path: Path) -> None:
    """A name could end the comment, and what followed was code."""
    graph = Graph.from_edges(1, 2, edges=[(0, 1, 0.5)])
    policy = choosing(graph, "a */ int main(void) { return 7; } /* b")
    for path in export(policy, tmp_path / "net", to="c"):
        head = path.read_text().splitlines()[0]
        assert "a * / int main(void)" in head
        assert head.count("*/") == path.name.endswith(".c")
    build({"net": controller_of(policy)}, tmp_path / "built", *STRICT)


@pytest.mark.parametrize(
    ("name", "weight", "sentence"),
    [
        *((name, 0.5, "Files of C cannot be named '.*'") for name in ('a"b', "a\nb", "a*b", "a?")),
        ("controller", 1e39, "A weight of the network is too large for single"),
    ],
)
def test_what_c_cannot_hold_is_refused(
    name: str, weight: float, sentence: str, tmp_path: Path
) -> None:
    policy = choosing(Graph.from_edges(1, 2, edges=[(0, 1, weight)]))
    with pytest.raises(ConfigError, match=f"^{sentence}"):
        export(policy, tmp_path / name, to="c")
    assert list(tmp_path.iterdir()) == []
