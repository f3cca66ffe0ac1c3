"""Files and folders of strangers: nothing that they name is imported or run."""

import json
import os
import pickle
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from smgrnn.experts import TeacherId
from smgrnn.rules.settings import ForeignRule
from smgrnn.runs.folder import NOTED
from smgrnn.runs.plan import Plan
from smgrnn.runs.record import Record
from smgrnn.storage import LOCK
from support.commands import Command, refused
from support.runs import trained

pytestmark = pytest.mark.usefixtures("own_modules")

TRAP = """
from pathlib import Path
import gymnasium as gym

Path("trapped").touch()
made_by = "gymnasium.envs.classic_control.cartpole:CartPoleEnv"
gym.register("Trap-v0", made_by, max_episode_steps=500, reward_threshold=475.0)


def act(observation):
    return 0
"""


class Trap:
    """Leaves a mark where it is unpickled."""

    def __reduce__(self) -> Any:
        return Path.touch, (Path("trapped"),)


def crafted(folder: Path, **changes: Any) -> None:
    """Leave a run in the folder `run` whose plan was changed, with a digest that fits."""
    trained(folder, episodes=4, env_backend="gymnasium")
    record = Record.load(folder / "run")
    replace(record, plan=replace(record.plan, **changes)).save(folder / "run")


def trap(folder: Path) -> None:
    (folder / "my_trap.py").write_text(TRAP)


def test_a_task_that_a_folder_names_is_not_imported(smgrnn: Command, tmp_path: Path) -> None:
    trap(tmp_path)
    task = Record.load(trained(tmp_path, name="other", episodes=4).folder or "").plan.task
    crafted(tmp_path, task=replace(task, id="my_trap:Trap-v0"))
    for words in ("evaluate run", "distill --resume run"):
        assert "is your own code. Pass it again" in refused(smgrnn(*words.split()))
    for words in ("view run --no-open", "export run --to json"):
        assert smgrnn(*words.split()).code == 0
    assert not (tmp_path / "trapped").exists()
    assert smgrnn("evaluate", "run", "--task", "my_trap:Trap-v0", "--episodes", 1).code == 0
    assert (tmp_path / "trapped").exists()  # the user named it


@pytest.mark.parametrize("kind", ["function", "zip", "file"])
def test_an_expert_that_a_folder_names_is_not_run(
    smgrnn: Command, tmp_path: Path, kind: Any
) -> None:
    trap(tmp_path)
    file = tmp_path / "expert.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("data", json.dumps({"policy_class": {"__module__": "a"}, "n_epochs": 1}))
        archive.writestr("policy.pth", pickle.dumps(Trap()))
    name = "my_trap:act" if kind == "function" else str(file)
    crafted(tmp_path, teacher=TeacherId(kind=kind, name=name, digest="0" * 64))
    refused(smgrnn("distill", "--resume", "run"))
    assert smgrnn("evaluate", "run", "--episodes", 1).code == 0
    assert not (tmp_path / "trapped").exists()


def test_a_rule_that_a_folder_names_is_built_in_or_not_used(
    smgrnn: Command, tmp_path: Path
) -> None:
    trap(tmp_path)
    trained(tmp_path, name="other", episodes=4)
    plan = Record.load(tmp_path / "other").plan
    assert isinstance(plan, Plan)
    foreign = ForeignRule(name="my_trap:act")
    crafted(tmp_path, plasticity=replace(plan.plasticity, growth=foreign))
    said = refused(smgrnn("distill", "--resume", "run"))
    assert "was trained by the rule 'my_trap:act', which is your own code" in said
    assert not (tmp_path / "trapped").exists()


def test_only_a_module_that_the_user_names_is_looked_for_in_the_working_directory(
    smgrnn: Command, tmp_path: Path
) -> None:
    """Any optional package that is not installed was imported from there if a file had its name."""
    smgrnn("list")
    smgrnn("evaluate", "absent")
    assert str(tmp_path) not in sys.path
    smgrnn("evaluate", "absent", "--task", "my_trap:Trap-v0")
    assert str(tmp_path) in sys.path


def test_a_command_imports_nothing_from_the_folder_it_is_called_in(tmp_path: Path) -> None:
    """`python -m` puts that folder before the standard library."""
    for name in ("json", "signal", "argparse", "numpy"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'trapped')!r}, 'w')")
    command = [sys.executable, "-m", "smgrnn", "list", "--json"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "xor" in json.loads(done.stdout)["tasks"]
    assert not (tmp_path / "trapped").exists()


def test_a_link_in_a_folder_leads_nothing_that_is_written_elsewhere(
    smgrnn: Command, tmp_path: Path
) -> None:
    """The lock and the pictures went where a link said, and emptied what was there."""
    trained(tmp_path, episodes=4)
    precious = tmp_path / "precious"
    precious.write_text("mine")
    names = ("run.json", "episodes.csv", "curves.png", "topology.png", "growth.html", NOTED)
    for name in names:
        (tmp_path / "run" / name).unlink(missing_ok=True)
        (tmp_path / "run" / name).symlink_to(precious)
    assert smgrnn("distill", "--resume", "run", "--quiet").code == 0
    assert smgrnn("view", "run", "--no-open").code == 0
    assert precious.read_text() == "mine"
    (tmp_path / "run" / LOCK).symlink_to(precious)
    assert "cannot be written" in refused(smgrnn("distill", "--resume", "run"))
    assert precious.read_text() == "mine"
