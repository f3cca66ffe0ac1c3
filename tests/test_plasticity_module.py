"""StructuralPlasticity beside PyTorch optimizers: what an edit keeps, forgets and starts anew."""

import copy
import gc
import io
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, cast

import numpy as np
import pytest
import torch
from torch import Tensor, nn, optim

from smgrnn import (
    EditDraft,
    Graph,
    GraphEdit,
    PlasticityConfig,
    SMGrNN,
    StructuralPlasticity,
    UpdateHistory,
)
from smgrnn.errors import AttachmentError, GraphError, GrowthLimitWarning, NonFiniteError
from smgrnn.graph import Cause, Operation, check

Parameters = Iterable[nn.Parameter]
Rule = Callable[[Graph, UpdateHistory, np.random.Generator], GraphEdit]

OPTIMIZERS: dict[str, Callable[[Parameters], optim.Optimizer]] = {
    "SGD momentum": lambda p: optim.SGD(p, lr=0.05, momentum=0.9),
    "SGD nesterov": lambda p: optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True),
    "Adam": lambda p: optim.Adam(p, lr=0.01),
    "Adam amsgrad": lambda p: optim.Adam(p, lr=0.01, amsgrad=True),
    "Adam fused": lambda p: optim.Adam(p, lr=0.01, fused=True),
    "Adam foreach": lambda p: optim.Adam(p, lr=0.01, foreach=True),
    "AdamW": lambda p: optim.AdamW(p, lr=0.01),
    "NAdam": lambda p: optim.NAdam(p, lr=0.01),
    "RAdam": lambda p: optim.RAdam(p, lr=0.01),
    "Adamax": lambda p: optim.Adamax(p, lr=0.01),
    "Adadelta": lambda p: optim.Adadelta(p, lr=1.0),
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.05),
    "Adafactor": lambda p: optim.Adafactor(p, lr=0.01),
    "RMSprop": lambda p: optim.RMSprop(p, lr=0.01, momentum=0.9, centered=True),
    "Rprop": lambda p: optim.Rprop(p, lr=0.01),
}
every_optimizer = pytest.mark.parametrize("build", OPTIMIZERS.values(), ids=OPTIMIZERS.keys())

BUSY = PlasticityConfig(
    window=5,
    interval=3,
    prune_period=4,
    scale="update",
    explore_probability=0.5,
    explore_ratio=0.1,
    max_relays=2,
    weight_threshold=0.05,
    update_threshold=0.01,
)
"""Edits often and in every way, so that a short run grows, explores and prunes."""


def network(seed: int = 0, **settings: Any) -> SMGrNN:
    defaults: dict[str, Any] = {"n_hidden": 2, "weight_std": 0.5, "dtype": torch.float64}
    return SMGrNN(3, 2, seed=seed, **{**defaults, **settings})


def examples(seed: int = 0, dtype: torch.dtype = torch.float64) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield inputs and targets without end."""
    generator = torch.Generator().manual_seed(seed)
    while True:
        x = torch.randn(3, dtype=torch.float64, generator=generator)
        yield x.to(dtype), torch.stack([x[0] * x[1], x[2]]).tanh().to(dtype)


def learn(model: nn.Module, optimizer: optim.Optimizer, x: Tensor, y: Tensor) -> Tensor:
    optimizer.zero_grad()
    loss: Any = (model(x) - y).square().sum()
    loss.backward()
    optimizer.step()
    return cast(Tensor, loss)


def run(
    spm: StructuralPlasticity, steps: int, data: Iterator[tuple[Tensor, Tensor]]
) -> list[GraphEdit]:
    assert spm.optimizer is not None
    edits = []
    for _ in range(steps):
        learn(spm.network, spm.optimizer, *next(data))
        edits.append(spm.step())
    return edits


def scripted(*edits: Callable[[EditDraft, Graph], None]) -> Rule:
    """Return a rule that drafts the n-th edit at its n-th call and none after the last."""
    waiting = list(edits)

    def rule(graph: Graph, history: UpdateHistory, rng: np.random.Generator) -> GraphEdit:
        draft = EditDraft(graph)
        if waiting:
            waiting.pop(0)(draft, graph)
        return draft.finish()

    return rule


def swap_some(draft: EditDraft, graph: Graph) -> None:
    """Remove two edges, from the middle and the front, and add a node with two."""
    draft.remove_edge(int(graph.edge_ids[graph.n_edges // 2]))
    draft.remove_edge(int(graph.edge_ids[0]))
    node = draft.add_node()
    draft.add_edge(1, node, 0.3)
    draft.add_edge(node, 4, -0.2)


def add_idle_path(draft: EditDraft, graph: Graph) -> None:
    """Add a path input -> new node -> output of weight 0, which moves nothing."""
    node = draft.add_node()
    draft.add_edge(0, node, 0.0)
    draft.add_edge(node, 3, 0.0)


def state_by_id(
    net: SMGrNN, optimizer: optim.Optimizer
) -> tuple[dict[int, dict[str, float]], dict[str, float]]:
    """Return the optimizer's state of every edge by id, and the state of the whole parameter."""
    ids = net.graph.edge_ids.tolist()
    per_edge: dict[int, dict[str, float]] = {edge: {} for edge in ids}
    shared: dict[str, float] = {}
    for name, value in optimizer.state[net.weight].items():
        if isinstance(value, Tensor) and value.ndim:
            for edge, entry in zip(ids, value.tolist(), strict=True):
                per_edge[edge][name] = entry
        else:
            shared[name] = float(value)
    return per_edge, shared


