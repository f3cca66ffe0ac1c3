"""Rules are parts: those of another package run in both engines, are saved, and compile alone."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from smgrnn.parts import Table

from smgrnn import (
    EditDraft,
    Graph,
    GraphEdit,
    Learner,
    NetworkConfig,
    PlasticityConfig,
    SMGrNN,
    StructuralPlasticity,
    UpdateHistory,
)
from smgrnn import parts as tables
from smgrnn.errors import ConfigError, GraphError, ShapeError
from smgrnn.graph import Cause, Operation
from smgrnn.learning import LEARNING
from smgrnn.rules import GROWTH, PRUNING, Decision, Rule, settings_without_effect
from support.flat import learning as learning_config
from support.flat import rules
from support.learners import memory, stream
from support.parts import CONNECT, SIGNS, absent_pairs, connect

ADD_EDGE, CUSTOM = Operation.ADD_EDGE.value, Cause.CUSTOM.value
RULES = rules(growth="connect", interval=15, prune_period=3, window=10, max_edges=40)


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    """Rules of our own, known by name for the length of a test."""
    GROWTH.add(CONNECT)
    LEARNING.add(SIGNS)
    yield
    del GROWTH._items[CONNECT.name]
    del LEARNING._items[SIGNS.name]


def config(**changes: Any) -> NetworkConfig:
    return NetworkConfig(**{"n_inputs": 3, "n_outputs": 2, "iterations": 2, **changes})


def by_torch(network: NetworkConfig, rules: PlasticityConfig, n: int) -> Any:
    """Learn a stream with the torch engine; return the graph, all edits and the module."""
    net = SMGrNN(**network.to_dict(), seed=3, dtype=torch.float64)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    spm = StructuralPlasticity(net, optimizer, rules, seed=3)
    edits = []
    for observation, label, is_last in zip(*stream(n), strict=True):
        outputs = net(torch.from_numpy(observation))
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(outputs, torch.as_tensor(label)).backward()
        optimizer.step()
        edits.append(spm.step())
        if is_last:
            spm.end_episode()
            net.reset_state()
    return net.graph, [edit for edit in edits if edit], spm


@pytest.mark.parametrize("iterations", [1, 2, 3])
def test_a_rule_with_statistics_pairs_and_memory_agrees_between_engines(iterations: int) -> None:
    network = config(iterations=iterations)
    graph, edits, spm = by_torch(network, RULES, 300)
    made = Learner(network, learning_config(learning_rate=1e-3), RULES, seed=3)
    made.learn_stream(*stream(300))
    found = [edit for _, edit in made.log.edits()]
    assert len(found) == len(edits) > 10
    for mine, other in zip(found, edits, strict=True):
        np.testing.assert_array_equal(mine.rows, other.rows)
        np.testing.assert_allclose(mine.weight, other.weight, rtol=0, atol=1e-9)
    np.testing.assert_allclose(made.graph.weight, graph.weight, rtol=0, atol=1e-9)
    noticed, same = made._state.noticed, spm._noticed
    for ours, theirs in zip(noticed.statistics, same.statistics, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)
    np.testing.assert_allclose(noticed.growth.values, same.growth.values, rtol=0, atol=1e-9)


@pytest.mark.parametrize("iterations", [1, 2, 3])
@pytest.mark.parametrize("carry_state", [True, False])
def test_a_product_is_the_gradient_of_an_edge_of_weight_zero(
    iterations: int, carry_state: bool
) -> None:
    """The reference is autograd on a graph that has all absent edges, with weights of 0."""
    network = config(iterations=iterations, n_hidden=3, density=0.4, carry_state=carry_state)
    never = rules(growth="connect", interval=10**6)
    made = Learner(network, learning_config(learning_rate=1e-12), never, seed=1)
    pairs = absent_pairs(made.graph)
    edges = [(e.source, e.target, e.weight) for e in made.graph.edges()]
    edges += [(int(u), int(v), 0.0) for u, v in pairs.T]
    full = Graph.from_edges(3, 2, 3, edges)
    net = SMGrNN(**network.to_dict(), graph=full, dtype=torch.float64)
    ends = {(e.source, e.target): k for k, e in enumerate(full.edges())}
    places = [ends[int(u), int(v)] for u, v in pairs.T]
    total = np.zeros(pairs.shape[1])
    rows = stream(20)
    for observation, label, is_last in zip(*rows, strict=True):
        net.zero_grad()
        outputs = net(torch.from_numpy(observation))
        torch.nn.functional.cross_entropy(outputs, torch.as_tensor(label)).backward()
        assert net.weight.grad is not None
        total += net.weight.grad.numpy()[places]
        if is_last:
            net.reset_state()
    made.learn_stream(*rows)
    statistics = made._state.noticed.statistics
    np.testing.assert_array_equal(statistics.pairs, pairs)
    assert np.abs(total).max() > 0.1
    np.testing.assert_allclose(statistics.products, total, rtol=1e-7, atol=1e-9)


def test_means_of_nodes_are_those_of_their_states_and_errors() -> None:
    network = config(iterations=2, n_hidden=2, density=1.0)
    never = rules(growth="connect", interval=10**6)
    made = Learner(network, plasticity=never, seed=1)
    sums = np.zeros((4, 7))
    for observation, label, _ in zip(*stream(40), strict=True):
        made.learn(observation, int(label))
        trace, errors = made._state.trace, made._state.room.errors
        heard = trace[1]
        error = errors.sum(axis=0)
        sums += np.stack([heard, heard**2, error, error**2])
    np.testing.assert_allclose(made._state.noticed.statistics.nodes, sums, rtol=1e-12)


def test_what_a_rule_owns_is_saved_and_restored_bit_for_bit() -> None:
    made, twin = (Learner(config(), plasticity=RULES, seed=5) for _ in range(2))
    made.learn_stream(*stream(200))
    twin.restore({name: array.copy() for name, array in made.arrays().items()})
    assert memory(made) == memory(twin)
    for either in (made, twin):
        either.learn_stream(*stream(200, seed=1))
    assert memory(made) == memory(twin)
    assert made._state.noticed.growth.ids.sum() > 0


def test_a_module_of_the_torch_engine_restores_what_its_rule_owns() -> None:
    _, _, spm = by_torch(config(), RULES, 100)
    saved = spm.state_dict()
    before = {name: value.clone() for name, value in saved["noticed"].items()}
    spm._noticed.growth.values[:] = 0.0
    spm.load_state_dict(saved)
    assert np.array_equal(spm._noticed.growth.values, before["growth.values"].numpy())


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("noticed.growth.ids", lambda array: array[:, :-1]),
        ("noticed.growth.values", lambda array: array.astype(np.float32)),
        ("noticed.statistics.pairs", lambda array: array + 10**6),
        ("noticed.statistics.nodes", lambda array: array[:, 1:]),
        ("noticed.statistics.products", lambda array: array[:1]),
        ("credit", lambda array: np.zeros((1, array.shape[1]))),
    ],
)
def test_a_memory_of_another_graph_is_refused(name: str, change: Any) -> None:
    made = Learner(config(), plasticity=RULES)
    arrays = made.arrays()
    arrays[name] = np.ascontiguousarray(change(arrays[name]))
    with pytest.raises(ShapeError):
        made.restore(arrays)


@pytest.mark.parametrize(
    "growth",
    ["relay", "relay-alone", "exploration", "relay-random", "split", "duplicate", "none"],
)
@pytest.mark.parametrize("pruning", ["weak", "random", "none"])
def test_the_papers_rules_keep_nothing_but_the_update_history(growth: str, pruning: str) -> None:
    plain = Learner(config(), plasticity=rules(growth=growth, pruning=pruning))
    plain.learn_stream(*stream(50))
    noticed = plain._state.noticed
    kept = [*noticed.statistics[1:], *noticed.growth, *noticed.pruning]
    assert not any(array.size for array in kept)
    assert noticed.statistics.n_updates == 0  # not even counted
    assert plain._state.room.errors.size == 0
    assert plain._state.average.size == 0


@pytest.mark.parametrize(
    ("growth", "pruning", "n_pairs", "n_columns"),
    [
        ("connect", "weak", 6, 5),
        ("relay", "contribution", 0, 0),
        ("gradient", "weak", 4, 0),
        ("candidates", "none", 0, 32),
        ("frugal", "contribution", 4, 32),
    ],
)
def test_a_rule_keeps_what_it_reads(
    growth: str, pruning: str, n_pairs: int, n_columns: int
) -> None:
    graph = Graph.from_edges(3, 2, edges=[(0, 3, 1.0), (1, 4, 1.0)])
    rules = rules(growth=growth, pruning=pruning)
    noticed = Learner(config(), plasticity=rules, graph=graph)._state.noticed
    assert noticed.statistics.nodes.shape == (4, 5)
    assert noticed.statistics.pairs.shape == (2, n_pairs)
    assert noticed.growth.ids.shape[1] == n_columns


# --- a rule that is a Python function ------------------------------------------------------------


def swap(graph: Graph, history: UpdateHistory, rng: np.random.Generator) -> GraphEdit:
    """Relay the edge that moved most, and drop the weakest one."""
    mean, _ = history.statistics()
    draft, edges = EditDraft(graph), list(graph.edges())
    moved = edges[int(np.abs(mean).argmax())]
    node = draft.add_node()
    draft.add_edge(moved.source, node, 0.1 * rng.normal())
    draft.add_edge(node, moved.target, 0.1)
    if graph.n_edges > 12:
        draft.remove_edge(edges[int(np.abs(graph.weight).argmin())].id)
    return draft.finish()


@pytest.mark.parametrize("interval", [7, "episode"])
def test_a_python_rule_is_the_same_in_both_engines_and_one_by_one(interval: Any) -> None:
    rules = rules(interval=interval, window=5)
    net = SMGrNN(**config().to_dict(), seed=3, dtype=torch.float64)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    spm = StructuralPlasticity(net, optimizer, rules, seed=3, rule=swap)
    learning = learning_config(learning_rate=1e-3)
    streamed, stepped = (Learner(config(), learning, rules, seed=3, rule=swap) for _ in range(2))
    rows = stream(60)
    for observation, label, is_last in zip(*rows, strict=True):
        outputs = net(torch.from_numpy(observation))
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(outputs, torch.as_tensor(label)).backward()
        optimizer.step()
        spm.step()
        stepped.learn(observation, int(label))
        if is_last:
            spm.end_episode()
            net.reset_state()
            stepped.end_episode()
    streamed.learn_stream(*rows)
    assert memory(streamed) == memory(stepped)
    assert streamed.graph.n_hidden >= 8
    assert streamed.graph.edge_ids.tolist() == net.graph.edge_ids.tolist()
    np.testing.assert_allclose(streamed.graph.weight, net.graph.weight, rtol=0, atol=1e-9)


def test_a_compiled_loop_refuses_a_python_rule() -> None:
    made = Learner(config(), rule=swap)
    with pytest.raises(ConfigError, match="Python function"):
        made.advance(lambda *_: None)  # type: ignore[arg-type]


# --- learning rules ------------------------------------------------------------------------------


def test_a_learning_rule_of_ones_own_drives_learning_and_its_memory_follows_edits() -> None:
    learning = learning_config(rule="signs", optimizer="sgd", learning_rate=0.01, momentum=0.0)
    rules = rules(interval=10, window=5, max_relays=1, full_window=False)
    made = Learner(config(iterations=1, density=1.0), learning, rules, seed=0)
    first = made.graph
    made.learn([1.0, 0.0, 0.0], 0)
    moved = made.graph.weight - first.weight
    by_pair = {(e.source, e.target): m for e, m in zip(first.edges(), moved, strict=True)}
    assert by_pair == pytest.approx(
        {(0, 3): 0.01, (1, 3): 0, (2, 3): 0, (0, 4): -0.01, (1, 4): 0, (2, 4): 0}
    )
    made.learn_stream(*stream(100))
    assert made.graph.n_hidden > 0
    counts = made._state.credit[0]
    assert counts.max() == 101
    assert 0 < counts.min() < 101 or (counts == 0).any()  # new edges count from their birth


# --- the table -----------------------------------------------------------------------------------


def test_an_unknown_rule_is_refused_with_the_one_that_was_meant() -> None:
    refused: tuple[tuple[dict[str, Any], str], ...] = (
        ({"growth": "relai"}, "There is no growth rule 'relai'. Did you mean 'relay'?"),
        (
            {"pruning": "x"},
            f"There is no pruning rule 'x'. There are {', '.join(PRUNING)}.",
        ),
    )
    for changes, sentence in refused:
        with pytest.raises(ConfigError) as caught:
            Learner(config(), plasticity=rules(**changes))
        assert str(caught.value) == sentence
    with pytest.raises(ConfigError, match="There is no learning rule 'backprob'"):
        Learner(config(), learning_config(rule="backprob"))


def test_a_name_is_taken_once() -> None:
    with pytest.raises(ConfigError, match="growth rule 'relay' already"):
        GROWTH.add(Rule("relay", "", connect))


def test_a_rule_with_memory_must_say_what_fits_it() -> None:
    with pytest.raises(ConfigError, match="`start` and `fits`"):
        Rule("owner", "", connect, start=CONNECT.start)


def test_an_installed_package_adds_a_rule_by_an_entry_point(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    point = EntryPoint("theirs", "support.parts:CONNECT", "smgrnn.flavour")

    def installed(**which: Any) -> EntryPoints:
        return EntryPoints([point]).select(**which)

    monkeypatch.setattr(tables, "entry_points", installed)
    table = Table[Rule]("flavour", [])
    assert list(table) == ["theirs"]
    assert "theirs" in table
    assert table["theirs"] is CONNECT


def test_an_entry_point_that_names_no_rule_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("mine", "os.path:join", "smgrnn.growth")
    monkeypatch.setattr(tables, "entry_points", lambda **_: EntryPoints([point]))
    with pytest.raises(ConfigError, match=r"'mine' must be a Rule\. Got <function join"):
        GROWTH["mine"]


def test_a_rule_that_cannot_be_compiled_is_refused_in_one_sentence() -> None:
    def confused(evidence: Any, numbers: Any, rng: Any) -> Any:
        return evidence.nowhere

    rule = Rule("confused", "for a test", confused)
    with pytest.raises(ConfigError, match="The function confused cannot be compiled: ") as caught:
        _ = rule.parts
    assert "nowhere" in str(caught.value)
    assert f'{Path(__file__).name}", line ' in str(caught.value)


@pytest.mark.parametrize("rule", ["relay", 3, GROWTH["relay"]], ids=["name", "number", "compiled"])
def test_a_rule_that_is_no_function_is_refused_at_once(rule: Any) -> None:
    for make in (
        lambda: Learner(config(), rule=rule),
        lambda: StructuralPlasticity(SMGrNN(3, 2), rule=rule),
    ):
        with pytest.raises(ConfigError, match="compiled rules are named in the settings"):
            make()


def test_a_pruning_rule_that_reads_no_errors_goes_with_any_learning_rule() -> None:
    def nothing(evidence: Any, numbers: Any, rng: Any) -> Any:
        return Decision(GraphEdit(np.empty((0, 5), np.int64), np.empty(0)), False)

    rules = {
        reads: Rule("calm", "for a test", nothing, reads_nodes=True, reads_errors=reads)
        for reads in (True, False)
    }
    with pytest.MonkeyPatch.context() as patch:
        plasticity = rules(growth="none", pruning="calm")
        patch.setitem(PRUNING._items, "calm", rules[False])
        Learner(config(), learning_config(rule=SIGNS.name), plasticity).learn([1.0, 2.0, 3.0], 0)
        patch.setitem(PRUNING._items, "calm", rules[True])
        with pytest.raises(ConfigError, match="'calm' reads errors of nodes"):
            Learner(config(), learning_config(rule=SIGNS.name), plasticity)


def test_the_torch_engine_checks_the_edits_of_a_compiled_rule() -> None:
    """A compiled engine trusts a rule, so this is where one can be tried."""

    def astray(evidence: Any, numbers: Any, rng: Any) -> Any:
        rows = np.array([[ADD_EDGE, CUSTOM, evidence.graph.next_edge_id, 999, 998]])
        return Decision(GraphEdit(rows, np.array([0.1])), False)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(GROWTH._items, "astray", Rule("astray", "for a test", astray))
        with pytest.raises(GraphError, match="a node that does not exist"):
            by_torch(config(), rules(growth="astray", interval=5), 6)


CHANGED = """
import sys

