"""Try a wheel as its users will: alone, in empty environments, first without and then with torch.

`make release` calls it.  It measures each install, checks that all package data is in, and runs the
README and the main commands in a folder that has nothing of the source tree.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMANDS = """
smgrnn --version
smgrnn distill CartPole-v1 --parameters 6 --episodes 200 --out "a run"
smgrnn evaluate "a run" --episodes 5 --json
smgrnn view "a run" --no-open
smgrnn export "a run" --to c --out controller
smgrnn compare "a run" --out page.html --quiet
smgrnn list
"""


def run(command: list[str | Path], folder: Path) -> str:
    """Run a command with nothing of this environment; return what it printed."""
    variables = {key: os.environ[key] for key in os.environ if not key.startswith("PYTHON")}
    done = subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def megabytes(folder: Path) -> float:
    """Return the size of all files in a folder."""
    return sum(file.lstat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def install(python: Path, what: str, home: Path) -> None:
    """Install something, and tell how long it took and how much is there then."""
    begin = time.perf_counter()
    run([python, "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", what], home)
    seconds = time.perf_counter() - begin
    (packages,) = (home / "venv" / "lib").glob("python*/site-packages")
    print(f"{what.rpartition('/')[2]}: {seconds:.0f} s, {megabytes(packages):.0f} MB", flush=True)


def check_data(python: Path, home: Path) -> None:
    """Check that every file of the package that is in the repository came with the wheel."""
    code = "import smgrnn; print(smgrnn.__path__[0])"
    installed = Path(run([python, "-c", code], home).strip())
    assert installed.is_relative_to(home), f"smgrnn comes from {installed}"
    source = ROOT / "src" / "smgrnn"
    tracked = run(["git", "-C", ROOT, "ls-files", source], home).split()
    wanted = {str(Path(file).relative_to("src/smgrnn")) for file in tracked}
    missing = [file for file in sorted(wanted) if not (installed / file).is_file()]
    assert not missing, f"the wheel lacks {missing}"
    print(f"all {len(wanted)} files of the package are in", flush=True)


def readme_blocks() -> list[str]:
    """Return the Python blocks of the README."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)


def main() -> None:
    """Try the wheel without torch and then with it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--wheel", type=Path, required=True)
    parser.add_argument("--at", type=Path, required=True)
    options = parser.parse_args()
    home = options.at.absolute()
    home.mkdir(parents=True)
    run([options.python, "-m", "venv", home / "venv"], home)
    python, wheel = home / "venv" / "bin" / "python", options.wheel.absolute()
    print(run([python, "--version"], home).strip(), flush=True)
    install(python, str(wheel), home)
    check_data(python, home)
    for line in COMMANDS.strip().splitlines():
        begin = time.perf_counter()
        run(["bash", "-c", f'PATH="{python.parent}:$PATH"; {line}'], home)
        print(f"{line}: {time.perf_counter() - begin:.1f} s", flush=True)
    blocks = readme_blocks()
    for block in [each for each in blocks if "torch" not in each]:
        run([python, "-c", block], home)
    install(python, f"{wheel}[torch]", home)
    for block in [each for each in blocks if "torch" in each]:
        run([python, "-c", block], home)
    print(f"all {len(blocks)} Python blocks of the README run", flush=True)


if __name__ == "__main__":
    main()
