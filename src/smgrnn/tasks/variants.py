"""Variants of a task, written behind its name: `CartPole-v1,gravity=20`, `recall,delay=4`.

A name is that of the task and then any number of settings, each a key and a value, or `mirrored`.
"""

from math import isfinite
from typing import NamedTuple

from smgrnn.errors import TaskError, suggest
from smgrnn.tasks import acrobot, cartpole

VELOCITIES = {"CartPole-v1": (1, 3), "Acrobot-v1": (4, 5)}
"""Places of velocities in an observation, by task."""
PHYSICS = {"CartPole-v1": cartpole.PHYSICS, "Acrobot-v1": acrobot.PHYSICS}
"""The physics of each task that takes it as settings, with the usual values."""
RANGE = 10.0
"""The physics may be up to this many times, and down to this part of, the usual value."""
MIRRORED = "mirrored"
MOST_CUES = 100
_EXAMPLES = {"hide": "hide=velocities", "delay": "delay=4", "cue": "cue=1of2"}


class Physics(NamedTuple):
    """The physics of a task: its values, and whether the actions have changed places."""

    values: dict[str, float]
    is_mirrored: bool


def split_name(name: str) -> tuple[str, dict[str, str]]:
    """Return the name of a task without its settings, and these.

    >>> split_name("CartPole-v1,hide=velocities,mirrored")
    ('CartPole-v1', {'hide': 'velocities', 'mirrored': ''})
    """
    base, *pairs = name.split(",")
    found: dict[str, str] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        is_pair = bool(key and value) or (key == MIRRORED and not sign)
        if not is_pair or key == MIRRORED != pair or key in found:
            raise TaskError(
                f"A variant of a task is written as key=value, each key once, such as "
                f"CartPole-v1,hide=velocities, or as mirrored. Got {name!r} instead."
            )
        found[key] = value
    return base, found


def known_settings(base: str) -> tuple[str, ...]:
    """Return the settings that a task with an environment has."""
    hidden = ("hide",) if base in VELOCITIES else ()
    physics = (*PHYSICS[base], MIRRORED) if base in PHYSICS else ()
    return (*hidden, *physics, "cue")


def check_settings(name: str, known: tuple[str, ...]) -> None:
    """Refuse a variant of a task by settings that the task does not have."""
    base, settings = split_name(name)
    for key in settings:
        if key not in known:
            hint = suggest(key, known) or f"It has {', '.join(_example(base, k) for k in known)}."
            raise TaskError(f"The task {base!r} has no setting {key!r}. {hint}")


def _example(base: str, key: str) -> str:
    values = PHYSICS.get(base, {})
    return f"{key}={values[key]:g}" if key in values else _EXAMPLES.get(key, key)


def plain_name(name: str) -> str:
    """Return the name that equal variants of a task share: usual values go without saying.

    >>> plain_name("CartPole-v1,length=1.0,gravity=20"), plain_name("CartPole-v1,gravity=9.80")
    ('CartPole-v1,gravity=20,length=1', 'CartPole-v1')
    """
    base, settings = split_name(name)
    usual = PHYSICS.get(base, {})
    physics = read_physics(base, settings).values
    kept = [
        (key, repr(physics[key]).removesuffix(".0") if key in usual else settings[key])
        for key in known_settings(base)
        if key in settings and physics.get(key, "") != usual.get(key)
    ]
    return ",".join([base, *(f"{key}={value}" if value else key for key, value in kept)])


def read_physics(base: str, settings: dict[str, str]) -> Physics:
    """Return the physics of a variant, or raise TaskError with what is wrong with it."""
    usual = PHYSICS.get(base, {})
    given = {key: _number(base, key, settings[key]) for key in usual if key in settings}
    return Physics(usual | given, MIRRORED in settings)


def _number(base: str, key: str, text: str) -> float:
    low, high = PHYSICS[base][key] / RANGE, PHYSICS[base][key] * RANGE
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not (isfinite(value) and low <= value <= high):
        raise TaskError(
            f"The setting {key!r} of {base!r} is a number in [{low:g}, {high:g}]. "
            f"Got {text!r} instead."
        )
    return value


def seen_places(base: str, settings: dict[str, str], n_values: int) -> tuple[int, ...] | None:
    """Return the places in an observation that a student sees; None is all of them."""
    if "hide" not in settings:
        return None
    if settings["hide"] != "velocities":
        raise TaskError(
            f"What can be hidden of {base!r} is velocities. Got {settings['hide']!r} instead."
        )
    return tuple(place for place in range(n_values) if place not in VELOCITIES[base])


def read_cue(settings: dict[str, str]) -> tuple[float, ...]:
    """Return the values after an observation that say which of several tasks it is.

    >>> read_cue({"cue": "2of3"}), read_cue({})
    ((0.0, 1.0, 0.0), ())
    """
    if "cue" not in settings:
        return ()
    number, _, total = settings["cue"].partition("of")
    are_whole = all(part.isascii() and part.isdecimal() for part in (number, total))
    if not (are_whole and 1 <= int(number) <= int(total) and 2 <= int(total) <= MOST_CUES):
        raise TaskError(
            f"A cue is the number of a task among so many, from 2 to {MOST_CUES}, such as 1of2. "
            f"Got {settings['cue']!r} instead."
        )
    return tuple(float(place == int(number)) for place in range(1, int(total) + 1))


def delay_of(settings: dict[str, str], usual: int) -> int:
    """Return the steps between cue and question."""
    text = settings.get("delay", str(usual))
    if not (text.isascii() and text.isdecimal() and 0 <= int(text) <= 9998):
        raise TaskError(f"The delay of 'recall' is an int in [0, 9998]. Got {text!r} instead.")
    return int(text)
