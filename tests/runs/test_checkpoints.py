"""A run hands over the best student that it saw, and keeps the best one of every size."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smgrnn import Run, evaluate, load
from smgrnn.arrays import Floats
from smgrnn.errors import ConfigError
from smgrnn.policy import Policy
from smgrnn.runs.checkpoints import (
    FIRST_ROUND,
    FULL,
    ROUNDS,
    Checkpoints,
    best,
    halved,
    in_proportion,
    joined,
    offers,
)
from smgrnn.runs.distillation import Distillation
from smgrnn.runs.record import Record
from smgrnn.runs.start import new_run
from smgrnn.seeding import episode_seed
from smgrnn.tasks import find_task
from support.evolutions import evolved
from support.runs import contents, planned, played, settings, trained


def rounds(n_episodes: int) -> list[int]:
    """Return the episodes that a network has played after each round of a run."""
    each = [in_proportion(n, n_episodes) for n in (FIRST_ROUND, *(n for _, n in ROUNDS))]
    return [sum(each[: n + 1]) for n in range(len(each))]


def sizes(checkpoints: Checkpoints) -> list[int]:
    return [each.n_parameters for each in checkpoints]


# --- who stays, who goes on, who wins -------------------------------------------------------------


def test_a_member_that_is_neither_smaller_nor_better_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    n = ROUNDS[0][0]  # so many of the best stay, though a smaller one is better
    checkpoints = joined((), [played(1, 100.0), *(played(size, -size) for size in range(2, 40))])
    assert sizes(checkpoints) == list(range(1, n + 1))
    monkeypatch.setattr("smgrnn.runs.checkpoints.ROUNDS", ((1, 15),))
    checkpoints = joined((), [played(20, 5.0), played(10, 3.0), played(15, 3.0), played(30, 4.0)])
    assert sizes(checkpoints) == [20, 10]
    assert sizes(joined(checkpoints, [played(12, 4.0), played(9, 3.0)])) == [20, 12, 9]
    assert sizes(joined(checkpoints, [played(10, 6.0)])) == [10]


def test_the_best_got_furthest_then_did_best_then_is_smaller_then_later() -> None:
    checkpoints = (played(9, 9.0), played(8, 1.0, 1.0), played(3, 2.0), played(4, 3.0))
    for limit, size in ((99, 8), (8, 8), (7, 4), (3, 3), (2, None)):
        assert getattr(best(checkpoints, limit), "n_parameters", None) == size
    equal = (played(9, 5.0, episode=3), played(8, 5.0, episode=1), played(8, 5.0, episode=2))
    assert best(equal) is equal[2]


def test_the_best_of_few_episodes_play_more_and_the_best_of_these_many() -> None:
    """Of 12 the eight that were best at once play on; of these the three that are the smallest."""

    def by_luck(policy: Policy, first: int, last: int) -> Floats:
        return np.full(last - first, -float(policy.graph.n_edges))

    checkpoints = tuple(played(size, *[size] * FIRST_ROUND) for size in range(1, 13))
    *_, last = halved(checkpoints, by_luck, FULL)
    counts = {each.n_parameters: each.returns.size for each in last}
    few = dict.fromkeys(range(1, 5), 4)
    assert counts == {**few, 5: 119, 6: 119, 7: 119, **dict.fromkeys(range(8, 13), 19)}
    winner = best(last)
    assert winner is not None
    assert winner.returns.tolist() == [5.0] * 4 + [-5.0] * 115


def test_a_student_above_the_limit_is_not_offered(tmp_path: Path) -> None:
    plan = planned(tmp_path, max_parameters=20)
    assert len(Distillation(plan).candidates) == 1
    assert Distillation(replace(plan, max_parameters=1)).candidates == []


# --- a run that chooses ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a short run that hands over the best student."""
    folder = tmp_path_factory.mktemp("runs")
    trained(folder, seed=5, select="return", episodes=60)
    return folder / "run"


