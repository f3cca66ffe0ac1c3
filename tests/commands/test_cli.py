"""The command line answers quickly, in one sentence, and never with a traceback."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from smgrnn.tasks.known import KNOWN


def smgrnn(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "smgrnn", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_list_names_what_other_commands_take() -> None:
    listed = json.loads(smgrnn("list", "--json").stdout)
    control = {"CartPole-v1", "Acrobot-v1", "LunarLander-v3"}
    hidden = {"CartPole-v1,hide=velocities", "Acrobot-v1,hide=velocities"}
    variants = {f"{id},{name}" for id in KNOWN for name in KNOWN[id].teacher_scores}
    assert set(listed["tasks"]) == {"xor", "recall"} | control | hidden | variants
    assert "mlp-100" in listed["students"]
    assert set(listed["methods"]) == {"neat", "ndp"}
    assert "growth-ablation-v2" in listed["experiments"]
    text = smgrnn("list").stdout
    assert all(name in text for entries in listed.values() for name in entries)
    experts = json.loads(smgrnn("expert", "list", "--json").stdout)
    lines = smgrnn("expert", "list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(experts)
    assert any(
        line.startswith("LunarLander-v3-plain-1") and "266.8 ± 26.7" in line for line in lines
    )


STARTING = """
import os, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {moment!r}:
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background ignores
from smgrnn.__main__ import main
sys.meta_path.insert(0, Interrupting())
sys.argv[1:] = ["distill", "xor", "--episodes", "2", "--quiet"]
main()
"""


@pytest.mark.parametrize("moment", ["tyro", "numba", "smgrnn.commands.distill", "smgrnn.runs.run"])
def test_an_interrupt_while_it_starts_ends_a_command_at_once(tmp_path: Path, moment: str) -> None:
    """It was a traceback from the midst of an import, or an abort from the midst of a compiler."""
    command = [sys.executable, "-c", STARTING.format(moment=moment)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


SAVING = """
import os, signal
from smgrnn.interrupts import interrupts_raised, leave_on_interrupt

signal.signal(signal.SIGINT, signal.default_int_handler)
leave_on_interrupt()
try:
    with interrupts_raised():
        os.kill(os.getpid(), signal.SIGINT)
        print("not stopped")
except KeyboardInterrupt:
    print("saved", flush=True)
os.kill(os.getpid(), signal.SIGINT)
print("not ended")
"""


def test_an_interrupt_where_there_is_something_to_save_is_raised() -> None:
    command = [sys.executable, "-c", SAVING]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "saved\n", "")


def test_an_interrupt_that_is_ignored_stays_so() -> None:
    """A shell starts the jobs of its background that way."""
    script = SAVING.replace("default_int_handler", "SIG_IGN")
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "not stopped\nnot ended\n")
