"""Polish: held-out returns before and after the search, and what it costs.

    python benchmarks/polish.py [--seeds 10] [--jobs 2] [--out results/polish] [--only WORD ...]

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
    "CartPole, at most 2": ("CartPole-v1", {"max_parameters": 2, "polish": 6_000}),
    "CartPole, keep 95 %": ("CartPole-v1", {"keep": 0.95}),
    "Acrobot, at most 8": ("Acrobot-v1", {"max_parameters": 8, "polish": 10_000}),
    "Acrobot, keep 95 %": ("Acrobot-v1", {"keep": 0.95}),
    "LunarLander, at most 16": ("LunarLander-v3", {"max_parameters": 16, "polish": 12_000}),
    "LunarLander, at most 44": ("LunarLander-v3", {"max_parameters": 44, "polish": 12_000}),
    "LunarLander, keep 95 %": ("LunarLander-v3", {"keep": 0.95}),
}
"""Name, task and settings of each line of the table."""
FIRST_SEED, HELD_OUT = 100, 500


def measure(name: str, seed: int, out: str) -> tuple[str, dict[str, Any]]:
    """Return the figures of one run."""
    task, settings = CASES[name]
    folder = Path(out) / f"{name}, seed {seed}"
    run = smgrnn.distill(task, seed=seed, held_out=HELD_OUT, out=folder, **settings)
    return name, run.summary()


def row(name: str, summaries: Iterable[dict[str, Any]]) -> str:
    """Return a line of the table: medians of sizes and seconds, means of the rest over seeds."""
    found = list(summaries)
    if not found:
        return f"| {name} | 0 |"
    sizes = [each["n_parameters"] for each in found]
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
    parser.add_argument("--only", nargs="+", default=[""], help="words of the lines to measure")
    args = parser.parse_args()
    seeds = range(FIRST_SEED, FIRST_SEED + args.seeds)
    names = [name for name in CASES if any(word in name for word in args.only)]
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    with LocalProcesses(args.jobs) as pool:
        runs = [pool.submit(measure, name, seed, args.out) for seed in seeds for name in names]
        for each in as_completed(runs):
            name, summary = each.result()
            found[name].append(summary)
            print(row(f"{name}, seed {summary['seed']}", [summary]), flush=True)
    print(
        "| network | seeds | parameters | before (worst) | below | after (worst) | below |"
        " episodes | seconds |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name, summaries in found.items():
        print(row(name, summaries))


if __name__ == "__main__":
    main()
