"""A run folder has one owner at a time, and the command that began it always goes on with it."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from smgrnn.errors import ConfigError
from smgrnn.runs.record import Record
from smgrnn.runs.run import Run
from smgrnn.runs.start import new_run
from smgrnn.storage import LOCK, locked
from smgrnn_paper import Evolution
from support.commands import Command, refused
from support.runs import contents, settings, teacher, trained

HOLD = """
import sys
from pathlib import Path
from smgrnn.storage import locked
with locked(Path(sys.argv[1])):
    print("mine", flush=True)
    sys.stdin.read()
"""


def started(folder: Path, **changes: Any) -> Run:
    return new_run("CartPole-v1", settings(folder, episodes=40, **changes), folder / "run")


def test_a_folder_belongs_to_one_process_until_that_ends_however_it_does(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"mine\n"
        with pytest.raises(ConfigError) as caught, locked(tmp_path):
            pass
        assert str(caught.value) == (
            f"{tmp_path} is in use: another process is running what it holds."
        )
        other.kill()
    assert (tmp_path / LOCK).exists()
    with locked(tmp_path):
        pass
    assert not (tmp_path / LOCK).exists()


@pytest.mark.parametrize("resumes", [False, True])
def test_of_two_on_one_folder_one_runs_and_the_other_changes_nothing(
    tmp_path: Path, resumes: bool
) -> None:
    """Both ended well, one written over the other; one that resumed deleted the other's file."""
    first, second = started(tmp_path), started(tmp_path, seed=1)
    if resumes:
        first.begin()
        first, second = Run.resume(tmp_path / "run"), Run.resume(tmp_path / "run")
    partial = tmp_path / "run" / ".model.safetensors.1.partial"

    def start_the_other(_: Run) -> None:
        partial.touch()
        with pytest.raises(ConfigError, match="is in use: another process"):
            second.train()
        assert partial.exists()

    first.train(start_the_other)
    if not resumes:
        with pytest.raises(ConfigError, match="Another process has continued the run"):
            second.train()
    trained(tmp_path, name="whole", episodes=40)
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


def test_a_run_killed_before_its_first_record_is_begun_again(tmp_path: Path) -> None:
    """Its folder could neither be resumed, for want of a record, nor begun, as it existed."""
    (tmp_path / "run").mkdir()
    for name in (LOCK, ".model.safetensors.123.partial"):
        (tmp_path / "run" / name).touch()
    assert started(tmp_path).train().episodes.n == 40
    assert not any(path.name.startswith(".") for path in (tmp_path / "run").iterdir())


def test_the_same_command_goes_on_and_another_is_one_sentence(
    smgrnn: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed in its second seed, a command could not be repeated: the first folder existed."""
    flags = ("--expert", teacher(tmp_path, "CartPole-v1"), "--episodes", 20, "--quiet")
    command = ("distill", "CartPole-v1", "--seeds", 2, "--select", "final", *flags)
    assert smgrnn(*command, "--out", "whole").code == 0
    train = Run.train

    def stop_in_the_second(self: Run, *watches: Any) -> Record:
        if self.plan.seed == 1:
            raise KeyboardInterrupt
        return train(self, *watches)

    with monkeypatch.context() as patch:
        patch.setattr(Run, "train", stop_in_the_second)
        assert smgrnn(*command, "--out", "stopped").code == 130
    for _ in range(2):  # to go on, and when all is done
        assert smgrnn(*command, "--out", "stopped").code == 0
    for seed in range(2):
        name = f"CartPole-v1-smgrnn-{seed}"
        assert contents(tmp_path / "stopped" / name) == contents(tmp_path / "whole" / name)
    sentence = refused(smgrnn(*command, "--out", "stopped", "--set", "plasticity.prune_period=7"))
    assert "holds another run, with plasticity.prune_period 2 instead of 7." in sentence
    assert "holds another run." in refused(
        smgrnn("evolve", "CartPole-v1", "--out", f"stopped/{name}")
    )


def test_an_evolution_goes_on_by_its_own_command(
    smgrnn: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = ("--rollouts", 40, "--population", 10)
    take_in: Any = Evolution._take_in

    def stop(self: Evolution, *played: Any) -> None:
        take_in(self, *played)
        if self.episodes.n == 20:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Evolution, "_take_in", stop)
        said = smgrnn("evolve", "CartPole-v1", *flags, "--out", "a")
        assert said.code == 130
        assert "smgrnn evolve --resume a" in said.err
    assert "A search is resumed with its own settings" in refused(
        smgrnn("evolve", "--resume", "a", *flags)
    )
    assert "smgrnn evolve --resume" in refused(smgrnn("distill", "--resume", "a"))
    assert smgrnn("evolve", "--resume", "a", "--quiet").code == 0
    for _ in range(2):  # to run, and when it is done
        assert smgrnn("evolve", "CartPole-v1", *flags, "--out", "b", "--quiet").code == 0
        assert contents(tmp_path / "a") == contents(tmp_path / "b")
    sentence = refused(smgrnn("evolve", "CartPole-v1", *flags, "--out", "b", "--method", "ndp"))
    assert "holds another run, with method 'neat' instead of 'ndp'" in sentence
