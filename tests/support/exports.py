"""Controllers to export and what the engine does with them, to compare an exported one with."""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import smgrnn
from smgrnn.arrays import Floats
from smgrnn.export import controller_of, export
from smgrnn.export.c import NUMBERS
from smgrnn.export.program import Controller
from smgrnn.graph.state import Graph
from smgrnn.policy import Policy
from smgrnn.tasks import Task, make_env
from support.flat import network_config

STRICT = (
    *("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion"),
    "-Wdouble-promotion",
)
SANITIZED = (*STRICT, "-g", "-fsanitize=undefined,address", "-fno-sanitize-recover")
TOLERANCE = 1e-5
"""Largest difference between the engine, in double precision, and an export, in single."""
REPLAY = """
#include "{name}.h"
static int replay_{name}(void)
{{
    {name}_state state;
    {value} record[1 + {upper}_OBSERVATIONS];
    {name}_reset(&state);
    while (fread(record, sizeof record, 1, stdin) == 1) {{
        int32_t result;
        {kind} given[{upper}_ACTIONS] = {{0}};
        if (record[0] != 0) {{
            {name}_reset(&state);
        }}
        result = {name}_step(&state, record + 1, given);
        fwrite(&result, sizeof result, 1, stdout);
        fwrite(given, sizeof given, 1, stdout);
#if {upper}_STATES > 0
        fwrite(state.node, sizeof state.node, 1, stdout);
#endif
    }}
    return 0;
}}
"""
"""Replays records: whether an episode starts, and an observation.  Writes records: what the step
returned, the scores or the action, and the states."""
MAIN = """
int main(int count, char **names)
{{
    (void)count;
    {cases}
    return 1;
}}
"""


def tool(name: str) -> str:
    """Return the path of a program; without it the test is skipped, but never in CI."""
    installed = Path(sys.executable).parent  # with pip
    path = shutil.which(name, path=f"{os.environ['PATH']}{os.pathsep}{installed}")
    if path is None and os.environ.get("CI"):
        pytest.fail(f"{name} is not installed, and CI must not skip the tests that need it.")
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


class Played(NamedTuple):
    """What a policy saw, did and became, step by step."""

    starts: NDArray[np.bool_]
    """Whether an episode starts (n,)."""
    observations: NDArray[np.float32]
    """(n, n_observations)."""
    actions: NDArray[Any]
    """(n,), or (n, n_actions) where they are continuous."""
    outputs: Floats
    """What the network read out (n, n_actions)."""
    states: Floats
    """Output and hidden nodes after the step (n, n_states)."""

    @property
    def is_tie(self) -> NDArray[np.bool_]:
        """Where the two largest outputs are so close that single precision may swap them."""
        ordered = np.sort(self.outputs, axis=1)
        lead = ordered[:, -1] - ordered[:, -2]
        return np.asarray(lead < TOLERANCE * np.maximum(1, np.abs(ordered[:, -1])))


def play_rows(policy: Policy, starts: Any, observations: Any) -> Played:
    steps = []
    for is_start, observation in zip(starts, observations, strict=True):
        if is_start:
            policy.reset()
        steps.append((is_start, observation, policy(observation), *_inside(policy)))
    return Played(*(np.array(column) for column in zip(*steps, strict=True)))


def play_episodes(policy: Policy, n: int) -> Played:
    """Return what a policy does in the first `n` seeded episodes of its task in Gymnasium."""
    env, steps = make_env(policy.task), []
    for seed in range(n):
        observation, _ = env.reset(seed=seed)
        policy.reset()
        is_start, is_over = True, False
        while not is_over:
            action = policy(observation)
            steps.append((is_start, observation, action, *_inside(policy)))
            observation, _, is_terminal, is_truncated, _ = env.step(action)
            is_start, is_over = False, is_terminal or is_truncated
    env.close()
    return Played(*(np.array(column) for column in zip(*steps, strict=True)))


