"""A run hands over the best student that it saw, and keeps the best one of every size."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file

import smgrnn
from smgrnn.arrays import Floats
from smgrnn.errors import ConfigError, FileFormatError
from smgrnn.policy import Policy
from smgrnn.runs import Plan, Record, Run, evaluate, load
from smgrnn.runs.distillation import Distillation
from smgrnn.runs.family import FIRST_ROUND, ROUNDS, Family, best, halved, joined, offers
from smgrnn.runs.run import new_run
from smgrnn.seeding import episode_seed
from smgrnn.storage import write_arrays
from smgrnn.tasks import find_task
from support.evolutions import evolved
from support.runs import contents, planned, played, settings, trained

LAST = FIRST_ROUND + sum(n for _, n in ROUNDS)


def sizes(family: Family) -> list[int]:
    return [each.n_parameters for each in family]


# --- who stays, who goes on, who wins -------------------------------------------------------------


def test_a_member_that_is_neither_smaller_nor_better_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smgrnn.runs.family.ROUNDS", ((1, 15),))
    family = joined((), [played(20, 5.0), played(10, 3.0), played(15, 3.0), played(30, 4.0)])
    assert sizes(family) == [20, 10]
    assert sizes(joined(family, [played(12, 4.0), played(9, 3.0)])) == [20, 12, 9]
    assert sizes(joined(family, [played(10, 6.0)])) == [10]


def test_the_best_few_stay_though_a_smaller_one_is_better() -> None:
    n = ROUNDS[0][0]
    family = joined((), [played(1, 100.0), *(played(size, -size) for size in range(2, 40))])
    assert sizes(family) == list(range(1, n + 1))


def test_of_equals_the_smaller_and_then_the_later_is_best() -> None:
    family = (played(9, 5.0, episode=3), played(8, 5.0, episode=1), played(8, 5.0, episode=2))
    found = best(family)
    assert found is not None
    assert (found.n_parameters, found.episode) == (8, 2)


def test_who_got_further_outranks_who_did_better_in_fewer_episodes() -> None:
    family = (played(9, 9.0), played(8, 1.0, 1.0), played(3, 2.0), played(4, 3.0))
    for limit, size in ((99, 8), (8, 8), (7, 4), (3, 3)):
        found = best(family, limit)
        assert found is not None
        assert found.n_parameters == size
    assert best(family, 2) is None
    assert best(()) is None


def by_luck(policy: Policy, first: int, last: int) -> Floats:
    """Return returns by which a smaller student is better, but after its first episodes only."""
    return np.full(last - first, -float(policy.graph.n_edges))


def test_the_best_of_few_episodes_play_more_and_the_best_of_these_many() -> None:
    """Of 12 the eight that were best at once play on; of these the three that are the smallest."""
    family = tuple(played(size, *[size] * FIRST_ROUND) for size in range(1, 13))
    *_, last = halved(family, by_luck)
    counts = {each.n_parameters: each.returns.size for each in last}
    few = dict.fromkeys(range(1, 5), 4)
    assert counts == {**few, 5: 119, 6: 119, 7: 119, **dict.fromkeys(range(8, 13), 19)}
    winner = best(last)
    assert winner is not None
    assert winner.n_parameters == 5
    assert winner.returns.tolist() == [5.0] * 4 + [-5.0] * 115


def test_a_choice_that_was_stopped_goes_on_to_the_same_end() -> None:
    family = tuple(played(size, *[size] * FIRST_ROUND) for size in range(1, 13))
    stages = list(halved(family, by_luck))
    assert len(stages) == sum(n for n, _ in ROUNDS)
    for number, stage in enumerate(stages):
        later = list(halved(stage, by_luck))
        assert len(later) == len(stages) - number - 1
        if later:
            assert [each.rank for each in later[-1]] == [each.rank for each in stages[-1]]


def test_all_students_are_tried_on_the_same_episodes_of_their_own(tmp_path: Path) -> None:
    distillation = Distillation(planned(tmp_path, seed=3))
    seeds = [episode_seed(3, number, "choosing") for number in range(6)]
    expected = distillation.backend.play(distillation.policy, seeds).returns
    assert distillation.try_out(distillation.policy, 0, 6).tolist() == expected.tolist()
    assert distillation.try_out(distillation.policy, 4, 6).tolist() == expected[4:].tolist()


def test_a_student_above_the_limit_is_not_offered(tmp_path: Path) -> None:
    plan = planned(tmp_path, parameters=20)
    assert plan.parameters == 20
    assert len(Distillation(plan).candidates) == 1
    assert Distillation(replace(plan, parameters=1)).candidates == []


# --- a run that chooses ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a short run that hands over the best student."""
    folder = tmp_path_factory.mktemp("runs")
    trained(folder, seed=5, handover="best", episodes=60)
    return folder / "run"


