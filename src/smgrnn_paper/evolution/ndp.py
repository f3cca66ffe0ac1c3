"""NDP: a small program that grows a network from one node.  Paper: Sec. IV-A4.

The Neural Developmental Program of Najarro, Sudhakaran and Risi (2023), its evolved version.  In a
developmental cycle the nodes exchange their embeddings, each decides whether to have a child, and
every edge takes its weight from the embeddings of its ends.

Chosen here, where the description leaves it open: all three networks have one hidden layer, biases
and tanh on both layers; the embedding of the first node is part of the program; its self-loop has
weight 1 until the first cycle sets it; all children of a cycle are born at once, in the order of
their parents, into the graph as it was; the older end of an edge comes first; a cycle has five
rounds of exchange more than the graph's diameter, and so has the controller.

Programs are searched by CMA-ES, that of the package `cma`: x0 uniform in [-1, 1], σ0 = 0.1,
elitist.  Its authors gave it a budget over a hundred times larger than the 2000 episodes here.  Two
choices keep the search at work.  A graph too small for the task scores the nodes it lacks, below
zero; where returns are negative too, that would be the best score there is, so here such graphs
rank below all that have played.  And as every second x0 grows too small a graph, x0 is drawn until
it does not, which takes no episode.
"""

from typing import Any, NamedTuple, Self

import numpy as np

from smgrnn.arrays import Bools, Floats
from smgrnn.config import NetworkConfig
from smgrnn.errors import needs
from smgrnn.graph.state import Graph
from smgrnn.policy import Policy
from smgrnn.seeding import stream
from smgrnn.tasks import Task
from smgrnn_paper.evolution.search import Candidate, Search, TooSmall

CYCLES = 6
EXTRA_STEPS = 5
SIZES = {"LunarLander-v3": (16, 10)}
"""Sizes of an embedding and of a hidden layer, by task; (5, 5) for any other."""
SIGMA = 0.1
BELOW_ALL = 1e9
"""Cost of a graph too small to play; CMA-ES looks at ranks only."""


class MLP(NamedTuple):
    """One hidden layer, tanh throughout."""

    hidden: Floats
    """Weights and, in the last row, biases of the hidden layer (n_inputs + 1, n_hidden)."""
    output: Floats
    """Weights and, in the last row, biases of the output layer (n_hidden + 1, n_outputs)."""

    def __call__(self, rows: Floats) -> Floats:
        """Return the outputs (n, n_outputs) for inputs (n, n_inputs)."""
        for layer in self:
            rows = np.tanh(rows @ layer[:-1] + layer[-1])
        return rows


class Program(NamedTuple):
    """An evolved program: the first node, and how nodes and edges develop."""

    seed: Floats
    """Embedding of the first node (embedding_size,)."""
    update: MLP
    """Maps the weighted sum of embeddings that reaches a node to its next embedding."""
    growth: MLP
    """Maps an embedding to a number; above 0 the node has a child."""
    weight: MLP
    """Maps two embeddings to the weight of the edge between their nodes."""

    @classmethod
    def from_vector(cls, parameters: Floats, embedding_size: int, n_hidden: int) -> Self:
        """Read a program off a vector of `n_parameters` numbers."""
        shapes = _shapes(embedding_size, n_hidden)
        ends = np.cumsum([rows * columns for rows, columns in shapes])
        parts = np.split(parameters, ends[:-1])
        seed, *layers = (part.reshape(shape) for part, shape in zip(parts, shapes, strict=True))
        return cls(seed[0], MLP(*layers[0:2]), MLP(*layers[2:4]), MLP(*layers[4:6]))


def n_parameters(embedding_size: int, n_hidden: int) -> int:
    """Return how many numbers a program consists of.

    >>> n_parameters(5, 5), n_parameters(16, 10)
    (162, 884)
    """
    return sum(rows * columns for rows, columns in _shapes(embedding_size, n_hidden))


def _shapes(embedding_size: int, n_hidden: int) -> list[tuple[int, int]]:
    """Return the shapes of a program's parts, a bias being a row of its layer."""
    widths = ((embedding_size, embedding_size), (embedding_size, 1), (2 * embedding_size, 1))
    layers = [((i + 1, n_hidden), (n_hidden + 1, o)) for i, o in widths]
    return [(1, embedding_size), *(shape for pair in layers for shape in pair)]


class Tissue(NamedTuple):
    """An undirected graph as it develops; nodes are in order of age, the oldest first."""

    embedding: Floats
    """State of each node (n_nodes, embedding_size)."""
    links: Bools
    """True where two nodes are linked (n_nodes, n_nodes); symmetric."""
    weight: Floats
    """Weights of the links (n_nodes, n_nodes); symmetric, 0 where there is no link."""

    @classmethod
    def start(cls, program: Program) -> Self:
        """Return one node that is linked to itself."""
        return cls(program.seed[np.newaxis], np.ones((1, 1), np.bool_), np.ones((1, 1)))

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.embedding)


def develop(program: Program, cycles: int = CYCLES) -> Tissue:
    """Return the tissue that a program grows from one node in so many cycles."""
    tissue = Tissue.start(program)
    for _ in range(cycles):
        tissue = cycle(program, tissue)
    return tissue


