"""Without its extras the library does its work, and says what the rest needs."""

import json
import zipfile

import pytest

from smgrnn.errors import EXTRAS
from support.commands import python

PROGRAM = """
import contextlib, io, json, shlex, sys
from smgrnn.errors import EXTRAS

hidden = set(EXTRAS)

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Finder())
from smgrnn.cli import main

def said_by(line):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        try:
            if line.startswith("smgrnn "):
                sys.argv = shlex.split(line)
                main()
            else:
                exec(line)
        except (SystemExit, Exception) as end:
            print(end)
    return out.getvalue()

found = {}
for line, shown in json.loads(sys.argv[1]):
    hidden -= {shown}
    found[line] = said_by(line)
print(json.dumps(found))
"""
WORKS = (
    "smgrnn --version",
    "smgrnn distill CartPole-v1 --episodes 30 --held-out 2 --out run --quiet",
    "smgrnn evaluate run --episodes 2 --quiet",
    *(f"smgrnn export run --to {format} --quiet" for format in ("c", "graphml", "json")),
    "import smgrnn; smgrnn.load('run')._repr_html_()",
)
CLUSTER = "smgrnn reproduce baseline-comparison-v3 --smoke --scheduler tcp://127.0.0.1:1"
REFUSED = {
    "smgrnn view run --no-open": ("Viewing", "bokeh"),
    "smgrnn distill xor --live --out other": ("Viewing", "bokeh"),
    "import smgrnn.graph as g; g.to_networkx(g.Graph.from_edges(1, 1))": (
        "to_networkx",
        "networkx",
    ),
    "smgrnn export run --to onnx": ("ONNX", "onnx"),
    "smgrnn distill CartPole-v1 --expert a.zip": ("Reading a.zip", "stable_baselines3"),
    "smgrnn distill xor --tensorboard --out third": ("Logging", "tensorboard"),
    "from smgrnn.sklearn import GrowingClassifier": ("smgrnn.sklearn", "sklearn"),
    "import smgrnn; smgrnn.SMGrNN(1, 1)": ("This", "torch"),
    "smgrnn bench --quick": ("This", "torch"),
    "smgrnn report run": ("This", "scipy"),
    "smgrnn evolve CartPole-v1": ("This", "neat"),
    "smgrnn evolve CartPole-v1 --method ndp --out fourth": ("This", "cma"),
    CLUSTER: ("A cluster", "distributed"),
    "smgrnn tune CartPole-v1": ("Tuning", "optuna"),
}
"""What a line cannot do, and the package that it lacks."""
SHOWN = {CLUSTER: "neat"}
"""A package that is there from a line on, since it is needed before the one that the line lacks."""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return what each line printed in an environment without any extra."""
    folder = tmp_path_factory.mktemp("bare")
    with zipfile.ZipFile(folder / "a.zip", "w") as archive:
        policy = {"__module__": "stable_baselines3.dqn.policies"}
        archive.writestr("data", json.dumps({"policy_class": policy}))
    lines = [(line, SHOWN.get(line)) for line in (*WORKS, *REFUSED)]
    run = python("-c", PROGRAM, json.dumps(lines), folder=folder)
    assert run.returncode == 0, run.stderr
    assert {"topology.png", "curves.png"} <= {file.name for file in (folder / "run").iterdir()}
    found: dict[str, str] = json.loads(run.stdout)
    return found


def test_the_library_alone_trains_draws_and_exports(said: dict[str, str]) -> None:
    assert {said[line] for line in WORKS[1:]} == {""}


@pytest.mark.parametrize("line", REFUSED)
def test_a_missing_extra_is_one_sentence_with_the_command(said: dict[str, str], line: str) -> None:
    purpose, package = REFUSED[line]
    name, extra = EXTRAS[package]
    sentence = f"{purpose} needs {name}: pip install 'smgrnn[{extra}]'."
    ends = f"smgrnn: {sentence}\n2\n" if line.startswith("smgrnn ") else f"{sentence}\n"
    assert said[line].endswith(ends)
    assert "Traceback" not in said[line]


def test_every_extra_package_is_missed_by_something() -> None:
    missed = {package for _, package in REFUSED.values()}
    assert EXTRAS.keys() - missed <= {"loky"}  # which is but another way to run processes
