"""`smgrnn report`: a report on experiments."""

import json
from collections.abc import Iterable
from pathlib import Path

from smgrnn.batch import Store
from smgrnn.commands.output import Output
from smgrnn.errors import ConfigError
from smgrnn.text import quantity
from smgrnn_paper.experiments.registry import is_experiment
from smgrnn_paper.report.contents import Report, build_report
from smgrnn_paper.report.markdown import FIGURES, markdown
from smgrnn_paper.report.page import page
from smgrnn_paper.report.pictures import SUFFIXES
from smgrnn_paper.report.results import Results, find_results


def report_command(
    store_folder: Path,
    out: Path,
    names: Iterable[str] = (),
    output: Output = Output(),
    *,
    seeds: int | None = None,
    episodes: int | None = None,
) -> None:
    """Write a report on the named experiments: a page, a text, and all numbers."""
    names = list(names)
    paths = [name for name in names if is_run(name)]
    if paths:
        raise ConfigError(
            f"A report is on experiments. `smgrnn compare {paths[0]} --out page.html` shows runs."
        )
    report = build_report(_find(Store(store_folder), names, seeds, episodes))
    write_report(report, out)
    output.result(describe(report, out), report.to_dict())


def is_run(name: str) -> bool:
    """Return whether a name is the path of a run, not that of an experiment."""
    looks_like_one = "/" in name or name.endswith(".safetensors") or Path(name).is_dir()
    return looks_like_one and not is_experiment(name)


def _find(store: Store, names: list[str], seeds: int | None, episodes: int | None) -> Results:
    """Return the runs of the experiments; refuse a store that has none."""
    results = find_results(store, names, seeds=seeds, episodes=episodes)
    if results.all_records():
        return results
    asked = "" if episodes is None else f" of {episodes} episodes"
    raise ConfigError(
        f"{store.folder} has no finished run of these experiments{asked}; "
        "run `smgrnn reproduce` first."
    )


def write_report(report: Report, out: Path) -> None:
    """Write `index.html`, `report.md` with its figures, and `summary.json` into a folder."""
    figures = out / FIGURES
    figures.mkdir(parents=True, exist_ok=True)
    for illustration in report.illustrations:
        for suffix in SUFFIXES:  # an earlier report's may have had another format
            (figures / f"{illustration.stem}.{suffix}").unlink(missing_ok=True)
        if illustration.picture is not None:
            (figures / str(illustration.file)).write_bytes(illustration.picture.data)
    (out / "index.html").write_text(page(report), encoding="utf-8")
    (out / "report.md").write_text(markdown(report), encoding="utf-8")
    numbers = json.dumps(report.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
    (out / "summary.json").write_text(numbers + "\n", encoding="utf-8")


def describe(report: Report, out: Path) -> str:
    """Return a report in a few lines."""
    overview = report.overview
    counts = overview.standings
    runs = f"{overview.n_runs} of {quantity(overview.n_asked, 'run')}."
    missing = " `smgrnn reproduce` runs what is missing." if overview.missing else ""
    lines = [*filter(None, [overview.short]), runs + missing]
    if report.has_claims:
        claims = ", ".join(f"{n} {standing}" for standing, n in counts.items())
        lines.append(f"Claims: {claims}.")
    lines.append(f"The report is in {out / 'index.html'}.")
    lines += [f"Could not be read: {reason}" for reason in overview.damaged]
    return "\n".join(lines)