import numpy as np

from smgrnn.kernels import Part, kernel
from numba import types
{imports}


def twice(x):
    return 2.0 * strength(x)


print(Part(twice, types.float64(types.float64)).address and kernel(twice)(1.0))
"""
STRENGTH = """
from smgrnn.kernels import kernel


@kernel
def strength(x):
    return {value}
"""


@pytest.mark.parametrize("is_apart", [False, True])
def test_a_change_to_a_kernel_of_ones_own_compiles_it_anew(tmp_path: Path, is_apart: bool) -> None:
    """Code of the version before was used: only files of the package were looked at."""
    for value in (0.5, 0.25):
        helper = STRENGTH.format(value=value)
        (tmp_path / "helper.py").write_text(helper)
        imports = "from helper import strength" if is_apart else helper
        if not is_apart or value == 0.5:
            (tmp_path / "rule.py").write_text(CHANGED.format(imports=imports))
        command = [sys.executable, str(tmp_path / "rule.py")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert float(done.stdout) == 2 * value


@pytest.mark.parametrize("table", [GROWTH, PRUNING, LEARNING], ids=lambda table: table.kind)
def test_every_rule_of_the_tables_learns(table: Any) -> None:
    for name in table:
        learning = learning_config(rule=name) if table is LEARNING else None
        rules: dict[str, Any] = {} if table is LEARNING else {table.kind: name}
        plasticity = rules(interval=5, window=5, prune_period=2, **rules)
        made = Learner(config(), learning, plasticity, seed=0)
        made.learn_stream(*stream(100))
        assert np.isfinite(made.graph.weight).all()


OTHER: dict[str, Any] = {
    "scale": "weight",
    "new_weights": "sign",
    "history_on_edit": "reset",
    "max_relays": 1,
    "size": 9,
    "max_nodes": 6,
    "max_edges": 13,
}
"""Another value of each setting that is no plain number, or that is a limit."""


def unlike(name: str, value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if name in OTHER:
        return OTHER[name]
    return value / 2 or 0.5 if isinstance(value, float) else value + 1


@pytest.mark.parametrize("pruning", ["weak", "contribution", "random", "none"])
@pytest.mark.parametrize("growth", GROWTH)
def test_settings_that_a_rule_is_said_not_to_read_change_nothing(growth: str, pruning: str) -> None:
    """They are refused where they are given, so none of them may have an effect."""
    size = 14 if growth == "none" else 30
    rules = rules(growth=growth, pruning=pruning, interval=10, window=5, prune_period=3, size=size)
    idle = settings_without_effect(rules)
    others = {name: unlike(name, getattr(rules, name)) for name in idle}
    made, twin = (
        Learner(config(n_hidden=2), plasticity=each, seed=1)
        for each in (rules, replace(rules, **others))
    )
    for each in (made, twin):
        each.learn_stream(*stream(600))
    assert made.graph == twin.graph
    assert made.log.n_changes == twin.log.n_changes
    assert made.log.n_changes > 0 or growth == pruning == "none"


THEIR_RULE = """
from typing import Any

