"""Variants of a task, written after its name: `CartPole-v1,gravity=20,mirrored`."""

from collections.abc import Mapping
from functools import cache
from math import nan
from typing import NamedTuple

from smgrnn.errors import TaskError, suggest
from smgrnn.tasks.facts import Facts
from smgrnn.tasks.known import find_facts

MIRRORED = "mirrored"
MOST_CUES = 100


class Variant(NamedTuple):
    """The name of a task, read."""

    id: str
    """The name that equal variants share; usual values are left out."""
    base: str
    """The name without settings."""
    facts: Facts
    numbers: Mapping[str, float]
    """The numbers that variants change, such as those of the physics."""
    physics: str = ""
    """The settings that differ from these numbers' usual values: `gravity=20,length=1`."""
    hides: bool = False
    """Whether velocities are hidden from a student."""
    is_mirrored: bool = False
    """Whether actions change places."""
    cue: tuple[float, ...] = ()
    """Values after an observation that tell which of several tasks it is."""


@cache
def read_variant(name: str) -> Variant:
    """Read the name of a task; raise TaskError for a setting or a value that it does not have.

    >>> read_variant("CartPole-v1,length=1.0,gravity=2e1,tau=0.020").id
    'CartPole-v1,gravity=20,length=1'
    >>> read_variant("recall,cue=2of3").cue
    (0.0, 1.0, 0.0)
    """
    base, *pairs = name.split(",")
    facts, settings = find_facts(name), {}
    hide = {"hide": "hide=velocities"} if facts.velocities else {}
    usual = {key: f"{key}={setting.usual:g}" for key, setting in facts.settings.items()}
    mirrored = {MIRRORED: MIRRORED} if facts.can_be_mirrored else {}
    cues = {} if facts.examples is not None else {"cue": "cue=1of2"}
    known = {**hide, **usual, **mirrored, **cues}
    for pair in pairs:
        key, _, value = pair.partition("=")
        if key in settings or (pair != MIRRORED and (key == MIRRORED or not (key and value))):
            raise TaskError(
                f"A variant of a task is written as key=value, each key once, such as "
                f"CartPole-v1,hide=velocities, or as mirrored. Got {name!r} instead."
            )
        settings[key] = value
    for key in settings:
        if key not in known:
            hint = suggest(key, known) or f"It has {', '.join(known.values()) or 'none'}."
            raise TaskError(f"The task {base!r} has no setting {key!r}. {hint}")
    if settings.get("hide", "velocities") != "velocities":
        raise TaskError(
            f"What can be hidden of {base!r} is velocities. Got {settings['hide']!r} instead."
        )
    numbers: dict[str, float] = {}
    for key, (default, low, high, is_whole) in facts.settings.items():
        text = settings.pop(key, repr(default))
        try:
            numbers[key] = int(text) if is_whole else float(text)
        except ValueError:
            numbers[key] = nan
        if not low <= numbers[key] <= high:
            raise TaskError(
                f"The setting {key!r} of {base!r} is {'an int' if is_whole else 'a number'} in "
                f"[{low:g}, {high:g}]. Got {text!r} instead."
            )
        if numbers[key] != default:
            settings[key] = repr(numbers[key]).removesuffix(".0")
    parts = {key: f"{key}={settings[key]}".removesuffix("=") for key in known if key in settings}
    return Variant(
        ",".join([base, *parts.values()]),
        base,
        facts,
        numbers,
        ",".join(part for key, part in parts.items() if key in numbers),
        "hide" in settings,
        MIRRORED in settings,
        _read_cue(settings["cue"]) if "cue" in settings else (),
    )


def _read_cue(text: str) -> tuple[float, ...]:
    number, _, total = text.partition("of")
    are_whole = all(part.isascii() and part.isdecimal() for part in (number, total))
    if not (are_whole and 1 <= int(number) <= int(total) and 2 <= int(total) <= MOST_CUES):
        raise TaskError(
            f"A cue is the number of a task among so many, from 2 to {MOST_CUES}, such as 1of2. "
            f"Got {text!r} instead."
        )
    return tuple(float(place == int(number)) for place in range(1, int(total) + 1))
