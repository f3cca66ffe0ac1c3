"""Controllers in integers: the C equals the model in Python, and both act as the floats do."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import smgrnn
from smgrnn import Graph
from smgrnn.errors import ConfigError, ShapeError, SmgrnnError
from smgrnn.export import NUMBERS, controller_of, export
from smgrnn.export.program import activated
from smgrnn.export.trial import find_place, record, try_beside
from smgrnn.policy import Policy
from support.commands import call
from support.exports import choosing, random_policy
from support.runs import trained

TYPES = NUMBERS[1:]


def test_weights_by_hand() -> None:
    """An input up to 1 has 14 bits behind the point, as a reserve of twice its range.

    The largest weight becomes the largest int8, and the others follow.
    """
    graph = Graph.from_edges(2, 2, edges=[(0, 2, 1.0), (0, 3, -0.5), (1, 2, 0.25)])
    made = controller_of(choosing(graph), "q7", recording=[[1.0, -2.0], [0.5, 1.0]])
    assert made.program.bits[:2] == (14, 13)
    assert [row.terms for row in made.program.rows] == [{0: 127, 1: 64}, {0: -64}]
    assert made.encoded([0.5, 9.0]).tolist() == [8192, 32767]  # the second is saturated
    assert made([0.5, 0.0]) == 0
    assert made([-0.5, 0.0]) == 1
    rows = np.array([[0.5, 0.0], [-0.5, 0.0], [0.0, -1.0]])
    assert made(rows).tolist() == [made(row) for row in rows] == [0, 1, 1]


def test_activations_are_close_to_exact_ones() -> None:
    x = np.arange(-(2**15), 2**15)  # 12 bits behind the point: from -8 to 8
    curves = {"tanh": np.tanh(x / 2**12), "sigmoid": 1 / (1 + np.exp(-x / 2**12))}
    for kind, exact in curves.items():
        assert np.abs(activated(kind, x, 0) / 2**15 - exact).max() < 1e-3
    assert activated("identity", np.array([5, -5, 2**20]), 1).tolist() == [3, -2, 2**15 - 1]
    assert activated("relu", np.array([5, -5]), 1).tolist() == [3, 0]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("integers")
    trained(folder)
    return folder / "run"


def test_a_recording_marks_the_first_step_of_each_episode(run: Path) -> None:
    """All steps were marked once, so states that are carried never left the range of one step."""
    policy = smgrnn.load(run)
    recorded = record(policy, find_place(policy))
    assert np.sum(recorded.starts) == 10 < len(recorded.observations)


def test_a_controller_keeps_its_return_in_integers(run: Path) -> None:
    policy = smgrnn.load(run)
    place = find_place(policy)
    exact = try_beside(policy, policy, place, 10)
    assert exact.agreement == 1
    for number, bar in zip(TYPES, (0.99, 0.95), strict=True):
        trial = try_beside(controller_of(policy, number), policy, place, 10)
        assert trial.returns.mean() >= bar * exact.returns.mean()
        assert trial.agreement > bar


def test_the_command_judges_integers_before_it_writes(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ("export", run, "--to", "c", "--held-out", 3)
    call(*given, "--type", "q7", "--out", tmp_path / "seven", "--json")
    report = json.loads(capsys.readouterr().out)
    assert (report["type"], len(report["files"])) == ("q7", 2)
    assert report["return"] > 0.9 * report["float_return"]
    assert 0.9 < report["agreement"] <= 1
    for words, sentence in {
        (
            "--type",
            "q7",
            "--min-return",
            501,
        ): "In q7 the network returns .* less than --min-return",
        ("--min-return", 1): "--min-return judges integers; add --type q15",
    }.items():
        with pytest.raises(ConfigError, match=sentence):
            call(*given, *words, "--out", tmp_path / "none")
    assert {file.stem for file in tmp_path.iterdir()} == {"seven"}


def steep() -> Policy:
    return choosing(
        Graph.from_edges(1, 2, 1, edges=[(0, 3, 1e5), (3, 1, 1.0)]), "network", iterations=2
    )


def wide() -> Policy:
    return choosing(Graph.from_edges(3000, 2, edges=[(n, 3000, 0.5) for n in range(3000)]))


def acting() -> Policy:
    return random_policy(2, is_discrete=False, has_bias=True)


@pytest.mark.parametrize(
    ("policy", "path", "how", "sentence"),
    [
        (steep, "a.c", {"type": "q7", "recording": [[1.0]]}, "The network has weights too large"),
        (wide, "a.c", {"type": "q7", "recording": np.ones((2, 3000))}, "A node with 3000 inputs"),
        (steep, "a.c", {"type": "q7"}, "Pass observations that it will see as recording"),
        (steep, "a.c", {"type": "q7", "recording": [1.0]}, "Expected a recording of rows of 1"),
        (steep, "a.c", {"type": "q8"}, "There is no type of numbers 'q8'"),
        (steep, "a.onnx", {"type": "q7"}, "Integers are for c, arduino, micropython"),
        (steep, "a.c", {"style": "table"}, "There is no style 'table'. Did you mean 'tables'"),
        (steep, "a.txt", {}, "a.txt names no export format; end it with one of .onnx, .c"),
        (steep, "a", {"to": "avr"}, "There is no export format 'avr'"),
        (steep, "a.json", {"scores": True}, "Scores are for c, arduino, micropython"),
        (acting, "a.c", {"scores": True}, "Only a network that chooses has scores"),
        (steep, "a.py", {"self_test": True}, "A self-test is C; use it with c or arduino"),
    ],
)
def test_what_integers_cannot_hold_is_refused_in_a_sentence(
    policy: Any, path: str, how: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(SmgrnnError, match=sentence) as refused:
        export(policy(), tmp_path / path, **how)
    assert isinstance(refused.value, (ConfigError, ShapeError))
    assert list(tmp_path.iterdir()) == []


def test_floats_become_integers_in_c_as_in_python(tmp_path: Path) -> None:
    made = controller_of(
        choosing(Graph.from_edges(1, 2, edges=[(0, 1, 1.0)])), "q15", recording=[[3.0]]
    )
    export(made, tmp_path / "net.c")
    values = [0.0, 1.0, -1.0, 2.9999, 1e9, -1e9, 0.00024]
    listed = ", ".join(f"{value}f" for value in values)
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\n#include "net.h"\nint main(void) {\n'
        f"const float x[] = {{{listed}}}, unit[] = NET_UNITS;\n"
        f'for (int i = 0; i < {len(values)}; i++) printf("%d ", NET_INTEGER(x[i], unit[0]));\n}}\n'
    )
    compiler = ["cc", "-std=c99", "-Wall", "-Werror", "main.c", "-o", "main"]
    subprocess.run(compiler, cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True)
    expected = made.encoded(np.array(values, np.float32)[:, None])[:, 0]
    assert list(map(int, done.stdout.split())) == expected.tolist()
