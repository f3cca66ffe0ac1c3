"""NEAT: topology and weights evolved together.  Paper: Sec. IV-A4.

The evolution is neat-python's, feed-forward.  A genome becomes a graph of tanh nodes without its
parts that reach no output.  Biases are edges from an extra constant input; `response` and the
slope inside neat-python's tanh are factors of the weights.  As many synchronous steps as the
longest path is long then compute exactly what neat-python's own network does.

Every genome is evaluated in each generation that it survives, elites too.  Where all species have
stagnated a new population starts, with what is left of the budget.

Settings are neat-python's own configuration files, one per task; tasks without one use
`default.ini`.  Values that the task and the budget decide are filled in where a file leaves them
out, and must agree where a file states them.
"""

import random
import tempfile
from collections.abc import Iterator
from configparser import ConfigParser
from configparser import Error as ParsingError
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from smgrnn.arrays import Bools, Floats
from smgrnn.config import NetworkConfig
from smgrnn.errors import ConfigError, needs, reason
from smgrnn.graph.state import Graph
from smgrnn.policy import Policy
from smgrnn.seeding import stream
from smgrnn.tasks import Task
from smgrnn_paper.evolution.search import Candidate, Search

with needs("This"):
    import neat
    from neat.genome import DefaultGenomeConfig
    from neat.graphs import feed_forward_layers

_SLOPE = 2.5  # neat-python's "tanh" is tanh(2.5 x)
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


class NEATSearch(Search):
    """NEAT on a task.

    Parameters
    ----------
    task, population, generations
        See `Search`.
    seed
        Seed of every random choice.
    settings
        Text of a neat-python configuration; that for the task that comes with the package by
        default.

    Examples
    --------
    >>> from smgrnn.tasks import find_task
    >>> search = NEATSearch(find_task("CartPole-v1"), population=50, generations=40, seed=0)
    >>> len(search.ask())
    50
    """

    def __init__(
        self,
        task: Task,
        *,
        population: int,
        generations: int,
        seed: int,
        settings: str | None = None,
    ) -> None:
        super().__init__(task, population, generations)
        text = read_text(task) if settings is None else settings
        self._config = parse_settings(text, task, population, "of the search")
        self._random = random.Random(int(stream(seed, "init").integers(2**63)))
        try:
            with _global_random(self._random):
                self._neat = neat.Population(self._config)
        except RuntimeError as error:
            raise ConfigError(f"NEAT cannot start with these settings: {error}.") from error

    def _draw(self) -> list[Candidate]:
        genomes = self._neat.population.values()
        return [compile_genome(genome, self._config, self.task) for genome in genomes]

    def _breed(self, scores: Floats, is_small: Bools) -> None:
        def judge(genomes: list[tuple[int, Any]], config: Any) -> None:
            for (_, genome), score in zip(genomes, scores.tolist(), strict=True):
                genome.fitness = score

        try:
            with _global_random(self._random):
                self._neat.run(judge, 1)
        except RuntimeError as error:  # more species than the population has room for
            raise ConfigError(
                f"NEAT cannot keep its {len(self._neat.species.species)} species in a population "
                f"of {self.population}; raise compatibility_threshold or lower elitism."
            ) from error


def compile_genome(genome: Any, config: Any, task: Task) -> Policy:
    """Return the policy that computes what `neat.nn.FeedForwardNetwork` does."""
    inputs, outputs = config.genome_config.input_keys, config.genome_config.output_keys
    links = {gene.key: gene.weight for gene in genome.connections.values() if gene.enabled}
    layers, used = feed_forward_layers(inputs, outputs, list(links))
    depth = dict.fromkeys(inputs, 0)
    for layer in layers:
        for node in layer:
            below = [depth[source] for source, target in links if target == node]
            depth[node] = 1 + max(below, default=0)
    n_inputs = len(inputs) + 1  # the last one is the constant
    hidden = sorted(used.difference(outputs))
    place = {key: i for i, key in enumerate(inputs)}
    place |= {key: n_inputs + i for i, key in enumerate([*outputs, *hidden])}
    edges = [
        (place[source], place[target], _SLOPE * genome.nodes[target].response * weight)
        for (source, target), weight in links.items()
        if target in used
    ]
    edges += [(n_inputs - 1, place[key], _SLOPE * genome.nodes[key].bias) for key in used]
    network = NetworkConfig(
        n_inputs=len(inputs),
        n_outputs=len(outputs),
        bias=True,
        n_hidden=len(hidden),
        iterations=max(depth[key] for key in outputs),
        activation="tanh",
        output_activation="tanh",
        readout="state",
    )
    graph = Graph.from_edges(n_inputs, len(outputs), len(hidden), edges)
    return Policy(graph, network, task, student="neat")


@contextmanager
def _global_random(own: random.Random) -> Iterator[None]:
    """Let the `random` module, which is all that neat-python draws from, draw from `own`."""
    others = random.getstate()
    random.setstate(own.getstate())
    try:
        yield
    finally:
        own.setstate(random.getstate())
        random.setstate(others)


def read_text(task: Task, path: str | Path | None = None) -> str:
    """Return the text of a settings file, or of the one that comes with the package."""
    file = Path(path) if path else _shipped(task)
    name = str(path or file.name)
    if not file.is_file():  # a device could have no end
        raise ConfigError(f"The NEAT settings {name} cannot be read: No such file.")
    try:
        return str(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The NEAT settings {name} cannot be read: {reason(error)}.") from error


def read_settings(task: Task, population: int, path: str | Path | None = None) -> Any:
    """Return the neat.Config for a task, from a file or from the one shipped for the task."""
    return parse_settings(read_text(task, path), task, population, str(path or _shipped(task).name))


def _shipped(task: Task) -> Any:
    folder = files("smgrnn_paper.evolution").joinpath("neat_configs")
    own = folder.joinpath(f"{task.id}.ini")
    return own if own.is_file() else folder.joinpath("default.ini")


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
    kinds = DefaultGenomeConfig.allowed_connectivity
    connection = stated["DefaultGenome"].get("initial_connection", kinds[0])
    if connection.partition(" ")[0] not in kinds:  # neat-python has a bare assert for it
        raise ConfigError(
            f"The initial_connection of the NEAT settings {name} must be one of "
            f"{', '.join(kinds)}. Got {connection!r} instead."
        )
    return _parse(stated, name)


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
