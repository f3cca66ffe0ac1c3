"""A controller in C: distill it, export it, compile it, play with it, time it.

    python examples/controller_in_c.py [--task TASK] [--max-parameters N] [--episodes N] [--out DIR]

The folder then holds the controller, `controller.h` and `controller.c`, ready for a program of
yours; `examples/lunarlander_c` has one that lands on the moon.
"""

import argparse
import ctypes
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

import smgrnn
from smgrnn.experts import shipped_experts
from smgrnn.export import controller_of, export
from smgrnn.export.c import Body

COMPILE = ("cc", "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic")
TIMER = Path(__file__).parent / "controller_in_c" / "time_steps.c"


class Controller:
    """A controller in C, compiled into a library and called by ctypes."""

    def __init__(self, source: Path, library: Path) -> None:
        subprocess.run([*COMPILE, "-shared", "-fPIC", source, "-o", library, "-lm"], check=True)
        self._code = ctypes.CDLL(str(library.resolve()))
        (n_states,) = re.findall(r"_STATES (\d+)", source.with_suffix(".h").read_text())
        self._state = (ctypes.c_float * max(int(n_states), 1))()

    def reset(self) -> None:
        """Forget the last episode."""
        self._code.controller_reset(self._state)

    def step(self, observation: bytes) -> int:
        """Return the action for an observation, which is a row of floats."""
        return int(self._code.controller_step(self._state, observation))


class Outcome(NamedTuple):
    """What the controller is and does."""

    n_parameters: int
    table_bytes: int
    state_bytes: int
    code_bytes: int
    returns: np.ndarray[Any, np.dtype[np.float64]]
    nanoseconds: float


def build_controller(task: str, folder: Path, played: int = 100, **settings: Any) -> Outcome:
    """Distil a controller into a folder, and return what it is like in C."""
    smgrnn.distill(task, seed=0, out=folder / "run", **settings)
    policy = smgrnn.load(folder / "run")
    _, source = export(policy, folder / "controller.c")
    returns, seen = play(Controller(source, folder / "controller.so"), task, played)
    timer = folder / "time_steps"
    subprocess.run([*COMPILE, f"-I{folder}", TIMER, source, "-o", timer, "-lm"], check=True)
    timed = subprocess.run([timer.resolve()], input=seen, capture_output=True, check=True)
    small = folder / "controller.o"
    subprocess.run(["cc", "-std=c99", "-Os", "-c", source, "-o", small], check=True)
    sizes = subprocess.run(["size", small], capture_output=True, text=True, check=True).stdout
    code, data, *_ = map(int, sizes.splitlines()[1].split()[:2])
    body = Body(controller_of(policy))
    fixed = body.table_bytes, body.state_bytes
    return Outcome(policy.graph.n_edges, *fixed, code + data, returns, float(timed.stdout))


def play(controller: Controller, task: str, episodes: int) -> tuple[Any, bytes]:
    """Return the returns of a compiled controller in Gymnasium, and the observations it saw."""
    env, returns, seen = gym.make(task), np.zeros(episodes), []
    for episode in range(episodes):
        observation, _ = env.reset(seed=episode)
        controller.reset()
        is_over = False
        while not is_over:
            seen.append(observation.astype(np.float32).tobytes())
            action = controller.step(seen[-1])
            observation, reward, is_terminal, is_truncated, _ = env.step(action)
            returns[episode] += float(reward)
            is_over = is_terminal or is_truncated
    env.close()
    return returns, b"".join(seen)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    tasks = sorted({record["task"] for record in shipped_experts().values()})
    parser.add_argument("--task", default="CartPole-v1", choices=tasks)
    parser.add_argument("--max-parameters", type=int, help="most parameters; as many as it takes")
    parser.add_argument("--episodes", type=int, help="training episodes")
    parser.add_argument("--out", type=Path, default=Path("controller"), help="a new folder")
    options = parser.parse_args()
    if shutil.which(COMPILE[0]) is None:
        parser.error("there is no C compiler, cc, on this machine")
    if options.out.exists():
        parser.error(f"{options.out} exists; choose another folder")
    options.out.mkdir(parents=True)
    given = {"max_parameters": options.max_parameters, "episodes": options.episodes}
    settings = {name: value for name, value in given.items() if value is not None}
    outcome = build_controller(options.task, options.out, **settings)
    returns = outcome.returns
    print(f"parameters           {outcome.n_parameters}")
    print(f"constant tables      {outcome.table_bytes} bytes")
    print(f"code and constants   {outcome.code_bytes} bytes (cc -Os)")
    print(f"state                {outcome.state_bytes} bytes")
    print(f"a step               {outcome.nanoseconds} ns (cc -O2)")
    print(
        f"return in Gymnasium  {returns.mean():.1f} ± {returns.std():.1f} ({returns.size} episodes)"
    )


if __name__ == "__main__":
    main()
