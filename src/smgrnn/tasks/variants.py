"""Variants of a task, written behind its name: `CartPole-v1,gravity=20`, `recall,delay=4`.

A name is that of the task and then any number of settings, each a key and a value, or `mirrored`.
"""

from math import nan

from smgrnn.errors import TaskError, suggest
from smgrnn.tasks.facts import Facts

MIRRORED = "mirrored"
MOST_CUES = 100


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


def plain_name(name: str, facts: Facts) -> str:
    """Return the name that equal variants of a task share; usual values are left out.

    Raises TaskError for a setting that the task does not have, or has not with this value.

    >>> from smgrnn.tasks.cartpole import CARTPOLE
    >>> plain_name("CartPole-v1,length=1.0,gravity=2e1,tau=0.020", CARTPOLE)
    'CartPole-v1,gravity=20,length=1'
    """
    base, settings = split_name(name)
    known = facts.known_settings
    for key in settings:
        if key not in known:
            hint = suggest(key, known) or f"It has {', '.join(known.values()) or 'none'}."
            raise TaskError(f"The task {base!r} has no setting {key!r}. {hint}")
    if settings.get("hide", "velocities") != "velocities":
        raise TaskError(
            f"What can be hidden of {base!r} is velocities. Got {settings['hide']!r} instead."
        )
    read_cue(settings)
    for key, value in read_numbers(settings, facts).items():
        if settings.pop(key, None) is not None and value != facts.settings[key].usual:
            settings[key] = repr(value).removesuffix(".0")
    parts = (f"{key}={settings[key]}".removesuffix("=") for key in known if key in settings)
    return ",".join([base, *parts])


def read_numbers(settings: dict[str, str], facts: Facts) -> dict[str, float]:
    """Return all numbers of a variant, the usual ones and those that its name gives."""
    values: dict[str, float] = {key: setting.usual for key, setting in facts.settings.items()}
    for key, (_, low, high, is_whole) in facts.settings.items():
        if key not in settings:
            continue
        text = settings[key]
        try:
            values[key] = int(text) if is_whole else float(text)
        except ValueError:
            values[key] = nan
        if not low <= values[key] <= high:
            raise TaskError(
                f"The setting {key!r} of {facts.id!r} is {'an int' if is_whole else 'a number'} in "
                f"[{low:g}, {high:g}]. Got {text!r} instead."
            )
    return values


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
