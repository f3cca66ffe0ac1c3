"""The store gives back what was put in, or nothing: never half of it."""

from pathlib import Path

import pytest

from smgrnn.batch import LocalProcesses, Store
from smgrnn.batch.runner import execute
from smgrnn.errors import ConfigError, FileFormatError
from smgrnn.runs.record import Record
from smgrnn_paper.evolution import EvolutionCondition
from smgrnn_paper.evolution.plan import generations_of
from support.trials import asking, busy, results, save_often, tiny

pytestmark = pytest.mark.xdist_group("experiments")


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    condition = busy(tmp_path_factory.mktemp("teacher"))
    return execute(condition, 1, condition.key(1))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def test_a_record_comes_back_as_it_was_or_not_at_all(store: Store, record: Record) -> None:
    """Not one that is missing, damaged, or in the place of another."""
    key, other = record.plan.key(), "ac" * 32
    with pytest.raises(FileFormatError, match="There is no file"):
        store.load(key)
    assert store.find(key) is None
    assert store.damaged == {}
    store.save(record)
    assert results(store.load(key)) == results(record)
    assert store.load(key).times == record.times
    path, whole = store.path(key), store.path(key).read_bytes()
    for content in (b"", whole[:-1], whole[:99] + bytes([whole[99] ^ 1]) + whole[100:]):
        path.write_bytes(content)
        assert store.find(key) is None
    assert "damaged" in store.damaged[key]
    store.save(record)
    assert store.find(key) is not None
    store.path(other).parent.mkdir()
    path.rename(store.path(other))
    assert store.find(other) is None


def test_the_record_of_an_evolution_has_the_best_of_each_generation(store: Store) -> None:
    condition = EvolutionCondition.evolve("CartPole-v1").with_episodes(12)
    store.save(execute(condition, 2, condition.key(2)))
    record = store.load(condition.key(2))
    generations, best = generations_of(record), record.episodes.returns.reshape(2, 6).max(axis=1)
    assert generations is not None
    assert generations.returns.tolist() == best.tolist()
    assert record.started == (generations.n_nodes[0], generations.n_edges[0])


def test_two_processes_may_save_the_same_record_while_a_third_reads(
    store: Store, record: Record
) -> None:
    store.save(record)
    n_read = 0
    with LocalProcesses(2) as processes:
        saving = [processes.submit(save_often, store, record, 25) for _ in range(2)]
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
    with pytest.raises(ConfigError, match="cannot be made"):
        Store(tmp_path / "file" / "store").check_writable()
