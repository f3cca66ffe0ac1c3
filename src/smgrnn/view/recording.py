"""The growth of a network as a short film, a GIF."""

from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from smgrnn.arrays import Floats, Ints
from smgrnn.errors import ConfigError
from smgrnn.graph.drawing import BEND, NEGATIVE, OUTLINE, POSITIVE, legend_keys, line_widths
from smgrnn.plotting import Figure, FigureCanvasAgg, LineCollection, to_rgba_array
from smgrnn.runs.checkpoints import Checkpoint
from smgrnn.runs.own_loop import record_of
from smgrnn.runs.pictures import EDGES, RETURN, moving_average
from smgrnn.runs.record import Record
from smgrnn.view import style
from smgrnn.view.timeline import Lives, Timeline

N_FRAMES, PAUSE, LAST_PAUSE = 32, 125, 2000
"""Frames of a film, and the milliseconds that each, and the last one, stays."""
DOTS_PER_INCH = 100
N_TINTS = 3  # steps from white to each color: few, to keep a GIF small
GLOW = 3 / N_FRAMES  # fraction of the run for which new nodes and edges glow
SCALE, WIDTH_SCALE = 0.8, 0.6
"""Size of nodes, and width of edges, as a fraction of that on the page."""
NAME_FRACTION = 0.3  # largest fraction of the width that the names of inputs or of outputs take
WIDTH_STEP = 0.6
"""Step of the widths of edges, in points.  An edge that hardly changes adds no bytes to a film."""


def film(run: Any, path: str | Path, student: Checkpoint | None = None) -> None:
    """Write the growth of a run's selected network, or of another student, as a GIF.

    `run` is a run, its record, or a network that your own loop trained.
    """
    path, record = Path(path), record_of(run)
    if path.suffix != ".gif":
        raise ConfigError(f"A film is a .gif file. Got {path} instead.")
    if record.episodes.n == 0:
        raise ConfigError("The run has no episodes yet, so there is nothing to record.")
    picture = Film(record.until(student or record.selected))
    colours = (style.INK, style.SOFT, POSITIVE, NEGATIVE, *OUTLINE.values(), *style.GROWN.values())
    fractions = np.linspace(0, 1, N_TINTS + 1)[None, :, None]
    tints = 1 - fractions * (1 - to_rgba_array(colours)[:, None, :3])
    palette = Image.new("P", (1, 1))
    palette.putpalette((255 * tints).round().astype(int).ravel().tolist())
    frames = []
    for time in np.linspace(0, picture.record.episodes.n, N_FRAMES).tolist():
        canvas: Any = FigureCanvasAgg(picture.draw(time))
        canvas.draw()
        frame = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
        frames.append(frame.quantize(palette=palette, dither=Image.Dither.NONE))
    pauses, rest = [PAUSE] * (N_FRAMES - 1) + [LAST_PAUSE], frames[1:]
    frames[0].save(path, save_all=True, append_images=rest, duration=pauses, loop=0, optimize=True)


