"""A finished run in words: one line, or four."""

from typing import Any

from smgrnn.text import duration, number, quantity


def one_line(summary: dict[str, Any]) -> str:
    """Return return, size and agreement in one line."""
    mean, expert, kept = (summary[each] for each in ("held_out_mean", "expert_return", "kept"))
    parts = []
    if "held_out_mse" not in summary and "held_out_agreement" not in summary:
        beside = [] if expert is None else [f"expert {number(expert, 1)}"]
        beside += [] if kept is None else [f"{percent(kept)} kept"]
        parts.append(number(mean, 1) + (f" ({', '.join(beside)})" if beside else ""))
    size = quantity(summary["n_parameters"], "parameter")
    if summary["expert_parameters"] is not None:
        size = f"{summary['expert_parameters']:,} → {size}"
    likeness = likeness_text(summary)
    return " · ".join([*parts, size, *([likeness] if likeness else [])])


def four_lines(summary: dict[str, Any]) -> list[str]:
    """Return the summary of a distillation: return, parameters, agreement, time."""
    mean, std, n = (summary[f"held_out_{name}"] for name in ("mean", "std", "episodes"))
    lines = [f"Return: {score_text(mean, std, n, summary)}"]
    if summary["expert_return"] is not None:
        lines[0] += f"; expert {number(summary['expert_return'], 1)}, "
        lines[0] += f"random policy {number(summary['random_return'], 1)}"
        lines[0] += "" if summary["kept"] is None else f": {percent(summary['kept'])} kept"
    if summary["below_threshold"] is not None:
        below, threshold = percent(summary["below_threshold"]), f"{summary['threshold']:g}"
        lines[0] += f"; {below} of episodes below the threshold of {threshold}"
    constants, size = summary["n_constants"], summary["n_parameters"]
    weights = f"{quantity(size - constants, 'weight')} and {quantity(constants, 'constant')}"
    given = summary["expert_parameters"]
    beside = "" if given is None else f", the expert {given:,}"
    hidden = quantity(summary["n_hidden"], "hidden node")
    lines.append(f"Parameters: {size} ({weights}){beside}; {hidden}")
    loss = summary["loss"]
    likeness = likeness_text(summary).removeprefix("agrees ")
    likeness += " of steps with the expert's action" if summary["agreement"] is not None else ""
    lines.append(f"Agreement: {likeness}; loss {loss:.4f} per step")
    trained = f"{quantity(summary['episodes'], 'episode')} in {duration(summary['seconds'])}"
    chosen = "the final network is selected"
    if played := summary["selection_episodes"]:
        chosen = f"selection {quantity(played, 'episode')} in "
        chosen += f"{duration(summary['selection_seconds'])}; episode "
        chosen += f"{summary['selected_episode']} is selected"
    lines.append(f"Time: training {trained}; {chosen}")
    return [f"{line}." for line in lines]


def likeness_text(summary: dict[str, Any]) -> str:
    """Return how a network agrees with its expert; nothing if that is unknown."""
    if summary["r_squared"] is not None:
        return f"R² {summary['r_squared']:.3f} of the expert's actions"
    return "" if summary["agreement"] is None else f"agrees {percent(summary['agreement'])}"


def percent(fraction: float) -> str:
    """Return a fraction in percent."""
    return f"{number(100 * fraction, 0)} %"


def score_text(mean: float, std: float, n: int, likeness: dict[str, Any]) -> str:
    """Return a mean return in words, or the likeness to a recording, which has no returns."""
    if "held_out_agreement" in likeness:
        return f"agrees with {likeness['held_out_agreement']:.1%} of the held-out examples"
    if "held_out_mse" in likeness:
        error = f"mean squared error {likeness['held_out_mse']:.4f}"
        return f"{error} on the held-out examples, with actions scaled to ±1"
    return f"{mean:.1f} ± {std:.1f} over {quantity(n, 'new episode')}"
