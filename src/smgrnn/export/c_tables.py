"""The constant arrays of a controller in C, in the smallest types that hold them."""

from textwrap import fill, indent
from typing import Any, NamedTuple

import numpy as np

from smgrnn.export.wiring import Wiring
from smgrnn.policy import Policy


class CTable(NamedTuple):
    """One constant array."""

    comment: str
    name: str
    type: str
    values: Any

    def __str__(self) -> str:
        suffix = "f" if self.type == "float" else ""
        # str() of a float32 has the fewest digits that give the same float32 again.
        cells = ", ".join(f"{value!s}{suffix}" for value in self.values)
        rows = indent(fill(cells, 96, break_on_hyphens=False), "    ")
        head = f"static const {self.type} {self.name}[{self.values.size}] = {{"
        return f"/* {self.comment} */\n{head}\n{rows}\n}};\n"


def c_tables(policy: Policy) -> list[CTable]:
    """Return tables of the wiring and, where there are any, of normalisation and action bounds."""
    wiring, task = Wiring.of(policy), policy.task
    # C has no arrays of length 0: a network without edges gets one that nothing reads.
    source, weight = (
        column if column.size else np.zeros(1, column.dtype)
        for column in (wiring.source, wiring.weight)
    )
    tables = [
        _indices("Edges into each output and then into each hidden node.", "fan_in", wiring.fan_in),
        _indices("The node each edge leaves: inputs, outputs, hidden nodes.", "source", source),
        _floats("The weight of each edge.", "weight", weight),
    ]
    if policy.normalisation is not None:
        mean, scale = policy.normalisation
        tables += [
            _floats("What is taken off each value of the observation.", "mean", mean),
            _floats("By what the rest is multiplied.", "scale", scale),
        ]
    if task.is_discrete or not task.is_bounded:
        return tables
    low, high = np.asarray(task.action_low), np.asarray(task.action_high)
    return [
        *tables,
        _floats("Least value of each part of the action.", "action_low", low),
        _floats("Largest value of each part of the action.", "action_high", high),
        _floats("Half the way from one to the other.", "half_range", high / 2 - low / 2),
    ]


def _floats(comment: str, name: str, values: Any) -> CTable:
    return CTable(comment, name, "float", values.astype(np.float32))


def _indices(comment: str, name: str, values: Any) -> CTable:
    smallest = np.min_scalar_type(values.max())  # uint8, uint16, …
    return CTable(comment, name, f"{smallest.name}_t", values.astype(smallest))