import numpy as np
from numba.core.dispatcher import _FunctionCompiler

from smgrnn import Learner, NetworkConfig, PlasticityConfig
from smgrnn.graph import GraphEdit
from smgrnn.plasticity import GROWTH, Decision, Evidence, Rule, RuleNumbers


def connect_nothing(evidence: Evidence, numbers: RuleNumbers, rng: np.random.Generator) -> Decision:
    return Decision(GraphEdit(np.empty((0, 5), np.int64), np.empty(0)), False)


def learn(growth: str) -> None:
    learner = Learner(
        NetworkConfig(n_inputs=3, n_outputs=2), plasticity=rules(growth=growth)
    )
    learner.learn_stream(np.ones((250, 3)), np.ones(250, dtype=int))


GROWTH.add(Rule("nothing", "for a test", connect_nothing))
learn("relay")
compiled: list[str] = []
inner = _FunctionCompiler.compile


def watched(self: Any, *arguments: Any) -> Any:
    compiled.append(self.py_func.__name__)
    return inner(self, *arguments)


_FunctionCompiler.compile = watched
learn("nothing")
print(*compiled)
"""


def test_a_new_rule_compiles_that_rule_only(tmp_path: Path) -> None:
    """In a process that has learned by the paper's rules, a rule of one's own costs itself."""
    script = tmp_path / "their_rule.py"  # new every time, or the rule would be in the cache
    script.write_text(THEIR_RULE)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    ours = [name for name in done.stdout.split() if name != "impl"]  # what Numba has of NumPy
    assert ours == ["connect_nothing"], done.stderr
