"""The pictures of a run: its curves and its selected network."""

import io
from pathlib import Path
from textwrap import fill, wrap
from typing import Any

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.runs.metrics import sustained_episode
from smgrnn.runs.plan import Plan
from smgrnn.runs.record import Record
from smgrnn.runs.stage_scores import normalised
from smgrnn.runs.words import formula
from smgrnn.storage import write_file
from smgrnn.text import number, plus_minus, quantity

RETURN, NODES, EDGES, LIKENESS, SELECTED = "#1f5fa8", "#7f7f7f", "#d9822b", "#2ca02c", "#a3329f"
EXPERT = "#1b2430"
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
    x, steps = np.arange(1, episodes.n + 1), np.maximum(episodes.steps, 1)
    noisy = [("Return", episodes.returns, RETURN)]
    if episodes.agreed.any():
        noisy.append(("Agreement with the expert, %", 100 * episodes.agreed / steps, LIKENESS))
    elif episodes.loss.any():  # continuous actions never agree; an evolution has neither
        noisy.append(("Loss", episodes.loss / steps, LIKENESS))
    n_panels = 1 + len(noisy)
    figure = Figure(figsize=(7, 2 * n_panels), layout="constrained")
    panels = figure.subplots(n_panels, 1, sharex=True)
    # A name with two $ in it is not a formula.
    figure.suptitle(f"{plan.task.id}, {plan.student}, seed {plan.seed}", parse_math=False)
    for ax, (title, values, colour) in zip(panels[::2], noisy, strict=True):
        ax.plot(x, values, color=colour, alpha=0.25, linewidth=0.6, label="one episode")
        average = moving_average(values)
        label = f"mean of {values.size - average.size + 1}"
        ax.plot(x[-average.size :], average, color=colour, linewidth=1.6, label=label)
        ax.set_title(title, loc="left", fontsize=10)
    panels[1].plot(x, episodes.n_edges, color=EDGES, linewidth=1.4, label="parameters")
    panels[1].plot(x, episodes.n_nodes, color=NODES, linewidth=1.4, label="nodes")
    panels[1].set_title("Size", loc="left", fontsize=10)
    panels[-1].set_xlabel("episode")
    _mark_moments(panels, record)
    above: Any = {"loc": "lower right", "bbox_to_anchor": (1, 1), "borderaxespad": 0.1}
    small: Any = {"fontsize": 8, "columnspacing": 0.9, "handlelength": 1.4, "handletextpad": 0.5}
    for ax in panels:
        ax.legend(frameon=False, ncols=5, **small, **above)
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def _mark_moments(panels: Any, record: Record) -> None:
    """Draw the levels of return and size to compare with, and mark the selected network."""
    plan, last = record.plan, record.episodes.n
    expert, chance = record.comparison.expert_return, record.comparison.random_return
    levels = [  # panel, name, value, color, width and style of the line
        (0, "expert", expert, EXPERT, 1.4, "--"),
        (0, "random policy", chance, NODES, 0.6, ":"),
        (0, "solved at", plan.task.reward_threshold, NODES, 1.0, "--"),
        (1, "limit", getattr(plan, "max_parameters", None), EDGES, 1.0, "--"),
    ]
    for panel, name, level, colour, width, style in levels:
        if level is not None:
            label = f"{name} {number(level, int(not float(level).is_integer()))}"
            look: Any = {"color": colour, "linewidth": width, "linestyle": style, "zorder": 1.5}
            panels[panel].axhline(level, label=label, **look)
    moments = {}
    if (done := find_done(record)) is not None:
        moments[f"solved in episode {done:,}"] = done, NODES
    if record.held_out.size and record.checkpoints:
        selected = record.selected
        moments[f"selected: episode {selected.episode:,}"] = selected.episode, SELECTED
        for ax, value in zip(panels, (record.held_out.mean(), selected.n_parameters), strict=False):
            ax.plot(selected.episode, value, "o", color=SELECTED, markeredgecolor="white", zorder=3)
    for height, (label, (episode, colour)) in enumerate(moments.items()):
        for ax in panels:
            ax.axvline(episode, color=colour, linewidth=1, linestyle=":")
        is_late = episode > last / 2
        beside: Any = {"xytext": (-5 if is_late else 5, 0), "textcoords": "offset points"}
        beside |= {"xycoords": ("data", "axes fraction"), "ha": "right" if is_late else "left"}
        beside["bbox"] = {"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.85}
        panels[0].annotate(
            label, (episode, 0.08 + 0.16 * height), fontsize=9, color=colour, **beside
        )


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
        if (expert := record.comparison.expert_return) is not None:
            title += f", expert {number(expert, 1)}"
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
    write_file(path, buffer.getvalue(), is_durable=False)
