"""A real, headless browser for tests: Debian's Chromium, driven over its own debugging pipe."""

import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any, Self

import pytest

FLAGS = (
    *("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-background-networking", "--hide-scrollbars", "--remote-debugging-pipe"),
    "--no-sandbox",  # in containers tests run as root
)
SECONDS = 300.0
"""How long to wait for an answer."""


def find_browser() -> str:
    """Return the browser's program; without one the test is skipped, but never in CI."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    reason = "There is no Chromium here, so no page was opened: apt-get install chromium."
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


class Browser:
    """One page in a headless browser, and all that it complained about."""

    def __init__(self, program: str, profile: Path) -> None:
        from_us, to_browser = os.pipe()
        from_browser, to_us = os.pipe()
        # The browser reads commands from descriptor 3 and answers on 4.
        line = f'exec "$0" "$@" 3<&{from_us} 4>&{to_us}'
        command = [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        self._process = subprocess.Popen(
            ["bash", "-c", line, *command],
            pass_fds=(from_us, to_us),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(from_us)
        os.close(to_us)
        self._out, self._in = to_browser, from_browser
        self._unread = b""
        self._number = 0
        self._session: str | None = None
        self.complaints: list[str] = []
        """Errors and warnings on the console, and exceptions nobody caught."""
        self.requests: list[str] = []
        """Everything that was asked for."""
        self._loaded = False

    def __enter__(self) -> Self:
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(each["targetId"] for each in targets if each["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(SECONDS)
        os.close(self._out)
        os.close(self._in)

    def resize(self, width: int, height: int) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1}
        self.call("Emulation.setDeviceMetricsOverride", **size, mobile=width < 600)

    def prefer(self, theme: str) -> None:
        features = [{"name": "prefers-color-scheme", "value": theme}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def press(self, key: str, *, shift: bool = False) -> None:
        """Press a key, named as browsers do, and let the page answer."""
        text = {"text": key} if key == " " else {}
        for kind in ("keyDown", "keyUp"):
            event = {"type": kind, "key": key, "modifiers": 8 if shift else 0, **text}
            self.call("Input.dispatchKeyEvent", **event)
        self.settle()

    def open(self, path: Path | str) -> None:
        """Open a file or an address anew and wait until it is all there."""
        wanted = path if isinstance(path, str) else path.resolve().as_uri()
        for url in ("about:blank", wanted):
            self._loaded = False
            self.complaints.clear()
            self.requests.clear()
            self.call("Page.navigate", url=url)
            deadline = time.monotonic() + SECONDS
            while not self._loaded:
                self._take(self._read(deadline))

    def settle(self, times: int = 1) -> None:
        """Let the page do what it has begun, such as to answer an event."""
        wait = f"new Promise(done => setTimeout(done, {100 * times}))"
        self.call("Runtime.evaluate", expression=wait, awaitPromise=True)

    def wait_for(self, script: str) -> None:
        """Wait until a script comes true; the page may just be loading another one."""
        for _ in range(300):
            if self.evaluate(script):
                return
            time.sleep(0.1)
        raise AssertionError(f"{script} never came true: {self.complaints}")

    def click(self, place: dict[str, float], count: int = 1) -> None:
        """Click somewhere, once or several times."""
        for n in range(1, count + 1):
            for kind in ("mousePressed", "mouseReleased"):
                press = {"type": kind, "button": "left", "clickCount": n, **place}
                self.call("Input.dispatchMouseEvent", **press)
        self.settle(5)

    def box(self, id: str) -> dict[str, float]:
        """Return where an element lies in the window."""
        script = f"document.getElementById('{id}').getBoundingClientRect().toJSON()"
        found: dict[str, float] = self.evaluate(script)
        return found

    def text(self, id: str) -> str:
        """Return the text that an element shows."""
        return str(self.evaluate(f"document.getElementById('{id}').innerText"))

    def evaluate(self, script: str) -> Any:
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def call(self, method: str, **parameters: Any) -> Any:
        """Send a command of the DevTools protocol and return its result."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + SECONDS
        while (answer := self._read(deadline)).get("id") != self._number:
            self._take(answer)
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def _read(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._in], [], [], max(deadline - time.monotonic(), 0))
            assert ready, "the browser did not answer in time"
            received = os.read(self._in, 1 << 20)
            assert received, "the browser has gone"
            self._unread += received
        message, _, self._unread = self._unread.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found

    def _take(self, event: dict[str, Any]) -> None:
        method, details = event.get("method"), event.get("params", {})
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(details["request"]["url"][:80])
        elif method == "Log.entryAdded":
            self.complaints.append(details["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(details["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and details["type"] in ("error", "warning"):
            self.complaints.append(str(details["args"]))
