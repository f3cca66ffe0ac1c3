"""The store gives back what was put in, or nothing: never half of it."""

from pathlib import Path

import pytest

from smgrnn.config import EvolutionConfig, RunConfig
from smgrnn.errors import ConfigError, FileFormatError
from smgrnn.experiments import Condition, LocalProcesses, RunRecord, Store
from smgrnn.experiments.execution import execute
from support.trials import asking, busy, results, tiny

pytestmark = pytest.mark.xdist_group("experiments")

KEY = "ab" * 32


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    condition = busy(tmp_path_factory.mktemp("teacher"))
    return execute(condition, 1, condition.key(1)).record


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def test_a_record_comes_back_as_it_was(store: Store, record: RunRecord) -> None:
    store.save(KEY, record)
    assert store.has(KEY)
    loaded = store.load(KEY)
    assert results(loaded) == results(record)
    assert loaded.seconds == record.seconds
    assert [column.dtype for column in loaded.episodes] == [c.dtype for c in record.episodes]
    assert loaded.graph == record.graph


def test_a_record_says_what_ran_and_what_came_of_it(record: RunRecord) -> None:
    assert isinstance(record.config, RunConfig)
    assert record.config.seed == 1
    assert record.started == (6, record.summary["n_edges"] - record.summary["net_growth_edges"])
    assert record.graph.n_nodes == record.summary["n_nodes"] == record.episodes.n_nodes[-1]
    grown = record.changes["add_node relay"] - record.changes["remove_node orphan"]
    assert grown == record.summary["net_growth_nodes"]
    assert record.held_out.mean() == record.summary["held_out_mean"]
    assert record.generations is None
    assert record.warnings == ()
    assert set(record.versions) == {"smgrnn", "numpy", "numba", "gymnasium", "python"}


def test_the_record_of_an_evolution_has_the_best_of_each_generation(store: Store) -> None:
    condition = Condition.evolve("CartPole-v1").with_episodes(12)
    store.save(KEY, execute(condition, 2, condition.key(2)).record)
    record = store.load(KEY)
    assert isinstance(record.config, EvolutionConfig)
    assert record.generations is not None
    best = record.episodes.returns.reshape(2, 6).max(axis=1)
    assert record.generations.returns.tolist() == best.tolist()
    assert record.started == (record.generations.n_nodes[0], record.generations.n_edges[0])
    assert record.graph.n_edges == record.summary["n_edges"]


def test_a_limit_that_stopped_growth_is_on_record(tmp_path: Path) -> None:
    condition = busy(tmp_path, max_parameters=9)
    record = execute(condition, 0, condition.key(0)).record
    assert len(record.warnings) == 1
    assert "max_edges=9" in record.warnings[0]


def test_there_is_nothing_in_an_empty_store(store: Store) -> None:
    assert not store.has(KEY)
    assert store.damaged == {}
    with pytest.raises(FileFormatError, match="There is no file"):
        store.load(KEY)


def test_a_truncated_record_is_never_read(store: Store, record: RunRecord) -> None:
    store.save(KEY, record)
    whole = store.path(KEY).read_bytes()
    for n_bytes in (*range(0, 64), *range(64, len(whole), 499), len(whole) - 1):
        store.path(KEY).write_bytes(whole[:n_bytes])
        assert not store.has(KEY)
    assert "damaged" in store.damaged[KEY]
    store.save(KEY, record)
    assert store.has(KEY)


def test_a_record_with_a_wrong_byte_is_never_read(store: Store, record: RunRecord) -> None:
    store.save(KEY, record)
    whole = store.path(KEY).read_bytes()
    for place in range(0, len(whole), 311):
        changed = bytearray(whole)
        changed[place] ^= 1
        store.path(KEY).write_bytes(bytes(changed))
        assert not store.has(KEY)


def test_a_record_in_the_place_of_another_is_not_read(store: Store, record: RunRecord) -> None:
    store.save(KEY, record)
    other = "ac" * 32
    store.path(other).parent.mkdir()
    store.path(KEY).rename(store.path(other))
    assert not store.has(other)


def save_often(store: Store, record: RunRecord, n: int) -> None:
    for _ in range(n):
        store.save(KEY, record)


def test_two_processes_may_save_the_same_record_while_a_third_reads(
    store: Store, record: RunRecord
) -> None:
    store.save(KEY, record)
    n_read = 0
    with LocalProcesses(2) as processes:
        saving = [processes.submit(save_often, store, record, 50) for _ in range(2)]
        while not all(future.done() for future in saving):
            assert results(store.load(KEY)) == results(record)
            n_read += 1
        assert [future.result() for future in saving] == [None, None]
    assert n_read > 0
    assert [path.name for path in store.path(KEY).parent.iterdir()] == [store.path(KEY).name]


def test_records_are_found_by_experiment(store: Store, tmp_path: Path) -> None:
    conditions = {"few": tiny(tmp_path), "fewer": tiny(tmp_path, episodes=4)}
    for seed in (0, 2):
        condition = conditions["few"]
        store.save(condition.key(seed), execute(condition, seed, condition.key(seed)).record)
    found = store.records(asking(conditions, n_seeds=3))
    assert [record.settings["seed"] for record in found["few"]] == [0, 2]
    assert found["fewer"] == []


def test_a_store_that_cannot_be_made_is_met_at_the_door(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be made"):
        Store(tmp_path / "file" / "store").check_writable()
