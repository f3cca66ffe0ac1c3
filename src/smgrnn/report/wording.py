"""How a report writes metrics, numbers and conditions."""

import math
import re
from typing import NamedTuple

MINUS = "−"
MISSING = "–"


class Metric(NamedTuple):
    """The name of a metric, its meaning, and the decimals it is printed with."""

    word: str
    meaning: str
    decimals: int


METRICS = {
    "late_return": Metric("late return", "mean return over the final quarter of the episodes", 1),
    "best_return": Metric("best return", "best return of a single episode", 1),
    "convergence_episode": Metric(
        "convergence episode", "first episode whose return reaches the task's threshold", 0
    ),
    "held_out_mean": Metric(
        "held-out return", "mean return of what is handed over on episodes it never trained on", 1
    ),
    "n_nodes": Metric("nodes", "nodes at the end: inputs, outputs and hidden ones", 1),
    "n_edges": Metric("edges", "edges at the end, which are all parameters there are", 0),
    "n_parameters": Metric("parameters", "trainable parameters at the end", 0),
    "net_growth_nodes": Metric("net growth", "nodes at the end less nodes at the start", 1),
    "churn_ratio": Metric("churn ratio", "structural changes for each unit of net change", 1),
    "seconds": Metric("seconds", "time that the training of one run took", 1),
    "early_growth_nodes": Metric("early growth", "net growth over the first quarter", 1),
    "settled_share": Metric(
        "settled share", "share of the net growth that comes before the final quarter", 2
    ),
    "growth_linearity": Metric(
        "linearity of growth", "squared correlation of the best candidate's size with time", 2
    ),
    "small_weight_share": Metric(
        "small weights", "share of the final weights that are at most 0.1 in magnitude", 2
    ),
    "weight_range": Metric("weight range", "largest less smallest final weight", 2),
    "sparsity": Metric("sparsity", "share of the allowed node pairs that no edge joins", 2),
    "centralisation": Metric(
        "centralisation", "0 if all nodes have as many edges, 1 if one node has them all", 2
    ),
    "skip_edges": Metric(
        "skip edges", "edges from an input straight to an output beside a longer path", 1
    ),
    "feedback_edges": Metric("feedback edges", "edges that lie on a cycle", 1),
    "relay_paths": Metric(
        "relay paths", "two-step paths through a hidden node beside an edge of the same ends", 1
    ),
}
"""Every metric that a table or a claim uses."""

SYMBOLS = {
    "window": "T",
    "interval_width": "λ",
    "fluctuation_threshold": "θ_var",
    "explore_probability": "p_rand",
}
"""The settings that the paper tunes, and its symbols for them."""


def condition_text(name: str) -> str:
    """Return the name of a condition with the paper's symbols, and room to break it.

    >>> condition_text("CartPole-v1/window=50"), condition_text("window=50,interval_width=0.5")
    ('CartPole-v1/T=50', 'T=50, λ=0.5')
    """
    for setting, symbol in SYMBOLS.items():
        name = name.replace(f"{setting}=", f"{symbol}=")
    return name.replace(",", ", ")


def number(value: float, decimals: int, *, signed: bool = False) -> str:
    """Return a number as a reader expects it, with a true minus and separated thousands.

    >>> number(-94.04, 1), number(6707.2, 0), number(-0.01, 1), number(2, 1, signed=True)
    ('−94.0', '6707', '0.0', '+2.0')
    >>> print(number(16707.2, 0))
    16\N{NARROW NO-BREAK SPACE}707
    """
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    rounded = round(value, decimals) + 0.0  # no negative zero
    text = f"{abs(rounded):,.{decimals}f}"
    text = text.replace(",", "\u202f" if abs(rounded) >= 10_000 else "")
    return (MINUS if rounded < 0 else "+" if signed and rounded > 0 else "") + text


def plus_minus(mean: float, std: float, decimals: int) -> str:
    """Return a mean and a standard deviation as the paper prints them.

    >>> plus_minus(497.68, 1.83, 1)
    '497.7 ± 1.8'
    """
    return f"{number(mean, decimals)} ± {number(std, decimals)}"


def between(low: float, high: float, decimals: int) -> str:
    """Return an interval.

    >>> between(0.5, 0.75, 2)
    '[0.50, 0.75]'
    """
    return f"[{number(low, decimals)}, {number(high, decimals)}]"


def printed_text(printed: str) -> str:
    """Return a number of the paper's text with the same signs as ours.

    >>> print(printed_text("-94.0 ± 1.9"), printed_text("16707 ± 4846"), printed_text("1e-4"))
    −94.0 ± 1.9 16\N{NARROW NO-BREAK SPACE}707 ± 4846 1e−4
    """
    text = re.sub(r"\b(\d{2,3})(\d{3})\b(?!\.)", "\\1\u202f\\2", printed)
    return re.sub(r"-(?=\d)", MINUS, text)


def printed_decimals(printed: str) -> int:
    """Return how many decimals a number has in the paper.

    >>> printed_decimals("494.26 ± 3.57"), printed_decimals("147 ± 15")
    (2, 0)
    """
    mean = printed.split(" ")[0]
    return len(mean.partition(".")[2])


def p_value(p: float) -> str:
    """Return a p-value to the precision that matters.

    >>> p_value(0.0312), p_value(0.00002), p_value(1.0)
    ('p = 0.031', 'p < 0.001', 'p = 1.000')
    """
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def quantity(n: int, noun: str) -> str:
    """Return a number of things.

    >>> quantity(1, "run"), quantity(1200, "run")
    ('1 run', '1200 runs')
    """
    return f"{number(n, 0)} {noun}{'' if n == 1 else 's'}"


def duration(seconds: float) -> str:
    """Return a time in its two largest units.

    >>> duration(42), duration(200), duration(7300)
    ('42 s', '3 min 20 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, left = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {left} s"
    return f"{minutes // 60} h {minutes % 60} min"