@pytest.mark.parametrize(
    ("task", "changes"),
    [
        ("CartPole-v1", {"episodes": 70}),
        ("CartPole-v1", {"episodes": 5, "normalise": True}),
        ("Pendulum-v1", {"episodes": 1}),
        ("xor", {"episodes": 70}),
    ],
)
def test_training_does_not_notice_that_students_are_tried(
    tmp_path: Path, task: str, changes: dict[str, Any]
) -> None:
    final, chosen = (
        trained(tmp_path, task, name=name, held_out=2, select=name, **changes).record
        for name in ("final", "return")
    )
    assert chosen.final.graph == final.final.graph
    for part in ("episodes", "edits", "snapshots"):
        for ours, theirs in zip(getattr(chosen, part), getattr(final, part), strict=True):
            assert np.array_equal(ours, theirs)
    assert chosen.resume is not None
    assert final.resume is not None
    assert {n: a.tobytes() for n, a in chosen.resume.items()} == {
        n: a.tobytes() for n, a in final.resume.items()
    }
    assert chosen.checkpoints
    assert final.checkpoints == ()


def test_a_solved_run_stops_where_it_stops_without_choosing(tmp_path: Path) -> None:
    """Compiled episodes come 20 at a time; an offer among them must not end the run."""
    ended = []
    for select in ("final", "return"):
        plan = planned(tmp_path, episodes=100, stop_after=1, select=select)
        task = replace(find_task("CartPole-v1"), reward_threshold=1.0)
        run = Run(replace(plan, task=replace(task, make=None)), task=task)
        ended.append(run.train().episodes.n)
    assert ended[0] == ended[1] < 100


def test_a_run_hands_over_the_winner_of_all_that_it_saw(tmp_path: Path) -> None:
    """Played again by hand: what is offered, and three rounds."""
    run = trained(tmp_path, name=None, seed=5, select="return", episodes=60, checkpoint_every=7)
    replayed = Distillation(run.plan)
    offered = []
    episodes = [*offers(60), 60]
    for first, last in pairwise([0, *episodes]):
        replayed.train(first, last)
        offered.append(replayed.policy)
    seeds = [
        episode_seed(5, number, "choosing") for number in range(rounds(60)[-1])
    ]  # the same for all
    rows = np.array([replayed.backend.play(policy, seeds).returns for policy in offered])
    left = np.arange(len(offered))
    for (n, _), n_played in zip(ROUNDS, rounds(60)[:2], strict=True):
        keys = [(rows[i, :n_played].mean(), -offered[i].graph.n_edges, i) for i in left]
        left = left[np.array([i for i, _ in sorted(enumerate(keys), key=lambda k: k[1])][::-1][:n])]
    winner = max(left, key=lambda i: (rows[i].mean(), -offered[i].graph.n_edges, i))
    assert run.selected.policy.graph == offered[winner].graph
    assert run.selected.episode == episodes[winner]
    assert run.selected.returns.tolist() == rows[winner].tolist()
    assert run.held_out.tolist() == run.score(100).tolist()
    assert run.held_out.tolist() != run.score(100, final=True).tolist()


@pytest.mark.parametrize(("n", "most"), [(40, 40), (200, 110), (1400, 710)])
def test_selection_plays_in_proportion_to_the_run_and_its_steps_are_recorded(
    tmp_path: Path, n: int, most: int
) -> None:
    times = trained(
        tmp_path, "recall", None, preset="frugal", plasticity={}, episodes=n
    ).record.times
    assert most / 2 < times.choosing_episodes <= most
    assert times.choosing_steps == 10 * times.choosing_episodes  # an episode has 10 steps
    assert times.choosing > 0.0


def test_the_last_student_is_offered_too(tmp_path: Path) -> None:
    """XOR stops when it is solved, between two offers, and resumed it does not offer it twice."""
    run = trained(tmp_path, "xor", select="return", plasticity={}, episodes=1000)
    last = run.episodes.n
    assert last < 1000
    assert last not in offers(1000)
    offered = [each.episode for each in run.record.checkpoints]
    assert last in offered
    again = Run.resume(tmp_path / "run").train()
    assert [each.episode for each in again.checkpoints] == offered


