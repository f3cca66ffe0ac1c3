"""The documentation does what it says, and names only commands and options that there are."""

import os
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import smgrnn
from smgrnn import cli
from support.commands import Command

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", *sorted(str(page.relative_to(ROOT)) for page in ROOT.glob("docs/**/*.md"))]
SESSIONS = ("docs/quickstart.md", "docs/reproducing.md", "docs/estimator.md")
"""Pages whose Python blocks are one session; on the others each has names of its own."""
LEFT_OUT = {
    r"make |\. \.venv": "it sets up the repository itself",
    r"smgrnn reproduce(?!.* --smoke)": "it takes hours",
    r"smgrnn report($| +#| all )|smgrnn frontier --": "it reads what takes hours",
    r"dask |kill |.* --scheduler ": "a cluster has a test of its own",
}
"""Command lines that no test runs, and why."""
TRAINING = ("smgrnn distill", "smgrnn sequence", "smgrnn tune")
BY_SHELL = r"[|<>&;$`*\\]|^(?!smgrnn )|^smgrnn (reproduce|expert convert)| --(live|seeds [^1])"
"""Lines that need a shell, start processes of their own, or warn."""
LEFT_BEHIND = {
    "docs/quickstart.md": ("controller.c", "my-run.html"),
    "docs/reproducing.md": ("report/index.html",),
    "docs/viewing.md": ("runs/cartpole/growth.html", "growth.gif", "compared.html"),
    "docs/exporting.md": ("main", "controller.onnx"),
    "docs/your-own-task.md": ("my-run/dock_v0.c", "pendulum/run.json"),
    "docs/baselines.md": ("frontier.svg",),
}
"""Files that whoever followed a page has."""


class Block(NamedTuple):
    """A fenced block of code."""

    language: str
    code: str


def blocks(page: str) -> list[Block]:
    """Return the blocks of a page in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    fenced: list[tuple[str, str]] = re.findall(r"^```(\w*)[^\n]*\n(.*?)^```", text, re.M | re.S)
    return [Block(language, code) for language, code in fenced]


FOLLOWED = [
    page for page in PAGES if {each.language for each in blocks(page)} & {"console", "python"}
]


def runnable(code: str) -> list[str]:
    """Return the lines of a block that a test can run, with few episodes where none are given."""
    lines = (line.partition(" #")[0].rstrip() for line in code.splitlines())
    kept = [each for each in lines if not any(re.match(pattern, each) for pattern in LEFT_OUT)]
    return [shortened(each) if each.startswith(TRAINING) else each for each in kept]


def shortened(command: str) -> str:
    """Return a command that trains for a few episodes only.

    On LunarLander, whose physics are slow, even fewer; selecting takes hundreds of episodes.
    """
    few: dict[str, Any] = {"--episodes": 20, "--held-out": 5}
    if re.search("--keep|--polish", command):  # which take hundreds of episodes
        command = command.replace("LunarLander-v3", "CartPole-v1")
    command = re.sub(r" --polish \d+", " --polish 1", command)
    if "LunarLander" in command:
        command = re.sub(r" --episodes \d+", "", command)
        few |= {"--episodes": 5, "--select": "final"}
    if command.startswith("smgrnn tune"):
        command = re.sub(r" --(?:trials|minutes) \d+", "", command)
        few |= {"--trials": 2, "--seeds": 1, "--batch": 2, "--jobs": 1}
    return " ".join([command, *(f"{flag} {n}" for flag, n in few.items() if flag not in command)])


def run_console(code: str, folder: Path) -> str:
    """Run a block in a shell that knows this environment's commands; return what it printed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", code],
        cwd=folder,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def follow(lines: list[str], folder: Path, smgrnn: Command | None) -> None:
    """Run a block as a whole in a shell, or line by line, without one where it takes none."""
    if smgrnn is None or any(line.endswith("\\") for line in lines):
        run_console("\n".join(lines), folder)
        return
    for line in lines:
        if re.search(BY_SHELL, line):
            run_console(line, folder)
        else:
            said = smgrnn(*shlex.split(line)[1:])
            assert said.code == 0, said.err


@pytest.mark.parametrize("page", FOLLOWED)
def test_every_page_can_be_followed_from_top_to_bottom_in_one_folder(
    page: str,
    smgrnn: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    own_modules: None,
) -> None:
    """Pages named one folder for two runs, and runs that nobody had made.

    The commands of the README run in processes of their own, those of other pages in this one.
    """
    monkeypatch.syspath_prepend(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    found, printed = [], ""
    for block in blocks(page):
        if named := re.match(r"(?:# |/\* )(\w+\.(?:py|c))\b", block.code):
            (tmp_path / named[1]).write_text(block.code, encoding="utf-8")
        else:
            found.append(block)
    for block in found:
        if block.language == "console":
            follow(runnable(block.code), tmp_path, None if page == "README.md" else smgrnn)
        elif block.language == "python":
            own = names if page in SESSIONS else {"__name__": "__main__"}
            exec(compile(block.code, page, "exec"), own)
            printed += capsys.readouterr().out
    told = re.findall(r"(\d+)% right at first, (\d+)% right at last", printed)
    assert len(told) == sum(block.code.count("right at last") for block in found)
    assert all(int(first) < 70 < 93 <= int(last) for first, last in told), told  # it learned
    assert all((tmp_path / name).is_file() for name in LEFT_BEHIND.get(page, ()))
    assert page != SESSIONS[0] or names["total"] > 400


def test_the_cluster_of_one_machine_runs(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="no Dask: pip install 'smgrnn[cluster]'")
    (step,) = [each for each in blocks(SESSIONS[1]) if "dask scheduler" in each.code]
    told = run_console(step.code, tmp_path)
    assert "14 were run" in told
    assert " 0 failed." in told


@pytest.mark.parametrize("name", smgrnn.__all__)
def test_every_public_name_has_its_place_in_the_reference(name: str) -> None:
    pages = [(ROOT / page).read_text(encoding="utf-8") for page in PAGES if "docs/api/" in page]
    places = rf"^\.\. auto(?:class|function|exception):: smgrnn\.{name}$"
    assert len(re.findall(places, "".join(pages), re.M)) == 1


@cache
def pages_of_help() -> dict[str, str]:
    """Return the help of every command, by its words."""
    leaves = cli.parser().leaves()
    return {each.prog.removeprefix("smgrnn "): each.format_help() for each in leaves}


def is_flag(flag: str, text: str) -> bool:
    return re.search(rf"{flag}[ ,\n]", text) is not None


@pytest.mark.parametrize("page", [*PAGES, "CONTRIBUTING.md"])  # a changelog tells of old ones
def test_every_command_and_flag_of_a_page_exists(page: str) -> None:
    for block in blocks(page):
        for line in block.code.splitlines() if block.language == "console" else ():
            if line.startswith("smgrnn "):
                _, *arguments = shlex.split(re.split(" [#>|]", line)[0])
                assert cli.parser().parse(arguments).body  # or the process ends
    text = re.sub(r"^```.*?^```", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.M | re.S)
    for span in re.findall(r"`smgrnn ([^`]+)`", text):
        command, *rest = span.split()
        if command.startswith("-"):
            continue
        words = f"{command} {rest[0]}" if command == "expert" else command
        for flag in re.findall(r"--[a-z][\w.-]*", span):
            assert is_flag(flag, pages_of_help()[words]), span
        assert words in pages_of_help(), span
    known = "".join(pages_of_help().values())
    for flag in re.findall(r"`(--[a-z][\w.-]*)[` ]", text):
        assert is_flag(flag, known), flag
