"""NEAT evolves what neat-python says, in isolation, and its genomes run as graphs."""

from collections.abc import Callable
from configparser import ConfigParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import neat
import numpy as np
import pytest

from smgrnn.errors import ConfigError
from smgrnn.graph.state import Graph
from smgrnn.policy import Policy
from smgrnn.tasks import Task
from smgrnn_paper.evolution.neat import NEATSearch, compile_genome, read_settings
from support.flat import learner_of

TOY = Task(id="toy", n_inputs=2, n_outputs=2, is_discrete=True)
DEFAULT = files("smgrnn_paper.evolution").joinpath("neat_configs", "default.ini").read_text()

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write the default settings with some values replaced, added or, with None, left out."""

    def write(**values: str | None) -> Path:
        parser = ConfigParser(interpolation=None)
        parser.read_string(DEFAULT)
        for key, value in values.items():
            holders = [name for name in parser.sections() if parser.has_option(name, key)]
            section = holders[0] if holders else "DefaultGenome"
            if value is None:
                parser.remove_option(section, key)
            else:
                parser.set(section, key, value)
        path = tmp_path / "own.ini"
        with path.open("w") as file:
            parser.write(file)
        return path

    return write


def run(policy: Policy, observation: Any) -> tuple[int, Any]:
    """Return the action and the outputs of a policy, run by the compiled engine."""
    learner = learner_of(policy.config, graph=policy.graph)
    action = learner.act(list(observation))
    assert isinstance(action, int)
    return action, learner.outputs


def gene(config: Any, key: tuple[int, int], weight: float, enabled: bool = True) -> Any:
    new = config.connection_gene_type(key, innovation=0)
    new.weight, new.enabled = weight, enabled
    return new


def node(config: Any, key: int, bias: float, response: float = 1.0) -> Any:
    new = config.node_gene_type(key)
    new.bias, new.response = bias, response
    new.activation, new.aggregation = "tanh", "sum"
    return new


def test_a_genome_becomes_a_graph_with_biases_from_the_last_input() -> None:
    """Inputs -1, -2; outputs 0, 1; hidden 5 and the dead end 7."""
    config = read_settings(TOY, 10)
    shape = config.genome_config
    genome = neat.DefaultGenome(0)
    genome.nodes = {
        0: node(shape, 0, 0.5),
        1: node(shape, 1, -1.0),
        5: node(shape, 5, 0.0, response=2.0),
        7: node(shape, 7, 3.0),
    }
    links = [(-1, 5, 0.2), (5, 0, 0.4), (-2, 0, -0.6), (-1, 7, 1.0)]
    genome.connections = {(s, t): gene(shape, (s, t), weight) for s, t, weight in links}
    genome.connections[-2, 1] = gene(shape, (-2, 1), 9.0, enabled=False)

    policy = compile_genome(genome, config, TOY)

    edges = [(0, 5, 1.0), (5, 3, 1.0), (1, 3, -1.5), (2, 3, 1.25), (2, 4, -2.5), (2, 5, 0.0)]
    assert policy.graph == Graph.from_edges(3, 2, 1, edges)
    assert policy.config.iterations == 2
    assert not policy.config.carry_state
    action, outputs = run(policy, [0.3, -0.1])
    hidden = np.tanh(2.5 * 2.0 * 0.2 * 0.3)
    expected = np.tanh([2.5 * (0.5 + 0.4 * hidden - 0.6 * -0.1), 2.5 * -1.0])
    np.testing.assert_allclose(outputs, expected, rtol=0, atol=1e-12)
    assert action == 0


def test_the_graph_of_a_genome_computes_what_neat_python_does(write: Write) -> None:
    task = Task(id="toy", n_inputs=3, n_outputs=3, is_discrete=True)
    changes = {"conn_add_prob": "0.9", "node_add_prob": "0.7", "response_mutate_rate": "0.5"}
    path = write(**changes, response_mutate_power="0.3", enabled_mutate_rate="0.1")
    config = read_settings(task, 20, path)
    rng = np.random.default_rng(0)

    def at_random(genomes: list[tuple[int, Any]], config: Any) -> None:
        for _, genome in genomes:
            genome.fitness = rng.random()

    population = neat.Population(config, seed=0)
    population.run(at_random, 30)
    depths = set()
    for genome in population.population.values():
        policy = compile_genome(genome, config, task)
        network = neat.nn.FeedForwardNetwork.create(genome, config)
        depths.add(policy.config.iterations)
        for observation in rng.normal(size=(10, 3)):
            expected = network.activate(observation)
            action, outputs = run(policy, observation)
            np.testing.assert_allclose(outputs, expected, rtol=0, atol=1e-9)
            runner_up, best = np.sort(expected)[-2:]
            if best - runner_up > 1e-9:
                assert action == int(np.argmax(expected))
    assert max(depths) >= 4


def test_when_every_species_has_stagnated_a_new_population_starts(write: Write) -> None:
    path = write(max_stagnation="1", species_elitism="0")
    search = NEATSearch(TOY, population=10, generations=8, seed=0, settings=path.read_text())
    for _ in range(search.generations):
        assert len(search.ask()) == 10
        search.tell([1.0] * 10)
    assert search.generation == 8


def test_more_species_than_there_is_room_for_are_an_error(write: Write) -> None:
    path = write(compatibility_threshold="0.0")
    search = NEATSearch(TOY, population=10, generations=3, seed=0, settings=path.read_text())
    with pytest.raises(ConfigError, match=r"^NEAT cannot keep its 10 species in a population of 1"):
        search.tell([1.0] * 10)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"num_inputs": "3"}, "must have num_inputs = 2 here. Got 3 instead."),
        ({"feed_forward": "False"}, "must have feed_forward = True here."),
        ({"activation_options": "tanh relu"}, "must have activation_options = tanh here."),
        ({"conn_add_prob": None}, "Missing required configuration item"),
        ({"conn_add_prob": "often"}, "Error interpreting config item 'conn_add_prob'"),
        ({"conn_add_prop": "0.5"}, "have an unknown DefaultGenome.conn_add_prop."),
        ({"initial_connection": "none"}, "must be one of unconnected, "),
        ({"weight_init_type": "cauchy"}, "cannot start with these settings: Unknown init_type"),
        ({"weight_max_value": "%"}, "are wrong: "),
        ({"species_fitness_func": "luck"}, "cannot start with these settings: Unexpected"),
        (("[DefaultStagnation]", "[Stagnation]"), "are wrong: No section: 'DefaultStagnation'."),
        (("[NEAT]", ""), "have no section [NEAT]."),
        (("[NEAT]", "[NEAT]\nseed = 4"), "must not have a seed; the search has one."),
        (("[NEAT]", "[NEAT]\npop_size = 7"), "must have pop_size = 10 here. Got 7 instead."),
        (("[NEAT]", "[NEAT]\nreset_on_extinction = 0"), "must have reset_on_extinction = True"),
        (("[NEAT]", "nonsense"), "cannot be read: File contains no section headers."),
    ],
)
def test_wrong_settings_are_met_with_one_sentence(write: Write, values: Any, reason: str) -> None:
    is_edit = isinstance(values, tuple)
    text = DEFAULT.replace(*values) if is_edit else write(**values).read_text()
    with pytest.raises(ConfigError) as caught:
        NEATSearch(TOY, population=10, generations=2, seed=0, settings=text)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot be read: .*No such file"):
        read_settings(TOY, 10, tmp_path / "none.ini")
