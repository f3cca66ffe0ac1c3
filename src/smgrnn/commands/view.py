"""`smgrnn view`: show how a network grew, on a page in the browser."""

import sys
import threading
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from smgrnn.commands.options import SELECTION, selection
from smgrnn.commands.output import Output, open_from_terminal, say
from smgrnn.errors import ConfigError, FileFormatError
from smgrnn.interrupts import interrupts_raised

OPTIONS = f"""
RUN                   a run, or a network that SMGrNN.save or Learner.save wrote
--out PAGE            page to write (default: growth.html in the run folder)
--record FILM         also record a film, a .gif
--live                follow a run under way until Ctrl-C, on a page that only this machine can open
--no-open             do not open the page
{SELECTION}"""


def run(args: Namespace, output: Output) -> None:
    """Write the page, and record a film if asked for; or follow a run under way."""
    from smgrnn.policy import NETWORK_KINDS, read_network
    from smgrnn.runs.own_loop import record_of
    from smgrnn.runs.record import Record
    from smgrnn.runs.sequences import holds_sequence
    from smgrnn.storage import kind_of
    from smgrnn.view.page import write_page
    from smgrnn.view.recording import film

    path: Path = args.run
    if args.live:
        if (args.out, args.record, args.final, args.max_parameters) != (None, None, False, None):
            raise ConfigError("--live follows the run as it trains and takes no other option.")
        _follow(path, opens=not args.no_open)
        return
    if holds_sequence(path):
        raise ConfigError(f"{path} holds a sequence. Name one of its stages: {path / 'stage-1'}.")
    record = record_of(read_network(path)) if kind_of(path) in NETWORK_KINDS else Record.load(path)
    student = record.student(**selection(args))
    page = args.out or (path / "growth.html" if path.is_dir() else path.with_suffix(".html"))
    with _contradictions_refused(path):
        if args.record is not None:
            film(record, args.record, student)
        write_page(record, page, student)
    written = {"page": str(page)} | ({} if args.record is None else {"film": str(args.record)})
    output.result("\n".join(written.values()), written)
    opens = not args.no_open and args.record is None
    open_from_terminal(page.resolve().as_uri(), opens=opens)


@contextmanager
def _contradictions_refused(path: Path) -> Iterator[None]:
    try:
        yield
    except (LookupError, ArithmeticError, TypeError) as error:  # only a stranger's file does that
        raise FileFormatError(f"{path} cannot be shown: its edits contradict its graph.") from error


def _follow(path: Path, *, opens: bool) -> None:
    """Serve the page of a run under way until Ctrl-C."""
    from smgrnn.view.live import FolderView, LiveView

    if not path.is_dir():
        raise ConfigError(f"--live needs the folder of a run. Got {path} instead.")
    with (
        interrupts_raised(),
        suppress(KeyboardInterrupt),
        LiveView(FolderView(path)) as view,
    ):
        with _contradictions_refused(path):
            view.page()
        say(view.url, sys.stdout)
        sys.stdout.flush()  # whoever reads a pipe waits for the address
        say("Ctrl-C ends this.")
        open_from_terminal(view.url, opens=opens)
        threading.Event().wait()
