"""`smgrnn view`: watch the network of a run grow."""

import sys
import webbrowser
from pathlib import Path

from smgrnn.commands.display import say_out
from smgrnn.engine import Learner
from smgrnn.errors import FileFormatError
from smgrnn.policy import NETWORK_KINDS, read_network
from smgrnn.runs.own_loop import record_of
from smgrnn.runs.record import MODEL, Record
from smgrnn.runs.sequence import Sequence
from smgrnn.storage import kind_of
from smgrnn.view.page import write_page
from smgrnn.view.recording import check_film, film

PAGE = "growth.html"


def _record(path: Path) -> Record:
    """Return the record of a run, of all stages of a sequence as one, or of a network in a file."""
    if (path / "stage-1").is_dir() and not (path / MODEL).exists():
        return Sequence.read(path).joined()
    kind = kind_of(path)
    if kind not in NETWORK_KINDS:
        return Record.load(path)
    return record_of(Learner.load(path) if kind == "learner" else read_network(path))


def view_command(
    path: Path,
    out: Path | None,
    film_path: Path | None,
    *,
    final: bool = False,
    parameters: int | None = None,
    opens: bool,
) -> None:
    """Write the page of a run; record a film if asked for, else open the page from a terminal."""
    if film_path is not None:
        check_film(film_path)
    record = _record(path)
    student = record.student(final=final, parameters=parameters)
    page = (path / PAGE if path.is_dir() else path.with_suffix(".html")) if out is None else out
    try:
        write_page(record, page, student)
        say_out(str(page))
        if film_path is not None:
            film(record, film_path, student)
            say_out(str(film_path))
    except (LookupError, ArithmeticError, TypeError) as error:  # only a stranger's file does that
        raise FileFormatError(f"{path} cannot be shown: its edits contradict its graph.") from error
    if opens and film_path is None and sys.stdout.isatty():
        webbrowser.open(page.resolve().as_uri())
