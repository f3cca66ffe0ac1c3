"""The page in a real browser: it opens from disk, plays, scrubs, and tells each edge's story."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from smgrnn.episodes.table import Episodes
from smgrnn.runs import Run
from smgrnn.runs.pictures import find_done
from smgrnn.view import Timeline, write_page
from support.browser import Browser, find_browser
from support.runs import GROWING, trained

pytestmark = pytest.mark.xdist_group("view")

DESKTOP, PHONE = (1280, 900), (390, 844)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(find_browser(), tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return trained(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def path(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "growth.html"
    write_page(run.record, path)
    return path


def opened(browser: Browser, path: Path | str, size: tuple[int, int]) -> Browser:
    browser.resize(*size)
    browser.prefer("light")
    browser.open(path)
    for _ in range(100):
        if browser.evaluate("Boolean(window.player)"):
            return browser
        browser.settle()
    raise AssertionError(f"the page did not start: {browser.complaints}")


@pytest.fixture
def desktop(browser: Browser, path: Path) -> Browser:
    return opened(browser, path, DESKTOP)


@pytest.fixture
def phone(browser: Browser, path: Path) -> Browser:
    return opened(browser, path, PHONE)


def shown(browser: Browser) -> dict[str, Any]:
    """Return the update, the ids of the nodes, and the ids and weights of the edges shown."""
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


def point_at(browser: Browser, place: dict[str, float]) -> str:
    """Move the mouse to a place and return the story that is told there."""
    for shift in (4, 0):
        near = {"x": place["x"] + shift, "y": place["y"]}
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", **near)
        browser.settle()
    return story(browser)


def story(browser: Browser) -> str:
    """Return what is told about the node or edge that is pointed at, if there is one."""
    element = "document.getElementById('story')"
    return str(browser.evaluate(f"{element}.hidden ? '' : {element}.innerText"))


def test_nothing_is_complained_about_and_nothing_is_fetched(desktop: Browser, path: Path) -> None:
    assert desktop.complaints == []
    asked_for = {url for url in desktop.requests if not url.startswith("data:")}
    assert asked_for <= {"about:blank", path.as_uri()}


def test_the_page_opens_with_the_final_graph(desktop: Browser, run: Run) -> None:
    last = int(run.episodes.steps.sum())
    assert shown(desktop) == frame_of(Timeline.of(run.record), last)
    assert shown(desktop)["nodes"] == run.graph.node_ids.tolist()


def test_every_frame_of_the_page_is_that_of_the_timeline(desktop: Browser, run: Run) -> None:
    """An edge is gone at the very update that removes it."""
    timeline = Timeline.of(run.record)
    removed = timeline.edges.died.min(keepdims=True)
    at_removal = float(timeline.times(removed)[0]) + 1e-7  # or rounding might fall short of it
    for time in (0, 0.5, 3.25, 11, 17.9, 29.99, 30, at_removal):
        desktop.evaluate(f"player.seek({time}); 0")
        assert shown(desktop) == frame_of(timeline, timeline.update_at(time))
    died = timeline.edges.id[timeline.edges.died == removed]
    assert not set(died.tolist()) & set(shown(desktop)["edges"])


def test_the_slider_scrubs(desktop: Browser, run: Run) -> None:
    desktop.evaluate(
        "(() => { const slider = document.getElementById('time'); slider.value = 10;"
        "slider.dispatchEvent(new Event('input')); })()"
    )
    assert shown(desktop)["update"] == run.episodes.steps[:10].sum()
    assert "Episode 10 of 30" in desktop.evaluate("document.getElementById('now').innerText")


def test_the_button_plays_from_the_start_and_pauses(desktop: Browser, run: Run) -> None:
    button = "document.getElementById('play')"
    desktop.evaluate(f"{button}.click()")
    for _ in range(3):
        desktop.settle()
    assert desktop.evaluate(f"{button}.getAttribute('aria-label')") == "Pause"
    assert 0 < desktop.evaluate("player.time") < 30
    desktop.evaluate(f"{button}.click()")
    paused = desktop.evaluate("player.time")
    desktop.settle()
    assert desktop.evaluate("player.time") == paused
    desktop.evaluate("player.seek(29.9).play(); 0")
    for _ in range(20):
        desktop.settle()
    assert not desktop.evaluate("player.isPlaying")
    assert shown(desktop)["nodes"] == run.graph.node_ids.tolist()


def test_pointing_tells_a_story_and_lights_up_the_edges_of_a_node(
    desktop: Browser, run: Run
) -> None:
    edge = point_at(desktop, place_of(desktop, "edges", "data.xs[0][4]", "data.ys[0][4]"))
    assert edge.startswith("Edge ")
    assert "weight " in edge
    assert desktop.evaluate("document.querySelectorAll('#story svg path').length") == 1
    node = point_at(desktop, place_of(desktop, "nodes", "data.x[0]", "data.y[0]"))
    assert node.startswith("Input position\nthere from the start\nthere to the end\n")
    own = {edge.id for edge in run.graph.edges() if 0 in (edge.source, edge.target)}
    assert own
    assert set(desktop.evaluate("player.frame.lit.map((row) => edges.id[row])")) == own
    ids = desktop.evaluate("player.shown.edges.map((row) => edges.id[row])")
    alpha = desktop.evaluate("player.sources.edges.data.line_alpha")
    for id, strength in zip(ids, alpha, strict=True):
        assert strength == 1 if id in own else strength < 0.2
    assert point_at(desktop, place_of(desktop, "nodes", "0", "1")) == ""
    assert min(desktop.evaluate("player.sources.edges.data.line_alpha")) > 0.5


def counted(browser: Browser) -> dict[str, int]:
    """Return the nodes and edges that the page says there are."""
    words = str(browser.evaluate("document.getElementById('now').innerText"))
    return {name: int(n) for name, n in re.findall(r"(nodes|edges) (\d+)", words)}


def test_the_counters_are_of_the_moment_that_is_drawn(desktop: Browser, run: Run) -> None:
    """They were of the end of the episode: 12 nodes, with 18 drawn."""
    timeline = Timeline.of(run.record)
    inside = timeline.times(timeline.sizes()["update"]) + 1e-4
    differing = 0
    for time in inside[:: max(inside.size // 20, 1)].tolist():
        desktop.evaluate(f"player.seek({time}); 0")
        drawn = {kind: len(shown(desktop)[kind]) for kind in ("nodes", "edges")}
        assert counted(desktop) == drawn
        differing += drawn["edges"] != run.episodes.n_edges[min(int(time), 29)]
    assert differing > 3


def test_removed_nodes_never_outnumber_those_that_live(desktop: Browser, run: Run) -> None:
    timeline = Timeline.of(run.record)
    gone = np.unique(timeline.hidden.died)
    for update in gone[gone <= run.episodes.steps.sum()].tolist():
        time = float(timeline.times(np.array([update]))[0]) + 1e-6
        desktop.evaluate(f"style.fade = 1; player.seek({time}); 0")
        n_living = len(shown(desktop)["nodes"]) - timeline.n_fixed
        n_drawn = desktop.evaluate("player.shown.nodes.length") - timeline.n_fixed
        assert n_drawn - n_living <= n_living / 2


def test_every_edge_has_an_arrowhead_that_points_to_its_target(desktop: Browser) -> None:
    desktop.evaluate("player.seek(30); 0")
    ends = desktop.evaluate(
        """(() => {
          const { x, y, angle } = player.sources.arrows.data;
          return player.frame.edges.map((edge, i) => {
            const [from, to] = ["source", "target"].map((end) => rowOf.get(edges[end][edge]));
            const near = Math.hypot(nodes.x[to] - x[i], nodes.y[to] - y[i]);
            const far = Math.hypot(nodes.x[from] - x[i], nodes.y[from] - y[i]);
            const right = nodes.x[to] - nodes.x[from], turned = angle[i] + Math.PI / 2;
            return [near < far, Math.abs(right) < 0.2 || Math.cos(turned) * right > 0];
          });
        })()"""
    )
    assert len(ends) == len(shown(desktop)["edges"])
    assert all(is_near and is_right for is_near, is_right in ends)


def test_the_wheel_zooms_and_a_double_click_shows_everything_again(desktop: Browser) -> None:
    width = "(({start, end}) => end - start)(Bokeh.documents[0].roots()[0].x_range)"
    whole = desktop.evaluate(width)
    place = place_of(desktop, "nodes", "0.5", "0.5")
    turned = {"type": "mouseWheel", "deltaX": 0, "deltaY": -240, **place}
    desktop.call("Input.dispatchMouseEvent", **turned)
    for _ in range(3):
        desktop.settle()
    assert desktop.evaluate(width) < 0.9 * whole
    assert not desktop.evaluate("document.getElementById('whole').hidden")
    assert desktop.evaluate("scrollY") == 0
    for clicks in (1, 2):
        for kind in ("mousePressed", "mouseReleased"):
            press = {"type": kind, "button": "left", "clickCount": clicks, **place}
            desktop.call("Input.dispatchMouseEvent", **press)
    for _ in range(5):
        desktop.settle()
    assert desktop.evaluate(width) == pytest.approx(whole)
    assert desktop.evaluate("document.getElementById('whole').hidden")


def test_the_keyboard_plays_and_steps(desktop: Browser, run: Run) -> None:
    desktop.press("Home")
    assert desktop.evaluate("player.time") == 0
    desktop.press("ArrowRight")
    desktop.press("ArrowRight")
    assert desktop.evaluate("player.time") == 2
    desktop.press("ArrowLeft")
    assert desktop.evaluate("player.time") == 1
    desktop.press("ArrowRight", shift=True)
    changes = Timeline.of(run.record).sizes()["update"]
    after = changes[changes > run.episodes.steps[0]].min()
    assert shown(desktop)["update"] == pytest.approx(after, abs=1)
    desktop.press(" ")
    assert desktop.evaluate("player.isPlaying")
    desktop.press(" ")
    assert not desktop.evaluate("player.isPlaying")
    desktop.press("End")
    assert desktop.evaluate("player.time") == 30


def test_a_dark_window_has_a_dark_page_in_which_all_can_be_read(desktop: Browser) -> None:
    def luminance(colour: str) -> float:
        channels = np.array(to_rgb(colour))
        linear = np.where(
            channels <= 0.03928, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4
        )
        return float(linear @ (0.2126, 0.7152, 0.0722))

    for theme in ("dark", "light"):
        desktop.prefer(theme)
        desktop.settle()
        paper = desktop.evaluate("tones.paper")
        assert (luminance(paper) < 0.05) == (theme == "dark")
        used = desktop.evaluate(
            """[...player.sources.edges.data.line_color, ...player.sources.nodes.data.line_color,
                Bokeh.documents[0].roots()[0].select_one("edges").hover_glyph.line_color.value,
                ...player.curves.flatMap((plot) => plot.renderers.map((it) => it.glyph))
                  .map((glyph) => glyph.line_color.value),
                ...player.curves.map((plot) => plot.left[0].major_label_text_color)]"""
        )
        for colour in set(used):
            light, dark = sorted((luminance(colour), luminance(paper)), reverse=True)
            assert (light + 0.05) / (dark + 0.05) > 2.5, colour


def test_the_curves_mark_when_the_job_was_done(browser: Browser, tmp_path: Path, run: Run) -> None:
    """After 40 episodes of 400 the pole stays up; at the 115th, 25 of the last 100 fell."""
    columns = run.episodes._asdict()
    many: Any = Episodes(**{name: np.resize(column, 200) for name, column in columns.items()})
    returns = np.where(np.arange(200) < 40, 400.0, 500.0)
    record = replace(run.record, episodes=many._replace(returns=returns))
    write_page(record, tmp_path / "growth.html")
    page = opened(browser, tmp_path / "growth.html", DESKTOP)
    assert page.evaluate("content.done") == find_done(record) == 115
    assert "Solved in episode 115" in page.evaluate("document.getElementById('facts').innerText")
    box = page.evaluate("document.getElementById('done').getBoundingClientRect().toJSON()")
    page.evaluate("player.seek(115); 0")
    here = page.evaluate("document.getElementById('cursor').getBoundingClientRect().toJSON()")
    assert box["left"] == pytest.approx(here["left"], abs=2)


def test_what_is_new_glows_in_the_colour_of_its_cause(desktop: Browser, run: Run) -> None:
    timeline = Timeline.of(run.record)
    relay = int((timeline.nodes.born > 0).argmax())
    time = float(timeline.times(timeline.nodes.born[[relay]])[0])
    desktop.evaluate(f"player.seek({time + 0.01}); 0")
    assert "#a3329f" in desktop.evaluate("player.sources.glows.data.fill_color")
    desktop.evaluate("player.seek(0); 0")
    assert desktop.evaluate("player.sources.glows.data.fill_color") == []


def test_a_click_on_a_curve_goes_there(desktop: Browser) -> None:
    box = desktop.evaluate("document.getElementById('curves').getBoundingClientRect().toJSON()")
    place = {"x": box["left"] + box["width"] / 2, "y": box["top"] + 60}
    for kind in ("mousePressed", "mouseReleased"):
        desktop.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)
    for _ in range(5):
        desktop.settle()
    assert 13 < desktop.evaluate("player.time") < 17


def names_shown(browser: Browser) -> list[dict[str, Any]]:
    """Return each name beside a node, and the pixels left between it and the figure's edge."""
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
    return found


