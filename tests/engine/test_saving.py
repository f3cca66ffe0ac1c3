"""Both engines saved and restored: they go on bit for bit, and refuse what is not theirs."""

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import torch

from smgrnn import GraphEdit, Learner
from smgrnn.config import NetworkConfig, PlasticityConfig
from smgrnn.errors import ConfigError, FileFormatError, GraphError, ShapeError
from smgrnn.graph import EditDraft, check
from smgrnn.learning import LEARNING, OPTIMIZERS
from smgrnn.learning.credit import KEPT
from support.engines import Torch, teach
from support.flat import learner_of, network_config, rules, table
from support.flat import learning as learning_config
from support.learners import lessons, memory, rules_of
from support.training import BUSY

AVERAGING = learning_config(learning_rate=2e-3, schedule="falling", averaging=0.01)


def config(**changes: Any) -> NetworkConfig:
    sizes = {"n_inputs": 4, "n_outputs": 3, "n_hidden": 1, "density": 0.4, "iterations": 3}
    return network_config(**{**sizes, **changes})


FRUGAL = ("frugal", "candidates", "gradient")
CASES: list[tuple[Any, PlasticityConfig]] = [
    *((learning_config(optimizer=optimizer), BUSY) for optimizer in OPTIMIZERS),
    *((learning_config(rule=rule), BUSY) for rule in LEARNING),
    (learning_config(bias_correction="edge"), BUSY),
    (learning_config(through_time=5), BUSY),
    *((AVERAGING, rules_of(growth=each, size=16, interval=50)) for each in FRUGAL),
    (AVERAGING, rules_of(interval=50)),
]


@pytest.mark.parametrize(("learning", "plasticity"), CASES)
def test_a_learner_restored_amid_an_episode_goes_on_bit_for_bit(
    learning: Any, plasticity: PlasticityConfig
) -> None:
    rows, n = lessons(1200, 2), 1500
    made = learner_of(config(), learning, plasticity, seed=1)
    twin = learner_of(config(n_hidden=0), learning, plasticity, seed=2)  # of another size and seed
    teach(made, rows.rows(0, 509), n=n)
    made.note_return(3.0, 5.0)
    if plasticity is BUSY:
        made.protect(0.1)
    assert learning.through_time == 0 or made._state.past.clock[KEPT] > 0
    saved = made.arrays()
    twin.restore(saved)
    frozen = {name: array.copy() for name, array in saved.items()}
    assert memory(made) == memory(twin)
    for either in (made, twin):
        teach(either, rows.rows(509, 1200), first=509, n=n)
    assert any(made.log.edits())
    assert memory(made) == memory(twin)
    assert made.arrays().keys() == saved.keys()
    assert all(np.array_equal(saved[name], frozen[name]) for name in saved)  # it is a copy
    assert np.array_equal(made.averaged_graph.weight, twin.averaged_graph.weight)
    check(twin.graph)


def test_a_module_that_is_restored_goes_on_bit_for_bit() -> None:
    rows, n = lessons(840, 2), 1900
    plasticity = rules_of(size=26, interval=50)
    first, twin = (Torch(config(n_hidden=3), AVERAGING, plasticity, 5) for _ in range(2))
    teach(first, rows.rows(0, 520), n=n)
    first.module.note_return(3.0, 5.0)
    twin.net.load_state_dict(first.net.state_dict())
    twin.optimizer.load_state_dict(deepcopy(first.optimizer.state_dict()))
    twin.module.load_state_dict(first.module.state_dict())
    assert twin.module.progress == first.module.progress
    first.edits.clear()
    for each in (first, twin):
        teach(each, rows.rows(520, 840), 520, n)
    assert first.edits
    assert [repr(edit) for _, edit in first.edits] == [repr(edit) for _, edit in twin.edits]
    assert first.module.averaged_graph == twin.module.averaged_graph
    before, after = (each.module.state_dict() for each in (first, twin))
    assert before["rng"] == after["rng"]
    for name, value in before["watched"].items():
        assert torch.equal(value, after["watched"][name]), name


# --- what is refused -----------------------------------------------------------------------------


def _set(array: Any, *place: Any) -> Any:
    changed = array.copy()
    changed[place[:-1]] = place[-1]
    return changed