def test_an_interrupt_while_students_play_on_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = new_run("CartPole-v1", settings(tmp_path, select="return"), tmp_path / "a")
    n = run.plan.n_episodes
    with monkeypatch.context() as patch:
        usual = Distillation.try_out

        def interrupt(
            self: Distillation, policy: Policy, first: int, last: int
        ) -> tuple[Floats, int]:
            if last == rounds(n)[-1]:
                raise KeyboardInterrupt
            return usual(self, policy, first, last)

        patch.setattr(Distillation, "try_out", interrupt)
        with pytest.raises(KeyboardInterrupt):
            run.train()
    kept = Record.load(tmp_path / "a")
    assert kept.is_finished
    assert max(each.returns.size for each in kept.checkpoints) == rounds(n)[1]
    assert kept.held_out.size == 0
    Run.resume(tmp_path / "a").train()
    trained(tmp_path, name="b", select="return")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    Run.resume(tmp_path / "a").train()
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_a_run_resumed_during_selection_does_not_offer_its_last_student_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was not among the best was taken for one that had not been offered yet."""
    record = trained(tmp_path, select="return").record
    rest = tuple(each for each in record.checkpoints if each.episode != record.episodes.n)
    replace(record, checkpoints=rest, held_out=np.empty(0)).save(tmp_path / "run")
    monkeypatch.setattr(Run, "_offered", lambda *_: pytest.fail("It was offered again."))
    again = Run.resume(tmp_path / "run").train()
    assert {each.episode for each in again.checkpoints} == {each.episode for each in rest}


def test_an_interrupt_after_the_last_pruning_repeats_none_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The learner was resumed unpruned, pruned again, and the edits were recorded twice."""
    changes: Any = {"preset": "frugal", "select": "return", "max_parameters": 6, "episodes": 3}
    changes["plasticity"] = {}
    run = new_run("CartPole-v1", settings(tmp_path, **changes), tmp_path / "a")

    def interrupt(*_: Any) -> Floats:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Distillation, "try_out", interrupt)
        with pytest.raises(KeyboardInterrupt):
            run.train()
    assert run.final.graph.n_edges == 6
    Run.resume(tmp_path / "a").train()
    trained(tmp_path, name="b", **changes)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


# --- what is kept, and what is taken --------------------------------------------------------------


def test_load_takes_what_is_handed_over_the_final_or_one_of_few_parameters(folder: Path) -> None:
    record = Record.load(folder)
    assert load(folder).graph == record.selected.policy.graph != record.final.graph
    assert load(folder, final=True).graph == record.final.graph
    for limit in sorted(each.n_parameters for each in record.checkpoints):
        found = record.student(max_parameters=limit)
        assert load(folder, max_parameters=limit).graph == found.policy.graph
        rivals = [each for each in record.checkpoints if each.n_parameters <= limit]
        assert found.rank == max(each.rank for each in rivals)
        assert np.array_equal(
            evaluate(record, 3, max_parameters=limit),
            Run.resume(folder).score(3, max_parameters=limit),
        )
    assert np.array_equal(evaluate(record, 100), record.held_out)
    assert not np.array_equal(evaluate(record, 100, final=True), record.held_out)


def test_the_summary_has_what_is_handed_over(folder: Path) -> None:
    run = Run.resume(folder)
    summary, final = run.summary(), run.final
    selected, last = load(folder), load(folder, final=True)
    assert run.graph == run.policy.graph == selected.graph != final.graph == last.graph
    assert summary["n_parameters"] == run.n_parameters == selected.graph.n_edges
    assert summary["final"]["n_parameters"] == final.n_parameters == last.graph.n_edges
    assert (summary["n_nodes"], summary["n_hidden"]) == (run.graph.n_nodes, run.graph.n_hidden)
    assert summary["selected_episode"] == run.selected.episode < final.episode
    assert (summary["held_out_mean"], summary["held_out_std"]) == (
        run.held_out.mean(),
        run.held_out.std(),
    )


def test_a_champion_is_taken_if_it_is_small_enough(tmp_path: Path) -> None:
    champion = evolved(tmp_path / "run").champion.policy.graph
    assert load(tmp_path / "run", max_parameters=champion.n_edges).graph == champion
    with pytest.raises(ConfigError, match=f"more than {champion.n_edges - 1}"):
        load(tmp_path / "run", max_parameters=champion.n_edges - 1)