def cycle(program: Program, tissue: Tissue) -> Tissue:
    """Run one cycle: nodes exchange embeddings and have children, then all edges get weights."""
    embedding, links = tissue.embedding, tissue.links
    for _ in range(diameter(links) + EXTRA_STEPS):
        embedding = program.update(tissue.weight.T @ embedding)
    is_parent = program.growth(embedding)[:, 0] > 0
    family = (links | np.eye(tissue.n_nodes, dtype=np.bool_))[is_parent]
    children = family @ embedding / family.sum(axis=1, keepdims=True)
    embedding = np.concatenate([embedding, children])
    strangers = np.zeros((len(children), len(children)), np.bool_)
    links = np.block([[links, family.T], [family, strangers]])
    return Tissue(embedding, links, edge_weights(program, embedding, links))


def edge_weights(program: Program, embedding: Floats, links: Bools) -> Floats:
    """Return the weight of every link from the embeddings of its ends (n_nodes, n_nodes)."""
    older, younger = np.nonzero(np.triu(links))
    pairs = np.concatenate([embedding[older], embedding[younger]], axis=1)
    weight = np.zeros(links.shape)
    weight[older, younger] = weight[younger, older] = program.weight(pairs)[:, 0]
    return weight


def diameter(links: Bools) -> int:
    """Return the length of the longest shortest path in a connected graph."""
    reached = np.eye(len(links), dtype=np.bool_)
    n_steps = 0
    while not reached.all():
        reached = reached | reached @ links
        n_steps += 1
    return n_steps


def controller(tissue: Tissue, task: Task) -> Candidate:
    """Return the controller that a tissue makes: the oldest nodes are inputs, the youngest outputs.

    Every link is an edge both ways, except into inputs, which are clamped.
    """
    n_nodes, n_inputs, n_outputs = tissue.n_nodes, task.n_inputs, task.n_outputs
    n_hidden = n_nodes - n_inputs - n_outputs
    if n_hidden < 0:
        return TooSmall(float(n_hidden))
    # A graph has its outputs before its hidden nodes, and its edges by target and then by source.
    inputs, hidden, outputs = np.split(np.arange(n_nodes), [n_inputs, n_nodes - n_outputs])
    order = np.concatenate([inputs, outputs, hidden])
    links, weight = (matrix[np.ix_(order, order)] for matrix in (tissue.links, tissue.weight))
    links[:n_inputs] = False
    target, source = np.nonzero(links)
    graph = Graph.from_arrays(
        {
            "n_inputs": n_inputs,
            "n_outputs": n_outputs,
            "node_ids": np.arange(n_nodes),
            "source": source,
            "target": target,
            "weight": weight[target, source],
            "edge_ids": np.arange(target.size),
            "next_node_id": n_nodes,
            "next_edge_id": target.size,
        }
    )
    network = NetworkConfig(
        n_inputs=n_inputs,
        n_outputs=n_outputs,
        bias=False,
        n_hidden=n_hidden,
        iterations=diameter(tissue.links) + EXTRA_STEPS,
        activation="tanh",
        output_activation="tanh",
        readout="state",
        carry_state=True,
    )
    return Policy(graph, network, task, student="ndp")


class NDPSearch(Search):
    """CMA-ES over developmental programs for a task.

    Parameters
    ----------
    task, population, generations
        See `Search`.
    seed
        Seed of every random choice.

    Examples
    --------
    >>> from smgrnn.tasks import find_task
    >>> search = NDPSearch(find_task("CartPole-v1"), population=50, generations=40, seed=0)
    >>> len(search.ask())
    50
    """

    def __init__(self, task: Task, *, population: int, generations: int, seed: int) -> None:
        super().__init__(task, population, generations)
        with needs("This"):
            import cma  # takes a second
        self._sizes = SIZES.get(task.id, (5, 5))
        self.n_parameters = n_parameters(*self._sizes)
        """Numbers that make up a program."""
        rng = stream(seed, "init")
        start = rng.uniform(-1, 1, self.n_parameters)
        while isinstance(self._grow(start), TooSmall):
            start = rng.uniform(-1, 1, self.n_parameters)
        options = {
            "popsize": population,
            "CMA_elitist": True,
            "randn": lambda *shape: rng.standard_normal(shape),
            "seed": np.nan,  # nothing to seed: `randn` draws from a generator of its own
            "verbose": -9,
            "verb_log": 0,
            "signals_filename": "",  # reads nothing from the working directory
        }
        self._strategy: Any = cma.CMAEvolutionStrategy(start, SIGMA, options)
        self._vectors: list[Floats] = []

    def _draw(self) -> list[Candidate]:
        self._vectors = self._strategy.ask()
        return [self._grow(vector) for vector in self._vectors]

    def _breed(self, scores: Floats, is_small: Bools) -> None:
        costs = BELOW_ALL * is_small - scores
        self._strategy.tell(self._vectors, costs.tolist())

    def _grow(self, vector: Floats) -> Candidate:
        """Return the candidate grown by the program that a vector encodes."""
        return controller(develop(Program.from_vector(vector, *self._sizes)), self.task)
