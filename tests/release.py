"""Try a wheel as its users will: in an empty environment, first alone and then with extras.

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
LARGEST = 480.0
"""Most megabytes of an environment with the wheel alone."""
COMMANDS = """
smgrnn --version
smgrnn distill CartPole-v1 --max-parameters 6 --episodes 200 --out "a run"
test -s "a run/topology.png" -a -s "a run/curves.png"
smgrnn evaluate "a run" --episodes 5 --json
smgrnn export "a run" --to c --out controller
smgrnn export "a run" --to graphml
smgrnn compare "a run" --out page.html --quiet
smgrnn list
"""
WITH_EXTRAS = """
smgrnn view "a run" --no-open
smgrnn evolve CartPole-v1 --rollouts 20 --population 10 --out evolved --quiet
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


def install(python: Path, what: str, home: Path) -> float:
    """Install something; print how long it took, and return the megabytes that are there then."""
    begin = time.perf_counter()
    run([python, "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", what], home)
    seconds = time.perf_counter() - begin
    (packages,) = (home / "venv" / "lib").glob("python*/site-packages")
    size = sum(file.lstat().st_size for file in packages.rglob("*") if file.is_file()) / 1e6
    print(f"{what.rpartition('/')[2]}: {seconds:.0f} s, {size:.0f} MB", flush=True)
    return size


def check_data(python: Path, home: Path) -> None:
    """Check that every file of the packages that is in the repository came with the wheel."""
    code = "import smgrnn; print(smgrnn.__path__[0])"
    installed = Path(run([python, "-c", code], home).strip()).parent
    assert installed.is_relative_to(home), f"smgrnn comes from {installed}"
    tracked = run(["git", "-C", ROOT, "ls-files", ROOT / "src"], home).split()
    wanted = {str(Path(file).relative_to("src")) for file in tracked}
    missing = [file for file in sorted(wanted) if not (installed / file).is_file()]
    assert not missing, f"the wheel lacks {missing}"
    print(f"all {len(wanted)} files of the packages are in", flush=True)


def try_commands(python: Path, lines: str, home: Path) -> None:
    """Run commands, and print how long each took."""
    for line in lines.strip().splitlines():
        begin = time.perf_counter()
        run(["bash", "-c", f'PATH="{python.parent}:$PATH"; {line}'], home)
        print(f"{line}: {time.perf_counter() - begin:.1f} s", flush=True)


def main() -> None:
    """Try the wheel alone and then with extras."""
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
    size = install(python, str(wheel), home)
    assert size <= LARGEST, f"the environment takes {size:.0f} MB"
    check_data(python, home)
    try_commands(python, COMMANDS, home)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for block in re.findall(r"^```console\n(.*?)^```", text, re.M | re.S):
        try_commands(python, block, home)
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    for block in [each for each in blocks if "torch" not in each]:
        run([python, "-c", block], home)
    install(python, f"{wheel}[torch,view,paper]", home)
    try_commands(python, WITH_EXTRAS, home)
    for block in [each for each in blocks if "torch" in each]:
        run([python, "-c", block], home)
    print(f"all {len(blocks)} Python blocks of the README run", flush=True)


if __name__ == "__main__":
    main()
