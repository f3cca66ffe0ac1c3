"""How numbers, quantities and times are written for people."""

import math

MINUS = "−"
MISSING = "–"


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
    minutes, left = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {left} s" if minutes else f"{left} s"
    return f"{minutes // 60} h {minutes % 60} min"
