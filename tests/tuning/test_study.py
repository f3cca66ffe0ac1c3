"""A study finds what a question asks, the same whoever runs it and however often it is killed.

Areas are counted by hand.
"""

import json
import math
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smgrnn.batch import Condition
from smgrnn.batch.runner import execute
from smgrnn.errors import ConfigError
from smgrnn.runs.record import Record
from smgrnn.tuning.study import Point, Study, Trial, area, front
from support.errands import wait_for
from support.studies import N_TRIALS, outcomes, run_study, run_tiny, tiny_study
from support.trials import Inline, Replacing

pytestmark = pytest.mark.xdist_group("experiments")
N_KILLS = 4
WORST = Point(0.0, 1000.0)
POINTS = st.lists(
    st.builds(Point, st.integers(0, 9).map(float), st.integers(1, 1200).map(float)), min_size=1
)


def test_the_front_is_what_nothing_dominates_from_the_fewest_parameters() -> None:
    points = [Point(5.0, 100), Point(3.0, 10), Point(2.0, 20), Point(5.0, 50), Point(3.0, 10)]
    assert front(points) == [1, 4, 3]


def test_the_area_is_that_of_a_staircase_from_the_worst_point() -> None:
    # two decades at a return of 1, and one more point of return over one decade
    assert area([Point(1.0, 10.0), Point(2.0, 100.0)], WORST) == pytest.approx(2.0 + 1.0)
    assert area([Point(-1.0, 10.0), Point(5.0, 2000.0)], WORST) == 0.0


@given(POINTS, POINTS)
def test_more_points_never_cover_less_and_the_front_covers_what_all_do(
    some: list[Point], others: list[Point]
) -> None:
    assert area([*some, *others], WORST) >= area(some, WORST) - 1e-9
    chosen = [some[place] for place in front(some)]
    assert area(chosen, WORST) == pytest.approx(area(some, WORST))


@pytest.mark.parametrize(
    ("points", "known", "order"),
    [
        ([(9.0, 900), (4.0, 10), (4.0, 11)], (0.0, 100), [1, 2, 0]),  # not against one another
        ([(9.0, 900), (4.0, 10), (4.0, 11)], (4.0, 9), [0, 1, 2]),  # by what they add to the area
        ([(1.0, 50), (2.0, 50), (2.0, 40)], (3.0, 1), [2, 1, 0]),  # then by return and by size
    ],
)
def test_the_better_half_adds_most_beside_what_is_known(
    points: list[tuple[float, float]], known: Any, order: list[int], tmp_path: Path
) -> None:
    """A network of 6 parameters, lucky with its first seed, hid a good one of 23 beside it."""
    preset = Trial(number=0, settings={}, returns=(0.0,), parameters=(100,))
    beside = Trial(number=1, settings={}, returns=known[:1] * 2, parameters=known[1:] * 2)
    found = tiny_study(tmp_path, trials=[preset, beside])
    assert found.worst == WORST
    merits = [found.merit(Point(*each)) for each in points]
    assert sorted(range(3), key=lambda it: merits[it], reverse=True) == order


def test_poor_trials_are_stopped_early_and_only_whole_ones_are_on_the_front(
    tmp_path: Path,
) -> None:
    executor = Inline()
    found = run_tiny(tmp_path, executor, 8)
    assert [trial.number for trial in found.trials] == list(range(9))
    lengths = [len(trial.returns) for trial in found.trials]
    assert lengths[0] == 2
    assert sorted(lengths[1:5]) == sorted(lengths[5:9]) == [1, 1, 2, 2]
    assert [trial.number for trial in found.whole] == [i for i, n in enumerate(lengths) if n == 2]
    assert len(executor.calls) == found.n_runs == sum(lengths)
    assert all(trial in found.whole for trial in found.front)
    assert found.best.point.mean_return >= found.trials[0].point.mean_return


