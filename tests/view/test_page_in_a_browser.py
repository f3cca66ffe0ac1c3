"""The page in a real browser: it opens from disk, plays, scrubs, and tells each edge's story."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smgrnn import Run
from smgrnn.view import Timeline, write_page
from smgrnn.view.style import COLOURS
from support.browser import Browser
from support.runs import GROWING, trained

pytestmark = pytest.mark.xdist_group("view")

DESKTOP, PHONE = (1280, 900), (390, 844)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return trained(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def timeline(run: Run) -> Timeline:
    return Timeline.of(run.record)


@pytest.fixture(scope="module")
def path(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "growth.html"
    write_page(run.record, path)
    return path


def opened(browser: Browser, path: Path, size: tuple[int, int] = DESKTOP) -> Browser:
    browser.resize(*size)
    browser.prefer("light")
    browser.open(path)
    browser.wait_for("Boolean(window.player)")
    return browser


@pytest.fixture
def desktop(browser: Browser, path: Path) -> Browser:
    return opened(browser, path)


@pytest.fixture
def phone(browser: Browser, path: Path) -> Browser:
    return opened(browser, path, PHONE)


def shown(browser: Browser, time: float | None = None) -> dict[str, Any]:
    """Return the update, the nodes, and the edges with weights shown, at a time or now."""
    if time is not None:
        browser.evaluate(f"player.seek({time}); 0")
    state: dict[str, Any] = browser.evaluate("player.state()")
    return {**state, "edges": {int(id): weight for id, weight in state["edges"]}}


def frame_of(timeline: Timeline, update: int) -> dict[str, Any]:
    frame = timeline.frame(update)
    ids = timeline.edges.id[frame.edges].tolist()
    return {
        "update": update,
        "nodes": timeline.nodes.id[frame.nodes].tolist(),
        "edges": pytest.approx(dict(zip(ids, frame.weight.tolist(), strict=True)), abs=1e-5),
    }


def place_of(browser: Browser, kind: str, x: str, y: str) -> dict[str, float]:
    """Return where a point of the network lies in the window."""
    found: dict[str, float] = browser.evaluate(
        f"""(() => {{
          const plot = Bokeh.documents[0].roots()[0], view = Bokeh.index.get_one(plot);
          const box = view.el.getBoundingClientRect(), data = player.sources.{kind}.data;
          return {{
            x: box.left + view.frame.bbox.left + view.frame.bbox.width *
              ({x} - plot.x_range.start) / (plot.x_range.end - plot.x_range.start),
            y: box.top + view.frame.bbox.top + view.frame.bbox.height *
              (plot.y_range.end - {y}) / (plot.y_range.end - plot.y_range.start),
          }};
        }})()"""
    )
    return found


def story(browser: Browser, place: dict[str, float] | None = None) -> str:
    """Return what is told about the node or edge that is pointed at, or that lies at a place."""
    for shift in () if place is None else (4, 0):
        near: Any = {"x": place["x"] + shift, "y": place["y"]} if place else {}
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", **near)
        browser.settle()
    return "" if browser.evaluate("byId('story').hidden") else browser.text("story")


def test_every_frame_of_the_page_is_that_of_the_timeline(
    desktop: Browser, path: Path, run: Run, timeline: Timeline
) -> None:
    """It opens with the final graph; an edge is gone at the very update that removes it."""
    assert desktop.complaints == []
    asked_for = {url for url in desktop.requests if not url.startswith("data:")}
    assert asked_for <= {"about:blank", path.as_uri()}
    assert shown(desktop) == frame_of(timeline, int(run.episodes.steps.sum()))
    assert shown(desktop)["nodes"] == run.final.graph.node_ids.tolist()
    removed = timeline.edges.died.min(keepdims=True)
    at_removal = float(timeline.times(removed)[0]) + 1e-7  # or rounding might fall short of it
    for time in (0, 0.5, 3.25, 11, 17.9, 29.99, 30, at_removal):
        assert shown(desktop, time) == frame_of(timeline, timeline.update_at(time))
    died = timeline.edges.id[timeline.edges.died == removed]
    assert not set(died.tolist()) & set(shown(desktop)["edges"])


def test_the_slider_scrubs_and_a_click_on_a_curve_goes_there(desktop: Browser, run: Run) -> None:
    desktop.evaluate("byId('time').value = 10; byId('time').dispatchEvent(new Event('input'))")
    assert shown(desktop)["update"] == run.episodes.steps[:10].sum()
    assert "Episode 10 of 30" in desktop.text("now")
    box = desktop.box("span")
    desktop.click({"x": box["left"] + box["width"] / 2, "y": box["top"] + 60})
    assert desktop.evaluate("player.time") == pytest.approx(15, abs=0.1)
    assert desktop.box("cursor")["left"] == pytest.approx(box["left"] + box["width"] / 2, abs=2)
    assert box["width"] > 0.8 * desktop.box("curves")["width"]


def test_the_button_plays_from_the_start_and_pauses(desktop: Browser, run: Run) -> None:
    desktop.evaluate("byId('play').click()")
    desktop.settle(3)
    assert desktop.evaluate("byId('play').getAttribute('aria-label')") == "Pause"
    assert 0 < desktop.evaluate("player.time") < 30
    desktop.evaluate("byId('play').click()")
    paused = desktop.evaluate("player.time")
    desktop.settle()
    assert desktop.evaluate("player.time") == paused
    desktop.evaluate("player.seek(29.9).play(); 0")
    desktop.settle(20)
    assert not desktop.evaluate("player.isPlaying")
    assert shown(desktop)["nodes"] == run.final.graph.node_ids.tolist()


def test_pointing_tells_a_story_and_lights_up_the_edges_of_a_node(
    desktop: Browser, run: Run
) -> None:
    edge = story(desktop, place_of(desktop, "edges", "data.xs[0][4]", "data.ys[0][4]"))
    assert edge.startswith("Edge ")
    assert "weight " in edge
    assert desktop.evaluate("document.querySelectorAll('#story svg path').length") == 1
    node = story(desktop, place_of(desktop, "nodes", "data.x[0]", "data.y[0]"))
    assert node.startswith("Input position\nthere from the start\nthere to the end\n")
    own = {edge.id for edge in run.final.graph.edges() if 0 in (edge.source, edge.target)}
    assert set(desktop.evaluate("player.frame.lit.map((row) => edges.id[row])")) == own != set()
    ids = desktop.evaluate("player.shown.edges.map((row) => edges.id[row])")
    alpha = desktop.evaluate("player.sources.edges.data.line_alpha")
    for id, strength in zip(ids, alpha, strict=True):
        assert strength == 1 if id in own else strength < 0.2
    assert story(desktop, place_of(desktop, "nodes", "0", "1")) == ""
    assert min(desktop.evaluate("player.sources.edges.data.line_alpha")) > 0.5


def test_the_counters_are_of_the_moment_that_is_drawn(
    desktop: Browser, run: Run, timeline: Timeline
) -> None:
    """They were of the end of the episode: 12 nodes, with 18 drawn."""
    inside = timeline.times(timeline.sizes()["update"]) + 1e-4
    differing = 0
    for time in inside[:: max(inside.size // 20, 1)].tolist():
        drawn = {kind: len(each) for kind, each in shown(desktop, time).items() if kind != "update"}
        counted = re.findall(r"(nodes|edges) (\d+)", desktop.text("now"))
        assert {name: int(n) for name, n in counted} == drawn
        differing += drawn["edges"] != run.episodes.n_edges[min(int(time), 29)]
    assert differing > 3


def test_removed_nodes_never_outnumber_those_that_live(
    desktop: Browser, run: Run, timeline: Timeline
) -> None:
    desktop.evaluate("style.fade = 1; 0")
    gone = np.unique(timeline.hidden.died)
    for time in timeline.times(gone[gone <= run.episodes.steps.sum()]).tolist():
        n_living = len(shown(desktop, time + 1e-6)["nodes"]) - timeline.n_fixed
        n_drawn = desktop.evaluate("player.shown.nodes.length") - timeline.n_fixed
        assert n_drawn - n_living <= n_living / 2


def test_every_edge_has_an_arrowhead_that_points_to_its_target(desktop: Browser) -> None:
    n_edges = len(shown(desktop, 30)["edges"])
    ends = desktop.evaluate(
        """(() => {
          const { x, y, angle } = player.sources.arrows.data;
          return player.frame.edges.map((edge, i) => {
            const [from, to] = ["source", "target"].map((end) => rowOf.get(edges[end][edge]));
            const near = Math.hypot(nodes.x[to] - x[i], nodes.y[to] - y[i]);
            const far = Math.hypot(nodes.x[from] - x[i], nodes.y[from] - y[i]);
            const right = nodes.x[to] - nodes.x[from], turned = angle[i] + Math.PI / 2;
            return near < far && (Math.abs(right) < 0.2 || Math.cos(turned) * right > 0);
          });
        })()"""
    )
    assert ends == [True] * n_edges


def test_the_wheel_zooms_and_a_double_click_shows_everything_again(desktop: Browser) -> None:
    width = "(({start, end}) => end - start)(Bokeh.documents[0].roots()[0].x_range)"
    whole = desktop.evaluate(width)
    place = place_of(desktop, "nodes", "0.5", "0.5")
    turned = {"type": "mouseWheel", "deltaX": 0, "deltaY": -240, **place}
    desktop.call("Input.dispatchMouseEvent", **turned)
    desktop.settle(3)
    assert desktop.evaluate(width) < 0.9 * whole
    assert not desktop.evaluate("byId('whole').hidden")
    assert desktop.evaluate("scrollY") == 0
    desktop.click(place, count=2)
    assert desktop.evaluate(width) == pytest.approx(whole)
    assert desktop.evaluate("byId('whole').hidden")


def test_the_keyboard_plays_and_steps(desktop: Browser, run: Run, timeline: Timeline) -> None:
    keys = {"Home": 0, "ArrowRight": 1, "End": 30, "ArrowLeft": 29}
    for key, time in keys.items():
        desktop.press(key)
        assert desktop.evaluate("player.time") == time
    shown(desktop, 1)
    desktop.press("ArrowRight", shift=True)
    changes = timeline.sizes()["update"]
    after = changes[changes > run.episodes.steps[0]].min()
    assert shown(desktop)["update"] == pytest.approx(after, abs=1)
    for is_playing in (True, False):
        desktop.press(" ")
        assert desktop.evaluate("player.isPlaying") == is_playing


def test_a_dark_window_has_a_dark_page(desktop: Browser) -> None:
    for theme, place in (("dark", 1), ("light", 0)):
        desktop.prefer(theme)
        desktop.settle()
        assert desktop.evaluate("tones.paper") == COLOURS["paper"][place]
        drawn = desktop.evaluate("player.sources.edges.data.line_color")
        assert set(drawn) == {COLOURS["positive"][place], COLOURS["negative"][place]}


def test_what_is_new_glows_in_the_colour_of_its_cause(desktop: Browser, timeline: Timeline) -> None:
    relay = int((timeline.nodes.born > 0).argmax())
    shown(desktop, float(timeline.times(timeline.nodes.born[[relay]])[0]) + 0.01)
    assert "#a3329f" in desktop.evaluate("player.sources.glows.data.fill_color")
    shown(desktop, 0)
    assert desktop.evaluate("player.sources.glows.data.fill_color") == []


def names_shown(browser: Browser) -> list[str]:
    """Return the names beside the nodes, all of which end within the figure."""
    found: list[dict[str, Any]] = browser.evaluate(
        """(() => {
          const plot = Bokeh.documents[0].roots()[0];
          const { width } = Bokeh.index.get_one(plot).frame.bbox;
          const { start, end } = plot.x_range, span = document.createElement("span");
          document.body.append(span);
          const measured = ({ glyph, data_source: { data } }) => data.text.map((text, i) => {
            span.style.cssText = "position: absolute; white-space: pre";
            span.style.font = `${glyph.text_font_size.value} ${glyph.text_font.value}`;
            span.textContent = text;
            const share = (data.x[i] - start) / (end - start);
            const beside = width * (glyph.x_offset.value < 0 ? share : 1 - share);
            const taken = Math.abs(glyph.x_offset.value) + span.getBoundingClientRect().width;
            return { text, left: beside - taken };
          });
          const found = plot.renderers.filter(({ name }) => name === "names").flatMap(measured);
          span.remove();
          return found;
        })()"""
    )
    assert min(each["left"] for each in found) >= 0, found
    return [each["text"] for each in found]


def test_names_are_whole_and_a_phone_cuts_the_ends_of_long_ones(phone: Browser, run: Run) -> None:
    names = names_shown(phone)
    assert re.fullmatch("angular v.*…", names.pop(3))
    assert names == ["position", "velocity", "angle", "left", "right"]
    phone.resize(*DESKTOP)
    phone.settle()
    whole = run.selected.policy.names.of_nodes(run.final.graph.n_inputs)
    assert names_shown(phone) == list(whole)


def test_the_page_fits_a_phone_and_a_tap_tells_a_story(phone: Browser) -> None:
    assert phone.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    for id in ("play", "time", "speed"):
        box = phone.box(id)
        assert box["height"] >= 36
        assert 0 <= box["left"] < box["right"] <= PHONE[0]
    smallest = phone.evaluate(
        "Math.min(...[...document.querySelectorAll('p, li, span, select')]"
        ".map(each => parseFloat(getComputedStyle(each).fontSize)))"
    )
    assert smallest >= 12
    place = place_of(phone, "nodes", "data.x[0]", "data.y[0]")
    phone.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[place])
    phone.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    phone.settle(5)
    assert story(phone).startswith("Input position")


@pytest.mark.filterwarnings("ignore:Growth stopped")
def test_five_thousand_nodes_open_and_are_said_to_be_thinned(
    browser: Browser, tmp_path: Path
) -> None:
    large = {"interval": 1, "max_relays": 200, "window": 2, "max_nodes": 5000}
    rules = {**GROWING, **large, "explore_ratio": 1e-4}
    run = trained(tmp_path, student="growth-only", episodes=6, plasticity=rules)
    assert run.final.graph.n_nodes == 5000
    write_page(run.record, tmp_path / "growth.html")
    page = opened(browser, tmp_path / "growth.html")
    assert "too large to be drawn whole" in page.text("notices")
    assert "of the 5,000 nodes" in page.text("notices")
    assert 200 < len(shown(page)["nodes"]) <= 306
    assert "nodes 5,000" in page.text("now")
    assert (tmp_path / "growth.html").stat().st_size < 4_000_000
    assert page.complaints == []


def test_a_run_without_an_episode_opens(browser: Browser, tmp_path: Path, run: Run) -> None:
    start = Run(run.plan)
    write_page(start.record, tmp_path / "growth.html")
    page = opened(browser, tmp_path / "growth.html")
    assert shown(page)["nodes"] == start.graph.node_ids.tolist()
    assert page.complaints == []