# --- optimizer state ------------------------------------------------------------------------------


@every_optimizer
def test_surviving_edges_keep_their_optimizer_state_and_new_edges_start_from_none(
    build: Callable[[Parameters], optim.Optimizer],
) -> None:
    net, data = network(iterations=2), examples()
    optimizer = build(net.parameters())
    spm = StructuralPlasticity(
        net, optimizer, PlasticityConfig(interval=4), rule=scripted(swap_some)
    )
    run(spm, 3, data)
    learn(net, optimizer, *next(data))
    before, shared_before = state_by_id(net, optimizer)
    spm.step()
    after, shared_after = state_by_id(net, optimizer)

    new = after.keys() - before.keys()
    assert len(new) == 2
    assert len(before.keys() - after.keys()) == 2
    assert all(after[edge] == before[edge] for edge in after.keys() - new)
    assert any(any(entries.values()) for entries in before.values())
    fresh = {"step_size": 0.01}  # Rprop's start at the learning rate
    for edge in new:
        assert after[edge] == {name: fresh.get(name, 0.0) for name in before[0]}
    assert shared_after == shared_before
    if "step" in shared_after:
        assert shared_after["step"] == 4

    weight = net.weight.detach().clone()
    run(spm, 8, data)
    assert (net.weight != weight).all()
    if "step" in shared_after:
        assert state_by_id(net, optimizer)[1]["step"] == 12


# Adafactor scales every update by the root mean square of the whole parameter.
@pytest.mark.parametrize("name", [name for name in OPTIMIZERS if name != "Adafactor"])
def test_an_edit_that_moves_nothing_leaves_the_training_of_other_edges_as_it_was(name: str) -> None:
    build = OPTIMIZERS[name]
    untouched, edited = network(), network()
    plain = build(untouched.parameters())
    data = examples()
    for _ in range(12):
        learn(untouched, plain, *next(data))
    optimizer = build(edited.parameters())
    rule = scripted(add_idle_path, add_idle_path)
    spm = StructuralPlasticity(edited, optimizer, PlasticityConfig(interval=3), rule=rule)
    run(spm, 12, examples())

    assert edited.graph.n_edges == untouched.graph.n_edges + 4
    expected, actual = state_by_id(untouched, plain)[0], state_by_id(edited, optimizer)[0]
    weights = {edge.id: edge.weight for edge in edited.graph.edges()}
    for edge in untouched.graph.edges():
        assert weights[edge.id] == pytest.approx(edge.weight, rel=1e-12)
        assert actual[edge.id] == pytest.approx(expected[edge.id], rel=1e-12)


def test_an_edge_put_back_does_not_find_its_old_state() -> None:
    net = network(n_hidden=0, density=1.0)
    optimizer = optim.Adam(net.parameters(), lr=0.01)

    def remove_first(draft: EditDraft, graph: Graph) -> None:
        draft.remove_edge(0)

    def put_back(draft: EditDraft, graph: Graph) -> None:
        draft.add_edge(0, 3, 0.5)

    rule = scripted(remove_first, put_back)
    spm = StructuralPlasticity(net, optimizer, PlasticityConfig(interval=2), rule=rule)
    data = examples()
    run(spm, 3, data)
    learn(net, optimizer, *next(data))
    spm.step()
    back = net.graph.edge_ids.tolist().index(6)
    assert (net.graph.source[back], net.graph.target[back]) == (0, 3)
    assert state_by_id(net, optimizer)[0][6] == {"exp_avg": 0.0, "exp_avg_sq": 0.0}
    assert spm.history.counts()[back] == 0
    assert set(spm.history.counts().tolist()) == {0, 4}