@pytest.mark.parametrize(
    ("task", "changes"),
    [
        ("CartPole-v1", {"episodes": 70}),
        ("CartPole-v1", {"episodes": 20, "env_backend": "gymnasium"}),
        ("CartPole-v1", {"episodes": 5, "normalise": True}),
        ("Pendulum-v1", {"episodes": 3}),
        ("xor", {"episodes": 70}),
    ],
)
def test_training_does_not_notice_that_students_are_tried(
    tmp_path: Path, task: str, changes: dict[str, Any]
) -> None:
    final, chosen = (
        trained(tmp_path, task, name=name, held_out=2, handover=name, **changes).record
        for name in ("final", "best")
    )
    assert chosen.graph == final.graph
    for part in ("episodes", "edits", "snapshots"):
        for ours, theirs in zip(getattr(chosen, part), getattr(final, part), strict=True):
            assert np.array_equal(ours, theirs)
    assert chosen.resume is not None
    assert final.resume is not None
    assert {n: a.tobytes() for n, a in chosen.resume.items()} == {
        n: a.tobytes() for n, a in final.resume.items()
    }
    assert chosen.family
    assert final.family == ()


def test_a_solved_run_stops_where_it_stops_without_choosing(tmp_path: Path) -> None:
    """Compiled episodes come 20 at a time; an offer among them must not end the run."""
    ended = []
    for handover in ("final", "best"):
        plan = planned(tmp_path, episodes=100, stop_after=1, handover=handover)
        task = replace(find_task("CartPole-v1"), reward_threshold=1.0)
        run = Run(replace(plan, task=replace(task, make=None)), task=task)
        ended.append(run.train().episodes.n)
    assert ended[0] == ended[1] < 100


def test_a_run_hands_over_the_winner_of_all_that_it_saw(tmp_path: Path) -> None:
    """Played again by hand: what is offered, and three rounds."""
    run = trained(tmp_path, name=None, seed=5, handover="best", episodes=60, checkpoint_every=7)
    replayed = Distillation(run.plan)
    offered = []
    for first, last in pairwise([0, *offers(60)]):
        replayed.train(first, last)
        offered.append(replayed.policy)
    rows = np.array([replayed.try_out(policy, 0, LAST) for policy in offered])
    left = np.arange(len(offered))
    for (n, _), n_played in zip(ROUNDS, (FIRST_ROUND, FIRST_ROUND + ROUNDS[0][1]), strict=True):
        keys = [(rows[i, :n_played].mean(), -offered[i].graph.n_edges, i) for i in left]
        left = left[np.array([i for i, _ in sorted(enumerate(keys), key=lambda k: k[1])][::-1][:n])]
    winner = max(left, key=lambda i: (rows[i].mean(), -offered[i].graph.n_edges, i))
    assert run.handed_over.policy.graph == offered[winner].graph
    assert run.handed_over.episode == offers(60)[winner]
    assert run.handed_over.returns.tolist() == rows[winner].tolist()
    assert run.held_out.tolist() == run.score(100).tolist()
    assert run.held_out.tolist() != run.score(100, final=True).tolist()


def test_the_last_student_is_offered_too(tmp_path: Path) -> None:
    """XOR stops when it is solved, between two offers, and resumed it does not offer it twice."""
    run = trained(tmp_path, "xor", handover="best", plasticity={}, episodes=1000)
    last = run.episodes.n
    assert last < 1000
    assert last not in offers(1000)
    offered = [each.episode for each in run.record.family]
    assert last in offered
    again = Run.resume(tmp_path / "run").train()
    assert [each.episode for each in again.family] == offered


def test_an_interrupt_while_students_play_on_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = new_run("CartPole-v1", settings(tmp_path, handover="best"), tmp_path / "a")
    with monkeypatch.context() as patch:
        usual = Distillation.try_out

        def interrupt(self: Distillation, policy: Policy, first: int, last: int) -> Floats:
            if last == LAST:
                raise KeyboardInterrupt
            return usual(self, policy, first, last)

        patch.setattr(Distillation, "try_out", interrupt)
        with pytest.raises(KeyboardInterrupt):
            run.train()
    kept = Record.load(tmp_path / "a")
    assert kept.is_finished
    assert max(each.returns.size for each in kept.family) == LAST - ROUNDS[1][1]
    assert kept.held_out.size == 0
    Run.resume(tmp_path / "a").train()
    trained(tmp_path, name="b", handover="best")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    Run.resume(tmp_path / "a").train()
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


# --- what is kept, and what is taken --------------------------------------------------------------


def test_a_family_comes_back_as_it_was(folder: Path, tmp_path: Path) -> None:
    record = Record.load(folder)
    record.save(tmp_path / "copy.safetensors")
    copy = Record.load(tmp_path / "copy.safetensors")
    assert copy.fingerprint == record.fingerprint
    assert [each.rank for each in copy.family] == [each.rank for each in record.family]
    for ours, theirs in zip(copy.family, record.family, strict=True):
        assert ours.policy.graph == theirs.policy.graph
        assert ours.returns.tolist() == theirs.returns.tolist()
    others = [
        replace(record, family=record.family[1:]),
        replace(record, family=(record.family[0]._replace(episode=1), *record.family[1:])),
        replace(record, family=(record.family[0]._replace(returns=np.ones(4)), *record.family[1:])),
    ]
    assert len({each.fingerprint for each in (record, *others)}) == 4


