"""Finished runs in words, and a small network as a formula."""

from math import inf
from typing import Any

import numpy as np

from smgrnn.policy import Policy
from smgrnn.text import MINUS, duration, number, quantity

Terms = dict[str, float]
"""The factor of each term of a sum; that of the term "" is the constant."""
FEW = 8
"""Maximum number of weights in a formula."""


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


def describe(summary: dict[str, Any]) -> str:
    """Return the summary of a finished distillation in a few lines."""
    mean, std, n = (summary[f"held_out_{name}"] for name in ("mean", "std", "episodes"))
    score, threshold = score_text(mean, std, n, summary), summary["threshold"]
    if summary["expert_return"] is not None:
        score += f"; expert {number(summary['expert_return'], 1)}, "
        score += f"random policy {number(summary['random_return'], 1)}"
        score += "" if summary["kept"] is None else f": {percent(summary['kept'])} kept"
    if (below := summary["below_threshold"]) is not None:
        score += f"; {percent(below)} of episodes below the threshold of {threshold:g}"
    constants, size = summary["n_constants"], summary["n_parameters"]
    sizes = f"{size} ({quantity(size - constants, 'weight')} and {quantity(constants, 'constant')})"
    given = summary["expert_parameters"]
    sizes += "" if given is None else f", the expert {given:,}"
    sizes += f"; {quantity(summary['n_hidden'], 'hidden node')}"
    if keep := summary.get("keep"):
        fraction = f"{100 * keep['share']:g} % of the expert's return beyond chance"
        bound, target = f"{keep['lower_bound']:.1f}", f"{keep['target_return']:.1f}"
        if keep["is_reached"]:
            score += f". At least {bound} (lower bound; {fraction} is {target})"
        else:
            score += f". No size kept {fraction}, {target}: the largest is selected"
        if tried := [f"{each['size']:.0f}" for each in keep["failed"]]:
            sizes += f". Sizes tried before: {', '.join(tried)}"
    likeness = likeness_text(summary).removeprefix("agrees ")
    likeness += " of steps with the expert's action" if summary["agreement"] is not None else ""
    spent = f"{quantity(summary['episodes'], 'episode')} in {duration(summary['seconds'])}"
    chosen = "the final network is selected"
    if played := summary["selection_episodes"]:
        chosen = f"selection {quantity(played, 'episode')} in "
        chosen += f"{duration(summary['selection_seconds'])}; episode "
        chosen += f"{summary['selected_episode']} is selected"
    chosen += f". Saved in {summary['run_dir']}" if summary["run_dir"] else ""
    lines = [
        f"Return: {score}.",
        f"Parameters: {sizes}.",
        f"Agreement: {likeness}; loss {summary['loss']:.4f} per step.",
        f"Time: training {spent}; {chosen}.",
        *summary["notes"],
    ]
    if polish := summary.get("polish"):
        before, after, shares = polish["before"], polish["after"], ""
        if threshold is not None:
            shares = " -> ".join(f"{each['share_below']:.1%}" for each in (before, after))
            shares = f", episodes below {threshold:g} {shares}"
        lines.append(
            f"Polish: held-out return {before['held_out_mean']:.1f} -> "
            f"{after['held_out_mean']:.1f}{shares}; {polish['episodes']:,} episodes and "
            f"{polish['choosing_episodes']} to select in {polish['seconds']:.1f} s."
        )
    return "\n".join(lines)


def describe_all(summaries: list[dict[str, Any]]) -> str:
    """Return mean ± std over several seeds."""

    def spread(values: list[float], digits: int) -> str:
        return f"{np.mean(values):.{digits}f} ± {np.std(values):.{digits}f}"

    n, size = len(summaries), spread([each["n_parameters"] for each in summaries], 0)
    for name in ("held_out_agreement", "held_out_mse"):
        if name in summaries[0]:
            score = spread([summary[name] for summary in summaries], 4)
            return f"{n} seeds: {name.replace('_', ' ')} {score}, {size} parameters."
    held_out = spread([each["held_out_mean"] for each in summaries], 1)
    late = spread([summary["late_return"] for summary in summaries], 1)
    return f"{n} seeds: held-out return {held_out}, {size} parameters; late return {late}."


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


