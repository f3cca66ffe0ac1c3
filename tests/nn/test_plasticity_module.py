"""StructuralPlasticity beside PyTorch optimizers: what an edit keeps, forgets and starts anew."""

import gc
import re
import warnings
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn, optim

from smgrnn import Graph, GraphEdit, SMGrNN, StructuralPlasticity
from smgrnn.config import PlasticityConfig
from smgrnn.errors import AttachmentError, GraphError, GrowthLimitWarning, NonFiniteError
from smgrnn.graph import Cause, EditDraft, Operation
from smgrnn.rules import Evidence
from support.flat import growing_rules, rules
from support.training import (
    BUSY,
    beside_adam,
    by,
    examples,
    learn,
    moments,
    network,
    run,
    scripted,
)


def test_a_network_grows_as_one_layer_of_a_larger_module_with_its_own_param_group() -> None:
    torch.manual_seed(0)
    net = network(iterations=2, carry_state=False)
    before, after = (nn.Linear(3, 3, dtype=torch.float64), nn.Linear(2, 2, dtype=torch.float64))
    model = nn.Sequential(before, net, after)
    optimizer = optim.Adam(
        [
            {"params": [*before.parameters(), *after.parameters()], "lr": 0.001},
            {"params": net.parameters(), "lr": 0.02, "betas": (0.8, 0.99)},
        ]
    )
    spm = StructuralPlasticity(net, optimizer, BUSY)
    start, data, edits = net.graph.n_edges, examples(), 0
    for _ in range(60):
        learn(model, optimizer, *next(data))
        edits += bool(spm.step())
    assert edits > 10
    assert net.graph.n_edges != start
    assert optimizer.param_groups[1]["params"] == [net.weight]
    assert [parameter.shape for parameter in model.parameters()][2] == (net.graph.n_edges,)
    for parameter in model.parameters():
        assert optimizer.state[parameter]["exp_avg"].shape == parameter.shape


def test_two_networks_share_one_optimizer_whose_hook_calls_their_modules() -> None:
    first, second = network(0, iterations=2), network(1, iterations=2)
    optimizer = optim.Adam([*first.parameters(), *second.parameters()], lr=0.01)
    modules = [StructuralPlasticity(net, optimizer, BUSY, seed=1) for net in (first, second)]

    def hook(*_: Any) -> None:
        for spm in modules:
            spm.step()

    optimizer.register_step_post_hook(hook)
    data = examples()
    for _ in range(30):
        x, y = next(data)
        optimizer.zero_grad()
        (first(x) + second(x) - y).square().sum().backward()
        optimizer.step()
    for spm in modules:
        assert spm.calls == 10
        assert moments(spm).shape == (spm.network.graph.n_edges,)


def test_a_learning_rate_scheduler_works_as_on_a_fixed_network() -> None:
    def rates(config: PlasticityConfig) -> tuple[list[float], int]:
        spm, data, seen, edits = beside_adam(config), examples(), [], 0
        optimizer: Any = spm.optimizer
        scheduler = optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.05, total_steps=40)
        for _ in range(40):
            edits += bool(run(spm, 1, data)[0])
            scheduler.step()
            seen.append(float(optimizer.param_groups[0]["lr"]))
        return seen, edits

    growing, edits = rates(BUSY)
    assert edits > 5
    assert (growing, 0) == rates(PlasticityConfig.static())
    assert len(set(growing)) > 2


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_network_of_single_precision_grows_and_may_be_converted(dtype: torch.dtype) -> None:
    spm = beside_adam(BUSY, dtype=torch.float32)
    spm.network.to(dtype)
    assert any(run(spm, 20, examples(dtype=dtype)))
    assert spm.network.weight.dtype == moments(spm).dtype == dtype
    assert moments(spm).shape == spm.network.weight.shape


def test_a_network_pruned_to_no_edge_grows_again() -> None:
    net = network(n_hidden=0, weight_std=0.01)
    config = rules(window=1, interval=1, prune_period=2, prune_fraction=1.0, update_threshold=1.0)
    spm = StructuralPlasticity(net, optim.Adam(net.parameters(), lr=1e-4), config)
    data, sizes = examples(), []
    for _ in range(6):
        run(spm, 1, data)
        sizes.append(net.graph.n_edges)
    assert sizes[1:] == [0, 1, 0, 1, 0]
    assert moments(spm).shape == (0,)
    assert net(torch.ones(3)).tolist() == [0.0, 0.0]


