"""`smgrnn view`: watch the network of a run grow."""

import sys
import webbrowser
from pathlib import Path

from smgrnn.commands.output import print_result
from smgrnn.errors import FileFormatError
from smgrnn.runs.record import Record
from smgrnn.view.page import write_page
from smgrnn.view.recording import check_film, film

PAGE = "growth.html"


def view_command(
    path: Path,
    out: Path | None,
    film_path: Path | None,
    *,
    final: bool = False,
    parameters: int | None = None,
    opens: bool,
    as_json: bool = False,
    is_quiet: bool = False,
) -> None:
    """Write the page of a run; record a film if asked for, else open the page from a terminal."""
    if film_path is not None:
        check_film(film_path)
    record = Record.load(path)
    student = record.student(final=final, parameters=parameters)
    page = (path / PAGE if path.is_dir() else path.with_suffix(".html")) if out is None else out
    try:
        write_page(record, page, student)
        if film_path is not None:
            film(record, film_path, student)
    except (LookupError, ArithmeticError, TypeError) as error:  # only a stranger's file does that
        raise FileFormatError(f"{path} cannot be shown: its edits contradict its graph.") from error
    written = {"page": str(page)} | ({} if film_path is None else {"film": str(film_path)})
    print_result("\n".join(written.values()), written, as_json=as_json, is_quiet=is_quiet)
    if opens and film_path is None and sys.stdout.isatty():
        webbrowser.open(page.resolve().as_uri())
