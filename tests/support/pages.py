"""The pages of the documentation, and the code they show."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", *sorted(str(page.relative_to(ROOT)) for page in ROOT.glob("docs/**/*.md"))]
SESSIONS = ("docs/quickstart.md", "docs/reproducing.md")
"""Pages whose Python blocks are one session; on the others each has names of its own."""
LEFT_OUT = {
    r"make |\. \.venv": "it sets up the repository itself",
    r"smgrnn reproduce(?!.* --smoke)": "it takes hours",
    r"smgrnn report($| +#| all | calibration)|smgrnn frontier --": "it reads what takes hours",
    r"dask |kill |.* --scheduler ": "a cluster has a test of its own",
}
"""Command lines that no test runs, and why."""
FEW = 20
"""Episodes of a run for which a page leaves the number to the task."""
FEW_LANDINGS = 5
"""Episodes of any run on LunarLander, whose physics are slow; it hands the last student over, as
comparing all of them takes hundreds."""
SHORTER = ("smgrnn distill", "smgrnn sequence", "smgrnn tune")
"""Commands that train."""
FEW_HELD_OUT = 5
"""Episodes that judge a run, where a page says no number."""
BY_SHELL = r"[|<>&;$`*\\]|^(?!smgrnn )|^smgrnn (reproduce|expert convert)| --(live|seeds [^1])"
"""Lines that need a shell, start processes of their own, or warn."""


class Block(NamedTuple):
    """A fenced block of code."""

    language: str
    code: str


def blocks(page: str) -> list[Block]:
    """Return the blocks of a page in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    fenced: list[tuple[str, str]] = re.findall(r"^```(\w*)[^\n]*\n(.*?)^```", text, re.M | re.S)
    return [Block(language, code) for language, code in fenced]


def commands(page: str) -> list[str]:
    """Return the command lines of smgrnn in a page's blocks, without comments and redirections."""
    lines = [
        line
        for block in blocks(page)
        if block.language == "console"
        for line in block.code.splitlines()
    ]
    return [re.split(" [#>|]", line)[0].strip() for line in lines if line.startswith("smgrnn ")]


def save_files(page: str, folder: Path) -> None:
    """Save the blocks of a page that begin with the name of a file."""
    for block in blocks(page):
        if name := file_of(block):
            (folder / name).write_text(block.code, encoding="utf-8")


def file_of(block: Block) -> str | None:
    """Return the name of the file that a block is to be saved as, if it begins with one."""
    named = re.match(r"(?:# |/\* )(\w+\.(?:py|c))\b", block.code)
    return None if named is None else named[1]


def runnable(code: str) -> str:
    """Return the lines of a block that a test can run, with few episodes where none are said.

    >>> runnable("make demo\\nsmgrnn distill xor --out a   # quick")
    'smgrnn distill xor --out a --episodes 20 --held-out 5'
    >>> runnable("smgrnn tune xor --minutes 20")
    'smgrnn tune xor --episodes 20 --held-out 5 --trials 2 --seeds 1 --batch 2 --jobs 1'
    """
    lines = (line.partition(" #")[0].rstrip() for line in code.splitlines())
    kept = [each for each in lines if not any(re.match(pattern, each) for pattern in LEFT_OUT)]
    return "\n".join(_shortened(each) if each.startswith(SHORTER) else each for each in kept)


def _shortened(command: str) -> str:
    few: dict[str, Any] = {"--episodes": FEW, "--held-out": FEW_HELD_OUT}
    if "--keep" in command:  # what a share comes to is measured over hundreds of episodes
        command = command.replace("LunarLander-v3", "CartPole-v1")
    if "LunarLander" in command:
        command = re.sub(r" --episodes \d+", "", command)
        few |= {"--episodes": FEW_LANDINGS, "--handover": "final"}
    if command.startswith("smgrnn tune"):
        command = re.sub(r" --(?:trials|minutes) \d+", "", command)
        few |= {"--trials": 2, "--seeds": 1, "--batch": 2, "--jobs": 1}
    return " ".join([command, *(f"{flag} {n}" for flag, n in few.items() if flag not in command)])


def spoken(line: str) -> list[str] | None:
    """Return the arguments of a command, or None if it takes a shell to run it.

    >>> spoken("smgrnn list runs"), spoken("smgrnn list runs | head")
    (['list', 'runs'], None)
    """
    return None if re.search(BY_SHELL, line) else shlex.split(line)[1:]


def run_python(code: str, page: str, names: dict[str, Any]) -> None:
    """Run a block as a script of its own, or after others that left their names."""
    exec(compile(code, page, "exec"), names)


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