def test_a_hebbian_rule_without_optimizer_is_observed_and_grows_the_network() -> None:
    net = network(n_hidden=0, density=1.0)
    config = rules(window=2, interval=4, scale="update", growth="relay-alone")
    spm = StructuralPlasticity(net, None, config)
    data = examples()
    deltas = []
    for step in range(4):
        x, _ = next(data)
        with torch.no_grad():
            y = net(x)
            graph = net.graph
            delta = 0.1 * x[graph.source.tolist()] * y[(graph.target - 3).tolist()]
            delta *= (-1) ** step
            net.weight.add_(delta)
        deltas.append(delta)
        edit = spm.step()
    expected = torch.stack(deltas[-2:])
    mean, std = expected.mean(dim=0), expected.std(dim=0, correction=0)
    n_unstable = int((mean.abs() <= 0.5 * std).sum())
    assert n_unstable > 0
    assert edit.count(Operation.ADD_NODE, Cause.RELAY) == n_unstable
    assert net.graph.n_hidden == n_unstable
    for position, edge in enumerate(net.graph.edge_ids.tolist()):
        recorded = spm.history.updates(position)
        if edge < 6:
            assert recorded.tolist() == pytest.approx(expected[:, edge].tolist(), abs=1e-15)
        else:
            assert recorded.size == 0


def test_a_rule_of_ones_own_sees_current_weights_and_updates_and_its_edit_is_applied() -> None:
    net = network()
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    calls: list[int] = []

    def decide(evidence: Evidence, rng: np.random.Generator) -> GraphEdit:
        graph, history = evidence.graph, evidence.history
        calls.append(history.n_updates)
        assert torch.equal(torch.tensor(graph.weight), net.weight.detach())
        assert history.counts().tolist() == [history.n_updates] * graph.n_edges
        with pytest.raises(ValueError, match="read-only"):
            graph.weight[0] = 7.0
        draft = EditDraft(graph)
        draft.remove_edge(int(graph.edge_ids[np.argmin(np.abs(graph.weight))]))
        return draft.finish()

    spm = StructuralPlasticity(net, optimizer, by(decide, interval=2))
    start = net.graph.n_edges
    edits = run(spm, 6, examples())
    assert calls == [2, 4, 6]
    assert [bool(edit) for edit in edits] == [False, True] * 3
    assert net.graph.n_edges == start - 3
    assert all(change.cause is Cause.CUSTOM for edit in edits for change in edit.changes())


def test_an_edit_that_does_not_fit_is_refused_and_changes_nothing() -> None:
    net = network()
    optimizer = optim.Adam(net.parameters(), lr=0.1)

    def bad(draft: EditDraft, graph: Graph) -> None:
        draft.add_edge(0, 77, 0.1)

    spm = StructuralPlasticity(net, optimizer, scripted(bad, interval=1))
    learn(net, optimizer, *next(examples()))
    weight = net.weight.detach().clone()
    with pytest.raises(GraphError, match=r"^An edge is added at node 77, which does not exist\.$"):
        spm.step()
    assert torch.equal(net.weight, weight)
    run(spm, 2, examples())


@pytest.mark.parametrize(
    ("interval", "expected"), [(5, [1, 1, 2, 2, 3, 3, 4, 4]), ("episode", [0, 1, 1, 2, 2, 3, 3, 4])]
)
def test_an_interval_counts_updates_or_episodes(interval: Any, expected: list[int]) -> None:
    spm, calls = StructuralPlasticity(network(), None, scripted(interval=interval)), []
    for _ in range(4):
        for _ in range(5):
            spm.step()
        calls.append(spm.calls)
        spm.end_episode()
        calls.append(spm.calls)
    assert calls == expected


def test_a_network_has_one_plasticity_module_at_a_time() -> None:
    net = network()
    first = StructuralPlasticity(net)
    sentence = "Another StructuralPlasticity already edits this network; detach() it first."
    with pytest.raises(AttachmentError, match=f"^{re.escape(sentence)}$"):
        StructuralPlasticity(net)
    first.detach()
    second = StructuralPlasticity(net)
    second.step()
    assert (first.history.n_updates, second.history.n_updates) == (0, 1)
    first.detach()  # once more, which does not detach the second
    with pytest.raises(AttachmentError):
        StructuralPlasticity(net)
    del second
    gc.collect()
    third = StructuralPlasticity(net)
    sizes = "3 inputs, 2 hidden, 2 outputs, 19 edges"
    assert repr(third) == f"StructuralPlasticity({sizes}; no optimizer; 0 updates, 0 calls)"


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (
            lambda _: optim.Adam(network().parameters()),
            "The optimizer lacks the network's weight: build it from net.parameters().",
        ),
        (
            lambda net: optim.LBFGS(net.parameters()),
            "LBFGS keeps no state per edge, so its state cannot survive an edit.",
        ),
    ],
)
def test_an_optimizer_that_cannot_follow_edits_is_refused(build: Any, sentence: str) -> None:
    net = network()
    with pytest.raises(AttachmentError, match=f"^{re.escape(sentence)}$"):
        StructuralPlasticity(net, build(net))
    StructuralPlasticity(net)  # the network is still free


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_weight_that_is_not_finite_is_reported_with_its_update(value: float) -> None:
    net = network()
    spm = StructuralPlasticity(net, None, PlasticityConfig.static())
    for _ in range(6):
        spm.step()
    with torch.no_grad():
        net.weight[1] = value
    sentence = "A weight became NaN or infinite at update 7."
    with pytest.raises(NonFiniteError, match=f"^{re.escape(sentence)}$"):
        spm.step()


