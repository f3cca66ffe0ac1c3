"""The manner of the command line: alike for every command, and fit for a shell."""

import inspect
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

import smgrnn as package
from smgrnn import cli
from smgrnn.tasks.known import KNOWN
from support.commands import Command, Said, refused
from support.runs import trained

PYTHON = [sys.executable, "-m", "smgrnn"]


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


def in_terminal(*arguments: str, columns: int = 80, **environment: str) -> str:
    """Return what a command shows in a terminal of so many columns."""
    ours, theirs = pty.openpty()
    variables = os.environ | {"COLUMNS": str(columns), "TERM": "xterm-256color"} | environment
    process = subprocess.Popen(
        [*PYTHON, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=variables
    )
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 4096):
            shown += part
    except OSError:  # a terminal that all have left ends in an error
        pass
    os.close(ours)
    assert process.wait() in (0, 2)
    return shown.decode()


COMMANDS = sorted(
    name
    for name, function in inspect.getmembers(cli, inspect.isfunction)
    if function.__module__ == cli.__name__
    and not name.startswith("_")
    and name not in ("main", "parse", "look_here_for")
)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_the_flags_that_all_have(name: str) -> None:
    assert inspect.signature(getattr(cli, name)).parameters["output"].annotation is cli.Outputs


def test_the_version_is_that_of_the_package(smgrnn: Command) -> None:
    assert smgrnn("--version") == Said(0, f"smgrnn {package.__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "sentence", "where"),
    [
        ("benhc", "There is no command benhc. Did you mean 'bench'?", ""),
        ("", "Name a command: ", ""),
        ("expert lits", "There is no command lits. Did you mean 'list'?", "expert"),
        ("expert list --jsn", "has no option --jsn. Did you mean '--json'?", "expert list"),
        ("bench --reapets=3", "bench has no option --reapets. Did you mean '--repeats'?", "bench"),
        ("evolve CartPole-v1 --episodes 30", "evolve has no option --episodes.", "evolve"),
        ("bench extra", "bench has no use for extra.", "bench"),
        ("distill xor --student mlp100", "Did you mean 'mlp-100'?", "distill"),
        ("completion bsh", "SHELL must be bash, zsh or fish. Got 'bsh' instead.", "completion"),
        (
            "distill xor --parameters ten",
            "--parameters must be a whole number or None. Got 'ten' instead.",
            "distill",
        ),
        ("distill xor --keep ten", "--keep must be a number or None. Got 'ten'", "distill"),
        ("distill xor --episodes", "--episodes needs a value.", "distill"),
        ("export run", "export needs --to: onnx, c, graphml or json.", "export"),
        ("export", "export needs RUN and --to.", "export"),
        ("view", "view needs RUN: a run folder", "view"),
    ],
)
def test_a_command_line_that_is_not_understood_is_a_sentence_and_where_to_look(
    smgrnn: Command, arguments: str, sentence: str, where: str
) -> None:
    said = smgrnn(*arguments.split())
    first, second = said.err.splitlines()
    assert (said.code, said.out) == (2, "")
    assert first.startswith("smgrnn: ")
    assert sentence in first
    assert second.startswith(f"`smgrnn {where} --help` lists the ".replace("  ", " "))


@pytest.mark.parametrize(
    ("flag", "sentence"),
    [
        ("--plasticity.window", "--plasticity.window is now --set plasticity.window=VALUE; "),
        ("--plasticity.interval-width", "is now --set growth.interval_width=VALUE; "),
        ("--learning.optimizer", "is now --set learning.optimizer=VALUE; "),
        ("--iterations", "--iterations is now --set iterations=VALUE; smgrnn settings lists all."),
    ],
)
@pytest.mark.parametrize("command", ["distill", "sequence", "tune"])
def test_a_flag_of_the_release_before_is_answered_with_the_new_spelling(
    smgrnn: Command, command: str, flag: str, sentence: str
) -> None:
    assert sentence in refused(smgrnn(command, "CartPole-v1", flag, 3))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("window=3", "'window' does not exist. Did you mean 'plasticity.window'?"),
        ("learning.optimizer=adm", "must be 'adam' or 'adamw' or 'sgd' or 'rmsprop'. Got 'adm'"),
        ("gain=ten", "The 'gain' parameter of RunConfig must be a float in (0, inf). Got 'ten'"),
        ("density=2", "The 'density' parameter of NetworkSettings must be a float in (0, 1]."),
        ("gain", "--set takes NAME=VALUE. Got 'gain' instead."),
    ],
)
def test_a_setting_that_cannot_be_set_is_one_sentence(
    smgrnn: Command, text: str, sentence: str
) -> None:
    assert sentence in refused(smgrnn("distill", "CartPole-v1", "--set", text))


