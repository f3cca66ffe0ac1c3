"""`smgrnn report`: a report on experiments."""

import json
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from smgrnn.batch import Store
from smgrnn.commands.output import Output
from smgrnn.errors import ConfigError
from smgrnn.text import quantity

if TYPE_CHECKING:  # it imports SciPy
    from smgrnn_paper.report.contents import Report

OPTIONS = """
[NAME ...]            experiments, as `smgrnn list` names them (default: all of the paper's)
--store FOLDER [results/store]
                      folder of finished runs
--out FOLDER [report]
                      folder to write index.html, report.md and summary.json to
--seeds N             report on this many seeds (default: those of the experiments)
--episodes N          report on runs of this length (default: the experiments' own or, if there are
                      none, the longest in the store)
"""


def run(args: Namespace, output: Output) -> None:
    """Write a report on the named experiments: a page, a text, and all numbers."""
    from smgrnn_paper.experiments.registry import is_experiment
    from smgrnn_paper.report.contents import build_report
    from smgrnn_paper.report.results import find_results

    for name in args.names:
        is_path = "/" in name or name.endswith(".safetensors") or Path(name).is_dir()
        if is_path and not is_experiment(name):
            raise ConfigError(
                f"A report is on experiments. `smgrnn compare {name} --out page.html` shows runs."
            )
    results = find_results(Store(args.store), args.names, seeds=args.seeds, episodes=args.episodes)
    if not results.all_records():
        asked = "" if args.episodes is None else f" of {args.episodes} episodes"
        raise ConfigError(
            f"{args.store} has no finished run of these experiments{asked}; "
            "run `smgrnn reproduce` first."
        )
    report = build_report(results)
    write_report(report, args.out)
    numbers = report.numbers
    runs = f"{numbers['n_runs']} of {quantity(numbers['n_asked'], 'run')}."
    missing = " `smgrnn reproduce` runs what is missing." if numbers["missing"] else ""
    lines = [*filter(None, [numbers["short"]]), runs + missing]
    if numbers["claims"]:
        claims = ", ".join(f"{n} {standing}" for standing, n in numbers["standings"].items())
        lines.append(f"Claims: {claims}.")
    lines.append(f"The report is in {args.out / 'index.html'}.")
    lines += [f"Could not be read: {reason}" for reason in numbers["damaged"]]
    output.result("\n".join(lines), numbers)


def write_report(report: "Report", out: Path) -> None:
    """Write `index.html`, `report.md` with its figures, and `summary.json` into a folder."""
    from smgrnn_paper.report.markdown import FIGURES, markdown
    from smgrnn_paper.report.page import picture_file

    figures = out / FIGURES
    figures.mkdir(parents=True, exist_ok=True)
    for illustration in report.page.illustrations:
        if illustration.picture is not None:
            path = figures / str(picture_file(illustration))
            for suffix in (".svg", ".png"):  # an earlier report's may have had another format
                path.with_suffix(suffix).unlink(missing_ok=True)
            path.write_bytes(illustration.picture.data)
    (out / "index.html").write_text(report.page.html(), encoding="utf-8")
    (out / "report.md").write_text(markdown(report.page), encoding="utf-8")
    numbers = json.dumps(report.numbers, indent=1, ensure_ascii=False, allow_nan=False)
    (out / "summary.json").write_text(numbers + "\n", encoding="utf-8")