@pytest.mark.xfail(strict=True, reason="bug: new edges get 0, not initial_accumulator_value")
def test_new_edges_start_from_the_initial_accumulator_of_adagrad() -> None:
    net = network()
    optimizer = optim.Adagrad(net.parameters(), initial_accumulator_value=0.1)
    spm = StructuralPlasticity(
        net, optimizer, PlasticityConfig(interval=1), rule=scripted(add_idle_path)
    )
    run(spm, 1, examples())
    state = state_by_id(net, optimizer)[0]
    assert state[net.graph.next_edge_id - 1]["sum"] == pytest.approx(0.1)


def test_reset_forgets_the_state_of_the_network_and_of_nothing_else() -> None:
    net, head = network(), nn.Linear(2, 2, dtype=torch.float64)
    model = nn.Sequential(net, head)
    optimizer = optim.Adam(model.parameters(), lr=0.01)
    config = PlasticityConfig(interval=2, optimizer_on_edit="reset")
    spm = StructuralPlasticity(net, optimizer, config, rule=scripted(swap_some))
    data = examples()
    for _ in range(2):
        learn(model, optimizer, *next(data))
        spm.step()
    assert net.weight not in optimizer.state
    assert optimizer.state[head.weight]["step"] == 2
    learn(model, optimizer, *next(data))
    assert optimizer.state[net.weight]["step"] == 1
    assert optimizer.state[head.weight]["step"] == 3


def test_without_an_edit_reset_keeps_the_state() -> None:
    net = network()
    optimizer = optim.Adam(net.parameters(), lr=0.01)
    config = PlasticityConfig(interval=1, optimizer_on_edit="reset")
    run(StructuralPlasticity(net, optimizer, config, rule=scripted()), 3, examples())
    assert optimizer.state[net.weight]["step"] == 3


@pytest.mark.parametrize(("on_edit", "expected"), [("keep", {0, 2}), ("reset", {0})])
def test_history_on_edit_keeps_or_empties_the_windows_of_survivors(
    on_edit: Literal["keep", "reset"], expected: set[int]
) -> None:
    net = network()
    config = PlasticityConfig(interval=2, history_on_edit=on_edit)
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    spm = StructuralPlasticity(net, optimizer, config, rule=scripted(swap_some))
    run(spm, 2, examples())
    assert set(spm.history.counts().tolist()) == expected
    assert spm.history.n_updates == 2


# --- the parameter --------------------------------------------------------------------------------


def test_the_parameter_stays_the_same_object_in_its_group_through_every_edit() -> None:
    net = network(iterations=2)
    optimizer = optim.Adam(net.parameters(), lr=0.01)
    parameter = net.weight
    spm = StructuralPlasticity(net, optimizer, BUSY)
    edits = run(spm, 60, examples())
    assert sum(map(bool, edits)) > 10
    assert net.weight is parameter
    assert optimizer.param_groups[0]["params"][0] is parameter
    assert list(optimizer.state) == [parameter]
    assert isinstance(parameter, nn.Parameter)
    assert parameter.is_leaf
    assert parameter.shape == (net.graph.n_edges,)


def test_training_goes_on_while_former_losses_are_alive() -> None:
    """A kept loss keeps autograd's accumulator of the old shape; a new backward met it."""
    net = network(iterations=2)
    optimizer = optim.Adam(net.parameters(), lr=0.01)
    spm = StructuralPlasticity(net, optimizer, BUSY)
    losses, sizes, data = [], set(), examples()
    for _ in range(40):
        losses.append(learn(net, optimizer, *next(data)))
        spm.step()
        sizes.add(net.graph.n_edges)
    assert len(sizes) > 5
    assert all(loss.grad_fn is not None for loss in losses)


