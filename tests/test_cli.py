"""The command line answers quickly, in one sentence, and never with a traceback."""

import subprocess
import sys


def smgrnn(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "smgrnn", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_help_names_the_commands() -> None:
    done = smgrnn("--help")
    assert done.returncode == 0
    assert "bench" in done.stdout


def test_help_loads_none_of_the_heavy_libraries() -> None:
    code = (
        "import sys; sys.argv = ['smgrnn', '--help']\n"
        "from smgrnn.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'torch', 'numba', 'scipy', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_an_unknown_command_or_option_exits_with_2() -> None:
    for arguments in (["grow"], ["bench", "--edgs"], []):
        done = smgrnn(*arguments)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr


def test_a_bad_value_is_met_with_one_sentence() -> None:
    done = smgrnn("bench", "--repeats", "0")
    assert done.returncode == 2
    assert done.stderr.strip() == (
        "smgrnn: The number of repeats must be at least 1. Got 0 instead."
    )