@pytest.mark.parametrize("limits", [{"max_nodes": 8}, {"max_edges": 15}])
def test_a_limit_warns_once_and_training_goes_on(limits: dict[str, int]) -> None:
    config = growing_rules(window=3, interval=3, scale="update", explore_probability=1.0, **limits)
    spm = beside_adam(config, n_hidden=0, density=1.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run(spm, 90, examples())
    (warning,) = caught
    assert warning.category is GrowthLimitWarning
    assert warning.filename == run.__code__.co_filename
    name, limit = next(iter(limits.items()))
    assert f"{name}={limit}" in str(warning.message)
    graph, before = spm.network.graph, spm.network.weight.detach().clone()
    assert limit - 1 <= (graph.n_nodes if name == "max_nodes" else graph.n_edges) <= limit
    assert spm.calls == 30
    run(spm, 1, examples())
    assert not torch.equal(spm.network.weight, before)


def grow(net: Any, call: Any, n: int = 400) -> StructuralPlasticity:
    """Let a network learn the sign of a product by a call that may be compiled."""
    generator = torch.Generator().manual_seed(0)
    optimizer = optim.Adam(net.parameters(), lr=0.01)
    plasticity = StructuralPlasticity(net, optimizer, seed=0)
    for _ in range(n):
        points = torch.randn(16, 4, generator=generator, dtype=net.weight.dtype)
        labels = (points[:, 0] * points[:, 1] > 0).long()
        loss = nn.functional.cross_entropy(call(points), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        plasticity.step()
    return plasticity


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_compiled_network_grows_as_one_that_is_not(backend: str) -> None:
    nets = [SMGrNN(4, 2, seed=0, dtype=torch.float64) for _ in range(2)]
    grow(nets[0], nets[0])
    grow(nets[1], torch.compile(nets[1], fullgraph=True, backend=backend))
    assert nets[0].graph.n_hidden > 0
    assert nets[0].graph.edge_ids.tolist() == nets[1].graph.edge_ids.tolist()
    np.testing.assert_allclose(nets[0].graph.weight, nets[1].graph.weight)


def test_an_averaged_model_of_a_growing_network_is_refused_with_what_to_use() -> None:
    net = SMGrNN(4, 2)
    model = nn.Sequential(net)
    plasticity = StructuralPlasticity(net)
    with pytest.raises(AttachmentError, match=r"averaging=0\.001"):
        optim.swa_utils.AveragedModel(model)
    plasticity.detach()
    optim.swa_utils.AveragedModel(model)  # one that does not grow
    with pytest.raises(AttachmentError, match=r"averaging=0\.001"):
        StructuralPlasticity(net)


@pytest.mark.parametrize("preset", ["frugal", "paper"])
def test_a_limit_is_named_alike_for_all_rules(preset: str) -> None:
    config = StructuralPlasticity(SMGrNN(4, 2), preset=preset, max_parameters=50).config
    assert (config.size, config.max_edges)[preset == "paper"] == 50


def test_candidates_with_a_twin_remember_each_row_of_a_batch() -> None:
    """A batch of two sequences is watched as two networks would watch one each."""
    inputs = torch.randn(5, 2, 3, generator=torch.Generator().manual_seed(0))

    def products(rows: list[int]) -> np.ndarray[Any, Any]:
        net = SMGrNN(3, 2, seed=0, carry_state=True, batch_first=False, bias=False)
        made = StructuralPlasticity(net, growth="candidates", pruning=None, seed=0)
        candidates = made._watched.candidates
        candidates.sources[0], candidates.weights[0], candidates.weights[-1] = 1, 0.5, 0.9
        net(inputs[:, rows]).sum().backward()
        made.step()
        return made._watched.candidates.products.copy()

    both = products([0, 1])
    assert np.abs(both).min() > 0.0
    np.testing.assert_allclose(both, products([0]) + products([1]), rtol=1e-5)
