"""The runner runs what is missing, once, and keeps what is finished, whoever dies."""

from concurrent.futures import BrokenExecutor
from pathlib import Path

import pytest

from smgrnn.batch import AnyCondition, Condition, LocalProcesses, Store, run_experiments
from smgrnn.batch.experiment import queue_runs
from smgrnn.batch.runner import Progress, execute
from smgrnn.errors import ConfigError
from smgrnn.runs.sequences import Sequence
from smgrnn_paper.evolution import EvolutionCondition
from support.trials import Inline, Replacing, asking, results, tiny

pytestmark = pytest.mark.xdist_group("experiments")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def test_what_several_experiments_need_is_run_once_and_then_never_again(
    tmp_path: Path, store: Store
) -> None:
    shared, alone = tiny(tmp_path), tiny(tmp_path, n_hidden=1)
    experiments = [
        asking({"a": shared, "again": shared}, name="one-v1"),
        asking({"b": tiny(tmp_path), "c": alone}, name="other-v1"),
    ]
    executor = Inline()
    done = run_experiments(experiments, store, executor)
    assert (done.n_runs, done.n_found, done.n_done, done.failures) == (4, 0, 4, [])
    kept = [store.load(run.key) for run in queue_runs(experiments)]
    assert done.steps == sum(record.summary()["steps"] for record in kept)
    records = store.records(experiments[0])
    assert list(map(results, records["a"])) == list(map(results, records["again"]))
    again = run_experiments(experiments, store, executor)
    assert (again.n_found, again.n_done, len(executor.calls)) == (4, 0, 4)


def test_only_what_the_store_lacks_is_run(tmp_path: Path, store: Store) -> None:
    experiment = asking({"a": tiny(tmp_path)}, n_seeds=3)
    run_experiments([experiment.scaled(seeds=2)], store, Inline())
    damaged = store.path(experiment.conditions["a"].key(1))
    damaged.write_bytes(damaged.read_bytes()[:-1])
    executor = Inline()
    done = run_experiments([experiment], store, executor)
    assert (done.n_found, done.n_done) == (1, 2)
    assert sorted(call[1] for call in executor.calls) == [1, 2]
    assert list(store.damaged) == [experiment.conditions["a"].key(1)]


def test_the_longest_runs_come_first(tmp_path: Path) -> None:
    conditions: dict[str, AnyCondition] = {
        "short": tiny(tmp_path),
        "evolved": EvolutionCondition.evolve("CartPole-v1", rollouts=100),
        "growing": Condition.distill(
            "CartPole-v1", preset="paper", episodes=100, student="growth-only"
        ),
        "gymnasium": Condition.distill("LunarLander-v3", preset="paper", episodes=100),
        "unchecked": Condition.distill(
            "LunarLander-v3", preset="paper", episodes=100, student="growth-only"
        ),
    }
    order = [run.name.split()[1] for run in queue_runs([asking(conditions, n_seeds=1)])]
    assert order == ["unchecked", "gymnasium", "growing", "evolved", "short"]


def test_a_run_that_fails_is_reported_and_does_not_stop_the_others(
    tmp_path: Path, store: Store
) -> None:
    impossible = tiny(tmp_path, learning={"optimizer": "sgd", "learning_rate": 1e308})
    experiment = asking({"good": tiny(tmp_path), "bad": impossible})
    done = run_experiments([experiment], store, Inline())
    assert (done.n_done, done.n_lost) == (2, 0)
    names = [(failure.name, failure.is_own) for failure in done.failures]
    assert names == [("trial-v1 bad seed 0", True), ("trial-v1 bad seed 1", True)]
    assert "A weight became infinite at update" in done.failures[0].error
    assert "in _train" in done.failures[0].details


def lose(*_: object) -> None:
    raise BrokenExecutor("It died.")


def test_a_run_that_always_loses_its_worker_is_given_up(tmp_path: Path, store: Store) -> None:
    executor = Inline()
    experiment = asking({"deadly": tiny(tmp_path)}, n_seeds=1)
    done = run_experiments([experiment], store, Replacing(executor, lose))
    assert (done.n_lost, len(executor.calls)) == (3, 3)
    assert [(failure.error, failure.is_own) for failure in done.failures] == [("It died.", False)]


def test_an_executor_that_is_shut_down_fails_every_run(tmp_path: Path, store: Store) -> None:
    with LocalProcesses(1) as processes:
        pass
    done = run_experiments([asking({"a": tiny(tmp_path)})], store, processes)
    failures = {(failure.error, failure.is_own) for failure in done.failures}
    assert failures == {("cannot schedule new futures after shutdown", False)}
    assert len(done.failures) == 2


def test_a_worker_of_another_version_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="another smgrnn, or other experts"):
        execute(tiny(tmp_path), 0, tiny(tmp_path).key(1))


def test_an_interrupt_keeps_what_is_finished(tmp_path: Path, store: Store) -> None:
    experiment = asking({"a": tiny(tmp_path)}, n_seeds=6)

    def interrupt(progress: Progress) -> None:
        if progress.n_done == 2:
            raise KeyboardInterrupt

    executor = Inline()  # has finished all by then
    with pytest.raises(KeyboardInterrupt):
        run_experiments([experiment], store, executor, watch=interrupt)
    assert run_experiments([experiment], store, executor).n_found == 6


def test_a_watch_sees_every_run(tmp_path: Path, store: Store) -> None:
    seen = []

    def watch(progress: Progress) -> None:
        seen.append((progress.n_done, progress.latest and progress.latest[0]))

    run_experiments([asking({"a": tiny(tmp_path)})], store, Inline(), watch=watch)
    assert seen == [(0, None), (1, "trial-v1 a seed 0"), (2, "trial-v1 a seed 1")]


def test_the_record_of_a_sequence_counts_the_effort_of_all_its_stages(store: Store) -> None:
    """Of a sequence the last stage is kept; the steps and seconds of the others were lost."""
    tasks = ("CartPole-v1", "CartPole-v1,mirrored", "CartPole-v1")
    condition = Condition.sequence(tasks, preset="paper", episodes=3, held_out=1)
    record = execute(condition, 0, condition.key(0))
    stages = Sequence(condition.plan(0).stages).train().records
    assert record.spent.steps == sum(int(each.episodes.steps.sum()) for each in stages)
    assert record.spent.steps > record.summary()["steps"] == stages[-1].summary()["steps"]
    assert record.before.seconds > 0.0
    store.save(record)
    assert store.load(condition.key(0)).spent == record.spent
