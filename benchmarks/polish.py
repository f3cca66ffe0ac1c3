"""Polish: held-out returns before and after the search, and what it costs.

    python benchmarks/polish.py [--seeds 10] [--jobs 2] [--out results/polish] [--tasks NAME ...]

Each run is a folder below `--out`: the same command resumes what was stopped, and prints the table
of what is finished.  Seeds start at 100, which no table of this repository was tuned on.
"""

from argparse import ArgumentParser
from collections.abc import Iterable
from concurrent.futures import as_completed
from pathlib import Path
from typing import Any

import numpy as np

import smgrnn
from smgrnn.workers import LocalProcesses

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "cartpole-2": ("CartPole-v1", {"max_parameters": 2, "polish": 6_000}),
    "acrobot-8": ("Acrobot-v1", {"max_parameters": 8, "polish": 10_000}),
    "lander-16": ("LunarLander-v3", {"max_parameters": 16, "polish": 12_000}),
    "lander-44": ("LunarLander-v3", {"max_parameters": 44, "polish": 12_000}),
}
"""Name, task and settings of each line of the table."""
FIRST_SEED, HELD_OUT = 100, 500


def measure(name: str, seed: int, out: str) -> tuple[str, dict[str, Any]]:
    """Return the figures of one run."""
    task, settings = CASES[name]
    folder = Path(out) / f"{name}-{seed}"
    run = smgrnn.distill(task, seed=seed, held_out=HELD_OUT, out=folder, **settings)
    return name, run.summary()


def row(name: str, summaries: Iterable[dict[str, Any]]) -> str:
    """Return a line of the table: medians of sizes, and means over seeds."""
    found = list(summaries)
    sizes = [each["selected"]["n_parameters"] for each in found]
    cells = [name, str(len(found)), f"{np.median(sizes):g} [{min(sizes)}, {max(sizes)}]"]
    for when in ("before", "after"):
        means = np.array([each["polish"][when]["held_out_mean"] for each in found])
        below = 100 * np.mean([each["polish"][when]["share_below"] for each in found])
        std = means.std(ddof=1) if means.size > 1 else 0.0
        cells.append(f"{means.mean():.1f} ± {std:.1f} ({means.min():.1f}) | {below:.1f} %")
    n_episodes = np.mean([each["polish"]["episodes"] for each in found])
    n_choosing = np.mean([each["polish"]["choosing_episodes"] for each in found])
    seconds = np.median([each["polish"]["seconds"] for each in found])
    cells += [f"{n_episodes:,.0f} + {n_choosing:,.0f}", f"{seconds:.0f}"]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Measure what is missing, and print the table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", default="results/polish")
    parser.add_argument("--tasks", nargs="+", default=list(CASES), choices=CASES)
    args = parser.parse_args()
    seeds = range(FIRST_SEED, FIRST_SEED + args.seeds)
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in args.tasks}
    with LocalProcesses(args.jobs) as pool:
        runs = [pool.submit(measure, name, seed, args.out) for seed in seeds for name in args.tasks]
        for each in as_completed(runs):
            name, summary = each.result()
            found[name].append(summary)
            print(name, summary["seed"], summary["polish"], flush=True)
    print(
        "| network | seeds | parameters | before (worst) | below | after (worst) | below |"
        " episodes | seconds |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name, summaries in found.items():
        print(row(name, summaries))


if __name__ == "__main__":
    main()
