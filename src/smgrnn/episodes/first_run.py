"""The first run on a machine: another process compiles the loops while this one compiles the rules.

So that both have as much to do, the other begins with a piece that every edit takes.  They keep
their code in the compile cache, where each finds what the other compiled.
"""

import multiprocessing
import sys
from contextlib import suppress
from subprocess import DEVNULL, Popen

import numpy as np

from smgrnn.compile_cache import is_missing
from smgrnn.config import NetworkConfig, PlasticityConfig
from smgrnn.engine import Learner
from smgrnn.engine.restructuring import compile_carrying
from smgrnn.episodes.backends import CompiledBackend
from smgrnn.episodes.rollout import distill_episodes
from smgrnn.experts import find_expert
from smgrnn.machine import usable_cores
from smgrnn.policy import Policy
from smgrnn.tasks import find_task
from smgrnn.tasks.cartpole import CARTPOLE

_beside: list[Popen[bytes]] = []
"""The process that compiles the loops, if one was started."""


def compile_loops_beside() -> None:
    """Let another process compile the loops, if that has to be done and there is a core for it."""
    is_worker = multiprocessing.parent_process() is not None
    if _beside or is_worker or usable_cores() < 2 or not is_missing(distill_episodes):
        return
    with suppress(OSError):  # without one, this process compiles them
        command = [sys.executable, "-P", "-m", __name__]
        _beside.append(Popen(command, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL))


def wait_for_loops() -> None:
    """Wait until the other process has compiled the loops."""
    while _beside:
        _beside.pop().wait()


def compile_loops() -> None:
    """Compile the loops by calling them with no episodes."""
    compile_carrying()
    task = find_task(CARTPOLE.id)
    network = NetworkConfig(n_inputs=task.n_inputs, n_outputs=task.n_outputs)
    learner = Learner(network, plasticity=PlasticityConfig.static())
    backend = CompiledBackend(task)
    backend.distil(learner, find_expert(None, task), [], np.zeros(0))
    backend.play(Policy(learner.graph, network, task), [])


if __name__ == "__main__":
    compile_loops()
