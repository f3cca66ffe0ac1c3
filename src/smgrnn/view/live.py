"""A run under way on a page: a small server that only this machine can reach.

It answers two addresses and never reads a file that a request names.  It refuses requests for
another host: a web page could let its own name mean this machine.
"""

import json
import re
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import inf
from pathlib import Path
from typing import Any, Self

from smgrnn.errors import SmgrnnError
from smgrnn.runs.folder import RunFolder
from smgrnn.runs.record import Record
from smgrnn.view.page import contents, fill_frame

HOST = "127.0.0.1"
RECENT = 10.0  # seconds after its last request for which a page counts as open
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
WAITING = (
    '<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="refresh" content="1">'
    "<title>smgrnn</title><p>There is nothing to show yet. This page waits for it.</p>"
)


class FolderView:
    """The record in a run folder, which it reads again after another process changed it."""

    def __init__(self, path: Path) -> None:
        home = RunFolder(path)
        self._path, self._stamp, self._record = path, home.stamp, home.load()

    def __call__(self) -> Record:
        """Return the current record."""
        with suppress(OSError, SmgrnnError):  # it is being replaced, or its folder is gone
            home = RunFolder(self._path)
            if home.stamp != self._stamp:
                self._record, self._stamp = home.load(), home.stamp
        return self._record


class LiveView:
    """The page of a run under way, served at `url` inside a `with` block.

    `look` returns the current record whenever a page asks for it.
    """

    def __init__(self, look: Callable[[], Record]) -> None:
        self._look, self._lock = look, threading.Lock()
        self._record: Record | None = None
        self._content: dict[str, Any] = {}
        self._version = self._arrived = 0
        self._asked = -inf
        self._server = _Server((HOST, 0), _Handler)
        self._server.view = self
        self.port = int(self._server.server_address[1])
        self.url = f"http://{HOST}:{self.port}/"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        end = self._asked + RECENT  # and no later, however often it is asked from now on
        while kind is None and time.monotonic() < end:
            if self._arrived == self._version and self._look() is self._record:
                break  # the open page shows the end
            time.sleep(0.05)
        self._server.shutdown()
        self._server.server_close()

    def expect_page(self) -> None:
        """Count a page as open that has not sent its first request."""
        self._asked = time.monotonic()

    def page(self, after: int | None = None) -> str | None:
        """Return the whole page, or its content as JSON if it is newer than version `after`."""
        with self._lock:
            self.expect_page()
            record = self._look()
            if record is not self._record:
                self._record = record
                with suppress(SmgrnnError):  # a search has no champion before a candidate played
                    self._content = contents(record, is_live=True) | {"version": self._version + 1}
                    self._version += 1
            if after is None:
                return fill_frame(self._content) if self._content else WAITING
            self._arrived = after
            return None if self._version == after else json.dumps(self._content)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    view: LiveView

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # a page was closed while it loaded
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    timeout = 10  # seconds of an idle connection
    server: _Server

    def do_GET(self) -> None:
        view, kind = self.server.view, "text/html; charset=utf-8"
        hosts = [f"{HOST}:{view.port}", f"localhost:{view.port}"]
        if self.headers.get("Host") not in hosts:
            return self.send_error(421)
        if self.headers.get("Origin", f"http://{hosts[0]}") not in [f"http://{e}" for e in hosts]:
            return self.send_error(403)
        path, _, query = self.path.partition("?")
        if path == "/":
            text = view.page()
        elif path == "/moment":
            after = re.fullmatch(r"after=(\d{1,18})", query, re.ASCII)
            text, kind = view.page(int(after[1]) if after else 0), "application/json"
        else:
            return self.send_error(404)
        body, headers = (text or "").encode(), dict(HEADERS)
        self.send_response(204 if text is None else 200)
        if text is not None:
            headers |= {"Content-Type": kind, "Content-Length": str(len(body))}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        return None

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing: the terminal belongs to the run."""
