"""Two trees of the package measured in turns: times of the old one, of the new one, and the ratio.

Run with `python benchmarks/two_trees.py --old path/src --new path/src [--rounds 20] [--only step]`.
Each measurement is a process of its own with that tree on its path; the minimum of all rounds
counts.  Workloads print seconds; as names change, a tree is given those of its generation.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

COLD_ROUNDS = 3
"""Rounds of measurements that compile everything anew."""
TIMED = """
import time
def least(run, repeats):
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return min(times)
"""
GRAPH = """
import warnings
import numpy as np
from smgrnn import Graph, Learner
from smgrnn.config import PlasticityConfig
warnings.simplefilter("ignore")
def grown(n_edges):
    rng, n_nodes = np.random.default_rng(n_edges), n_edges // 3
    pairs = {(u, 4 + v) for u in range(4) for v in range(2)}
    for relay in range(6, n_nodes):
        pairs |= {(int(rng.integers(4)), relay), (relay, 4 + int(rng.integers(2)))}
    while len(pairs) < n_edges:
        u, v = int(rng.integers(n_nodes)), int(rng.integers(4, n_nodes))
        if u != v:
            pairs.add((u, v))
    edges = [(u, v, 0.1 + 0.1 * float(rng.random())) for u, v in sorted(pairs)]
    return Graph.from_edges(4, 2, n_nodes - 6, edges)
rows = np.random.default_rng(0).normal(size=(20000, 4))
labels = (rows[:, 0] > 0).astype(np.int64)
def learner(n_edges, iterations, rules):
    settings = dict(preset="paper", iterations=iterations, plasticity=rules)
    return Learner(4, 2, **settings, graph=grown(n_edges))
"""
STEP = """
made = learner(84, {iterations}, PlasticityConfig.static(interval=10**9))
made.learn_stream(rows[:1000], labels[:1000])
print(least(lambda: made.learn_stream(rows, labels), 5) / len(rows))
"""
CALL = """
active = dict(prune_period=2, prune_fraction=0.01, weight_threshold=1e9, update_threshold=1e9,
    scale="update", full_window=False, max_relays=1, max_edges=100, explore_probability=1.0)
def seconds(interval):
    made = learner(100, 1, PlasticityConfig.paper(interval=interval, **active))
    made.learn_stream(rows[:1000], labels[:1000])
    return least(lambda: made.learn_stream(rows[:4000], labels[:4000]), 5), made.log.call
often, calls = seconds(2)
seldom, _ = seconds(10**9)
assert len(set(calls.tolist())) > 5000, "calls that edit nothing"
print((often - seldom) / 2000)
"""
CALL_BY_OBJECTS = CALL.replace(
    CALL[: CALL.index("def seconds")],
    """
from smgrnn.rules import Relay, Weak
active = dict(prune_period=2, full_window=False, max_edges=100,
    growth=Relay(scale="update", max_relays=1, explore_probability=1.0),
    pruning=Weak(prune_fraction=0.01, weight_threshold=1e9, update_threshold=1e9))
""",
).replace("made.log.call", "made.log.columns.call")
RUN = """
import smgrnn
def run():
    smgrnn.distill("{task}", preset="{preset}", episodes={episodes}, held_out=1, handover="final")
