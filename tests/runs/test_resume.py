"""A run that was killed or interrupted goes on as if nothing had happened."""

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from smgrnn.episodes.table import Episodes
from smgrnn.errors import ConfigError, SmgrnnError
from smgrnn.experts import Expert, write_expert
from smgrnn.runs.folder import NOTED, RunFolder
from smgrnn.runs.record import Record
from smgrnn.runs.run import Run
from smgrnn.runs.start import new_run
from smgrnn_paper import Evolution, EvolutionConfig
from smgrnn_paper.evolution.evolution import new_evolution
from support.runs import contents, settings, trained


class Bomb:
    """Kills this process at the n-th moment: the end of a few episodes, or in the midst of a write.

    Moments are counted and not timed, so that a slow machine dies where a fast one does.
    """

    def __init__(self, n: int) -> None:
        self._left, self._sync, self._replace = n, os.fsync, Path.replace
        os.fsync = self.sync  # type: ignore[assignment]
        setattr(Path, "replace", lambda path, target: self.replace(path, target))  # noqa: B010

    def sync(self, descriptor: int) -> None:
        """Count a write, which is not on the disk yet."""
        self.count()
        self._sync(descriptor)

    def replace(self, path: Path, target: Path) -> Path:
        """Count a write, which has not taken its place yet."""
        self.count()
        return self._replace(path, target)

    def count(self, _: object = None) -> None:
        """Count a moment."""
        self._left -= 1
        if not self._left:
            os.kill(os.getpid(), signal.SIGKILL)


def distillation(folder: Path, name: str, **changes: Any) -> Run:
    """Return the run that one and the same command begins or goes on with."""
    return new_run("CartPole-v1", settings(folder, **changes), folder / name)


def evolution(folder: Path, name: str, **changes: Any) -> Evolution:
    """Return the search that one and the same command begins or goes on with."""
    return new_evolution("CartPole-v1", EvolutionConfig(**changes), folder / name)


def kill_and_repeat(kind: str, where: str, most: int, n_kills: int, **changes: Any) -> list[int]:
    """Train once undisturbed and once killed `n_kills` times, begun again each time, to the end.

    The runs go to `whole` and `killed`.  Returns the number of episodes on record after each kill.
    It forks, so it needs a process of its own.
    """
    begin: Any = {"distillation": distillation, "evolution": evolution}[kind]
    folder = Path(where)
    begin(folder, "whole", **changes).train()  # which also compiles, so that no child has to
    random.seed(0)
    counts = []
    for _ in range(n_kills):
        n, child = random.randint(1, most), os.fork()
        if not child:
            bomb = Bomb(n)
            begin(folder, "killed", **changes).train(bomb.count)
            os._exit(0)
        assert os.WIFSIGNALED(os.waitpid(child, 0)[1]), "it had finished before it was killed"
        record = RunFolder(folder / "killed").find_record()
        counts.append(0 if record is None else record.episodes.n)
    begin(folder, "killed", **changes).train()
    return counts


@pytest.fixture(scope="module")
def killed_and_repeated() -> Iterator[Callable[..., list[int]]]:
    """Return `kill_and_repeat`, called in one process of its own."""
    paths = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}  # of this package and `support`
    ends: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, __file__], env=paths, **ends) as process:
        questions, answers = process.stdin, process.stdout
        assert questions is not None
        assert answers is not None
        read = answers.readline

        def ask(*arguments: Any, **changes: Any) -> list[int]:
            print(json.dumps([*arguments, changes]), file=questions, flush=True)
            counts: list[int] = json.loads(read())
            assert counts == sorted(counts)
            assert counts[-1] > 0  # it was killed in mid-run
            return counts

        yield ask


@pytest.mark.parametrize(
    ("backend", "episodes", "most", "n_kills", "changes"),
    [
        ("compiled", 600, 40, 10, {}),
        ("compiled", 600, 40, 10, {"select": "return"}),
        ("compiled", 20, 30, 6, {"select": "return", "polish": 9000}),
        ("gymnasium", 100, 30, 6, {"normalise": True, "select": "return"}),
    ],
)
def test_a_run_killed_at_random_moments_ends_bit_identical(
    tmp_path: Path,
    killed_and_repeated: Callable[..., list[int]],
    backend: str,
    episodes: int,
    most: int,
    n_kills: int,
    changes: dict[str, Any],
) -> None:
    """Killed by the clock, a run on a busy machine could die before its first checkpoint."""
    changes = {"env_backend": backend, "episodes": episodes, "checkpoint_every": 5, **changes}
    counts = killed_and_repeated("distillation", str(tmp_path), most, n_kills, **changes)
    assert len(counts) == n_kills
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")