def test_a_longer_study_begins_with_the_trials_of_a_shorter_one(tmp_path: Path) -> None:
    executor, more, none = Inline(), Inline(), Inline()
    before = outcomes(run_tiny(tmp_path, executor, 3))  # rounded up to a whole batch
    found = run_tiny(tmp_path, more, 8)
    assert outcomes(found)[:5] == before
    assert (found.n_stored, len(more.calls)) == (len(executor.calls), found.n_runs)
    assert outcomes(run_tiny(tmp_path, none, 8)) == outcomes(found)
    assert none.calls == []


def _with_floor(folder: Path, floor: float | None) -> Study:
    """Return a study of three trials by hand, the preset first."""
    sizes = {(100.0, 300.0): 40, (150.0, 170.0): 10, (400.0, 420.0): 90}
    trials = [
        Trial(number=i, settings={}, returns=returns, parameters=(size, size))
        for i, (returns, size) in enumerate(sizes.items())
    ]
    return tiny_study(folder, floor=floor, trials=trials)


def test_the_area_counts_from_the_floor_and_ten_times_the_parameters(tmp_path: Path) -> None:
    found = _with_floor(tmp_path, 150.0)  # decades from 400 parameters to 10, 40 and 90
    expected = 10 * math.log10(40) + 40 * math.log10(10) + 210 * math.log10(400 / 90)
    assert found.area == pytest.approx(expected)


@pytest.mark.parametrize(
    ("floor", "numbers", "best"),
    [(None, [1, 0, 2], 0), (180.0, [0, 2], 0), (300.0, [2], 2), (500.0, [], 0)],
)
def test_points_below_the_floor_are_not_on_the_front(
    floor: float | None, numbers: list[int], best: int, tmp_path: Path
) -> None:
    found = _with_floor(tmp_path, floor)
    assert [trial.number for trial in found.front] == numbers
    assert found.best.number == best


def test_the_search_knows_that_the_preset_lacks_what_the_floor_asks(tmp_path: Path) -> None:
    """Without it Optuna took the preset for the one trial that counts."""
    study = tiny_study(tmp_path, "plasticity.window=2:200:log", floor=501.0)
    study.run(4, Inline())  # CartPole returns 500 at most
    assert (study.front, study.best, study.area) == ([], study.trials[0], 0.0)
    lacks = [it.constraints["floor"] for it in study._search.trials]
    assert lacks == pytest.approx([501.0 - it.point.mean_return for it in study.trials])


def _wait_after(seeds: dict[float, int], go: threading.Event, *args: Any) -> Record:
    """Run the first seeds of a trial, so many for its gain; the others wait."""
    if args[1] >= seeds.get(args[0].settings.gain, 1):
        go.wait()
    return execute(*args)


@pytest.mark.parametrize("n_of_preset", [0, 1, 2])
def test_when_the_time_is_over_trials_are_compared_by_the_seeds_that_they_have(
    n_of_preset: int, tmp_path: Path
) -> None:
    """The preset is run first; then each trial has its first seed, and waits for its second."""
    study, go = tiny_study(tmp_path, "gain=2:9"), threading.Event()
    rest = (_wait_after, {study.start.gain: n_of_preset}, go)

    def is_stuck(now: Study) -> None:
        n = n_of_preset if n_of_preset < 2 else 2 + 4
        if now.n_runs == n and (n == 6) == bool(now.trials):
            raise KeyboardInterrupt

    with ThreadPoolExecutor(8) as executor:
        with pytest.raises(KeyboardInterrupt):
            study.run(4, Replacing(executor, *rest), watch=is_stuck)
        go.set()
    assert study.is_cut
    lengths = [len(trial.returns) for trial in study.trials]
    assert (lengths, study.n_seeds) == [([], 0), ([1], 1), ([1] * 5, 1)][n_of_preset]
    if n_of_preset:
        assert study.whole == study.trials
        assert study.best.point.mean_return >= study.trials[0].point.mean_return
    resumed, alone = (tiny_study(it, "gain=2:9") for it in (tmp_path, tmp_path / "alone"))
    for each in (resumed, alone):
        each.run(4, Inline())
    assert resumed.n_stored == study.n_runs
    assert outcomes(resumed) == outcomes(alone)