def test_colours_are_for_terminals_that_want_them() -> None:
    assert "\x1b[" in in_terminal("bench", "--help")
    assert "\x1b[" not in in_terminal("bench", "--help", NO_COLOR="1")


@pytest.mark.parametrize("columns", [40, 200])
def test_the_sentence_is_the_same_in_any_terminal(columns: int) -> None:
    """The parser breaks long names in a narrow one, and has several columns in a wide one."""
    said = in_terminal("distill", "--checkpoint-evry-so-often", "3", columns=columns)
    assert said.splitlines() == [
        "smgrnn: distill has no option --checkpoint-evry-so-often.",
        "`smgrnn distill --help` lists the options.",
    ]


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
        ("completion", "bash"),
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


COMPLETE = """
eval "$(smgrnn completion bash)"
complete_line() {{ COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _tyro_smgrnn; \
printf '%s\\n' "${{COMPREPLY[@]}}"; }}
complete_line {words}
"""


@pytest.mark.parametrize(
    ("words", "among"),
    [
        ("smgrnn rep", {"report", "reproduce"}),
        ("smgrnn distill --stud", {"--student"}),
        ("smgrnn distill --student mlp", {"mlp-100", "mlp-200", "mlp-pruned"}),
        ("smgrnn expert ''", {"train", "convert", "list", "evaluate", "-h", "--help"}),
    ],
)
def test_bash_completes_commands_options_and_values(
    tmp_path: Path, words: str, among: set[str]
) -> None:
    done = shell(COMPLETE.format(words=words), tmp_path)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == among


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_there_is_a_script_for_each_shell(smgrnn: Command, tmp_path: Path, name: str) -> None:
    assert smgrnn("completion", name, "--out", "script").out == "script\n"
    assert (tmp_path / "script").read_text(encoding="utf-8") == smgrnn("completion", name).out


@pytest.mark.parametrize("word", ["half \ud800 a character", "nothing\0"])
def test_an_argument_that_is_no_text_is_one_sentence(
    word: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was a traceback where it named a file to write."""
    monkeypatch.setattr(sys, "argv", ["smgrnn", "completion", "bash", "--out", word])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 2
    assert capsys.readouterr().err.startswith("smgrnn: An argument is no text: ")


# --- names, and interrupts ------------------------------------------------------------------------


def test_list_names_what_other_commands_take(smgrnn: Command) -> None:
    listed = json.loads(smgrnn("list", "--json").out)
    control = {"CartPole-v1", "Acrobot-v1", "LunarLander-v3"}
    hidden = {"CartPole-v1,hide=velocities", "Acrobot-v1,hide=velocities"}
    variants = {f"{id},{name}" for id in KNOWN for name in KNOWN[id].teacher_scores}
    assert set(listed["tasks"]) == {"xor", "recall"} | control | hidden | variants
    assert "mlp-100" in listed["students"]
    assert set(listed["methods"]) == {"neat", "ndp"}
    assert "growth-ablation-v2" in listed["experiments"]
    text = smgrnn("list").out
    assert all(name in text for entries in listed.values() for name in entries)
    experts = json.loads(smgrnn("expert", "list", "--json").out)
    lines = smgrnn("expert", "list").out.splitlines()
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