@pytest.mark.parametrize(
    "iterations",
    [
        pytest.param(
            1,
            marks=pytest.mark.xfail(
                strict=True, reason="bug: at K = 1 an old loss gives new edges old gradients"
            ),
        ),
        2,
    ],
)
def test_a_loss_from_before_an_edit_cannot_be_differentiated_after_it(iterations: int) -> None:
    """At K = 1 autograd saves no weight, so nothing noticed that the edges had been renumbered."""
    net = network(iterations=iterations)
    spm = StructuralPlasticity(net, None, PlasticityConfig(interval=1), rule=scripted(swap_some))
    loss: Any = net(torch.ones(3)).sum()
    assert spm.step()
    with pytest.raises(RuntimeError):
        loss.backward()


def test_a_hook_on_the_parameter_survives_an_edit() -> None:
    net = network(iterations=2)
    sizes: list[int] = []
    weight: Any = net.weight
    weight.register_hook(lambda gradient: sizes.append(gradient.numel()))
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    config = PlasticityConfig(interval=1)
    run(StructuralPlasticity(net, optimizer, config, rule=scripted(add_idle_path)), 2, examples())
    assert sizes == [sizes[0], sizes[0] + 2]


# --- in the company of other parts of PyTorch -----------------------------------------------------


def test_a_network_grows_as_one_layer_of_a_larger_module_with_its_own_param_group() -> None:
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
    assert [len(group["params"]) for group in optimizer.param_groups] == [4, 1]
    assert optimizer.param_groups[1]["params"][0] is net.weight
    assert optimizer.param_groups[1]["lr"] == 0.02
    assert [parameter.shape for parameter in model.parameters()][2] == (net.graph.n_edges,)
    for parameter in model.parameters():
        assert optimizer.state[parameter]["exp_avg"].shape == parameter.shape


def test_two_networks_share_one_optimizer() -> None:
    first, second = network(0, iterations=2), network(1, iterations=2)
    optimizer = optim.Adam([*first.parameters(), *second.parameters()], lr=0.01)
    modules = [StructuralPlasticity(net, optimizer, BUSY, seed=1) for net in (first, second)]
    data = examples()
    for _ in range(30):
        x, y = next(data)
        optimizer.zero_grad()
        (first(x) + second(x) - y).square().sum().backward()
        optimizer.step()
        for spm in modules:
            spm.step()
    for net in (first, second):
        assert optimizer.state[net.weight]["exp_avg"].shape == (net.graph.n_edges,)


SCHEDULERS: dict[str, Callable[[optim.Optimizer], Any]] = {
    "StepLR": lambda o: optim.lr_scheduler.StepLR(o, step_size=10, gamma=0.5),
    "OneCycleLR": lambda o: optim.lr_scheduler.OneCycleLR(o, max_lr=0.05, total_steps=40),
    "ReduceLROnPlateau": lambda o: optim.lr_scheduler.ReduceLROnPlateau(o, patience=1),
}


@pytest.mark.parametrize("build", SCHEDULERS.values(), ids=SCHEDULERS.keys())
def test_a_learning_rate_scheduler_works_as_on_a_fixed_network(
    build: Callable[[optim.Optimizer], Any],
) -> None:
    def rates(config: PlasticityConfig) -> tuple[list[float], int]:
        net = network(iterations=2)
        optimizer = optim.Adam(net.parameters(), lr=0.01)
        scheduler = build(optimizer)
        spm = StructuralPlasticity(net, optimizer, config)
        data, seen, edits = examples(), [], 0
        for _ in range(40):
            learn(net, optimizer, *next(data))
            edits += bool(spm.step())
            is_plateau = isinstance(scheduler, optim.lr_scheduler.ReduceLROnPlateau)
            scheduler.step(1.0) if is_plateau else scheduler.step()
            seen.append(float(optimizer.param_groups[0]["lr"]))
        return seen, edits

    growing, edits = rates(BUSY)
    fixed, none = rates(PlasticityConfig.static())
    assert edits > 5
    assert none == 0
    assert growing == fixed
    assert len(set(growing)) > 2


def test_gradients_are_clipped_whatever_the_size() -> None:
    net = network(iterations=2)
    optimizer = optim.SGD(net.parameters(), lr=1.0)
    spm = StructuralPlasticity(net, optimizer, BUSY)
    data = examples()
    for _ in range(40):
        x, y = next(data)
        optimizer.zero_grad()
        (net(x) - y).square().sum().backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.01)
        before = net.weight.detach().clone()
        optimizer.step()
        assert (net.weight - before).norm().item() <= 0.01 + 1e-9
        spm.step()
    assert net.graph.next_edge_id > 20


