"""The command line: alike for every command, and fit for a shell."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import smgrnn as package
from smgrnn import cli
from smgrnn.commands.options import Parser
from support.commands import Command, Said, refused
from support.runs import trained


def shell(line: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a line of bash in which `smgrnn` is this one."""
    script = f'smgrnn() {{ "{sys.executable}" -m smgrnn "$@"; }}; {line}'
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", script],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("command", cli.parser().leaves(), ids=lambda each: each.prog)
def test_every_command_has_a_help_page_with_the_options_that_all_have(command: Parser) -> None:
    text = command.format_help()
    assert all(flag in text for flag in ("--json", "--quiet", "--debug"))
    assert text.startswith(f"usage: {command.prog} ")
    assert "None" not in text
    assert all(action.help for action in command._actions)


def test_the_version_is_that_of_the_package_and_no_words_ask_for_help(smgrnn: Command) -> None:
    assert smgrnn("--version") == Said(0, f"smgrnn {package.__version__}\n", "")
    assert smgrnn() == smgrnn("--help")


@pytest.mark.parametrize(
    ("arguments", "sentence", "where"),
    [
        ("benhc", "Unknown command 'benhc'. Did you mean 'bench'?", ""),
        ("expert", "The following arguments are required: COMMAND.", "expert"),
        ("expert lits", "Unknown command 'lits'. Did you mean 'list'?", "expert"),
        ("expert list --jsn", "Unknown option --jsn. Did you mean '--json'?", "expert list"),
        ("bench --reapets=3", "Unknown option --reapets. Did you mean '--repeats'?", "bench"),
        ("evolve CartPole-v1 --episodes 30", "Unknown option --episodes.", "evolve"),
        ("bench extra", "Unexpected argument 'extra'.", "bench"),
        ("distill xor --student mlp100", "Did you mean 'mlp-100'?", "distill"),
        (
            "distill xor --max-parameters ten",
            "--max-parameters: invalid int value: 'ten'.",
            "distill",
        ),
        ("distill xor --keep ten", "--keep: invalid float value: 'ten'.", "distill"),
        ("distill xor --episodes", "--episodes: expected one argument.", "distill"),
        (
            "export run --to zip",
            "'zip'. Use onnx, c, arduino, micropython, graphml, json.",
            "export",
        ),
        ("export", "The following arguments are required: RUN, --to.", "export"),
    ],
)
def test_a_command_line_that_is_not_understood_is_a_sentence_and_where_to_look(
    smgrnn: Command, arguments: str, sentence: str, where: str
) -> None:
    said = smgrnn(*arguments.split())
    first, second = said.err.splitlines()
    assert (said.code, said.out) == (2, "")
    assert first.startswith("smgrnn: ")
    assert first.endswith(sentence)
    assert second.startswith(f"`smgrnn {where} --help` lists the ".replace("  ", " "))


@pytest.mark.parametrize("command", ["distill", "sequence", "tune"])
def test_a_flag_of_the_release_before_is_answered_with_the_new_spelling(
    smgrnn: Command, command: str
) -> None:
    said = refused(smgrnn(command, "CartPole-v1", "--plasticity.interval-width=3"))
    assert said.startswith("--plasticity.interval-width is now --set growth.interval_width=VALUE; ")
    said = refused(smgrnn(command, "CartPole-v1", "--parameters", 3))
    assert said == "--parameters is now --max-parameters."


@pytest.mark.parametrize(
    "command",
    [
        ("evaluate", "run", "--episodes", 2),
        ("export", "run", "--to", "json", "--out", "net-{}"),
        ("view", "run", "--no-open"),
        ("frontier", "run"),
        ("distill", "--resume", "run"),
        ("list",),
        ("expert", "list"),
    ],
)
def test_words_or_json_go_to_stdout_and_quiet_leaves_the_json(
    smgrnn: Command, tmp_path: Path, command: tuple[object, ...]
) -> None:
    trained(tmp_path, episodes=2)

    def run(*output: str) -> Said:
        said = smgrnn(*(str(word).format("".join(output)) for word in command), *output)
        assert said.code == 0
        return said

    words, as_json, quiet = run(), run("--json"), run("--quiet")
    assert words.out
    assert as_json.out.count("\n") == 1
    assert json.loads(as_json.out)
    assert (quiet.out, quiet.err) == ("", "")
    both = run("--json", "--quiet")
    assert json.loads(both.out).keys() == json.loads(as_json.out).keys()
    assert both.err == ""