def test_the_limit_of_time_ends_a_study_in_the_middle_of_a_batch(tmp_path: Path) -> None:
    study, go = tiny_study(tmp_path), threading.Event()
    ends = time.monotonic() + 3.0
    with ThreadPoolExecutor(8) as executor:
        study.run(4, Replacing(executor, _wait_after, {study.start.gain: 0}, go), until=ends)
        go.set()
    assert (study.is_cut, study.trials, study.n_seeds) == (True, [], 0)


def test_settings_that_contradict_each_other_are_trials_without_runs(tmp_path: Path) -> None:
    study = tiny_study(tmp_path, "learning.rule=backprop,feedback", "learning.through_time=1:4")
    study.run(8, Inline())
    refused = [trial for trial in study.trials if trial.error]
    assert refused
    assert all("of the rule 'feedback'" in trial.error for trial in refused)
    assert all(trial.returns == () for trial in refused)


def _fail(*_: Any) -> Any:
    raise ValueError("It broke.")


def _fail_later(*args: Any) -> Record:
    """Fail all runs but those of seed 0 and of the preset."""
    is_good = args[1] == 0 or args[0].settings.gain == 1
    return execute(*args) if is_good else _fail()


def test_a_run_that_failed_is_not_run_again(tmp_path: Path) -> None:
    found = run_tiny(tmp_path, Replacing(Inline(), _fail_later))
    broken = [trial for trial in found.trials if trial.error]
    assert [trial.error for trial in broken] == ["It broke.", "It broke."]
    assert list(json.loads((tmp_path / "failed.json").read_text()).values()) == ["It broke."] * 2
    again = Inline()
    assert outcomes(run_tiny(tmp_path, again)) == outcomes(found)
    assert again.calls == []


def _lose(*_: Any) -> None:
    raise BrokenExecutor("It died.")


def _run_elsewhere(condition: Condition, seed: int, key: str) -> Record:
    return execute(condition, seed, f"not {key}")


@pytest.mark.parametrize(
    ("fn", "sentence"), [(_lose, "It died."), (_run_elsewhere, "another smgrnn, or other experts")]
)
def test_a_run_that_no_worker_could_run_stops_the_study_and_is_run_again(
    fn: Callable[..., Any], sentence: str, tmp_path: Path
) -> None:
    """A lost worker, or one with another smgrnn, made its trials fail for ever."""
    whole = outcomes(run_tiny(tmp_path / "whole", Inline()))
    folder = tmp_path / "stopped"
    run_tiny(folder, Inline(), 0)  # the preset itself
    with pytest.raises(ConfigError, match="Repeat the command to resume it: .*" + sentence):
        run_tiny(folder, Replacing(Inline(), fn))
    assert not (folder / "failed.json").exists()
    assert outcomes(run_tiny(folder, Inline())) == whole


def test_a_preset_that_cannot_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="The preset itself cannot be run: It broke"):
        run_tiny(tmp_path, Replacing(Inline(), _fail))


def _kept(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the records that there are, each with what changes if it is written again."""
    files = folder.glob("store/*/*.safetensors")
    return {it.name: (it.stat().st_ino, it.stat().st_mtime_ns) for it in files}


def test_killed_four_times_it_loses_no_finished_run_and_runs_none_twice(tmp_path: Path) -> None:
    """Killed by progress: with the preset half done, and then after every three more runs."""
    tiny_study(tmp_path)  # writes the teacher
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["support.studies"])
    kept: dict[str, tuple[int, int]] = {}
    for n_kept in range(0, 3 * N_KILLS, 3):
        process = context.Process(target=run_study, args=(tmp_path,), daemon=True)
        process.start()
        wait_for(lambda: len(_kept(tmp_path)) > n_kept)  # noqa: B023  (called at once)
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        now = _kept(tmp_path)
        assert kept.items() <= now.items()
        assert len(now) > len(kept)
        kept = now
    found = run_study(tmp_path)
    assert len(found.trials) == 1 + N_TRIALS
    assert found.n_stored == len(kept)
    assert kept.items() <= _kept(tmp_path).items()
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "teacher.safetensors").write_bytes((tmp_path / "teacher.safetensors").read_bytes())
    assert outcomes(run_study(alone)) == outcomes(found)
