"""A developmental program grows by hand-checked rules, and CMA-ES searches programs quietly."""

from pathlib import Path

import numpy as np
import pytest

from smgrnn.arrays import Bools, Floats
from smgrnn.graph.state import Graph, check
from smgrnn.policy import Policy
from smgrnn.tasks import Task, find_task
from smgrnn_paper.evolution.ndp import (
    EXTRA_STEPS,
    MLP,
    NDPSearch,
    Program,
    Tissue,
    controller,
    cycle,
    develop,
    diameter,
    n_parameters,
)
from smgrnn_paper.evolution.search import TooSmall
from support.flat import learner_of

TOY = Task(id="toy", n_inputs=1, n_outputs=2, is_discrete=True)
SATURATED = 100.0  # a weight that makes tanh a sign


def layer(*rows: float) -> Floats:
    """Return the weights and, last, the bias of one unit."""
    return np.array(rows)[:, np.newaxis]


def constant(value: float, n_inputs: int = 1) -> MLP:
    """Return a network of one hidden unit whose output is tanh(value), whatever comes in."""
    return MLP(layer(*[0.0] * (n_inputs + 1)), layer(0.0, value))


def links_of(*pairs: tuple[int, int]) -> Bools:
    links = np.zeros((1 + max(map(max, pairs)),) * 2, np.bool_)
    for one, other in pairs:
        links[one, other] = links[other, one] = True
    return links


def random_program(seed: int, embedding_size: int = 5, n_hidden: int = 5) -> Program:
    vector = np.random.default_rng(seed).uniform(-1, 1, n_parameters(embedding_size, n_hidden))
    return Program.from_vector(vector, embedding_size, n_hidden)


def test_one_node_exchanges_with_itself_and_has_a_child_like_itself() -> None:
    update = MLP(layer(0.5, 0.1), layer(2.0, -0.2))
    program = Program(np.array([0.3]), update, constant(1.0), constant(0.4, n_inputs=2))
    embedding = 0.3
    for _ in range(5):  # the diameter is 0, the self-loop weighs 1
        embedding = np.tanh(2.0 * np.tanh(0.5 * embedding + 0.1) - 0.2)
    tissue = cycle(program, Tissue.start(program))
    np.testing.assert_allclose(tissue.embedding, [[embedding], [embedding]])
    assert tissue.links.tolist() == [[True, True], [True, False]]
    np.testing.assert_allclose(tissue.weight, np.tanh(0.4) * tissue.links)


def test_a_child_is_linked_to_its_parent_and_the_parents_neighbours_and_is_their_mean() -> None:
    """On the path 0 - 1 - 2 the embeddings 1, -1, 1 change sign in each of 2 + 5 rounds."""
    sign = MLP(layer(SATURATED, 0.0), layer(SATURATED, 0.0))
    first_end = MLP(layer(1.0, 0.0, 0.0), layer(1.0, 0.0))
    program = Program(np.array([1.0]), sign, sign, first_end)
    links = links_of((0, 1), (1, 2))
    tissue = cycle(program, Tissue(np.array([[1.0], [-1.0], [1.0]]), links, links.astype(float)))
    np.testing.assert_allclose(tissue.embedding[:, 0], [-1, 1, -1, -1 / 3])
    assert np.array_equal(tissue.links, links_of((0, 1), (1, 2), (0, 3), (1, 3), (2, 3)))
    one = np.tanh(np.tanh(1.0))  # the weight of an edge whose older end has the embedding 1
    expected = [[0, -one, 0, -one], [-one, 0, one, one], [0, one, 0, -one], [-one, one, -one, 0]]
    np.testing.assert_allclose(tissue.weight, expected)


def test_a_graph_at_most_doubles_in_a_cycle() -> None:
    eager = random_program(0)._replace(growth=MLP(np.zeros((6, 5)), layer(*[0.0] * 5, 1.0)))
    assert [develop(eager, cycles).n_nodes for cycles in range(7)] == [1, 2, 4, 8, 16, 32, 64]
    idle = eager._replace(growth=MLP(np.zeros((6, 5)), layer(*[0.0] * 5, -1.0)))
    assert develop(idle).n_nodes == 1


@pytest.mark.parametrize("seed", range(20))
def test_what_develops_is_connected_undirected_and_bounded(seed: int) -> None:
    tissue = develop(random_program(seed))
    assert tissue.n_nodes <= 64
    assert np.array_equal(tissue.links, tissue.links.T)
    assert np.array_equal(tissue.weight, tissue.weight.T)
    assert (np.abs(tissue.weight) < 1).all()
    assert not tissue.weight[~tissue.links].any()
    assert np.flatnonzero(np.diag(tissue.links)).tolist() == [0]
    assert diameter(tissue.links) < tissue.n_nodes


