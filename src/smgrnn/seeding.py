"""Independent random streams, spawned by name from one seed."""

import json
from typing import Literal, get_args

import numpy as np

from smgrnn.errors import ConfigError

Stream = Literal["init", "plasticity", "task"]


def stream(seed: int, name: Stream) -> np.random.Generator:
    """Return the generator that this seed gives to one purpose."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ConfigError(f"A seed must be an int in [0, inf). Got {seed!r} instead.")
    key = (get_args(Stream).index(name),)
    return np.random.default_rng(np.random.SeedSequence(int(seed), spawn_key=key))


def dump_generator(rng: np.random.Generator) -> str:
    """Return the generator's state as text."""
    return json.dumps(rng.bit_generator.state)


def restore_generator(rng: np.random.Generator, text: str) -> None:
    """Put the generator back into a dumped state."""
    rng.bit_generator.state = json.loads(text)
