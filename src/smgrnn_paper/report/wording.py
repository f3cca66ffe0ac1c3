"""How a report writes metrics, numbers and conditions."""

import re
from typing import NamedTuple

from smgrnn.text import MINUS, number
from smgrnn_paper.report.paper import read_data


class Metric(NamedTuple):
    """The name of a metric, its meaning, and the decimals it is printed with."""

    word: str
    meaning: str
    decimals: int


METRICS = {name: Metric(**entry) for name, entry in read_data("metrics.toml").items()}
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