def test_names_are_whole_and_a_phone_cuts_the_ends_of_long_ones(phone: Browser, run: Run) -> None:
    names = [each["text"] for each in names_shown(phone)]
    assert re.fullmatch("angular v.*…", names.pop(3))
    assert names == ["position", "velocity", "angle", "left", "right"]
    phone.resize(*DESKTOP)
    phone.settle()
    whole = run.handed_over.policy.names.of_nodes(run.graph.n_inputs)
    assert [each["text"] for each in names_shown(phone)] == list(whole)


def test_the_page_fits_a_phone(phone: Browser) -> None:
    assert phone.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    for id in ("play", "time", "speed"):
        box = phone.evaluate(f"document.getElementById('{id}').getBoundingClientRect().toJSON()")
        assert box["height"] >= 36
        assert 0 <= box["left"] < box["right"] <= PHONE[0]
    smallest = phone.evaluate(
        "Math.min(...[...document.querySelectorAll('p, li, span, select')]"
        ".map(each => parseFloat(getComputedStyle(each).fontSize)))"
    )
    assert smallest >= 12


def test_a_tap_tells_a_story_on_a_phone(phone: Browser) -> None:
    place = place_of(phone, "nodes", "data.x[0]", "data.y[0]")
    phone.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[place])
    phone.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    for _ in range(5):
        phone.settle()
    assert story(phone).startswith("Input position")


