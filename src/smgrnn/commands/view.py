"""`smgrnn view`: watch the network of a run grow."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from smgrnn.commands.flags import Which
from smgrnn.commands.output import Output, open_from_terminal, say, say_out
from smgrnn.errors import ConfigError, FileFormatError
from smgrnn.interrupts import interrupts_raised
from smgrnn.policy import NETWORK_KINDS, read_network
from smgrnn.runs.own_loop import record_of
from smgrnn.runs.record import Record
from smgrnn.runs.sequences import Sequence, holds_sequence
from smgrnn.storage import kind_of
from smgrnn.view.live import FolderView, LiveView
from smgrnn.view.page import write_page
from smgrnn.view.recording import check_film, film

PAGE = "growth.html"


def view_command(
    path: Path,
    out: Path | None,
    film_path: Path | None,
    which: Which = Which(),
    output: Output = Output(),
    *,
    opens: bool,
    live: bool = False,
) -> None:
    """Write the page of a run; record a film if asked for, else open the page from a terminal.

    A run under way is followed instead, on a page that is served until Ctrl-C.
    """
    if live:
        if (out, film_path, which) != (None, None, Which()):
            raise ConfigError("--live follows the run as it trains and takes no other option.")
        follow(path, opens=opens)
        return
    if film_path is not None:
        check_film(film_path)
    if holds_sequence(path):
        record = Sequence.read(path).joined()
    elif kind_of(path) in NETWORK_KINDS:
        record = record_of(read_network(path))
    else:
        record = Record.load(path)
    student = record.student(**vars(which))
    page = (path / PAGE if path.is_dir() else path.with_suffix(".html")) if out is None else out
    with _contradictions_refused(path):
        write_page(record, page, student)
        if film_path is not None:
            film(record, film_path, student)
    written = {"page": str(page)} | ({} if film_path is None else {"film": str(film_path)})
    output.result("\n".join(written.values()), written)
    open_from_terminal(page.resolve().as_uri(), opens=opens and film_path is None)


@contextmanager
def _contradictions_refused(path: Path) -> Iterator[None]:
    try:
        yield
    except (LookupError, ArithmeticError, TypeError) as error:  # only a stranger's file does that
        raise FileFormatError(f"{path} cannot be shown: its edits contradict its graph.") from error


def follow(path: Path, *, opens: bool) -> None:
    """Serve the page of a run under way until Ctrl-C."""
    if not path.is_dir():
        raise ConfigError(f"--live needs the folder of a run. Got {path} instead.")
    with (
        interrupts_raised(),
        suppress(KeyboardInterrupt),
        LiveView(FolderView(path)) as view,
    ):
        with _contradictions_refused(path):
            view.page()
        say_out(view.url)
        sys.stdout.flush()  # whoever reads a pipe waits for the address
        say("Ctrl-C ends this.")
        open_from_terminal(view.url, opens=opens)
        threading.Event().wait()