@cache
def student(task: str) -> tuple[Policy, Played]:
    """Return a distilled policy and a hundred whole episodes of it."""
    with TemporaryDirectory() as folder:
        smgrnn.distill(task, episodes=200, seed=0, out=Path(folder) / "run")
        policy = smgrnn.load(Path(folder) / "run")
    return policy, play_episodes(policy, 100)


def _inside(policy: Policy) -> tuple[Floats, Floats]:
    """Return what the network read out at the last step, and its states after it."""
    graph, trace, config = policy.graph, policy.player._traces[0], policy.config
    states = trace[-1, graph.n_inputs :].copy()
    if config.readout == "state":
        return states[: config.n_outputs], states
    sums = np.zeros(graph.n_nodes)
    np.add.at(sums, graph.target, graph.weight * trace[-2, graph.source])
    return sums[graph.n_inputs :][: config.n_outputs], states


def build(
    controllers: dict[str, Controller],
    folder: Path,
    *flags: str,
    tests: dict[str, Any] | None = None,
) -> Path:
    """Export controllers to C, and compile all of them into one program that replays observations.

    `tests` are recordings of those that get a self-test too, which the program runs for NAME_test.
    """
    folder.mkdir(exist_ok=True)
    main, cases, sources = (
        "#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n",
        [],
        ["main.c"],
    )
    for name, made in controllers.items():
        numbers, is_choice = NUMBERS[made.program.type], made.program.is_choice
        recorded = {"self_test": True, "recording": tests[name]} if tests and name in tests else {}
        _, *files = export(made, folder / f"{name}.c", scores=is_choice, **recorded)
        sources += [file.name for file in files]
        words = {"name": name, "upper": name.upper(), "value": numbers.value}
        main += REPLAY.format(**words, kind=numbers.sum if is_choice else numbers.value)
        cases.append(f'if (strcmp(names[1], "{name}") == 0) return replay_{name}();')
        if recorded:
            main += f"int {name}_test(void);\n"
            cases.append(f'if (strcmp(names[1], "{name}_test") == 0) return {name}_test();')
    (folder / "main.c").write_text(main + MAIN.format(cases="\n    ".join(cases)))
    command = [tool("cc"), *flags, *sources, "-o", "replay", "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "replay"


def replay(made: Controller, starts: Any, rows: Any, *command: Any) -> Any:
    """Return what compiled code gives for encoded observations, as columns.

    They are `result`, `given`, which are scores or an action, and `states`.
    """
    types: dict[str, Any] = {"float": np.float32, "int16_t": np.int16, "int32_t": np.int32}
    numbers = NUMBERS[made.program.type]
    value: Any = types[numbers.value]
    kind: Any = types[numbers.sum if made.program.is_choice else numbers.value]
    sizes = [("given", kind, made.program.n_outputs), ("states", value, made.program.n_kept)]
    records = np.concatenate([np.asarray(starts)[:, None], rows], axis=1).astype(value)
    done = subprocess.run(command, input=records.tobytes(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert not done.stderr or b"ERROR SUMMARY: 0 errors" in done.stderr, done.stderr.decode()
    columns = [("result", np.int32), *((name, kind, (n,)) for name, kind, n in sizes)]
    return np.frombuffer(done.stdout, np.dtype(columns))


def replayed(
    policy: Policy, played: Played, folder: Path, *flags: str, by: Any = (), style: str = "tables"
) -> tuple[Any, Any]:
    """Return the actions and states of a policy's compiled code that sees the same observations."""
    made = controller_of(policy, style=style)
    binary = build({"controller": made}, folder, *flags)
    return as_played(made, played, *by, binary, "controller")


def as_played(made: Controller, played: Played, *command: Any) -> tuple[Any, Any]:
    """Return the actions and states of compiled code that sees the same observations."""
    found = replay(made, played.starts, played.observations, *command)
    states = played.states.copy()
    if made.program.is_carried:  # no action depends on any other state
        states[:, made.program.states] = found["states"]
    if made.program.is_choice:
        return found["result"], states
    assert (found["result"] == 0).all()
    return found["given"], states


def check(played: Played, actions: Any, states: Any) -> None:
    """Check that an exported controller acted and changed as the engine did."""
    np.testing.assert_allclose(states, played.states, atol=TOLERANCE, rtol=0)
    if played.actions.ndim == 1:
        assert (actions == played.actions)[~played.is_tie].all()
    else:
        np.testing.assert_allclose(actions, played.actions, atol=2 * TOLERANCE, rtol=0)  # of ±2


def random_policy(seed: int, *, is_discrete: bool, has_bias: bool, **settings: Any) -> Policy:
    """Return a policy with a random cyclic graph, edges into its inputs and idle nodes included."""
    rng = np.random.default_rng(seed)
    n_observed, n_outputs, n_hidden = rng.integers([1, 1, 0], [5, 4, 7]).tolist()
    n_outputs += is_discrete  # a choice is between two at least
    n_inputs = n_observed + has_bias
    n_nodes = n_inputs + n_outputs + n_hidden
    edges = [
        (source, target, float(rng.normal(0, 0.4)))
        for source in range(n_nodes)
        for target in range(n_nodes)
        if source != target and rng.random() < 0.5
    ]
    graph = Graph.from_edges(n_inputs, n_outputs, n_hidden, edges)
    sizes = {"n_inputs": n_observed, "n_outputs": n_outputs, "n_hidden": n_hidden}
    config = network_config(**sizes, bias=has_bias, **settings)
    low, high = tuple(rng.uniform(-3, -1, n_outputs)), tuple(rng.uniform(0, 2, n_outputs))
    bounds: Any = {} if is_discrete else {"action_low": low, "action_high": high}
    task = Task("random", n_observed, n_outputs, is_discrete, **bounds)
    return Policy(graph, config, task)


BOUNDS = np.array([(-0.1, 0.3), (0.2, 0.7)], np.float32)
"""Least and largest action of `bounded`."""


def bounded() -> tuple[Policy, Played]:
    """Return a policy whose outputs are far beyond ±1, first below and then above."""
    (low, high), n_outputs = BOUNDS.astype(float).tolist(), BOUNDS.shape[1]
    task = Task("bounded", 1, n_outputs, False, action_low=tuple(low), action_high=tuple(high))
    config = network_config(n_inputs=1, n_outputs=n_outputs, output_activation="identity")
    graph = Graph.from_edges(1, 2, edges=[(0, 1, 1.0), (0, 2, 1.0)])
    policy = Policy(graph, config, task)
    return policy, play_rows(policy, [True, True], np.array([[-5.0], [5.0]], np.float32))


def choosing(graph: Graph, name: str = "choice", **settings: Any) -> Policy:
    """Return a policy that chooses one of the graph's outputs."""
    n_inputs, n_outputs = graph.n_inputs, graph.n_outputs
    config = network_config(n_inputs=n_inputs, n_outputs=n_outputs, **settings)
    return Policy(graph, config, Task(name, n_inputs, n_outputs, is_discrete=True))


def random_rows(policy: Policy, n: int = 30) -> Played:
    """Return what a policy does with random observations, in episodes of ten."""
    observations = np.random.default_rng(0).normal(size=(n, policy.task.n_inputs))
    return play_rows(policy, np.arange(n) % 10 == 0, observations.astype(np.float32))


def _cases() -> dict[str, dict[str, Any]]:
    """Return settings of networks: all activations and readouts, with the rest taking turns."""
    activations = ("tanh", "sigmoid", "relu", "identity")
    cases = {}
    for number in range(64):
        readout = ("state", "sum")[number // 16 % 2]
        case = {
            "activation": activations[number % 4],
            "output_activation": activations[number // 4 % 4],
            "readout": readout,
            # The engine learns choices from sums only, so a continuous action reads states.
            "is_discrete": readout == "sum" or number >= 32,
            "iterations": 1 + (number + number // 4) % 4,
            "carry_state": (number // 2 + number // 32) % 2 == 0,
            "has_bias": (number + number // 8) % 2 == 0,
        }
        cases[" ".join(f"{value}" for value in case.values())] = {"seed": number, **case}
    return cases


CASES = _cases()
TASKS = ("CartPole-v1", "Acrobot-v1")
"""Tasks that are played for whole episodes."""
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
