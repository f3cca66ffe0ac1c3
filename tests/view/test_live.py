"""A run under way on a page: it is followed in a browser, and nobody else is let in."""

import http.client
import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Any
from urllib.request import urlopen

import pytest

from smgrnn import Run
from smgrnn.runs.record import Record
from smgrnn.runs.start import new_run
from smgrnn.view import FolderView, LiveView, Timeline
from smgrnn.view.style import place_nodes
from smgrnn_paper import evolve
from support.browser import Browser
from support.errands import PATIENCE
from support.runs import settings, trained

pytestmark = pytest.mark.xdist_group("view")


def test_a_run_is_followed_from_before_its_first_episode_to_its_end(
    browser: Browser, tmp_path: Path
) -> None:
    """The run waits at each checkpoint until the page shows it."""
    run = new_run("CartPole-v1", settings(tmp_path), tmp_path / "run")
    run.begin()
    seen = []
    browser.resize(1280, 900)

    def look(run: Run) -> None:
        browser.wait_for(f"window.player && last === {run.episodes.n} && player.time === last")
        assert browser.evaluate("player.state().nodes") == run.final.graph.node_ids.tolist()
        assert f"nodes {run.final.graph.n_nodes}" in browser.text("now")
        assert browser.evaluate("byId('live').textContent") == "live" or run.is_finished
        seen.append(run.episodes.n)

    with LiveView(FolderView(tmp_path / "run")) as view:
        browser.open(view.url)
        browser.wait_for("Boolean(window.player)")
        assert "Before the first episode" in browser.text("now")
        run.train(look)
        browser.wait_for("byId('live').textContent === 'finished'")
        assert browser.complaints == []
    assert seen == [10, 20, 30]
    assert "Episode 30 of 30" in browser.text("now")
    assert browser.evaluate("byId('curves').complete && byId('curves').naturalWidth") > 0


def test_who_looks_back_is_left_alone_until_the_end_and_another_run_is_shown(
    browser: Browser, tmp_path: Path
) -> None:
    records = [trained(tmp_path, name=None, episodes=n).record for n in (10, 20)]
    shown = [records[0]]
    with LiveView(lambda: shown[0]) as view:
        browser.open(view.url)
        browser.wait_for("Boolean(window.player)")
        browser.press("Home")
        browser.press("ArrowRight")
        shown[0] = records[1]
        browser.wait_for("last === 20")
        assert browser.evaluate("player.time") == 1
        browser.press("End")
        assert browser.evaluate("player.time") == 20
        begun = new_run("CartPole-v1", settings(tmp_path)).record
        shown[0] = replace(begun, plan=replace(begun.plan, seed=7))
        browser.wait_for("window.player && document.title.endsWith('seed 7')")
    browser.wait_for("byId('live').textContent.startsWith('no longer followed')")


def test_nodes_keep_their_places_until_a_run_has_grown_to_twice_as_many(tmp_path: Path) -> None:
    records = []
    run = new_run("CartPole-v1", settings(tmp_path, checkpoint_every=1))
    run.train(lambda run: records.append(run.record))
    assert len(records) == 30
    found: dict[tuple[int, int], list[float]] = {}
    for record in records:
        timeline = Timeline.of(record)
        n_digits = max((timeline.hidden.most_at_once() - 1).bit_length(), 4)
        places = place_nodes(timeline, spare=True).tolist()
        for id, place in zip(timeline.nodes.id.tolist(), places, strict=True):
            assert found.setdefault((n_digits, id), place) == place


def asked(
    view: LiveView, path: str, host: str | None = None, method: str = "GET", origin: str = ""
) -> Any:
    connection = http.client.HTTPConnection("127.0.0.1", view.port, timeout=PATIENCE)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", host or f"127.0.0.1:{view.port}")
    if origin:
        connection.putheader("Origin", origin)
    connection.endheaders()
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveView]:
    folder = tmp_path_factory.mktemp("runs")
    trained(folder)
    with LiveView(FolderView(folder / "run")) as found:
        yield found


HERE = "localhost:{port}"


