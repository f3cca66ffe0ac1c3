"""A run that was killed or interrupted goes on as if nothing had happened."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from support.runs import contents, settings, trained
from smgrnn.config import RunConfig
from smgrnn.errors import SmgrnnError
from smgrnn.experts import Expert, write_expert
from smgrnn.runs.folder import load_progress
from smgrnn.runs.run import Run, distill


def kill_and_resume(folder: Path, n_kills: int) -> list[int]:
    """Train once undisturbed and once killed `n_kills` times, and resumed each time, to the end.

    The settings are in `settings.json`; the runs go to `whole` and `killed` beside it.  Returns the
    number of episodes on record after each kill.  It forks, so it needs a process of its own.
    """
    values = json.loads((folder / "settings.json").read_text())
    config, killed = RunConfig.from_dict(values), folder / "killed"
    fields: dict[str, Any] = {name: getattr(config, name) for name in config.to_dict()}
    distill("CartPole-v1", **{**fields, "episodes": 3})  # so that no child has to compile
    begin = time.perf_counter()
    distill("CartPole-v1", out=folder / "whole", **fields)
    seconds = time.perf_counter() - begin
    random.seed(0)
    counts = []
    for _ in range(n_kills):
        child = os.fork()
        if not child:
            if killed.exists():
                Run.resume(killed).train()
            else:
                distill("CartPole-v1", out=killed, **fields)
            os._exit(0)
        while not (killed / "model.safetensors").exists():
            assert not os.waitpid(child, os.WNOHANG)[0], "it failed before its first checkpoint"
            time.sleep(0.0001)
        # On average an eighth of what would finish the run: however uneven the machine, every kill
        # finds it unfinished.
        time.sleep(random.uniform(0, seconds / n_kills / 4))
        os.kill(child, signal.SIGKILL)
        assert os.WIFSIGNALED(os.waitpid(child, 0)[1]), "it had finished before it was killed"
        counts.append(load_progress(killed)[2].episodes.n)
    Run.resume(killed).train()
    return counts


@pytest.mark.parametrize(
    ("backend", "episodes", "n_kills", "normalise"),
    [("compiled", 4000, 20, False), ("gymnasium", 300, 6, False), ("gymnasium", 400, 6, True)],
)
def test_a_run_killed_at_random_moments_ends_bit_identical(
    tmp_path: Path, backend: str, episodes: int, n_kills: int, normalise: bool
) -> None:
    changes: dict[str, Any] = {"env_backend": backend, "normalise": normalise}
    config = settings(tmp_path, episodes=episodes, checkpoint_every=5, **changes)
    (tmp_path / "settings.json").write_text(json.dumps(config.to_dict()))
    command = [sys.executable, __file__, str(tmp_path), str(n_kills)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    assert len(counts) == n_kills
    assert counts == sorted(counts)
    assert counts[-1] > 0  # it was killed in mid-run
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")


def heed_interrupts() -> None:
    """Undo that a shell lets the processes it runs in the background ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_an_interrupted_run_saves_says_how_to_resume_and_goes_on_identically(
    tmp_path: Path,
) -> None:
    config, folder = settings(tmp_path), tmp_path / "interrupted"
    rules = [
        word
        for name, value in config.plasticity.to_dict().items()
        if value is not None and not isinstance(value, bool)
        for word in (f"--plasticity.{name.replace('_', '-')}", str(value))
    ]
    command = [sys.executable, "-m", "smgrnn", "distill", "CartPole-v1", "--out", str(folder)]
    command += ["--expert", str(config.expert), "--episodes", "9000", "--checkpoint-every", "300"]
    child = subprocess.Popen(
        [*command, *rules], stderr=subprocess.PIPE, text=True, preexec_fn=heed_interrupts
    )
    written: set[int] = set()
    while len(written) < 2:  # the first checkpoint is from before the first episode
        assert child.poll() is None
        time.sleep(0.001)
        with suppress(FileNotFoundError):
            written.add((folder / "model.safetensors").stat().st_mtime_ns)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate()
    assert child.returncode == 130
    assert f"smgrnn distill --resume {folder}" in said
    assert "Traceback" not in said

    resumed = Run.resume(folder)
    assert 0 < resumed.episodes.n < 9000
    resumed.train()
    trained(tmp_path, name="whole", episodes=9000, checkpoint_every=300)
    assert contents(folder) == contents(tmp_path / "whole")


@pytest.mark.parametrize("student", ["smgrnn", "mlp-100"])
def test_an_interrupt_between_checkpoints_loses_no_episode(tmp_path: Path, student: str) -> None:
    changes: dict[str, Any] = {"episodes": 100, "checkpoint_every": 100, "student": student}

    def interrupt(run: Run) -> None:
        if run.episodes.n >= 40:
            raise KeyboardInterrupt

    run = Run("CartPole-v1", settings(tmp_path, **changes), tmp_path / "a")
    (tmp_path / "a").mkdir()
    with pytest.raises(KeyboardInterrupt):
        run.train(interrupt)
    resumed = Run.resume(tmp_path / "a")
    assert resumed.episodes.n == 40
    resumed.train()
    trained(tmp_path, name="b", **changes)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_how_often_a_run_is_saved_does_not_change_what_it_learns(tmp_path: Path) -> None:
    often, seldom = (
        trained(tmp_path, name=None, checkpoint_every=every, episodes=25) for every in (1, 25)
    )
    assert often.graph == seldom.graph
    assert often.episodes.loss.tolist() == seldom.episodes.loss.tolist()


def test_resuming_a_finished_run_changes_nothing(tmp_path: Path) -> None:
    trained(tmp_path)
    before = contents(tmp_path / "run")
    Run.resume(tmp_path / "run").train()
    assert contents(tmp_path / "run") == before


def interrupted(folder: Path) -> Run:
    """Return a run that was stopped after 20 of 40 episodes."""

    def interrupt(run: Run) -> None:
        if run.episodes.n >= 20:
            raise KeyboardInterrupt

    run = Run("CartPole-v1", settings(folder, episodes=40), folder / "run")
    (folder / "run").mkdir()
    with pytest.raises(KeyboardInterrupt):
        run.train(interrupt)
    return run


def test_the_seconds_of_a_resumed_run_include_those_before(tmp_path: Path) -> None:
    before = interrupted(tmp_path).seconds
    resumed = Run.resume(tmp_path / "run")
    assert before > 0
    assert resumed.seconds >= before


def test_a_run_does_not_go_on_with_another_expert(tmp_path: Path) -> None:
    interrupted(tmp_path)
    other = Expert.from_layers([([[0.0, 0, 0, 0], [0.0, 0, -1, 0]], [0.0, 0])])
    write_expert(tmp_path / "CartPole-v1.safetensors", other, {})
    with pytest.raises(SmgrnnError):
        Run.resume(tmp_path / "run").train()


def test_an_interrupted_run_can_be_scored(tmp_path: Path) -> None:
    run = interrupted(tmp_path)
    assert Run.resume(tmp_path / "run").score(3).tolist() == run.score(3).tolist()


if __name__ == "__main__":
    print(json.dumps(kill_and_resume(Path(sys.argv[1]), int(sys.argv[2]))))
