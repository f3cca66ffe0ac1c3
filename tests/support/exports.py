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
from smgrnn.export import export
from smgrnn.export.build import program_of
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
REPLAY = Path(__file__).parent / "replay.c"
REPLAY_INTEGERS = REPLAY.with_name("replay_integers.c")


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


def build(policy: Policy, folder: Path, *flags: str, by: Path = REPLAY, **how: Any) -> Path:
    """Export a policy to C and compile it with the program that replays observations."""
    folder.mkdir(exist_ok=True)
    _, source = export(policy, folder / "controller.c", **how)
    binary = folder / "replay"
    kind = () if policy.task.is_discrete else ("-DCONTINUOUS",)
    files = [f"-I{folder}", str(by), str(source), "-o", str(binary), "-lm"]
    done = subprocess.run(
        [tool("cc"), *flags, *kind, *files], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return binary


def replay_integers(binary: Path, rows: Any, starts: Any) -> Any:
    """Return what a controller in integers returns, does and keeps, for rows of integers."""
    records = np.concatenate([np.asarray(starts)[:, None], rows], axis=1).astype(np.int16)
    done = subprocess.run([binary], input=records.tobytes(), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    return np.frombuffer(done.stdout, np.int16).reshape(len(rows), -1)


def replay(
    policy: Policy, played: Played, *command: str | Path, style: str = "tables"
) -> tuple[Any, Any]:
    """Return the actions and states of a compiled controller that sees the same observations."""
    records = np.concatenate([played.starts[:, None], played.observations], axis=1)
    done = subprocess.run(
        command, input=records.astype(np.float32).tobytes(), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert not done.stderr or b"ERROR SUMMARY: 0 errors" in done.stderr, done.stderr.decode()
    rows = np.frombuffer(done.stdout, np.float32).reshape(len(records), -1)
    results, rest = rows[:, 0], rows[:, 1:]
    n_actions = 0 if policy.task.is_discrete else policy.task.n_outputs
    program, states = program_of(policy, style), played.states.copy()
    if program.is_carried:  # no action depends on any other state
        states[:, program.states] = rest[:, n_actions:]
    if policy.task.is_discrete:
        return results.astype(int), states
    assert (results == 0).all()
    return rest[:, :n_actions], states


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