def test_the_diameter_is_the_longest_shortest_path() -> None:
    assert diameter(np.ones((1, 1), np.bool_)) == 0
    assert diameter(np.ones((4, 4), np.bool_)) == 1
    assert diameter(links_of((0, 1), (1, 2), (2, 3))) == 3


def test_the_oldest_nodes_are_inputs_and_the_youngest_outputs() -> None:
    """Nodes by age 0, 1, 2, 3 are the input, hidden, first and second output: 0, 3, 1, 2."""
    links = links_of((0, 0), (0, 1), (1, 2), (2, 3))
    weight = np.zeros((4, 4))
    for (one, other), value in {(0, 0): 0.9, (0, 1): 0.1, (1, 2): 0.2, (2, 3): 0.3}.items():
        weight[one, other] = weight[other, one] = value
    found = controller(Tissue(np.zeros((4, 1)), links, weight), TOY)
    assert isinstance(found, Policy)
    edges = [(0, 3, 0.1), (3, 1, 0.2), (1, 3, 0.2), (1, 2, 0.3), (2, 1, 0.3)]
    assert found.graph == Graph.from_edges(1, 2, 1, edges)
    assert found.config.iterations == 3 + EXTRA_STEPS
    assert found.config.carry_state


def test_a_graph_too_small_for_the_task_scores_the_nodes_it_lacks() -> None:
    tissue = Tissue.start(random_program(0))
    assert controller(tissue, TOY) == TooSmall(-2.0)
    assert controller(tissue, find_task("CartPole-v1")) == TooSmall(-5.0)


def test_the_engine_runs_a_controller_as_the_matrix_says() -> None:
    task = Task(id="toy", n_inputs=3, n_outputs=2, is_discrete=True)
    tissue = next(t for t in map(develop, map(random_program, range(99))) if t.n_nodes > 20)
    found = controller(tissue, task)
    assert isinstance(found, Policy)
    check(found.graph)
    learner = learner_of(found.config, graph=found.graph)
    states = np.zeros(tissue.n_nodes)
    for observation in np.random.default_rng(0).normal(size=(5, 3)):
        states[:3] = observation
        for _ in range(diameter(tissue.links) + EXTRA_STEPS):
            states = np.tanh(tissue.weight.T @ states)
            states[:3] = observation
        learner.act(observation)
        np.testing.assert_allclose(learner.outputs, states[-2:], rtol=0, atol=1e-9)


def graphs(search: NDPSearch) -> list[Graph]:
    return [candidate.graph for candidate in search.ask() if isinstance(candidate, Policy)]


def score(search: NDPSearch) -> list[float]:
    """Judge by something that needs no task: how near the mean weight is to 0.2, below -100."""
    return [
        c.score if isinstance(c, TooSmall) else -100 - abs(float(c.graph.weight.mean()) - 0.2)
        for c in search.ask()
    ]


def test_the_search_comes_closer_to_what_it_is_told_to_and_prints_and_writes_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    search = NDPSearch(TOY, population=20, generations=25, seed=0)
    best = []
    for _ in range(search.generations):
        search.tell(score(search))
        assert search.best is not None
        best.append(-100 - search.best.episode_return)
    assert min(best[-5:]) < 0.2 * best[0]
    assert capfd.readouterr() == ("", "")
    assert not list(tmp_path.iterdir())


def test_graphs_that_cannot_play_rank_below_all_that_can() -> None:
    """Their scores, -1 and less, are above the returns of -100 and less that players get."""
    task = Task(id="toy", n_inputs=30, n_outputs=2, is_discrete=True)
    search = NDPSearch(task, population=20, generations=15, seed=1)
    n_players = []
    for _ in range(search.generations):
        n_players.append(len(graphs(search)))
        search.tell(score(search))
    assert n_players[0] <= 15
    assert min(n_players[-3:]) >= 18


@pytest.mark.parametrize(("id", "n"), [("CartPole-v1", 162), ("LunarLander-v3", 884)])
def test_every_search_starts_with_a_graph_that_can_play(id: str, n: int) -> None:
    for seed in range(4):
        search = NDPSearch(find_task(id), population=4, generations=1, seed=seed)
        assert search.n_parameters == n
        assert graphs(search)
