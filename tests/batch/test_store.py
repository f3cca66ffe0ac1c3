"""The store gives back what was put in, or nothing: never half of it."""

from pathlib import Path

import pytest

from smgrnn.batch import LocalProcesses, Store
from smgrnn.batch.runner import execute
from smgrnn.errors import ConfigError, FileFormatError
from smgrnn.runs.record import Record
from smgrnn_paper.evolution import EvolutionCondition
from smgrnn_paper.evolution.plan import EvolutionPlan, generations_of
from support.trials import asking, busy, results, tiny

pytestmark = pytest.mark.xdist_group("experiments")


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    condition = busy(tmp_path_factory.mktemp("teacher"))
    return execute(condition, 1, condition.key(1))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def test_a_record_comes_back_as_it_was(store: Store, record: Record) -> None:
    with pytest.raises(FileFormatError, match="There is no file"):
        store.load(record.plan.key())
    assert store.find(record.plan.key()) is None
    assert store.damaged == {}
    store.save(record)
    loaded = store.load(record.plan.key())
    assert results(loaded) == results(record)
    assert loaded.times == record.times
    assert loaded.plan == record.plan
    assert [column.dtype for column in loaded.episodes] == [c.dtype for c in record.episodes]
    assert loaded.graph == record.graph


def test_a_record_says_what_ran_and_what_came_of_it(record: Record) -> None:
    summary = record.summary()
    assert record.plan.seed == 1
    assert record.started == (6, summary["n_edges"] - summary["net_growth_edges"])
    assert record.graph.n_nodes == summary["n_nodes"] == record.episodes.n_nodes[-1]
    grown = record.changes["add_node relay"] - record.changes["remove_node orphan"]
    assert grown == summary["net_growth_nodes"]
    assert record.held_out.mean() == summary["held_out_mean"]
    assert generations_of(record) is None
    assert record.warnings == ()
    assert set(record.versions) == {"smgrnn", "numpy", "numba", "gymnasium", "python"}


def test_the_record_of_an_evolution_has_the_best_of_each_generation(store: Store) -> None:
    condition = EvolutionCondition.evolve("CartPole-v1").with_episodes(12)
    store.save(execute(condition, 2, condition.key(2)))
    record = store.load(condition.key(2))
    assert isinstance(record.plan, EvolutionPlan)
    generations = generations_of(record)
    assert generations is not None
    best = record.episodes.returns.reshape(2, 6).max(axis=1)
    assert generations.returns.tolist() == best.tolist()
    assert record.started == (generations.n_nodes[0], generations.n_edges[0])
    assert record.graph.n_edges == record.summary()["n_edges"]


def test_a_limit_that_stopped_growth_is_on_record(tmp_path: Path) -> None:
    condition = busy(tmp_path, parameters=9)
    (warning,) = execute(condition, 0, condition.key(0)).warnings
    assert "max_edges=9" in warning


def test_a_damaged_record_is_never_read(store: Store, record: Record) -> None:
    """It is cut off, has a wrong byte, or is in the place of another."""
    store.save(record)
    key, other = record.plan.key(), "ac" * 32
    path, whole = store.path(key), store.path(key).read_bytes()
    cut = [whole[:n] for n in (*range(0, 64), *range(64, len(whole), 499), len(whole) - 1)]
    places = range(0, len(whole), 311)
    wrong = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in places]
    for content in (*cut, *wrong):
        path.write_bytes(content)
        assert store.find(key) is None
    assert "damaged" in store.damaged[key]
    store.save(record)
    assert store.find(key) is not None
    store.path(other).parent.mkdir()
    path.rename(store.path(other))
    assert store.find(other) is None


def save_often(store: Store, record: Record, n: int) -> None:
    for _ in range(n):
        store.save(record)


def test_two_processes_may_save_the_same_record_while_a_third_reads(
    store: Store, record: Record
) -> None:
    store.save(record)
    n_read = 0
    with LocalProcesses(2) as processes:
        saving = [processes.submit(save_often, store, record, 50) for _ in range(2)]
        while not all(future.done() for future in saving):
            assert results(store.load(record.plan.key())) == results(record)
            n_read += 1
        assert [future.result() for future in saving] == [None, None]
    assert n_read > 0
    path = store.path(record.plan.key())
    assert list(path.parent.iterdir()) == [path]


def test_records_are_found_by_experiment_and_length(store: Store, tmp_path: Path) -> None:
    conditions = {"few": tiny(tmp_path), "fewer": tiny(tmp_path, episodes=4)}
    for seed in (0, 2):
        store.save(execute(conditions["few"], seed, conditions["few"].key(seed)))
    found = store.records(asking(conditions, n_seeds=3))
    assert [record.plan.seed for record in found["few"]] == [0, 2]
    assert found["fewer"] == []
    assert store.lengths() == {5: 3}


def test_a_store_that_cannot_be_made_is_met_at_the_door(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written"):
        Store(tmp_path / "file" / "store").check_writable()
