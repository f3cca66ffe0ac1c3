"""A controller as one module of MicroPython, which any Python runs too.

Integers are those of the C: a sum fits MicroPython's small integers of 31 bits, so a step allocates
nothing for them.
"""

from textwrap import indent
from typing import Any

from smgrnn import __version__
from smgrnn.errors import plain
from smgrnn.export.c import template, value_names
from smgrnn.export.program import CURVE, Controller, Row
from smgrnn.export.wiring import network_digest

FLOATS = {
    "tanh": "def _tanh(x):\n    return math.tanh(x)\n",
    "sigmoid": "def _sigmoid(x):\n    return 1 / (1 + math.exp(-x)) if x > -80 else 0.0\n",
    "relu": "def _relu(x):\n    return max(x, 0.0)\n",
}
INTEGERS = {
    "tanh": f"""\
_CURVE = {CURVE}


def _tanh(x, shift):
    y = min(abs(x) >> shift, 16383)
    left = _CURVE[y >> 9]
    y = left + ((_CURVE[(y >> 9) + 1] - left) * (y & 511) >> 9)
    return y if x >= 0 else -y
""",
    "sigmoid": "def _sigmoid(x, shift):\n    return (32768 + _tanh(x, shift + 1)) >> 1\n",
    "identity": """\
def _identity(x, shift):
    return max(-32767, min(32767, (x + (1 << shift >> 1)) >> shift))
""",
    "relu": "def _relu(x, shift):\n    return _identity(max(x, 0), shift)\n",
}
"""Each calls only those before it."""


def micropython_module(controller: Controller, *, has_scores: bool = False) -> bytes:
    """Return the source of the module."""
    program, task = controller.program, controller.task
    names, first_sum = value_names(program), program.first_row + program.n_active
    outputs = names[program.first_output :]
    states = names[len(program.inputs) : program.first_row]

    def activated(kind: str, total: str, shift: int) -> str:
        if program.is_float:
            return total if kind == "identity" else f"_{kind}({total})"
        return f"_{kind}({total}, {shift})"

    def total(row: Row) -> str:
        terms = [f"{weight!r} * {names[place]}" for place, weight in row.terms.items()]
        return " + ".join([*([repr(row.bias)] if row.bias or not terms else []), *terms])

    lines = [f"x{place} = x[{place}]" for place in program.inputs]
    if states:
        start = "self.state" if program.is_carried else _tuple("0" for _ in states)
        lines.append(f"{', '.join(states)}, = {start}")
    step = []
    for place, row in enumerate(program.rows, program.first_row):
        whole = total(row)
        if place < first_sum or program.is_float:
            whole = activated(row.activation, whole, row.shift)
        elif row.activation == "relu":
            whole = f"max({whole}, 0)"
        step.append(f"{names[place]} = {whole}")
    if states:
        following = (
            names[place] if place < first_sum else activated(kind, names[place], shift)
            for place, kind, shift in program.next
        )
        step.append(f"{', '.join(states)}, = {_tuple(following)}")
    if program.repeat > 1:
        step = [f"for _ in range({program.repeat}):", *(f"    {line}" for line in step)]
    lines += step
    if program.n_kept:
        lines.append(f"self.state = {_tuple(states)}")
    if program.is_choice:
        lines += [f"y = {_tuple(outputs)}", *["self.scores = y"] * has_scores]
        lines.append("return y.index(max(y))")
    else:
        low, high = task.action_low, task.action_high
        if program.is_float and low is not None and high is not None:
            outputs = [
                f"{a!r} + (max(-1.0, min(1.0, {y})) + 1) * {b / 2 - a / 2!r}"
                for y, a, b in zip(outputs, low, high, strict=True)
            ]
        lines.append(f"return {_tuple(outputs)}")

    functions, text = list[str](), "\n".join(lines)
    for kind, function in reversed((FLOATS if program.is_float else INTEGERS).items()):
        if f"_{kind}(" in text:
            text += function
            functions.insert(0, function)
    known = [f"x[{n}]: {name}" for n, name in enumerate(controller.names.inputs)]
    known += [f"output {n}: {name}" for n, name in enumerate(controller.names.outputs)]
    units = ""
    if not program.is_float:
        units = f"UNITS = {controller.units.tolist()}\n"
    if not program.is_float and (has_scores or not program.is_choice):
        what = "SCORE" if program.is_choice else "ACTION"
        units += f"{what}_UNITS = {controller.output_units.tolist()}\n"
    return template(
        "micropython.txt",
        task=_text(task.id),
        type=program.type,
        version=__version__,
        digest=network_digest(controller),
        names=_text("\n".join(known)),
        maths="import math\n\n" if "math." in text else "",
        units=units,
        activations="".join(f"\n\n{function}" for function in functions),
        zeros=_tuple("0" for _ in range(program.n_kept)),
        integers="" if program.is_float else " of integers, each value times its unit, rounded",
        body=indent("\n".join(lines), " " * 8),
    ).encode()


def _tuple(parts: Any) -> str:
    parts = list(parts)
    return f"({', '.join(parts)}{',' * (len(parts) == 1)})"


def _text(text: str) -> str:
    """Return text that does not end its docstring."""
    return "\n".join(map(plain, text.split("\n"))).replace("\\", "/").replace('"', "'")
