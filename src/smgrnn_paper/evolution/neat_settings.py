"""Settings of NEAT: neat-python's own configuration files, one per task.

Values that the task and the budget decide are filled in where a file leaves them out, and must
agree where a file states them.  Tasks without a file of their own use `default.ini`.
"""

import tempfile
from configparser import ConfigParser
from configparser import Error as ParsingError
from importlib.resources import files
from pathlib import Path
from typing import Any

import neat
from neat.genome import DefaultGenomeConfig

from smgrnn.errors import ConfigError, reason
from smgrnn.tasks import Task

_SUFFIX = ".ini"
_WHOLE_BUDGET = {"no_fitness_termination": "True", "reset_on_extinction": "True"}
"""Settings that keep a search going to its last generation."""
_COMPILABLE = {
    "feed_forward": "True",
    "activation_default": "tanh",
    "activation_options": "tanh",
    "aggregation_default": "sum",
    "aggregation_options": "sum",
}
"""Settings that a genome must have to be compiled to a graph."""


def read_settings(task: Task, population: int, path: str | Path | None = None) -> Any:
    """Return the neat.Config for a task, from a file or from the one shipped for the task."""
    return parse_settings(read_text(task, path), task, population, str(path or _shipped(task.id)))


def read_text(task: Task, path: str | Path | None = None) -> str:
    """Return the text of a settings file, or of the one shipped for the task."""
    name = str(path or _shipped(task.id))
    file = Path(path) if path else _folder().joinpath(name)
    if not file.is_file():  # a device could have no end
        raise ConfigError(f"The NEAT settings {name} cannot be read: No such file.")
    try:
        return str(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The NEAT settings {name} cannot be read: {reason(error)}.") from error


def parse_settings(text: str, task: Task, population: int, name: str) -> Any:
    """Return the neat.Config of a text; `name` identifies it in error messages."""
    stated = ConfigParser(interpolation=None)
    try:
        stated.read_string(text)
    except ParsingError as error:
        raise ConfigError(f"The NEAT settings {name} cannot be read: {reason(error)}.") from error
    if stated.has_option("NEAT", "seed"):
        raise ConfigError(f"The NEAT settings {name} must not have a seed; the search has one.")
    widths = {"num_inputs": str(task.n_inputs), "num_outputs": str(task.n_outputs)}
    _fill_in(stated, "NEAT", {"pop_size": str(population), **_WHOLE_BUDGET}, name)
    _fill_in(stated, "DefaultGenome", {**widths, **_COMPILABLE}, name)
    # neat-python asks for both and, without termination, uses neither.
    stated["NEAT"].setdefault("fitness_criterion", "max")
    stated["NEAT"].setdefault("fitness_threshold", "inf")
    _check_connection(stated, name)
    return _parse(stated, name)


def _shipped(task_id: str) -> str:
    own = task_id + _SUFFIX
    return own if own in {item.name for item in _folder().iterdir()} else "default" + _SUFFIX


def _folder() -> Any:
    return files("smgrnn_paper.evolution").joinpath("neat_configs")


def _fill_in(stated: ConfigParser, section: str, values: dict[str, str], name: str) -> None:
    """Add the values to a section, or check that they agree with those it states."""
    if not stated.has_section(section):
        raise ConfigError(f"The NEAT settings {name} have no section [{section}].")
    for key, value in values.items():
        found = stated.get(section, key, fallback=value)
        if found.lower() != value.lower():
            raise ConfigError(
                f"The NEAT settings {name} must have {key} = {value} here. Got {found} instead."
            )
        stated.set(section, key, value)


def _check_connection(stated: ConfigParser, name: str) -> None:
    """Refuse an unknown initial topology, for which neat-python has a bare assert."""
    kinds = DefaultGenomeConfig.allowed_connectivity
    value = stated["DefaultGenome"].get("initial_connection", kinds[0])
    if value.partition(" ")[0] not in kinds:
        raise ConfigError(
            f"The initial_connection of the NEAT settings {name} must be one of "
            f"{', '.join(kinds)}. Got {value!r} instead."
        )


def _parse(stated: ConfigParser, name: str) -> Any:
    """Let neat-python read the settings, which it does from files only."""
    with tempfile.TemporaryDirectory() as folder:
        given, understood = Path(folder, "given"), Path(folder, "understood")
        with given.open("w") as file:
            stated.write(file)
        try:
            config = neat.Config(
                neat.DefaultGenome,
                neat.DefaultReproduction,
                neat.DefaultSpeciesSet,
                neat.DefaultStagnation,
                str(given),
            )
            config.save(str(understood))
        except Exception as error:  # neat-python raises whatever comes to hand
            raise ConfigError(f"The NEAT settings {name} are wrong: {reason(error)}.") from error
        known = ConfigParser()
        known.read(understood)
    for section in stated.sections():
        for key in stated.options(section):
            if not known.has_option(section, key):  # neat-python overlooks some of them
                raise ConfigError(f"The NEAT settings {name} have an unknown {section}.{key}.")
    return config
