"""Pictures do not depend on a `matplotlibrc` of a stranger in the working directory."""

from pathlib import Path

from support.commands import python

HOSTILE = "figure.facecolor: red\nfont.size: 30\nbackend: module://stranger\nno_such_key: 1\n"


def run(folder: Path, *words: str) -> str:
    done = python(*words, folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def test_a_matplotlibrc_of_the_working_directory_changes_no_picture(tmp_path: Path) -> None:
    """matplotlib looks for its settings in the working directory before anywhere else."""
    folders = [tmp_path / "plain", tmp_path / "hostile"]
    for folder in folders:
        folder.mkdir()
    (tmp_path / "hostile" / "matplotlibrc").write_text(HOSTILE, encoding="utf-8")
    (tmp_path / "hostile" / "stranger.py").write_text("raise SystemExit('ran')", encoding="utf-8")
    for folder in folders:
        settings = ("--episodes", "3", "--held-out", "2", "--out", "run", "--quiet")
        run(folder, "-m", "smgrnn", "distill", "CartPole-v1", *settings)
    for name in ("curves.png", "topology.png"):
        plain, hostile = ((folder / "run" / name).read_bytes() for folder in folders)
        assert plain == hostile


def test_a_user_who_imports_matplotlib_first_keeps_its_settings(tmp_path: Path) -> None:
    (tmp_path / "matplotlibrc").write_text("font.size: 30\n", encoding="utf-8")
    shown = "print(matplotlib.rcParams['font.size'])"
    both = [f"import matplotlib, smgrnn.plotting; {shown}"]
    both.append(f"import os; here = os.getcwd(); import smgrnn.plotting, matplotlib; {shown}")
    both[1] += "; assert os.getcwd() == here"
    assert [run(tmp_path, "-c", code) for code in both] == ["30.0", "10.0"]
