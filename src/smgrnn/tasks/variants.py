"""Variants of a task, written behind its name: `CartPole-v1,hide=velocities`, `recall,delay=4`.

A name is that of the task and then any number of settings, each a key and a value.
"""

from smgrnn.errors import TaskError, suggest

VELOCITIES = {"CartPole-v1": (1, 3), "Acrobot-v1": (4, 5)}
"""Places of velocities in an observation, by task."""
_EXAMPLES = {"hide": "hide=velocities", "delay": "delay=4"}


def split_name(name: str) -> tuple[str, dict[str, str]]:
    """Return the name of a task without its settings, and these.

    >>> split_name("CartPole-v1,hide=velocities")
    ('CartPole-v1', {'hide': 'velocities'})
    """
    base, *pairs = name.split(",")
    found: dict[str, str] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not (key and sign and value) or key in found:
            raise TaskError(
                f"A variant of a task is written as key=value, each key once, such as "
                f"CartPole-v1,hide=velocities. Got {name!r} instead."
            )
        found[key] = value
    return base, found


def check_settings(name: str, known: tuple[str, ...]) -> None:
    """Refuse a variant of a task by settings that the task does not have."""
    base, settings = split_name(name)
    for key in settings:
        if key not in known:
            hint = suggest(key, known) or (
                f"It has {', '.join(_EXAMPLES[each] for each in known)}." if known else ""
            )
            raise TaskError(f"The task {base!r} has no setting {key!r}. {hint}".rstrip())


def seen_places(base: str, settings: dict[str, str], n_values: int) -> tuple[int, ...] | None:
    """Return the places in an observation that a student sees; None is all of them."""
    if "hide" not in settings:
        return None
    if settings["hide"] != "velocities":
        raise TaskError(
            f"What can be hidden of {base!r} is velocities. Got {settings['hide']!r} instead."
        )
    return tuple(place for place in range(n_values) if place not in VELOCITIES[base])


def delay_of(settings: dict[str, str], usual: int) -> int:
    """Return the steps between cue and question."""
    text = settings.get("delay", str(usual))
    if not (text.isascii() and text.isdecimal() and 0 <= int(text) <= 9998):
        raise TaskError(f"The delay of 'recall' is an int in [0, 9998]. Got {text!r} instead.")
    return int(text)