run()
print(least(run, {repeats}))
"""
FIRST = 'import smgrnn\nsmgrnn.distill("CartPole-v1", episodes=5, held_out=1)\n'
HELP = "import sys\nfrom smgrnn.cli import main\nsys.argv = ['smgrnn', '--help']\nmain()\n"
LENGTHS = {"CartPole-v1": (100, 3), "Acrobot-v1": (100, 3), "LunarLander-v3": (5, 2)}
"""Episodes and repeats of a run on each task."""
GENERATIONS: dict[str, dict[str, str]] = {
    "0.2": {
        **{
            f"step, 84 edges, K = {k}": TIMED + GRAPH + STEP.replace("{iterations}", str(k))
            for k in (1, 3)
        },
        "call with its edit, 100 edges": TIMED + GRAPH + CALL,
        **{
            f"run, {task}, {preset}": TIMED
            + RUN.format(task=task, preset=preset, episodes=n, repeats=repeats)
            for task, (n, repeats) in LENGTHS.items()
            for preset in ("paper", "frugal")
        },
        "first run, nothing compiled": FIRST,
        "import": "import smgrnn\n",
        "help": HELP,
    },
}
GENERATIONS["0.3"] = {
    name: code.replace("handover=", "select=") for name, code in GENERATIONS["0.2"].items()
} | {"call with its edit, 100 edges": TIMED + GRAPH + CALL_BY_OBJECTS}
"""The workloads by the generation of their names; those that print nothing are timed as a whole."""
COLD = ("first run, nothing compiled",)


def generation(tree: Path) -> str:
    """Return the latest generation that is not after the version of a tree."""
    text = (tree / "smgrnn" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'__version__ = "(\d+)\.(\d+)', text)
    version = (int(found[1]), int(found[2])) if found else (0, 0)
    fitting = [name for name in GENERATIONS if tuple(map(int, name.split("."))) <= version]
    return max(fitting, key=lambda name: tuple(map(int, name.split("."))))


WHOLE = """
import subprocess, sys, time
begin = time.perf_counter()
subprocess.run([sys.executable, "-c", sys.argv[1]], check=True, stdout=subprocess.DEVNULL)
print(time.perf_counter() - begin)
"""


def measure(tree: Path, name: str, cache: str) -> float:
    """Return the seconds of a workload with a tree, in a process of its own."""
    code = GENERATIONS[generation(tree)][name]
    words = ["-c", code] if TIMED in code else ["-c", WHOLE, code]
    with tempfile.TemporaryDirectory() as empty:
        variables = {**os.environ, "PYTHONPATH": str(tree.resolve())}
        variables["NUMBA_CACHE_DIR"] = empty if name in COLD else cache
        variables.pop("PYTHONDONTWRITEBYTECODE", None)
        done = subprocess.run(
            [sys.executable, *words],
            env=variables,
            cwd=empty,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        sys.exit(f"{name} failed with {tree}:\n{done.stderr}")
    return float(done.stdout.split()[-1])


def in_words(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1.0:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def compare(trees: list[Path], names: list[str], rounds: int, say: Callable[[str], None]) -> None:
    """Measure the trees in turns and print a table of the minima."""
    with tempfile.TemporaryDirectory() as home:
        caches = [f"{home}/{number}" for number in range(len(trees))]
        say(f"{'':<34}{'old':>12}{'new':>12}{'new / old':>12}")
        for name in names:
            least = [float("inf")] * len(trees)
            n_rounds = min(rounds, COLD_ROUNDS) if name in COLD else rounds
            if name not in COLD:  # what is compiled is kept from here on
                for tree, cache in zip(trees, caches, strict=True):
                    measure(tree, name, cache)
            for turn in range(n_rounds):
                order = range(len(trees)) if turn % 2 == 0 else reversed(range(len(trees)))
                for place in order:  # neither is always the first
                    found = measure(trees[place], name, caches[place])
                    least[place] = min(least[place], found)
            old, new = least
            say(f"{name:<34}{in_words(old):>12}{in_words(new):>12}{new / old:>12.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--old", type=Path, required=True, help="source folder of the old tree")
    parser.add_argument("--new", type=Path, required=True, help="source folder of the new tree")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only", default="", help="measure what has these letters in its name")
    given = parser.parse_args()
    trees = [given.old, given.new]
    known = [GENERATIONS[generation(tree)] for tree in trees]
    names = [name for name in known[0] if name in known[1] and given.only in name]
    compare(trees, names, given.rounds, lambda line: print(line, flush=True))


if __name__ == "__main__":
    main()
