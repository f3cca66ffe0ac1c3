"""A CartPole controller in C: distil it, export it, compile it, play with it, time it.

Run with `python examples/cartpole_controller_in_c.py [--episodes N] [--out FOLDER]`.  The folder
then holds the controller, `cartpole.h` and `cartpole.c`, ready for a program of yours.
"""

import argparse
import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

import smgrnn
from smgrnn.export import export_policy
from smgrnn.export.sizes import Sizes, measure

COMPILE = ("cc", "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic")
TIMER = Path(__file__).parent / "cartpole_c" / "time_steps.c"
TASK = "CartPole-v1"


class Outcome(NamedTuple):
    """What the controller is and does."""

    n_parameters: int
    sizes: Sizes
    returns: np.ndarray[Any, np.dtype[np.float64]]
    nanoseconds: float


def build_controller(folder: Path, episodes: int = 300, played: int = 100) -> Outcome:
    run = smgrnn.distill(TASK, episodes=episodes, seed=0, out=folder / "run")
    policy = smgrnn.load(folder / "run")
    _, source = export_policy(policy, "c", folder / "cartpole.c")
    library, timer = folder / "cartpole.so", folder / "time_steps"
    subprocess.run([*COMPILE, "-shared", "-fPIC", source, "-o", library, "-lm"], check=True)
    n_states = run.graph.n_nodes - run.graph.n_inputs
    returns, seen = play(ctypes.CDLL(str(library.resolve())), n_states, played)
    subprocess.run([*COMPILE, f"-I{folder}", TIMER, source, "-o", timer, "-lm"], check=True)
    timed = subprocess.run([timer.resolve()], input=seen, capture_output=True, check=True)
    sizes = measure(policy, source)
    return Outcome(policy.graph.n_edges, sizes, returns, float(timed.stdout))


def play(controller: Any, n_states: int, episodes: int) -> tuple[Any, bytes]:
    """Return the returns of the compiled controller in Gymnasium, and the observations it saw."""
    env, state = gym.make(TASK), (ctypes.c_float * n_states)()
    returns, seen = np.zeros(episodes), []
    for episode in range(episodes):
        observation, _ = env.reset(seed=episode)
        controller.cartpole_reset(state)
        is_over = False
        while not is_over:
            row = observation.astype(np.float32).tobytes()
            seen.append(row)
            action = controller.cartpole_step(state, row)
            observation, reward, is_terminal, is_truncated, _ = env.step(action)
            returns[episode] += float(reward)
            is_over = is_terminal or is_truncated
    return returns, b"".join(seen)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--episodes", type=int, default=300, help="training episodes")
    parser.add_argument(
        "--out", type=Path, default=Path("cartpole-controller"), help="a new folder"
    )
    options = parser.parse_args()
    if shutil.which(COMPILE[0]) is None:
        parser.error("there is no C compiler, cc, on this machine")
    if options.out.exists():
        parser.error(f"{options.out} exists; choose another folder")
    options.out.mkdir(parents=True)
    outcome = build_controller(options.out, options.episodes)
    sizes, returns = outcome.sizes, outcome.returns
    print(f"parameters           {outcome.n_parameters}")
    print(f"constant tables      {sizes.table_bytes} bytes")
    print(f"code and constants   {sizes.compiled_bytes} bytes (cc -Os)")
    print(f"state                {sizes.state_bytes} bytes")
    print(f"a step               {outcome.nanoseconds} ns (cc -O2)")
    print(
        f"return in Gymnasium  {returns.mean():.1f} ± {returns.std():.1f} ({returns.size} episodes)"
    )


if __name__ == "__main__":
    main()