DAMAGE: list[tuple[str, Any]] = [
    ("candidates.sources", lambda sources: _set(sources, 0, 0, 10**6)),  # no such node
    ("candidates.sources", lambda sources: _set(sources, 0, 0, -1)),
    ("candidates.sources", lambda sources: _set(sources, 0, slice(None), sources[1])),  # twice
    ("candidates.sources", lambda sources: sources[:, 1:]),
    ("candidates.weights", lambda weights: weights.astype(np.float32)),
    ("candidates.products", lambda products: products[:-1]),
    ("candidates.is_active", lambda flag: flag + 2),
    ("statistics.nodes", lambda nodes: nodes[:, 1:]),
    ("statistics.absent", lambda pairs: pairs + 10**6),
    ("statistics.products", lambda products: products[:1]),
    ("statistics.n_updates", lambda n: np.zeros(2, np.int64)),
    ("aim", lambda aim: aim[1:]),
    ("aim", lambda aim: _set(aim, 0, np.inf)),
    ("average", lambda array: array[:, 1:]),
    ("protection", lambda array: np.full((1, array.shape[1]), np.nan)),
    ("protection", lambda array: np.full((1, array.shape[1]), 1.1)),
    ("feedback", lambda array: array[:, 1:]),
    ("credit", lambda array: array[:, 1:]),
    ("moments", lambda array: array[:1]),
    ("trace", lambda array: array[1:]),
    ("step", lambda array: array - 99999),
    ("calls", lambda array: array[:1]),
    ("past.traces", lambda array: array[:, :, 1:]),
    ("past.weights", lambda array: np.zeros((1, array.shape[1]))),
    ("past.clock", lambda array: array + 99),
]


@pytest.mark.parametrize(("name", "damage"), DAMAGE)
def test_a_damaged_memory_is_refused_and_changes_nothing(name: str, damage: Any) -> None:
    learning = AVERAGING.changed(rule="hebbian")
    made = learner_of(config(), learning, rules_of(interval=50))
    rows = lessons(130, 0)
    made.learn_stream(*rows)
    arrays, before = made.arrays(), memory(made)
    place = name if name in arrays else f"watched.{name}"
    with pytest.raises(ShapeError, match=r"belong to a|are not those of a run"):
        made.restore(arrays | {place: np.ascontiguousarray(damage(arrays[place]))})
    assert memory(made) == before
    theirs = Torch(config(), AVERAGING, rules_of(n_candidates=32))  # some have two sources
    teach(theirs, rows)
    state = theirs.module.state_dict()
    holder = state if name == "average" else state["watched"]
    if name in holder:
        holder[name] = torch.from_numpy(np.ascontiguousarray(damage(holder[name].numpy())))
        with pytest.raises(ShapeError, match=r"belong|are not those of a run"):
            theirs.module.load_state_dict(state)


@pytest.mark.parametrize(
    "other",
    [
        learner_of(config(n_inputs=5), None, rules_of()),
        learner_of(config(iterations=2), None, rules_of()),
        learner_of(config(), None, rules_of(window=9)),
        learner_of(config(), None, rules()),
        learner_of(config(), learning_config(averaging=0.1), rules_of()),
        learner_of(config(), learning_config(rule="feedback"), rules_of()),
        learner_of(config(), learning_config(through_time=2), rules_of()),
        learner_of(config(), learning_config(bias_correction="edge"), rules_of()),
    ],
)
def test_what_another_kind_of_learner_saved_is_refused(other: Learner) -> None:
    made = learner_of(config(), None, rules_of())
    for each, saved in ((made, other.arrays()), (other, made.arrays())):
        with pytest.raises((GraphError, ShapeError)):
            each.restore(saved)


def test_the_mean_of_the_weights_outlives_a_moment_without_edges() -> None:
    """It was taken for one that is not kept, and later edges were averaged past the end of it."""
    everything: Any = {"weight_threshold": 1e9, "update_threshold": 1e9, "prune_fraction": 1.0}
    often = rules(growth="exploration", window=1, interval=1, prune_period=2, **everything)
    made, sizes = learner_of(config(), AVERAGING, often, seed=1), []
    for inputs, label, *_ in zip(*lessons(20, 0), strict=True):
        made.learn(inputs, label)
        sizes.append(made.graph.n_edges)
        assert made.arrays()["average"].shape == (2, sizes[-1])
    assert 0 in sizes
    assert sizes[-2] > 0


# --- files ---------------------------------------------------------------------------------------


class Cut:
    """A rule of one's own."""

    def decide(self, evidence: Any, rng: np.random.Generator) -> GraphEdit:
        draft, graph = EditDraft(evidence.graph), evidence.graph
        draft.remove_edges_at(np.flatnonzero(np.abs(graph.weight) < rng.random()))
        return draft.finish()


def test_a_file_names_no_code_so_a_rule_of_ones_own_is_given_again(tmp_path: Any) -> None:
    plasticity = table(pruning=Cut(), interval=10, prune_period=2)
    made, path, rows = learner_of(config(), None, plasticity), tmp_path / "own", lessons(90, 0)
    made.learn_stream(*rows.rows(0, 30))
    made.save(path)
    nameless = Learner.load(path)
    assert nameless.graph == made.graph
    with pytest.raises(ConfigError, match="The rule 'Cut' is code of the user: pass it again"):
        nameless.learn_stream(*rows.rows(30, 90))
    twin = Learner.load(path, plasticity=plasticity)
    for each in (made, twin):
        each.learn_stream(*rows.rows(30, 90))
    assert memory(made) == memory(twin)
    assert any(made.log.edits())
    path.write_bytes(path.read_bytes().replace(b'"Cut"', b'"os."'))
    with pytest.raises((ConfigError, FileFormatError)):
        Learner.load(path).learn_stream(*rows)