@pytest.mark.parametrize(
    ("status", "method", "host", "paths"),
    [
        (200, "GET", "127.0.0.1:{port}", ["/"]),
        (200, "GET", HERE, ["/", "/moment?after=x", f"/moment?after={'9' * 5000}"]),
        (404, "GET", HERE, ["http://[/", "//["]),
        (421, "GET", "evil.example", ["/moment"]),
        (421, "GET", "evil.example:{port}", ["/", "/moment"]),
        (421, "GET", "127.0.0.1", ["/moment"]),
        (421, "GET", "[::1]:80", ["/moment"]),
        (404, "GET", HERE, ["/run.json", "/../run.json", "/..%2frun.json", "//etc/passwd", "/x"]),
        (404, "GET", HERE, ["/moment/../run.json"]),
        (501, "POST", HERE, ["/"]),
    ],
)
def test_it_answers_its_own_addresses_and_nothing_else(
    view: LiveView,
    status: int,
    method: str,
    host: str,
    paths: list[str],
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A page of the web could let its own name mean this machine, and ask what it likes."""
    for path in paths:
        assert asked(view, path, host.format(port=view.port), method).status == status
    assert capfd.readouterr() == ("", "")  # the terminal belongs to the run


def test_a_page_of_the_web_is_refused_and_the_page_itself_is_not(view: LiveView) -> None:
    for origin, status in ((f"http://{HERE}", 200), ("http://evil.example", 403), ("null", 403)):
        given = origin.format(port=view.port)
        assert asked(view, "/moment", HERE.format(port=view.port), origin=given).status == status


def test_it_ends_with_its_run_however_often_it_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that asked for the page again and again kept the command from ending."""
    monkeypatch.setattr("smgrnn.view.live.RECENT", 0.5)
    record, is_over = trained(tmp_path, name=None, episodes=1).record, threading.Event()
    with LiveView(lambda: record) as view:

        def ask() -> None:
            with suppress(OSError, http.client.HTTPException):
                while not is_over.is_set():
                    asked(view, "/")

        asked(view, "/")
        thread = threading.Thread(target=ask)
        thread.start()
    is_over.set()
    thread.join()


def test_only_what_is_new_is_sent_and_to_this_machine_alone(view: LiveView) -> None:
    with urlopen(f"{view.url}moment?after=0") as answer:
        found = json.load(answer)
    assert found["isFinished"]
    assert asked(view, f"/moment?after={found['version']}").status == 204
    assert view._server.server_address[0] == "127.0.0.1"
    headers = asked(view, "/moment").headers
    assert headers["Access-Control-Allow-Origin"] is None
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_a_search_without_a_champion_is_waited_for(tmp_path: Path) -> None:
    evolve("CartPole-v1", method="neat", rollouts=20, population=20, held_out=1, out=tmp_path / "a")
    record = replace(Record.load(tmp_path / "a"), students={})
    with LiveView(lambda: record) as view, urlopen(view.url) as answer:
        assert b"nothing to show yet" in answer.read()


COMMAND = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background ignores
from smgrnn.__main__ import main
main()
"""
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Return a function that starts a command; none outlives its test."""
    processes = []

    def started(*words: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process

    yield started
    for process in processes:
        process.kill()
        process.communicate()


def address_in(lines: IO[str]) -> str:
    for line in lines:
        if found := re.search(r"http://127\.0\.0\.1:\d+/", line):
            return found[0]
    raise AssertionError("no address was told")


def test_the_command_serves_until_ctrl_c(tmp_path: Path, start: Start) -> None:
    trained(tmp_path)
    process = start("view", str(tmp_path / "run"), "--live")
    assert process.stdout is not None
    with urlopen(address_in(process.stdout)) as answer:
        assert b"CartPole-v1, smgrnn, seed 0" in answer.read()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert said.splitlines() == ["Ctrl-C ends this."]


def test_distill_live_tells_where_and_lets_the_page_see_the_end(
    browser: Browser, tmp_path: Path, start: Start
) -> None:
    words = ("--live", "--episodes", "60", "--held-out", "5", "--out", str(tmp_path / "run"))
    process = start("distill", "CartPole-v1", *words)
    assert process.stderr is not None
    browser.open(address_in(process.stderr))
    browser.wait_for("window.player && content.isFinished && last === 60")
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    browser.wait_for("byId('live').textContent === 'finished'")
