"""What `smgrnn view` does and prints."""

import sys
import webbrowser
from pathlib import Path

from smgrnn.runs import Run
from smgrnn.view.page import write_page
from smgrnn.view.recording import check_film, record

PAGE = "growth.html"


def view_command(folder: Path, out: Path | None, film: Path | None, *, opens: bool) -> None:
    """Write the page of a run, and a film if one is asked for, and open the page for a person."""
    if film is not None:
        check_film(film)
    run = Run.read(folder)
    path = folder / PAGE if out is None else out
    write_page(run, path)
    print(path)
    if film is not None:
        record(run, film)
        print(film)
    if opens and film is None and sys.stdout.isatty():
        webbrowser.open(path.resolve().as_uri())
