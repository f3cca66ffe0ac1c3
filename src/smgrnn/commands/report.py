"""What `smgrnn report` does, and what it prints where."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path

from smgrnn.errors import ConfigError
from smgrnn.experiments import Store
from smgrnn.report.contents import Report, build_report
from smgrnn.report.markdown import FIGURES, markdown
from smgrnn.report.page import page
from smgrnn.report.pictures import SUFFIXES
from smgrnn.report.results import Results
from smgrnn.report.wording import quantity

DEFAULT_OUT = Path("report")
"""Where the command writes, below the folder it is called in."""


def report_command(
    store_folder: Path,
    out: Path = DEFAULT_OUT,
    names: Iterable[str] = (),
    *,
    seeds: int | None = None,
    episodes: int | None = None,
    as_json: bool = False,
    is_quiet: bool = False,
) -> None:
    """Write a report on the named experiments: a page, a text with pictures, and all numbers."""
    results = Results(Store(store_folder), names, seeds=seeds, episodes=episodes)
    if not results.all_records():
        raise ConfigError(
            f"{store_folder} has no finished run of these experiments at this length; "
            "run `smgrnn reproduce` first."
        )
    report = build_report(results)
    write_report(report, out)
    if not is_quiet:
        print(describe(report, out), file=sys.stderr)
    if as_json:
        print(json.dumps(report.to_dict(), allow_nan=False))


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
    """Return what a report comes to, in a few lines."""
    overview = report.overview
    counts = overview.standings
    lines = [
        f"{overview.n_runs} of {quantity(overview.n_asked, 'run')}.",
        "Claims: " + ", ".join(f"{n} {standing}" for standing, n in counts.items()) + ".",
        f"The report is in {out / 'index.html'}.",
    ]
    if overview.missing:
        lines[0] += " `smgrnn reproduce` runs what is missing."
    lines += [f"Could not be read: {reason}" for reason in overview.damaged]
    return "\n".join(lines)
