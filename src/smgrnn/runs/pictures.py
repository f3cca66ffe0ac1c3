"""The pictures of a run: its curves and its selected network."""

import io
from pathlib import Path
from textwrap import fill, wrap
from typing import Any

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.runs.formula import formula
from smgrnn.runs.metrics import sustained_episode
from smgrnn.runs.plan import Plan
from smgrnn.runs.record import Record
from smgrnn.runs.stage_scores import normalised
from smgrnn.storage import write_file, writing
from smgrnn.text import plus_minus, quantity

RETURN, NODES, EDGES, LIKENESS = "#1f5fa8", "#7f7f7f", "#d9822b", "#2ca02c"
"""Colours of the curves."""
FEW = 12
"""Maximum number of edges of a network whose picture has all weights."""
FORMULA_WIDTH = 85
"""Maximum characters in a line of a formula."""
LABEL_WIDTH = 17
"""Maximum characters in a line of an upright label, which must not exceed its panel."""


def draw_curves(record: Record, path: Path) -> None:
    """Draw return and size over the episodes, and the agreement with the teacher."""
    _write(curves_figure(record), path)


def curves_figure(record: Record) -> Any:
    """Return the figure of return, size, and agreement or loss, with one panel each."""
    from smgrnn.plotting import Figure

    episodes, plan = record.episodes, record.plan
    number, steps = np.arange(1, episodes.n + 1), np.maximum(episodes.steps, 1)
    noisy = [(0, episodes.returns, "return", RETURN)]
    if episodes.agreed.any():
        noisy.append((2, episodes.agreed / steps, "agreement with the expert", LIKENESS))
    elif episodes.loss.any():  # continuous actions never agree; an evolution has neither
        noisy.append((2, episodes.loss / steps, "loss", LIKENESS))
    n_panels = 1 + len(noisy)
    figure = Figure(figsize=(7, 2 * n_panels), layout="constrained")
    panels = figure.subplots(n_panels, 1, sharex=True)
    # A name with two $ in it is not a formula.
    figure.suptitle(f"{plan.task.id}, {plan.student}, seed {plan.seed}", parse_math=False)
    for place, values, label, colour in noisy:
        panels[place].plot(number, values, color=colour, alpha=0.25, linewidth=0.6)
        average = moving_average(values)
        panels[place].plot(number[-average.size :], average, color=colour, linewidth=1.6)
        panels[place].set_ylabel(fill(label, LABEL_WIDTH))
    panels[1].plot(number, episodes.n_nodes, color=NODES, label="nodes")
    panels[1].plot(number, episodes.n_edges, color=EDGES, label="edges")
    panels[1].set_ylabel("size")
    above: Any = {"loc": "lower right", "bbox_to_anchor": (1, 1), "borderaxespad": 0}
    panels[1].legend(frameon=False, ncols=2, **above)
    panels[-1].set_xlabel("episode")
    _mark_moments(panels, record)
    for ax in panels:
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def _mark_moments(panels: Any, record: Record) -> None:
    """Draw the task's threshold, and the episodes that solved it and of the selected network."""
    threshold, done = record.plan.task.reward_threshold, find_done(record)
    if threshold is not None:
        panels[0].axhline(threshold, color=NODES, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    moments = {} if done is None else {f"solved in episode {done}": done}
    if record.held_out.size and record.selected.episode < record.episodes.n:
        moments["selected"] = record.selected.episode
    for height, (label, episode) in enumerate(moments.items()):
        for ax in panels:
            ax.axvline(episode, color=LIKENESS if episode == done else NODES, linewidth=1, ls=":")
        is_late = episode > record.episodes.n / 2
        beside: Any = {"xytext": (-4 if is_late else 4, 0), "textcoords": "offset points"}
        beside |= {"xycoords": ("data", "axes fraction"), "ha": "right" if is_late else "left"}
        panels[0].annotate(label, (episode, 0.08 + 0.14 * height), fontsize=9, **beside)


def find_done(record: Record) -> int | None:
    """Return the first episode at which the mean of the last 100 returns reaches the threshold."""
    if record.is_evolved:  # its candidates are not one student that improves
        return None
    return sustained_episode(record.episodes.returns, record.plan.task.reward_threshold)


def moving_average(values: Floats) -> Floats:
    """Return means over up to 50 episodes, the last of which ends at the last episode."""
    width = max(1, min(50, values.size // 10))
    return np.convolve(values, np.ones(width) / width, mode="valid")


def draw_topology(record: Record, path: Path) -> None:
    """Draw the selected network with names, and few edges with their weights and as a formula."""
    from smgrnn.graph.drawing import draw, drawn_kinds, layout, legend_keys, write_weights
    from smgrnn.plotting import Figure

    policy, task = record.selected.policy, record.plan.task
    graph, n_biases = policy.graph, policy.graph.n_inputs - task.n_inputs
    terms = [line.replace("+ ", "+\xa0").replace("− ", "−\xa0") for line in formula(policy)]
    lines = [line for each in terms for line in wrap(each, FORMULA_WIDTH)]
    figure: Any = Figure(figsize=(7, 5.2 + 0.22 * len(lines)), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.15, h_pad=0.08)
    figure.supxlabel("\n".join(lines), fontsize=11, linespacing=1.5, parse_math=False)
    positions, drawn = layout(graph), drawn_kinds(graph, n_biases)
    ax = draw(graph, figure.subplots(), positions, n_biases)
    names = policy.names.of_nodes(graph.n_inputs)
    for (x, y), kind, name in zip(positions.values(), drawn, names, strict=False):
        side, shift = ("right", -0.04) if x < 0.5 else ("left", 0.04)
        look: Any = {"fontsize": 11, "color": NODES if kind == "unused input" else "black"}
        ax.text(x + shift, y, name, ha=side, va="center", parse_math=False, **look)
    ax.margins(0.12, 0.08)
    if graph.n_edges <= FEW:
        write_weights(ax, graph, positions)
    size = f"{quantity(graph.n_edges, 'parameter')}, {quantity(graph.n_hidden, 'hidden node')}"
    title = f"{task.id}: {size}"
    if task.recording is None and record.held_out.size:
        scores, n = record.held_out, quantity(record.held_out.size, "new episode")
        title += f"\nReturn {plus_minus(scores.mean(), scores.std(), 1)} over {n}"
    figure.suptitle(title, parse_math=False)
    keys = legend_keys(drawn)
    look = {"fontsize": 9, "frameon": False, "columnspacing": 1.4, "handletextpad": 0.4}
    ax.legend(handles=keys, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=len(keys), **look)
    _write(figure, path)


def draw_stage_scores(record: Record, path: Path) -> None:
    """Draw the return on each task of a sequence after each stage, from random to the teacher."""
    from smgrnn.plotting import Figure

    plan = record.plan
    assert isinstance(plan, Plan)
    scores, tasks = normalised(record.stage_scores), plan.task_sequence
    stages = ["before", *(stage.task.id for stage in plan.stages)]
    size = (2.5 + 1.6 * len(tasks), 1.6 + 0.5 * len(stages))
    figure = Figure(figsize=size, layout="constrained")
    ax = figure.subplots()
    image = ax.imshow(scores, vmin=0, vmax=1, cmap="Blues", aspect="auto")
    for (stage, task), value in np.ndenumerate(scores):
        colour, words = "white" if value > 0.5 else "black", f"{value:.2f}".removeprefix("nan")
        ax.text(task, stage, words, ha="center", va="center", color=colour)
    ax.set_xticks(range(len(tasks)), tasks, rotation=20, ha="right", parse_math=False)
    ax.set_yticks(range(len(stages)), stages, parse_math=False)
    ax.set_xlabel("evaluated on")
    ax.set_ylabel("after learning")
    figure.colorbar(image, label=fill("return, from random to teacher", LABEL_WIDTH))
    _write(figure, path)


def _write(figure: Any, path: Path) -> None:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix.removeprefix("."), dpi=120)
    with writing(path):
        write_file(path, buffer.getvalue(), is_durable=False)
