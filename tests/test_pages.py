"""The documentation does what it says, and names only commands and options that there are."""

import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import smgrnn
from smgrnn import cli
from support.commands import Command
from support.pages import (
    PAGES,
    ROOT,
    SESSIONS,
    blocks,
    commands,
    file_of,
    run_console,
    run_python,
    runnable,
    save_files,
    spoken,
)

FOLLOWED = [
    page for page in PAGES if any(block.language in ("console", "python") for block in blocks(page))
]
LEFT_BEHIND = {
    "docs/quickstart.md": ("controller.c", "my-run.html"),
    "docs/reproducing.md": ("report/index.html",),
    "docs/viewing.md": ("runs/cartpole/growth.html", "growth.gif", "compared.html"),
    "docs/exporting.md": ("main", "controller.onnx"),
    "docs/your-own-task.md": ("my-run/dock_v0.c", "pendulum/run.json"),
    "docs/baselines.md": ("frontier.svg",),
}
"""Files that whoever followed a page has."""


def test_the_pages_are_found() -> None:
    assert {"README.md", "docs/concepts.md", "docs/api/index.md", *SESSIONS} <= set(PAGES)
    assert {"README.md", *LEFT_BEHIND} <= set(FOLLOWED)


@pytest.mark.parametrize("name", smgrnn.__all__)
def test_every_public_name_has_its_place_in_the_reference(name: str) -> None:
    pages = [(ROOT / page).read_text(encoding="utf-8") for page in PAGES if "docs/api/" in page]
    places = re.findall(
        rf"^\.\. auto(?:class|function|exception):: smgrnn\.{name}$", "".join(pages), re.M
    )
    assert len(places) == 1


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
    save_files(page, tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    found, printed = blocks(page), ""
    for block in found:
        if block.language == "console":
            follow(runnable(block.code), tmp_path, None if page == "README.md" else smgrnn)
        elif block.language == "python" and file_of(block) is None:
            own = names if page in SESSIONS else {"__name__": "__main__"}
            run_python(block.code, page, own)
            printed += capsys.readouterr().out
    n_loops = sum(block.code.count("right at last") for block in found)
    check_learning(printed, n_loops)
    assert all((tmp_path / name).is_file() for name in LEFT_BEHIND.get(page, ()))
    assert page != SESSIONS[0] or names["total"] > 400


def follow(code: str, folder: Path, smgrnn: Command | None) -> None:
    """Run a block as a whole in a shell, or line by line, without one where it takes none."""
    lines = code.splitlines()
    if smgrnn is None or any(line.endswith("\\") for line in lines):
        run_console(code, folder)
        return
    for line in lines:
        arguments = spoken(line)
        if arguments is None:
            run_console(line, folder)
            continue
        said = smgrnn(*arguments)
        assert said.code == 0, said.err


def check_learning(printed: str, n_loops: int) -> None:
    """Check that each loop that tells how often it is right began by chance and learned."""
    told = re.findall(r"(\d+)% right at first, (\d+)% right at last", printed)
    assert len(told) == n_loops
    assert all(int(first) < 70 < 93 <= int(last) for first, last in told), told


def test_the_loops_of_the_readme_tell_how_much_they_learned() -> None:
    assert sum(block.code.count("right at last") for block in blocks("README.md")) == 2


def test_the_cluster_of_one_machine_runs(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="no Dask: pip install 'smgrnn[cluster]'")
    (step,) = [each for each in blocks(SESSIONS[1]) if "dask scheduler" in each.code]
    told = run_console(step.code, tmp_path)
    assert "14 were run" in told
    assert " 0 failed." in told


@pytest.mark.parametrize(
    ("page", "command"), [(page, command) for page in PAGES for command in commands(page)]
)
def test_every_command_of_a_block_is_understood(page: str, command: str) -> None:
    _, *arguments = shlex.split(command)
    assert cli.parse(arguments).body  # a command line that is not understood ends the process


@cache
def pages_of_help() -> dict[str, str]:
    """Return the help of every command, by its words."""
    leaves = cli.parser().leaves()
    return {each.prog.removeprefix("smgrnn "): each.format_help() for each in leaves}


def is_flag(flag: str, text: str) -> bool:
    return re.search(rf"{flag}[ ,\n]", text) is not None


@pytest.mark.parametrize("page", [*PAGES, "CONTRIBUTING.md"])  # a changelog tells of old ones
def test_every_command_and_flag_in_the_text_exists(page: str) -> None:
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