class Film:
    """The picture at any time: the network above return and number of edges."""

    def __init__(self, record: Record) -> None:
        self.record, self.whole = record, Timeline.of(record)
        self.timeline = self.whole.thinned()
        self.positions = style.place_nodes(self.timeline)
        self.node_size, self.widest, self.largest = style.drawn_sizes(self.timeline)
        self.average = moving_average(record.episodes.returns)

    def draw(self, time: float) -> Figure:
        """Return the picture at a time, counted in episodes."""
        update, record = self.timeline.update_at(time), self.record
        figure = Figure(figsize=(6.0, 4.0), dpi=DOTS_PER_INCH)
        what = "champion" if record.is_evolved else f"episode {max(ceil(time), 1)}"
        lives = self.whole.nodes, self.whole.edges
        n_nodes, n_edges = (int(each.alive(update).sum()) for each in lives)
        note = " (thinned)" if self.timeline.nodes.n < self.whole.nodes.n else ""
        title = f"{what}: {n_nodes:,} nodes, {n_edges:,} edges{note}"
        figure.text(0.02, 0.955, title, va="center", color=style.INK)
        look: Any = {"va": "center", "fontsize": 8, "ha": "right"}
        for row, cause in enumerate(style.grown_by(self.timeline)):
            label, look["color"] = f"● new by {style.WORDS[cause]}", style.GROWN[cause]
            figure.text(0.98, 0.955 - 0.04 * row, label, **look)
        keys, place = legend_keys(self.timeline.kinds), {"bbox_to_anchor": (0.5, 0.005)}
        small: Any = {"fontsize": 7, "labelcolor": style.SOFT, "markerscale": 0.8}
        small |= {"handletextpad": 0.3, "columnspacing": 1.2, "handlelength": 1.5}
        small |= {"borderpad": 0, "frameon": False}
        figure.legend(handles=keys, loc="lower center", ncols=len(keys), **place, **small)
        self._draw_network(figure.add_axes((0.0, 0.26, 1.0, 0.68)), time, update)
        n, average = record.episodes.n, self.average
        panels = {"return": (average, RETURN), "edges": (record.episodes.n_edges, EDGES)}
        for index, (label, (y, colour)) in enumerate(panels.items()):
            ax = figure.add_axes((0.08 + 0.48 * index, 0.11, 0.41, 0.12))
            ax.plot(np.arange(n - y.size, n) + 1, y, color=colour, linewidth=1.2)
            ax.set_xlim(0, n)
            ax.set_title(label, fontsize=8, color=style.SOFT, loc="left", pad=2)
            ax.tick_params(labelsize=7, colors=style.SOFT, length=2)
            ax.spines[["top", "right"]].set_visible(False)
            ax.spines[["left", "bottom"]].set_color(style.LINE)
            ax.axvline(time, color=style.INK, linewidth=1, clip_on=False)
        return figure

    def _draw_network(self, ax: Any, time: float, update: int) -> None:
        timeline, frame = self.timeline, self.timeline.frame(update)
        source, target = (
            self.positions[np.searchsorted(timeline.nodes.id, ends[frame.edges])][:, None, :]
            for ends in (timeline.edges.source, timeline.edges.target)
        )
        along, way = np.linspace(0, 1, style.N_POINTS)[None, :, None], target - source
        bend = 2 * BEND * along * (1 - along) * way[..., ::-1] * (-1, 1)
        paths: Any = source + along * way + bend
        width = WIDTH_SCALE * line_widths(frame.weight, self.widest, self.largest)
        width = WIDTH_STEP * np.maximum(np.round(width / WIDTH_STEP), 1)
        signs = [NEGATIVE if weight < 0 else POSITIVE for weight in frame.weight]
        colours, newness = self._glow(timeline.edges, frame.edges, time)
        halos = to_rgba_array(colours, 0.45 * newness)
        ax.add_collection(LineCollection(paths, linewidths=width + 4, colors=halos, zorder=1))
        ax.add_collection(LineCollection(paths, linewidths=width, colors=signs, zorder=1))

        colours, newness = self._glow(timeline.nodes, frame.nodes, time)
        x, y = self.positions[frame.nodes].T
        size = SCALE * self.node_size
        sizes = size**2 * (1 + 1.4 * newness) ** 2
        glow = to_rgba_array(colours, 0.4 * newness)
        ax.scatter(x, y, sizes, glow, linewidths=0, zorder=2)
        n_inputs, n_biases = timeline.n_inputs, timeline.n_biases
        n_outputs, n_hidden = timeline.n_fixed - n_inputs, frame.nodes.size - timeline.n_fixed
        numbers = {"input": n_inputs - n_biases, "bias": n_biases}
        numbers |= {"output": n_outputs, "hidden": n_hidden}
        outlines = [OUTLINE[kind] for kind, n in numbers.items() for _ in range(n)]
        used = timeline.edges.source[frame.edges]
        for row in np.flatnonzero(~np.isin(timeline.nodes.id[:n_inputs], used)).tolist():
            outlines[row] = OUTLINE["unused input"]
        fills = [c if new > 0 else "white" for c, new in zip(colours, newness, strict=True)]
        widths = np.where(np.arange(x.size) < timeline.n_fixed, 1.8, 1.2)
        ax.scatter(x, y, size**2, fills, edgecolors=outlines, linewidths=widths, zorder=2)

        gap, width = size / 2 + 4, ax.bbox.width
        space = {"right": 0.0, "left": 0.0}  # by the end of the names that is at their nodes
        for row, name in enumerate(timeline.names):
            x, y = self.positions[row]
            side, shift = ("right", -gap) if x < 0.5 else ("left", gap)
            look: Any = {"ha": side, "va": "center", "fontsize": 8, "color": style.SOFT}
            look |= {"parse_math": False, "annotation_clip": False}  # $ starts no formula
            text = ax.annotate(name, (x, y), (shift, 0), textcoords="offset points", **look)
            while text.get_window_extent().width > NAME_FRACTION * width and name:
                name = name[:-1]
                text.set_text(f"{name.rstrip()}…")
            space[side] = max(space[side], text.get_window_extent().width)
        beside = 2 * gap * DOTS_PER_INCH / 72  # as much before a name as behind it
        inner = width - sum(space.values()) - 2 * beside
        xlim = -(space["right"] + beside) / inner, 1 + (space["left"] + beside) / inner
        ax.set(xlim=xlim, ylim=(-0.04, 1.04))
        ax.set_axis_off()

    def _glow(self, lives: Lives, rows: Ints, time: float) -> tuple[list[str], Floats]:
        """Return the color of each cause, and the newness of each: 1 at birth, then down to 0."""
        born_by, born = lives.born_by[rows], self.timeline.times(lives.born[rows])
        age = (time - born) / (GLOW * self.record.episodes.n)
        colours = [style.GROWN.get(cause, "white") for cause in born_by.tolist()]
        return colours, np.where(born_by < 0, 0, np.clip(1 - age, 0, 1))
