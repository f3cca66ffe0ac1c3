"""Independent random streams, spawned by name from one seed."""

import json
from typing import Literal, get_args

import numpy as np

from smgrnn.validation import Whole, checked

Stream = Literal["init", "plasticity", "task", "feedback", "polish"]
Purpose = Literal["train", "held_out", "choosing"]


def stream(seed: int, name: Stream, *part: int) -> np.random.Generator:
    """Return the generator that this seed gives to one purpose, or to a numbered part of it."""
    key = (get_args(Stream).index(name), *part)
    source = np.random.SeedSequence(checked(seed, Whole, "A seed"), spawn_key=key)
    return np.random.default_rng(source)


def episode_seed(seed: int, episode: int, purpose: Purpose) -> int:
    """Return the seed that resets the environment of one episode, an int below 2**32.

    It depends on the arguments alone, so a run can resume at any episode.  Below 2**31, training
    seeds are even and held-out seeds odd; seeds for selection are above.  So no network is
    evaluated on an episode of its training or of its selection.

    >>> episode_seed(0, 0, "train"), episode_seed(0, 0, "held_out")
    (1051823300, 1083867629)
    """
    number = get_args(Purpose).index(purpose)
    key = (get_args(Stream).index("task"), number, checked(episode, Whole, "An episode"))
    source = np.random.SeedSequence(checked(seed, Whole, "A seed"), spawn_key=key)
    word = int(source.generate_state(1)[0])
    return 2**31 + word // 2 if purpose == "choosing" else word // 4 * 2 + number


def episode_seeds(seed: int, first: int, last: int, purpose: Purpose) -> list[int]:
    """Return the seeds of the episodes first … last - 1 of a purpose."""
    return [episode_seed(seed, episode, purpose) for episode in range(first, last)]


def dump_generator(rng: np.random.Generator) -> str:
    """Return the generator's state as text."""
    return json.dumps(rng.bit_generator.state)


def restore_generator(rng: np.random.Generator, text: str) -> None:
    """Put the generator back into a dumped state."""
    rng.bit_generator.state = json.loads(text)