@pytest.mark.filterwarnings("ignore:Growth stopped")
def test_five_thousand_nodes_open_and_are_said_to_be_thinned(
    browser: Browser, tmp_path: Path
) -> None:
    large = {"interval": 1, "max_relays": 200, "window": 2, "max_nodes": 5000}
    rules = {**GROWING, **large, "explore_ratio": 1e-4}
    run = trained(tmp_path, student="growth-only", episodes=6, plasticity=rules)
    assert run.graph.n_nodes == 5000
    write_page(run.record, tmp_path / "growth.html")
    page = opened(browser, tmp_path / "growth.html", DESKTOP)
    notice = page.evaluate("document.querySelector('.notices').innerText")
    assert "too large to be drawn whole" in notice
    assert "of the 5,000 nodes" in notice
    assert 200 < len(shown(page)["nodes"]) <= 306
    assert "nodes 5,000" in page.evaluate("document.getElementById('now').innerText")
    assert (tmp_path / "growth.html").stat().st_size < 4_000_000
    assert page.complaints == []


def test_a_run_without_an_episode_opens(browser: Browser, tmp_path: Path, run: Run) -> None:
    start = Run(run.plan)
    write_page(start.record, tmp_path / "growth.html")
    page = opened(browser, tmp_path / "growth.html", DESKTOP)
    assert shown(page)["nodes"] == start.graph.node_ids.tolist()
    assert page.complaints == []
