"""NEAT: topology and weights evolved together.  Paper: Sec. IV-A4.

The evolution is neat-python's, feed-forward.  A genome becomes a graph of tanh nodes without its
parts that reach no output.  Biases are edges from an extra constant input; `response` and the
slope inside neat-python's tanh are factors of the weights.  As many synchronous steps as the
longest path is long then compute exactly what neat-python's own network does.

A genome is judged anew in every generation it lives through, elites too.  Where all species have
stagnated a new population starts, with what is left of the budget.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import neat
from neat.graphs import feed_forward_layers

from smgrnn.arrays import Bools, Floats
from smgrnn.config import NetworkConfig
from smgrnn.errors import ConfigError
from smgrnn.graph.state import Graph
from smgrnn.policy import Policy
from smgrnn.seeding import stream
from smgrnn.tasks import Task
from smgrnn_paper.evolution.neat_settings import parse_settings, read_text
from smgrnn_paper.evolution.search import Candidate, Search

_SLOPE = 2.5  # neat-python's "tanh" is tanh(2.5 x)


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
        self._genomes: list[Any] = []
        try:
            with _global_random(self._random):
                self._neat = neat.Population(self._config)
        except RuntimeError as error:
            raise ConfigError(f"NEAT cannot start with these settings: {error}.") from error

    def _draw(self) -> int:
        self._genomes = list(self._neat.population.values())
        return len(self._genomes)

    def _candidate(self, place: int) -> Candidate:
        return compile_genome(self._genomes[place], self._config, self.task)

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
        n_inputs=n_inputs,
        n_outputs=len(outputs),
        n_hidden=len(hidden),
        iterations=max(depth[key] for key in outputs),
        carry_state=False,
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
