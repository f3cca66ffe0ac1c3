"""Odd environments: what they show, pay and say is of any kind."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

import smgrnn
import smgrnn_paper
from torture.grammar import odd
from torture.outcomes import Found

LENGTH = 4
ANSWERS: list[Any] = [
    *(np.array([True, False]), np.array(True), np.array([]), np.bool_(True), np.float32(1.0)),
    *(np.zeros((2, 3)), np.array(["a"]), np.array([None]), np.zeros(3, complex), b"a", 1j, object),
]


def _given(answer: Any) -> Any:
    if isinstance(answer, type) and issubclass(answer, BaseException):
        raise answer("odd")
    return answer


class Odd(gym.Env[Any, Any]):
    """An environment of three numbers and two actions that answers oddly at one place."""

    observation_space = spaces.Box(-1, 1, (3,))
    action_space: Any = spaces.Discrete(2)

    def __init__(self, place: str, answer: Any, at: int) -> None:
        self._place, self._answer, self._at, self._n = place, answer, at, 0

    def _say(self, place: str, usual: Any) -> Any:
        return usual if place != self._place or self._n < self._at else _given(self._answer)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        """Begin an episode."""
        usual: Any = self._say("first observation", np.zeros(3, np.float32)), {}
        return self._say("reset", usual)

    def step(self, action: Any) -> Any:
        """Answer an action."""
        self._n += 1
        usual = (
            self._say("observation", np.full(3, 0.1, np.float32)),
            self._say("reward", 1.0),
            self._say("terminated", self._n % LENGTH == 0),
            self._say("truncated", self._n % LENGTH == 0),
            self._say("info", {}),
        )
        return self._say("step", usual)

    def close(self) -> None:
        """End it."""
        self._say("close", None)


PLACES = [
    *("first observation", "reset", "observation", "reward", "terminated", "truncated"),
    *("info", "step", "close"),
]
ERRORS = [RuntimeError, KeyError, StopIteration, MemoryError, RecursionError, AssertionError]


def environment_cases(_: Path) -> Callable[[Random, Path], Found]:
    """Return what makes an odd environment, or an odd expert, and learns in it."""

    def case(rng: Random, __: Path) -> Found:
        answer = rng.choice([odd(rng), rng.choice(ANSWERS), rng.choice(ERRORS)])
        place, at = rng.choice([*PLACES, "expert"]), rng.choice([0, 0, 1, 5, 9])
        act = (lambda _: _given(answer)) if place == "expert" else lambda _: 1
        if rng.random() < 0.2 and place != "expert":
            smgrnn_paper.evolve(
                lambda: Odd(place, answer, at), rollouts=8, population=4, held_out=1
            )
        else:
            preset = rng.choice(["paper", "frugal"])
            smgrnn.distill(
                lambda: Odd(place, answer, at), expert=act, episodes=2, held_out=1, preset=preset
            )
        return Found("worked")

    return case