def test_a_network_may_be_converted_after_everything_is_built() -> None:
    net = network(dtype=torch.float32, iterations=2)
    optimizer = optim.Adam(net.parameters(), lr=0.01)
    spm = StructuralPlasticity(net, optimizer, BUSY)
    net.to(torch.float64)
    assert any(run(spm, 20, examples()))
    assert net.weight.dtype == torch.float64
    assert optimizer.state[net.weight]["exp_avg"].dtype == torch.float64
    assert optimizer.state[net.weight]["exp_avg"].shape == net.weight.shape


def test_a_network_of_single_precision_grows() -> None:
    net = network(dtype=torch.float32, iterations=2)
    optimizer = optim.Adam(net.parameters(), lr=0.01)
    spm = StructuralPlasticity(net, optimizer, BUSY)
    assert any(run(spm, 20, examples(dtype=torch.float32)))
    assert net.weight.dtype == torch.float32
    assert optimizer.state[net.weight]["exp_avg"].dtype == torch.float32


def test_the_module_may_be_called_from_a_hook_of_the_optimizer() -> None:
    net = network(iterations=2)
    optimizer = optim.Adam(net.parameters(), lr=0.01)
    spm = StructuralPlasticity(net, optimizer, BUSY)

    def hook(*_: Any) -> None:
        spm.step()

    optimizer.register_step_post_hook(hook)
    data = examples()
    for _ in range(30):
        learn(net, optimizer, *next(data))
    assert spm.calls == 10
    assert optimizer.state[net.weight]["exp_avg"].shape == (net.graph.n_edges,)


def test_a_network_pruned_to_no_edge_grows_again() -> None:
    net = network(n_hidden=0, weight_std=0.01)
    optimizer = optim.Adam(net.parameters(), lr=1e-4)
    config = PlasticityConfig(
        window=1, interval=1, prune_period=2, prune_fraction=1.0, update_threshold=1.0
    )
    spm = StructuralPlasticity(net, optimizer, config)
    data, sizes = examples(), []
    for _ in range(6):
        run(spm, 1, data)
        sizes.append(net.graph.n_edges)
    assert sizes[1:] == [0, 1, 0, 1, 0]
    assert optimizer.state[net.weight]["exp_avg"].shape == (0,)
    assert net(torch.ones(3)).tolist() == [0.0, 0.0]


# --- stopping and going on ------------------------------------------------------------------------


@pytest.mark.parametrize("interval", [3, "episode"])
@pytest.mark.parametrize("name", ["Adam", "SGD momentum", "RMSprop"])
def test_a_run_resumed_from_its_three_state_dicts_is_the_uninterrupted_run(
    name: str, interval: int | str
) -> None:
    config = PlasticityConfig.from_dict({**BUSY.to_dict(), "interval": interval})

    def build(n_hidden: int, seed: int) -> StructuralPlasticity:
        net = network(seed, iterations=2, n_hidden=n_hidden)
        return StructuralPlasticity(net, OPTIMIZERS[name](net.parameters()), config, seed=seed)

    def episodes(spm: StructuralPlasticity, data: Iterator[tuple[Tensor, Tensor]]) -> list[str]:
        edits = []
        for _ in range(12):
            spm.network.reset_state()
            edits += [*run(spm, 4, data), spm.end_episode()]
        return [str(list(edit.changes())) for edit in edits]

    original, data = build(2, 0), examples()
    episodes(original, data)
    assert original.optimizer is not None
    buffer = io.BytesIO()
    torch.save(
        [original.network.state_dict(), original.optimizer.state_dict(), original.state_dict()],
        buffer,
    )
    later = [next(data) for _ in range(48)]
    expected = episodes(original, iter(later))

    resumed = build(0, 5)  # a small network from another seed
    assert resumed.optimizer is not None
    buffer.seek(0)
    network_state, optimizer_state, state = torch.load(buffer, weights_only=True)
    resumed.network.load_state_dict(network_state)
    resumed.optimizer.load_state_dict(optimizer_state)
    resumed.load_state_dict(state)
    assert episodes(resumed, iter(later)) == expected
    assert any("ADD_NODE" in edit for edit in expected)
    assert any("REMOVE_EDGE" in edit for edit in expected)
    assert torch.equal(resumed.network.weight, original.network.weight)
    assert list(resumed.network.graph.edges()) == list(original.network.graph.edges())
    assert resumed.calls == original.calls
    assert resumed.history.n_updates == original.history.n_updates
    for mine, yours in zip(
        resumed.history.statistics(), original.history.statistics(), strict=True
    ):
        assert np.array_equal(mine, yours)


