"""The results of `smgrnn bench` as tables: for the terminal and for Markdown."""

from collections.abc import Iterable, Sequence
from typing import Any

from rich.table import Table

Rows = list[Sequence[str]]


def title(results: dict[str, Any]) -> str:
    """Return in one sentence what was measured, and how often."""
    sizes = sorted({row["edges"] for row in results["rows"]})
    startup = "start-up times" if "startup_s" in results else "no start-up times"
    return (
        f"{'A quick look' if results['is_quick'] else 'All measurements'}: medians of "
        f"{results['repeats']} repeats, networks of "
        f"{', '.join(f'{n:,}' for n in sizes)} edges, runs of {results['episodes']} episodes, "
        f"{startup}."
    )


def tables(results: dict[str, Any]) -> Iterable[tuple[str, Sequence[str], Rows]]:
    """Return each table as its title, its header and its rows."""
    header = ("edges", "K", "plasticity", "eager", "torch", "compiled", "floor", "eager / compiled")
    yield (
        "µs per learning step",
        header,
        [
            (
                f"{row['edges']:,}",
                str(row["iterations"]),
                "on" if row["plasticity"] else "off",
                f"{row['eager_us']:.0f}",
                f"{row['torch_us']:.0f}",
                f"{row['compiled_us']:.2f}",
                f"{row['floor_us']:.3f}",
                f"{row['ratio']:.0f}",
            )
            for row in results["rows"]
        ],
    )
    names = ("forward", "backward", "optimizer", "history", "plasticity")
    yield (
        "Where a compiled step spends its time (µs, each phase on its own)",
        ("edges", "K", *names),
        [
            (f"{row['edges']:,}", str(row["iterations"]), *(f"{row[n]:.3f}" for n in names))
            for row in results["phases"]
        ],
    )
    yield (
        f"Whole runs ({results['episodes']} episodes; a step is environment, expert, learning and "
        f"plasticity)",
        ("task", "student", "seconds", "µs per step"),
        [
            (row["task"], row["student"], f"{row['seconds']:.2f}", f"{row['step_us']:.2f}")
            for row in results["runs"]
        ],
    )
    yield ("Other figures", ("what", "measured"), list(_facts(results)))


def _facts(results: dict[str, Any]) -> Iterable[tuple[str, str]]:
    machine = results["machine"]
    yield "machine", f"{machine['cpu']}, {machine['cores']} cores"
    yield "multiply-adds per µs, one core", f"{results['peak_multiply_adds_per_us']:.0f}"
    for what, fit in (("one step at K = 1", results["fit"]), ("one edit", results["edit"])):
        line = f"{fit['us_fixed']:.2f} µs + {1000 * fit['us_per_edge']:.2f} ns per edge"
        yield f"{what}, linear fit", f"{line} (R² = {fit['r2']:.4f})"
    watching = results["statistics_every_update"]
    yield "statistics at every update, 84 edges", f"{watching['ratio']:.2f} × the step"
    call = results["python_call"]
    yield "one call from Python per step adds", f"{call['added_us']:.2f} µs"
    beside = results["beside_environment"]
    yield (
        f"a step of a {beside['task']} run / of its bare environment",
        f"{beside['run_us']:.1f} µs / {beside['bare_us']:.1f} µs = {beside['ratio']:.2f}",
    )
    yield "peak memory of this process", f"{results['peak_memory_mb']:.0f} MB"
    for name, label in (
        ("cold", "first learning, nothing compiled yet"),
        ("cached", "first learning, compiled before"),
        ("import", "python -c 'import smgrnn'"),
        ("help", "smgrnn --help"),
    ):
        if "startup_s" in results:
            yield label, f"{results['startup_s'][name]:.2f} s"


def printable(results: dict[str, Any]) -> Iterable[Table]:
    """Return each table as a terminal shows it."""
    for heading, header, rows in tables(results):
        table = Table(title=heading, title_justify="left")
        for column, name in enumerate(header):
            table.add_column(name, justify="left" if len(header) == 2 and column == 0 else "right")
        for row in rows:
            table.add_row(*row)
        yield table


def markdown(results: dict[str, Any]) -> str:
    """Return all tables as Markdown."""
    parts = [title(results)]
    for heading, header, rows in tables(results):
        lines = [header, ["---"] * len(header), *rows]
        parts.append(f"## {heading}\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines))
    return "\n\n".join(parts) + "\n"