@pytest.mark.parametrize("method", ["neat", "ndp"])
def test_a_search_killed_at_random_moments_loses_one_generation_and_ends_bit_identical(
    tmp_path: Path, killed_and_repeated: Callable[..., list[int]], method: str
) -> None:
    """It was written when all was over: whatever stopped it before lost it all."""
    changes = {"method": method, "rollouts": 150, "population": 10, "seed": 1}
    counts = killed_and_repeated("evolution", str(tmp_path), 12, 5, **changes)
    assert all(count % 10 == 0 for count in counts)
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")
    tables = [(tmp_path / name / "generations.csv").read_bytes() for name in ("killed", "whole")]
    assert tables[0] == tables[1]


def test_a_search_that_was_bred_by_other_versions_does_not_go_on(tmp_path: Path) -> None:
    evolution(tmp_path, "run", rollouts=20, population=10).begin()
    record = Record.load(tmp_path / "run")
    row = evolution(tmp_path, "other", rollouts=10, population=10, seed=5).train().episodes
    replace(record, episodes=row._replace(n_edges=row.n_edges + 1)).save(tmp_path / "run")
    with pytest.raises(ConfigError, match="generation 1 on record is not the one that this"):
        Evolution.resume(tmp_path / "run").train()


@pytest.mark.parametrize(("student", "select"), [("smgrnn", "return"), ("mlp-100", "final")])
def test_an_interrupt_between_checkpoints_loses_no_episode(
    tmp_path: Path, student: str, select: str
) -> None:
    changes: dict[str, Any] = {"episodes": 100, "checkpoint_every": 100, "student": student}
    changes["select"] = select

    def interrupt(run: Run) -> None:
        if run.episodes.n >= 40:
            raise KeyboardInterrupt

    run = new_run("CartPole-v1", settings(tmp_path, **changes), tmp_path / "a")
    with pytest.raises(KeyboardInterrupt):
        run.train(interrupt)
    resumed = Run.resume(tmp_path / "a")
    assert resumed.episodes.n == 40
    resumed.train()
    trained(tmp_path, name="b", **changes)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_what_was_noted_after_the_record_is_gone_on_from_unless_it_is_damaged(
    tmp_path: Path,
) -> None:
    """A checkpoint that would have to wait too long for the disk outlives the process only."""
    folder, noted = tmp_path / "run", tmp_path / "run" / NOTED
    run = interrupted(tmp_path)
    later = distillation(tmp_path, "later", episodes=40)
    later.train()
    replace(later.record, plan=run.plan).save(noted)
    assert Run.resume(folder).episodes.n == 40
    noted.write_bytes(noted.read_bytes()[:-9])
    assert Run.resume(folder).episodes.n == 20
    replace(run.record, episodes=Episodes.start(0)).save(noted)
    assert Run.resume(folder).episodes.n == 20  # an earlier one does not count
    Run.resume(folder).train()
    assert not noted.exists()
    assert contents(folder) == contents(tmp_path / "later")


def test_how_often_a_run_is_saved_does_not_change_what_it_learns(tmp_path: Path) -> None:
    often, seldom = (
        trained(tmp_path, name=None, checkpoint_every=every, episodes=25) for every in (1, 25)
    )
    assert often.graph == seldom.graph
    assert often.episodes.loss.tolist() == seldom.episodes.loss.tolist()


def interrupted(folder: Path) -> Run:
    """Return a run that was stopped after 20 of 40 episodes."""

    def interrupt(run: Run) -> None:
        if run.episodes.n >= 20:
            raise KeyboardInterrupt

    run = new_run("CartPole-v1", settings(folder, episodes=40), folder / "run")
    with pytest.raises(KeyboardInterrupt):
        run.train(interrupt)
    return run


def test_an_interrupted_run_is_scored_and_timed_and_keeps_its_expert(tmp_path: Path) -> None:
    run = interrupted(tmp_path)
    resumed = Run.resume(tmp_path / "run")
    assert resumed.score(3).tolist() == run.score(3).tolist()
    assert resumed.seconds >= run.seconds > 0
    other = Expert.from_layers([([[0.0, 0, 0, 0], [0.0, 0, -1, 0]], [0.0, 0])])
    write_expert(tmp_path / "CartPole-v1.safetensors", other, {})
    with pytest.raises(SmgrnnError):
        Run.resume(tmp_path / "run").train()


if __name__ == "__main__":
    for line in sys.stdin:
        *arguments, changes = json.loads(line)
        print(json.dumps(kill_and_repeat(*arguments, **changes)), flush=True)