def test_the_state_dict_is_a_copy() -> None:
    net = network(iterations=2)
    spm = StructuralPlasticity(net, optim.Adam(net.parameters()), BUSY)
    run(spm, 4, examples())
    state = spm.state_dict()
    frozen = copy.deepcopy(state)
    run(spm, 10, examples())
    assert state["calls"] == frozen["calls"]
    assert state["rng"] == frozen["rng"]
    assert torch.equal(state["observed"], frozen["observed"])
    for name, tensor in state["history"].items():
        assert torch.equal(tensor, frozen["history"][name])


def test_a_history_of_another_network_or_window_is_refused() -> None:
    spm = StructuralPlasticity(network(), None, PlasticityConfig(window=7))
    small = StructuralPlasticity(network(n_hidden=0, density=1.0))
    sentence = (
        f"The saved history has {spm.network.graph.n_edges} edges and a window of 7; here they are "
        "6 and 100."
    )
    with pytest.raises(AttachmentError, match=f"^{re.escape(sentence)}$"):
        small.load_state_dict(spm.state_dict())


def test_a_graph_replaced_from_outside_starts_a_new_history() -> None:
    net = network(n_hidden=0)
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    spm = StructuralPlasticity(net, optimizer, PlasticityConfig(interval=2))
    data = examples()
    run(spm, 1, data)
    net.load_state_dict(network(3).state_dict())
    learn(net, optimizer, *next(data))
    assert not spm.step()
    assert spm.history.n_updates == 0
    learn(net, optimizer, *next(data))
    spm.step()
    assert spm.history.counts().tolist() == [1] * net.graph.n_edges


@pytest.mark.xfail(strict=True, reason="bug: end_episode decides on the graph it last watched")
def test_the_end_of_an_episode_sees_a_graph_replaced_from_outside() -> None:
    """Loading a checkpoint between the last step and end_episode raised, or edited old ids."""
    net = network(n_hidden=0)
    config = PlasticityConfig(interval="episode", explore_probability=1.0, explore_ratio=1.0)
    spm = StructuralPlasticity(net, None, config)
    net.load_state_dict(network(3).state_dict())
    spm.end_episode()
    check(net.graph)


# --- other ways to learn, other rules -------------------------------------------------------------


def test_a_hebbian_rule_without_optimizer_is_observed_and_grows_the_network() -> None:
    net = network(n_hidden=0, density=1.0)
    config = PlasticityConfig(window=2, interval=4, scale="update", exploration=False)
    spm = StructuralPlasticity(net, None, config)
    data = examples()
    deltas = []
    for step in range(4):
        x, _ = next(data)
        with torch.no_grad():
            y = net(x)
            graph = net.graph
            delta = 0.1 * x[graph.source] * y[torch.as_tensor(graph.target) - 3]
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

    def rule(graph: Graph, history: UpdateHistory, rng: np.random.Generator) -> GraphEdit:
        calls.append(history.n_updates)
        assert torch.equal(torch.as_tensor(graph.weight), net.weight.detach())
        assert history.counts().tolist() == [history.n_updates] * graph.n_edges
        weakest = int(graph.edge_ids[np.argmin(np.abs(graph.weight))])
        draft = EditDraft(graph)
        draft.remove_edge(weakest)
        return draft.finish()

    spm = StructuralPlasticity(net, optimizer, PlasticityConfig(interval=2), rule=rule)
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

    spm = StructuralPlasticity(net, optimizer, PlasticityConfig(interval=1), rule=scripted(bad))
    learn(net, optimizer, *next(examples()))
    weight = net.weight.detach().clone()
    with pytest.raises(GraphError, match=r"^An edge is added at node 77, which does not exist\.$"):
        spm.step()
    assert torch.equal(net.weight, weight)
    run(spm, 2, examples())


def test_the_random_numbers_of_a_rule_follow_the_seed() -> None:
    def drawn(seed: int) -> list[float]:
        numbers: list[float] = []

        def rule(graph: Graph, history: UpdateHistory, rng: np.random.Generator) -> GraphEdit:
            numbers.append(rng.random())
            return GraphEdit.empty()

        spm = StructuralPlasticity(
            network(), None, PlasticityConfig(interval=1), seed=seed, rule=rule
        )
        for _ in range(3):
            spm.step()
        return numbers

    assert drawn(1) == drawn(1)
    assert len(set(drawn(1)) | set(drawn(2))) == 6


