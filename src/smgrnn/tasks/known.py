"""The tasks that the library knows by name, and the compiled ones behind integer codes.

A task is added here: an entry of `KNOWN`, and for a compiled one a branch of `observe` and one of
`step`, so that one fused loop plays them all.
"""

from dataclasses import replace
from functools import cache

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.errors import ConfigError
from smgrnn.kernels import inlined
from smgrnn.tasks import acrobot, cartpole, recall, swingup
from smgrnn.tasks.facts import Facts
from smgrnn.tasks.lunarlander import LUNARLANDER
from smgrnn.tasks.xor import XOR

KNOWN = {
    facts.id: facts
    for facts in (
        *(cartpole.CARTPOLE, acrobot.ACROBOT, LUNARLANDER),
        *(recall.RECALL, swingup.SWINGUP, XOR),
    )
}
UNKNOWN = Facts()  # the facts about any other task; its environment or its recording has the rest


@cache
def find_facts(name: str) -> Facts:
    """Return the facts about the task or the variant of this name, which is not checked.

    >>> find_facts("recall,delay=4").needs_memory, find_facts("Pendulum-v1").needs_memory
    (True, False)
    """
    facts = KNOWN.get(name.partition(",")[0], UNKNOWN)
    return replace(facts, needs_memory=True) if ",hide=" in name else facts


def find_budget(task_id: str) -> int:
    """Return how many parameters the growing network ends with on a task."""
    budget = KNOWN.get(task_id, UNKNOWN).budget
    if budget is None:
        raise ConfigError(f"No budget is known for {task_id}; set one with --set budget=N.")
    return budget


@inlined
def observe(code: int, state: Floats, observation: Floats) -> None:
    """Write the observation that belongs to the state of a compiled task."""
    if code == cartpole.CODE:
        cartpole.observe(state, observation)
    elif code == acrobot.CODE:
        acrobot.observe(state, observation)
    elif code == recall.CODE:
        recall.observe(state, observation)
    elif code == swingup.CODE:
        swingup.observe(state, observation)


@inlined
def step(code: int, state: Floats, action: int) -> tuple[float, bool]:
    """Act for one time step; return the reward and whether the episode has ended."""
    reward, is_terminal = np.nan, True  # of a code that no task has
    if code == cartpole.CODE:
        reward, is_terminal = cartpole.step(state, action)
    elif code == acrobot.CODE:
        reward, is_terminal = acrobot.step(state, action)
    elif code == recall.CODE:
        reward, is_terminal = recall.step(state, action)
    elif code == swingup.CODE:
        reward, is_terminal = swingup.step(state, action)
    return reward, is_terminal