def test_a_run_whose_reader_has_left_ends_without_a_word(tmp_path: Path) -> None:
    done = shell("smgrnn distill xor --episodes 30 --out run 2>&1 | head -n 0", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_full_disk_behind_a_redirection_is_one_sentence(tmp_path: Path) -> None:
    done = shell("smgrnn list > /dev/full", tmp_path)
    assert done.returncode == 2
    assert done.stderr == "smgrnn: A file cannot be written: No space left on device.\n"


CLOSED = {
    "smgrnn distill xor --episodes 2 --out run >&-": (0, ""),
    "smgrnn distill xor --episodes 2 --out run 2>&-": (0, ""),
    "smgrnn distill xor --episodes 2 --out run <&- >&- 2>&-": (0, ""),
    "smgrnn distill xor --episodes 2 --out run --quiet 2>/dev/full": (0, ""),
    "smgrnn distill nowhere 2>/dev/full": (2, ""),
    "PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 LC_ALL=C smgrnn distill xor --episodes 2 --out run": (
        0,
        "\\xb1 0.0 over",
    ),
}


@pytest.mark.parametrize("line", CLOSED)
def test_an_output_that_takes_no_words_or_not_all_ends_no_command(
    line: str, tmp_path: Path
) -> None:
    """They ended in a traceback, or before the run began; a file could take an output's number."""
    done, (code, words) = shell(line, tmp_path), CLOSED[line]
    assert done.returncode == code, done.stderr
    assert words in done.stdout
    assert "Traceback" not in done.stderr
    assert "--out" not in line or (tmp_path / "run" / "run.json").exists()


WRITING = {
    "distill xor --episodes 2": "runs/xor-smgrnn-0 cannot be made: Permission denied.",
    "view run": "run/growth.html cannot be written: Permission denied.",
    "export run --to json": "run/xor.json cannot be written: its folder is missing or read-only.",
    "list run": None,
}
"""Commands in a folder that cannot be written to, and what they say if they would write."""


def test_a_read_only_folder_is_one_sentence(tmp_path: Path) -> None:
    """To root no folder is, unless it lays that power down."""
    power = "dac_override"
    bound = f"setpriv --bounding-set=-{power} --inh-caps=-{power}" if os.geteuid() == 0 else ""
    trained(tmp_path, "xor", name="run", episodes=2)
    for folder in (tmp_path / "run", tmp_path):
        folder.chmod(0o555)
    script = "\n".join(
        f'{bound} "{sys.executable}" -m smgrnn {line} --quiet; echo "$?" >&2' for line in WRITING
    )
    told = shell(script, tmp_path).stderr.splitlines()
    tmp_path.chmod(0o755)
    expected = (["0"] if said is None else [f"smgrnn: {said}", "2"] for said in WRITING.values())
    assert told == [line for lines in expected for line in lines]


def test_a_warning_is_a_sentence_without_a_place_in_our_code(tmp_path: Path) -> None:
    flags = "CartPole-v1 --preset paper --set plasticity.max_edges=10 --episodes 100 --held-out 2"
    done = shell(f"smgrnn distill {flags} --out run", tmp_path)
    assert done.returncode == 0
    (line,) = [line for line in done.stderr.splitlines() if "Growth stopped" in line]
    assert line.startswith("smgrnn: Growth stopped at ")
    assert "Warning" not in done.stderr
    assert ".py" not in done.stderr
    quiet = shell(f"smgrnn distill {flags} --out quiet --quiet", tmp_path)
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")


def test_debug_adds_the_traceback(smgrnn: Command) -> None:
    plain, debugged = smgrnn("evaluate", "nowhere"), smgrnn("evaluate", "nowhere", "--debug")
    assert plain.err == "smgrnn: There is no run folder nowhere.\n"
    assert debugged.code == plain.code == 2
    assert debugged.err.startswith("Traceback (most recent call last):\n")
    assert debugged.err.endswith(plain.err)


# --- interrupts ------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    "moment", ["argparse", "numba", "smgrnn.commands.distill", "smgrnn.runs.run"]
)
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


@pytest.mark.parametrize(
    ("handler", "outcome"),
    [
        ("default_int_handler", (130, "saved\n", "")),
        ("SIG_IGN", (0, "not stopped\nnot ended\n", "")),  # as a shell starts background jobs
    ],
)
def test_an_interrupt_is_raised_where_there_is_something_to_save_unless_it_is_ignored(
    handler: str, outcome: tuple[int, str, str]
) -> None:
    command = [sys.executable, "-c", SAVING.replace("default_int_handler", handler)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == outcome


def test_the_help_of_distill_is_a_page_with_examples(
    smgrnn: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    lines = smgrnn("distill", "--help").out.splitlines()
    assert len(lines) <= 46
    assert lines[-4] == "examples:"
    assert all(line.startswith("  smgrnn distill ") for line in lines[-3:])
    plan = json.loads(
        smgrnn("distill", "xor", "--set", "learning_rate=0.01", "--dry-run", "--json").out
    )
    assert plan["learning"]["learning_rate"] == 0.01