def test_load_takes_what_is_handed_over_the_final_or_one_of_few_parameters(folder: Path) -> None:
    record = Record.load(folder)
    assert load(folder).graph == record.handed_over.policy.graph != record.graph
    assert load(folder, final=True).graph == record.graph
    for limit in sorted(each.n_parameters for each in record.family):
        found = record.student(parameters=limit)
        assert load(folder, parameters=limit).graph == found.policy.graph
        rivals = [each for each in record.family if each.n_parameters <= limit]
        assert found.rank == max(each.rank for each in rivals)
        assert np.array_equal(
            evaluate(record, 3, parameters=limit), Run.resume(folder).score(3, parameters=limit)
        )
    assert np.array_equal(evaluate(record, 100), record.held_out)
    assert not np.array_equal(evaluate(record, 100, final=True), record.held_out)


def test_the_summary_has_what_is_handed_over(folder: Path, tmp_path: Path) -> None:
    record = Record.load(folder)
    assert record.summary()["handed_over"] == {
        "n_parameters": load(folder).graph.n_edges,
        "n_nodes": load(folder).graph.n_nodes,
        "held_out_mean": record.held_out.mean(),
        "held_out_std": record.held_out.std(),
        "episode": record.handed_over.episode,
    }
    assert record.summary()["n_parameters"] == record.graph.n_edges
    final = trained(tmp_path, episodes=4).summary()
    assert final["handed_over"] == {
        **{name: final[name] for name in ("n_parameters", "n_nodes")},
        **{name: final[name] for name in ("held_out_mean", "held_out_std")},
        "episode": 4,
    }


def test_a_champion_is_taken_if_it_is_small_enough(tmp_path: Path) -> None:
    champion = evolved(tmp_path / "run").champion.policy.graph
    assert load(tmp_path / "run", parameters=champion.n_edges).graph == champion
    with pytest.raises(ConfigError, match=f"more than {champion.n_edges - 1}"):
        load(tmp_path / "run", parameters=champion.n_edges - 1)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"episode": 61}, "did not play"),
        ({"episode": "two"}, "must be an int"),
        ({"network": {}}, "incomplete"),
        ({"returns": np.empty(0)}, "did not play"),
        ({"returns": np.array([np.nan])}, "is not what it should be"),
        ({"returns": np.array([1])}, "is not what it should be"),
        ({"graph.weight": np.array(["x"], dtype="S1").view(np.uint8)}, "is not what it should be"),
        ({"graph.source": None}, "family.0.graph.source"),
    ],
)
def test_a_family_that_contradicts_itself_is_refused(
    folder: Path, tmp_path: Path, change: dict[str, Any], reason: str
) -> None:
    path = folder / "model.safetensors"
    arrays = load_file(path)
    with safe_open(path, framework="numpy") as file:
        content = json.loads(file.metadata()["smgrnn"])["content"]
    for name, value in change.items():
        if name in content["family"][0]:
            content["family"][0][name] = value
        elif value is None:
            del arrays[f"family.0.{name}"]
        else:
            arrays[f"family.0.{name}"] = value
    write_arrays(tmp_path / "a.safetensors", "run", content, arrays)
    with pytest.raises(FileFormatError, match=reason) as caught:
        smgrnn.load(tmp_path / "a.safetensors")
    assert "does not describe a run" in str(caught.value)


# --- the share of the expert's return that was asked for ------------------------------------------


@pytest.mark.parametrize(("bar", "is_reached"), [(9.0, True), (9.9, False)])
def test_the_summary_says_whether_what_is_handed_over_keeps_its_share(
    tmp_path: Path, bar: float, is_reached: bool
) -> None:
    record = trained(tmp_path, name=None, episodes=2).record
    assert isinstance(record.plan, Plan)
    assert "kept" not in record.summary()
    plan = replace(record.plan, episodes=replace(record.plan.episodes, keep=0.9))
    returns = [0.0] * 25 + [9.0, 11.0] * 50  # chosen by the first 25, judged by the others
    family = (played(5, *returns),)
    bound = 10.0 - 1.645 * np.sqrt(1.0 / 99)  # the mean less 1.645 standard errors
    kept = replace(record, plan=plan, family=family, bar=bar).summary()["kept"]
    assert kept == {
        "share": 0.9,
        "bar": bar,
        "lower_bound": pytest.approx(bound),
        "is_reached": is_reached,
    }
    kept = replace(record, plan=plan, bar=bar).summary()["kept"]
    assert (kept["lower_bound"], kept["is_reached"]) == (None, False)  # not judged yet
