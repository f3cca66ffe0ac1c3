"""Whether the front that `smgrnn tune` found lies above its preset on seeds that chose nothing.

    python benchmarks/tuned_front.py STUDY TASK --preset paper --seeds 20

STUDY is the folder of a study.  The preset, the best settings and all settings of the front are run
with fresh seeds; the area (hypervolume) is that of the mean points, with a bootstrap interval over
seeds, which are drawn alike for all.  Returns count from --worst-return on, parameters on a
logarithmic scale up to --worst-parameters.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from smgrnn.batch import Condition, Experiment, LocalProcesses, Store, run_experiments
from smgrnn.machine import usable_cores
from smgrnn.tuning.study import Point, area

N_RESAMPLES = 2000


def run_settings(presets: dict[str, str], task: str, seeds: range, store: Store) -> np.ndarray:
    """Return held-out return and parameters of each run (settings, seeds, 2)."""
    experiment = Experiment(
        id="tuned-front-v1",
        question="",
        artefacts=(),
        conditions={name: Condition.distill(task, preset=it) for name, it in presets.items()},
        seeds=tuple(seeds),
    )
    with LocalProcesses(usable_cores()) as executor:
        run_experiments([experiment], store, executor)
    return np.array(
        [
            [(each.held_out.mean(), each.selected.n_parameters) for each in runs]
            for runs in store.records(experiment).values()
        ]
    )


def covered(points: np.ndarray, worst: Point) -> float:
    """Return the area of mean points, of runs (settings, seeds, 2)."""
    return area([Point(*each) for each in points.mean(axis=1)], worst)


def describe(gain: float, resampled: list[float]) -> dict[str, float]:
    """Return a gain with its interval."""
    low, high = np.percentile(resampled, [2.5, 97.5])
    return {"gain": gain, "low": float(low), "high": float(high)}


def main() -> None:
    """Run, compare, and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", type=Path)
    parser.add_argument("task")
    parser.add_argument("--preset", default="frugal")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=2000)
    parser.add_argument("--worst-return", type=float, default=-500.0)
    parser.add_argument("--worst-parameters", type=float, default=1000.0)
    given = parser.parse_args()
    fronts = sorted((given.study / "front").glob("*.toml"))
    presets = {"preset": given.preset, "best": str(given.study / "settings.toml")}
    presets |= {f"front-{path.stem}": str(path) for path in fronts}
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    runs = run_settings(presets, given.task, seeds, Store(given.study / "fresh"))
    worst, rng = Point(given.worst_return, given.worst_parameters), np.random.default_rng(0)
    sets = {"best": runs[1:2], "front": runs[2:]}
    draws = [rng.integers(given.seeds, size=given.seeds) for _ in range(N_RESAMPLES)]
    gains = {
        name: describe(
            covered(found, worst) - covered(runs[:1], worst),
            [covered(found[:, it], worst) - covered(runs[:1, it], worst) for it in draws],
        )
        for name, found in sets.items()
    }
    points = {name: each.mean(axis=0).tolist() for name, each in zip(presets, runs, strict=True)}
    area_of_preset = covered(runs[:1], worst)
    print(json.dumps({"points": points, "preset_area": area_of_preset, "gains": gains}, indent=1))


if __name__ == "__main__":
    main()