def test_an_interval_counts_updates_and_ignores_episodes() -> None:
    spm = StructuralPlasticity(network(), None, PlasticityConfig.static(interval=5))
    calls = []
    for _ in range(20):
        spm.step()
        calls.append(spm.calls)
        assert not spm.end_episode()
    assert calls == [n // 5 for n in range(1, 21)]


def test_the_interval_episode_acts_at_the_end_of_each_episode_only() -> None:
    config = PlasticityConfig(interval="episode", explore_probability=1.0)
    spm = StructuralPlasticity(network(), None, config)
    for _ in range(200):
        assert not spm.step()
    assert spm.calls == 0
    assert spm.end_episode().count(Operation.ADD_EDGE, Cause.EXPLORATION) == 1
    assert spm.calls == 1


def test_the_static_network_never_changes() -> None:
    net = network(iterations=2)
    optimizer = optim.Adam(net.parameters(), lr=0.01)
    config = PlasticityConfig.static(window=2, interval=1, prune_period=2)
    assert not any(run(StructuralPlasticity(net, optimizer, config), 20, examples()))


# --- what does not belong together ----------------------------------------------------------------


def test_a_network_has_one_plasticity_module_at_a_time() -> None:
    net = network()
    first = StructuralPlasticity(net)
    sentence = "Another StructuralPlasticity already edits this network."
    with pytest.raises(AttachmentError, match=f"^{re.escape(sentence)}$"):
        StructuralPlasticity(net)
    assert first.calls == 0
    del first
    gc.collect()
    StructuralPlasticity(net)


def test_a_failed_construction_does_not_occupy_the_network() -> None:
    net = network()
    with pytest.raises(AttachmentError):
        StructuralPlasticity(net, optim.SGD(network().parameters(), lr=0.1))
    StructuralPlasticity(net)


def test_an_optimizer_of_another_network_is_refused() -> None:
    optimizer = optim.Adam(network().parameters())
    sentence = "The optimizer does not hold the network's weight; build it from net.parameters()."
    with pytest.raises(AttachmentError, match=f"^{re.escape(sentence)}$"):
        StructuralPlasticity(network(), optimizer)


def test_lbfgs_is_refused() -> None:
    net = network()
    sentence = "LBFGS keeps no state per edge, so its state cannot survive an edit."
    with pytest.raises(AttachmentError, match=f"^{re.escape(sentence)}$"):
        StructuralPlasticity(net, optim.LBFGS(net.parameters()))


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


# --- limits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("limits", [{"max_nodes": 8}, {"max_edges": 15}])
def test_a_limit_warns_once_and_training_goes_on(limits: dict[str, int]) -> None:
    net = network(iterations=2, n_hidden=0, density=1.0)
    optimizer = optim.Adam(net.parameters(), lr=0.01)
    config = PlasticityConfig.growth_only(
        window=3, interval=3, scale="update", explore_probability=1.0, **limits
    )
    spm = StructuralPlasticity(net, optimizer, config)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run(spm, 90, examples())
    (warning,) = caught
    assert warning.category is GrowthLimitWarning
    assert warning.filename == __file__
    name, limit = next(iter(limits.items()))
    assert f"{name}={limit}" in str(warning.message)
    size = net.graph.n_nodes if name == "max_nodes" else net.graph.n_edges
    assert limit - 1 <= size <= limit
    assert spm.calls == 30
    before = net.weight.detach().clone()
    learn(net, optimizer, *next(examples()))
    assert not torch.equal(net.weight, before)


# --- determinism ----------------------------------------------------------------------------------


def outcome(seed: int) -> tuple[list[str], Tensor]:
    net = network(iterations=2)
    spm = StructuralPlasticity(net, optim.Adam(net.parameters(), lr=0.01), BUSY, seed=seed)
    edits = run(spm, 60, examples())
    return [str(list(edit.changes())) for edit in edits], net.weight.detach()


def test_one_seed_gives_one_run_bit_for_bit() -> None:
    edits, weight = outcome(0)
    same_edits, same_weight = outcome(0)
    assert same_edits == edits
    assert torch.equal(same_weight, weight)


def test_another_seed_gives_other_edits() -> None:
    assert outcome(0)[0] != outcome(1)[0]