def short_text(number: float) -> str:
    """Return a number with its suffix for thousands or millions."""
    if number < 1e3:
        return f"{number:.0f}"
    return f"{number / 1e3:.1f}k" if number < 1e6 else f"{number / 1e6:.1f}M"


def formula(policy: Policy) -> list[str]:
    """Return how a network of few weights chooses or acts, in lines.

    There are none for a network with more weights, loops, or carried states.

    >>> from smgrnn import Graph
    >>> from smgrnn.config import NetworkConfig
    >>> from smgrnn.tasks import Task
    >>> graph = Graph.from_edges(4, 2, edges=[(2, 5, 1.2), (3, 4, -0.8)])
    >>> config = NetworkConfig(n_inputs=4, n_outputs=2, bias=False, readout="sum")
    >>> task = Task(id="pole", n_inputs=4, n_outputs=2, is_discrete=True)
    >>> print(*formula(Policy(graph, config, task)), sep="; ")
    out 1 − out 0 = 1.2·in 2 + 0.8·in 3; out 1 if this is above 0, otherwise out 0
    """
    graph, config, task = policy.graph, policy.config, policy.task
    names = policy.names.of_nodes(graph.n_inputs)
    seen, n_fixed = names[: task.n_inputs], graph.n_inputs + graph.n_outputs
    mean, scale = policy.normalisation or (np.zeros(len(seen)), np.ones(len(seen)))
    if graph.n_edges > FEW:
        return []
    leads = np.zeros((graph.n_nodes, graph.n_nodes))
    leads[graph.source, graph.target] = 1
    has_loop = np.linalg.matrix_power(leads, graph.n_edges + 1).any()
    is_carried = config.carry_state and (graph.source >= graph.n_inputs).any()
    if has_loop or is_carried or len({*seen}) < len(seen):
        return []

    def total(node: int, iteration: int) -> Terms:
        terms: Terms = {}
        for edge in np.flatnonzero(graph.target == node).tolist():
            source, weight = int(graph.source[edge]), float(graph.weight[edge])
            if source < len(seen):
                weight *= float(scale[source])
                found = {seen[source]: 1.0, "": -float(mean[source])}
            elif source < graph.n_inputs:
                found = {"": 1.0}
            else:  # all states are zero before the first iteration
                found = state(source, iteration - 1) if iteration > 1 else {}
            for term, factor in found.items():
                terms[term] = terms.get(term, 0.0) + weight * factor
        return terms

    def state(node: int, iteration: int) -> Terms:
        kind = config.output_activation if node < n_fixed else config.activation
        terms = total(node, iteration)
        if kind == "identity" or not (any(terms.values()) or kind == "sigmoid"):
            return terms
        call = "max(0, " if kind == "relu" else f"{kind}("
        return {f"{call}{write(terms)})": 1.0}

    def write(terms: Terms) -> str:
        order = {name: row for row, name in enumerate(seen)} | {"": inf}
        parts: list[str] = []
        for term in sorted(terms, key=lambda term: order.get(term, len(seen))):
            if factor := float(f"{terms[term]:.3g}"):
                number = [] if term and abs(factor) == 1 else [f"{abs(factor):g}"]
                parts += [MINUS if factor < 0 else "+", "·".join([*number, *[term] * bool(term)])]
        return parts[0].strip("+") + " ".join(parts[1:]) if parts else "0"

    compares_sums = task.is_discrete and config.readout == "sum"
    value = total if compares_sums else state
    values = [value(node, config.iterations) for node in range(graph.n_inputs, n_fixed)]
    outputs = names[graph.n_inputs :]
    if compares_sums and len(outputs) == 2:
        (first, second), (left, right) = values, outputs
        terms = {term: second.get(term, 0.0) - first.get(term, 0.0) for term in second | first}
        choice = f"{right} if this is above 0, otherwise {left}"
        return [f"{right} {MINUS} {left} = {write(terms)}", choice]
    lines = [f"{name} = {write(terms)}" for name, terms in zip(outputs, values, strict=True)]
    if task.is_discrete:
        lines.append("The largest is chosen.")
    elif {*(task.action_low or ()), *(task.action_high or ())} - {-1.0, 1.0}:
        lines.append("Outputs from −1 to 1 cover the range of the action.")
    return lines
