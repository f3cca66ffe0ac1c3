"""A controller as C99: a header and a source file of one `Program`.

Rows are tables that loops read, or straight-line code.  Floats need `math.h` for tanh and sigmoid
alone; integers need no library.  Functions that a step may call are in `templates/floats.c` and
`templates/integers.c`.
"""

import re
from importlib.resources import files
from itertools import groupby
from string import Template
from textwrap import fill, indent
from typing import Any, NamedTuple

import numpy as np

from smgrnn import __version__
from smgrnn.errors import ConfigError, plain, short
from smgrnn.export.program import CURVE, Controller, Program, Row
from smgrnn.export.wiring import facts, network_digest


class Numbers(NamedTuple):
    """How the numbers of a program are written in C."""

    value: str
    """Type of inputs, states and activated rows."""
    sum: str
    weight: str


NUMBERS = {
    "float": Numbers("float", "float", "float"),
    "q15": Numbers("int16_t", "int32_t", "int16_t"),
    "q7": Numbers("int16_t", "int32_t", "int8_t"),
}
SAVED = 80
"""Bytes of the stack beside values: registers that are saved, and a call of an activation."""
CHOOSE = """\
int action = 0;
for (int i = 1; i < OUTPUTS; i++) {
    if (output[i] > output[action]) {
        action = i;
    }
}
return action;"""


COMMENTS = {
    "first_edge": "The first edge into each row.",
    "source": "The value each edge leaves: inputs, states, rows.",
    "weight": "The weight of each edge.",
    "bias": "What is added to each row.",
    "shift": "Bits dropped from the sum of each row.",
    "read": "The values of an observation that are read.",
    "next": "The row that each state becomes.",
    "next_output": "The output that each state becomes.",
    "next_shift": "Bits dropped from it.",
    "low": "Least value of each part of the action.",
    "half_range": "Half the range of each part.",
    "high": "Largest value of each part.",
}
"""Of the constant arrays."""


def c_name(stem: str) -> str:
    """Return the prefix of all names in a file with this stem.

    >>> c_name("CartPole-v1")
    'cartpole_v1'
    """
    name = re.sub(r"[^a-z0-9]+", "_", stem.lower()).strip("_")
    return name if name[:1].isalpha() else f"controller_{name}".strip("_")


def template(file_name: str, /, **parts: Any) -> str:
    """Return a template with its parts filled in."""
    text = files("smgrnn.export").joinpath("templates", file_name).read_text(encoding="utf-8")
    return Template(text).substitute(parts)


class Body:
    """The body of a step in C, with the constant arrays that it reads."""

    def __init__(self, controller: Controller, has_scores: bool = False) -> None:
        self.task, self.program = controller.task, controller.program
        self.numbers, self.has_scores = NUMBERS[self.program.type], has_scores
        self.tables: dict[str, Any] = {}
        """The constant arrays by name."""
        is_straight, program = self.program.style == "unrolled", self.program
        self.lines = [] if program.n_kept else ["(void)state;"]
        self.lines += [] if program.inputs else ["(void)observation;"]
        self.lines += self._straight() if is_straight else self._loops()
        n_values, n_sums = (
            program.first_row + program.n_active,
            len(program.rows) - program.n_active,
        )
        self.table_bytes = sum(values.nbytes for values in self.tables.values())
        self.state_bytes = (4 if program.is_float else 2) * program.n_kept
        self.stack_bytes = (4 if program.is_float or is_straight else 2) * n_values + 4 * n_sums
        self.stack_bytes += SAVED
        self.cycles = (
            None
            if program.is_float or not is_straight
            else (
                40
                + 10 * program.n_weights  # a constant and a value from memory, a product and a sum
                + 6 * program.n_constants
                + 6 * len(program.inputs)
                + 70 * program.n_active  # a call and its body
                + 80 * len(program.states)
                + 14 * program.n_outputs
            )
        )
        """A bound for a step of integers that has no loop; it adds up instructions."""

    def code(self) -> str:
        """Return the constants and functions that the step uses, in the order of their use."""
        text, program = _lines(self.lines), self.program
        numbers = {
            "INPUTS": len(program.inputs),
            "STATES": len(program.states),
            "FIRST_ROW": program.first_row,
            "FIRST_OUTPUT": program.first_output,
            "OUTPUTS": program.n_outputs,
        }
        named = [
            f"    {name} = {n}" for name, n in numbers.items() if re.search(rf"\b{name}\b", text)
        ]
        start = "bias[row]" if program.n_constants else self.number(0.0)
        curve = indent(fill(", ".join(map(str, CURVE)), 88), " " * 8)
        library = template(
            "floats.c" if program.is_float else "integers.c", start=start, curve=curve
        )
        functions = list[str]()
        for function in reversed(library.split("\n\n")):  # each may call those before it
            name = re.search(r"static \w+ (\w+)\(", function)
            if f"{name[1]}(" in text if name else ">>" in text:
                text += function
                functions.insert(0, function.strip() + "\n")
        enum = ["enum {\n" + ",\n".join(named) + "\n};\n"] if named else []
        return "\n".join([*enum, *(map(_declared, self.tables, self.tables.values())), *functions])

    def number(self, value: float) -> str:
        """Return a constant of a sum or a bound."""
        return f"{_single(value)!s}f" if self.program.is_float else str(int(value))

    def table(self, name: str, values: Any, dtype: Any = None) -> str:
        """Return the expression of item i of constants, which become an array if they differ.

        Without a type they are indices: those that count up are expressions too.
        """
        values = list(values)
        if dtype is None:
            if values == list(range(values[0], values[0] + len(values))):
                return f"{values[0]} + i" if values[0] else "i"
            dtype = np.min_scalar_type(max(values))
        elif len(set(values)) == 1:
            return self.number(values[0])
        return self.declare(name, values, dtype)

    def declare(self, name: str, values: Any, dtype: Any = None) -> str:
        """Add a constant array; return the expression of its item i."""
        values = list(values) or [0]  # C has no empty arrays
        if dtype == np.float32:
            values = [_single(value) for value in values]
        self.tables[name] = np.array(values, dtype or np.min_scalar_type(max(values)))
        return f"{name}[i]"

    def activated(self, kind: str, total: str, shift: Any) -> str:
        """Return the expression of an activated sum."""
        if self.program.is_float:
            return total if kind == "identity" else f"activate_{kind}({total})"
        return f"activate_{kind}({total}, {shift})"

    def compared(self, total: str) -> str:
        """Return the expression of a sum that is compared with others."""
        if self.program.rows[-1].activation == "identity":
            return total
        return f"activate_relu({total})" if self.program.is_float else f"positive({total})"

    def _loops(self) -> list[str]:
        program, (value, total, weight) = self.program, self.numbers
        rows, n_active, n_states = program.rows, program.n_active, len(program.states)
        first_sum = program.first_row + n_active
        edges = [edge for row in rows for edge in row.terms.items()]
        number: Any = np.float32 if program.is_float else np.dtype(weight.removesuffix("_t"))
        self.declare("first_edge", np.cumsum([0, *(len(row.terms) for row in rows)]))
        self.declare("source", [place for place, _ in edges])
        self.declare("weight", [weight for _, weight in edges], number)
        if program.n_constants:
            biases = [row.bias for row in rows]
            self.declare("bias", biases, np.float32 if program.is_float else np.int32)

        lines = [f"{value} value[{max(first_sum, 1)}];"]
        lines += [f"{total} output[OUTPUTS];"] * program.is_choice
        if program.inputs:
            read = self.table("read", program.inputs)
            refusal = self._refusal("value[i]") if program.hides_infinity else []
            lines += _loop(0, "INPUTS", f"value[i] = observation[{read}];", *refusal)
        if n_states:
            start = "state->node[i]" if program.is_carried else self.number(0)
            lines += _loop(0, "STATES", f"value[INPUTS + i] = {start};")
        step = list[str]()
        shifts = [row.shift for row in rows[:n_active]]
        shift = self.table("shift", shifts, np.uint8) if n_active and not program.is_float else ""
        for kind, group in groupby(range(n_active), lambda n: rows[n].activation):
            span = list(group)
            new = self.activated(kind, "add_up(i, value)", shift)
            step += _loop(span[0], span[-1] + 1, f"value[FIRST_ROW + i] = {new};")
        if program.is_choice:
            row = f"{n_active} + i" if n_active else "i"
            step += _loop(0, "OUTPUTS", f"output[i] = {self.compared(f'add_up({row}, value)')};")
        from_sums = [each for each in program.next if each[0] >= first_sum]  # the first states
        rest = [place for place, *_ in program.next[len(from_sums) :]]
        if from_sums:
            places, kinds, cuts = zip(*from_sums, strict=True)
            source = self.table("next_output", [place - first_sum for place in places])
            shift = self.table("next_shift", cuts, np.uint8)
            new = self.activated(kinds[0], f"output[{source}]", shift)
            step += _loop(0, len(from_sums), f"value[INPUTS + i] = {new};")
        if rest:
            target = f"INPUTS + {len(from_sums)} + i" if from_sums else "INPUTS + i"
            new = f"value[{self.table('next', rest)}]"
            step += _loop(0, len(rest), f"value[{target}] = {new};")
        if program.repeat > 1:
            step = _loop(0, program.repeat, *step, variable="iteration")
        output = "output[i]" if program.is_choice else "value[FIRST_OUTPUT + i]"
        lines += step
        if program.is_float:
            lines += _loop(0, "OUTPUTS", *self._refusal(output))
        if program.n_kept:
            lines += _loop(0, "STATES", "state->node[i] = value[INPUTS + i];")
        if program.is_choice:
            scores = _loop(0, "OUTPUTS", "scores[i] = output[i];") if self.has_scores else []
            return [*lines, *scores, *CHOOSE.split("\n")]
        if self._bounds:
            bounds = (self.table(*each, np.float32) for each in self._bounds.items())
            output = f"scaled({output}, {', '.join(bounds)})"
        return [*lines, *_loop(0, "OUTPUTS", f"action[i] = {output};"), "return 0;"]

    def _straight(self) -> list[str]:
        program, (value, total, _) = self.program, self.numbers
        names, outputs = value_names(program), value_names(program)[program.first_output :]
        n_inputs, first_row, first_sum = (
            len(program.inputs),
            program.first_row,
            program.first_row + program.n_active,
        )
        lines = [f"const {value} x{place} = observation[{place}];" for place in program.inputs]
        if program.hides_infinity and n_inputs:
            lines += self._refusal(*names[:n_inputs])
        start = "state->node[{}]" if program.is_carried else self.number(0)
        for n, name in enumerate(names[n_inputs:first_row]):
            lines.append(f"const {value} {name} = {start.format(n)};")
        for place, row in enumerate(program.rows, first_row):
            whole = self._sum(row, names)
            if place < first_sum:
                new = self.activated(row.activation, whole, row.shift)
                lines.append(f"const {value} {names[place]} = {new};")
            else:
                lines.append(f"const {total} {names[place]} = {self.compared(whole)};")
        lines += self._refusal(*outputs)
        for n, (place, kind, shift) in enumerate(program.next):
            new = names[place] if place < first_sum else self.activated(kind, names[place], shift)
            lines.append(f"state->node[{n}] = {new};")
        if not program.is_choice:
            bounds = zip(*(map(self.number, each) for each in self._bounds.values()), strict=True)
            if self._bounds:
                outputs = [
                    f"scaled({y}, {', '.join(each)})"
                    for y, each in zip(outputs, bounds, strict=True)
                ]
            acts = [f"action[{n}] = {output};" for n, output in enumerate(outputs)]
            return [*lines, *acts, "return 0;"]
        if self.has_scores:
            lines += [f"scores[{n}] = {output};" for n, output in enumerate(outputs)]
        lines += ["int action = 0;", *([f"{total} best = y0;"] if len(outputs) > 1 else [])]
        for n, output in enumerate(outputs[1:], 1):  # without a branch
            if program.is_float:
                choice, best = (
                    f"action = {output} > best ? {n} : action;",
                    f"best = {output} > best ? {output} : best;",
                )
            else:
                choice = f"action += ({n} - action) & (int)((best - {output}) >> 31);"
                best = f"best += ({output} - best) & ((best - {output}) >> 31);"
            lines += [choice, best] if n < len(outputs) - 1 else [choice]
        return [*lines, "return action;"]

    @property
    def _bounds(self) -> dict[str, list[float]]:
        """The bounds of a continuous action in floats."""
        low, high = self.task.action_low, self.task.action_high
        if low is None or high is None or not self.program.is_float:
            return {}
        half = [b / 2 - a / 2 for a, b in zip(low, high, strict=True)]
        return {"low": list(low), "half_range": half, "high": list(high)}

    def _refusal(self, *names: str) -> list[str]:
        """Return a check that floats are finite."""
        if not self.program.is_float:
            return []
        check = " && ".join(f"is_finite({name})" for name in names)
        check = f"!({check})" if len(names) > 1 else f"!{check}"
        return [f"if ({check}) {{", "    return -1;", "}"]

    def _sum(self, row: Row, names: list[str]) -> str:
        cast = "" if self.program.is_float else "(int32_t)"
        parts = [self.number(row.bias)] if row.bias or not row.terms else []
        parts += [f"{cast}{names[place]} * {self.number(w)}" for place, w in row.terms.items()]
        return " + ".join(parts)


def c_files(controller: Controller, stem: str, *, has_scores: bool = False) -> tuple[bytes, bytes]:
    """Return the header and the source."""
    if not re.fullmatch(r"[^\"*/<>?\\]+", plain(stem)):
        raise ConfigError(f"Files of C cannot be named {short(stem)}; choose another --out.")
    name, upper, task = c_name(stem), c_name(stem).upper(), controller.task
    program, body = controller.program, Body(controller, has_scores)
    (value, total, _), code = NUMBERS[program.type], body.code()
    arguments = {
        f"{name}_state *state": "&state",
        f"const {value} observation[{upper}_OBSERVATIONS]": "observation",
    }
    promise = f"Return the action for an observation: 0 to {task.n_outputs - 1}."
    if not program.is_choice:
        arguments[f"{value} action[{upper}_ACTIONS]"] = "action"
        bounds = ", within its bounds," if task.is_bounded and program.is_float else ""
        promise = f"Write the action for an observation{bounds} and return 0."
    elif has_scores:
        arguments[f"{total} scores[{upper}_ACTIONS]"] = "scores"
        promise += "\n * Write the score of each; the action has the largest."
    if program.is_float:
        promise += (
            "\n * Return -1, and change no state, if a value read or an output is not finite."
        )
    call = f"{name}_step({', '.join(arguments.values())});"
    names = [
        f" *     {array}[{n}]: {_comment(each)}{'' if is_read else ' (not read)'}"
        for array, known in zip(("observation", "output"), controller.names, strict=True)
        for n, each in enumerate(known)
        for is_read in [array == "output" or n in program.inputs]
    ]
    needs_maths = "tanhf(" in code or "expf(" in code
    parts = {
        "file": stem,
        "name": name,
        "upper": upper,
        "task": _comment(task.id),
        "version": __version__,
        "call": f"int action = {call}" if program.is_choice else call,
        "names": "\n".join(names),
        "n_parameters": facts(controller)["n_parameters"],
        "n_hidden": controller.graph.n_hidden,
        "student": f", student {controller.student}" if controller.student else "",
        "digest": network_digest(controller),
        "n_weights": program.n_weights,
        "n_constants": program.n_constants,
        "type": program.type,
        "n_products": program.repeat * program.n_weights,
        "n_sums": program.repeat * (program.n_weights + program.n_constants),
        "n_activations": program.n_activations,
        "cycles": f"\n *           at most {body.cycles} cycles on a Cortex-M0+ or M4"
        * bool(body.cycles),
        "table_bytes": body.table_bytes,
        "state_bytes": body.state_bytes,
        "stack_bytes": body.stack_bytes,
        "library": "with the mathematical library (-lm)" if needs_maths else "without a library",
        "promise": promise,
        "include": "" if program.is_float else "\n#include <stdint.h>\n",
        "units": "" if program.is_float else _units(controller, upper, has_scores),
        "arguments": f",\n{' ' * len(f'int {name}_step(')}".join(arguments),
        "n_observations": task.n_inputs,
        "n_actions": task.n_outputs,
        "n_states": program.n_kept,
        "kept": "Values of nodes after the last step." if program.n_kept else "Nothing is kept.",
        "member": f"{value} node[{upper}_STATES]" if program.n_kept else "char unused",
        "includes": f"{'#include <math.h>' * needs_maths}\n#include <stddef.h>\n".lstrip()
        + "#include <stdint.h>\n",
        "declarations": code,
        "reset": _lines(_loop(0, f"{upper}_STATES", "state->node[i] = 0;"))
        if program.n_kept
        else "    state->unused = 0;\n",
        "step": _lines(body.lines),
    }
    return template("controller.h", **parts).encode(), template("controller.c", **parts).encode()


def _units(controller: Controller, upper: str, has_scores: bool) -> str:
    """Return the macros that turn floats into the integers of an observation, and back."""
    task, units = (
        controller.task,
        {"units": controller.units, "output_units": controller.output_units},
    )
    units |= {"low": task.action_low or (), "high": task.action_high or ()}
    texts = {k: ", ".join(f"{_single(x)!s}f" for x in values) for k, values in units.items()}
    observation, scores, action, bounds = template("units.h", upper=upper, **texts).split("\n\n")
    parts = [observation]
    if not task.is_discrete:
        parts += [action, bounds] if task.is_bounded else [action]
    elif has_scores:
        parts.append(scores)
    return "".join(f"\n{part.rstrip()}\n" for part in parts)


def value_names(program: Program) -> list[str]:
    """Return names of a program's values in straight-line code, by place."""
    names = [f"x{place}" for place in program.inputs] + [f"s{node}" for node in program.states]
    names += [f"h{n}" for n in range(len(program.rows) - program.n_outputs)]
    return [*names, *(f"y{n}" for n in range(program.n_outputs))]


def _comment(text: str) -> str:
    """Return text that neither ends nor begins a comment; to C, ??/ is a backslash."""
    return plain(text).replace("*/", "* /").replace("/*", "/ *").replace("??/", "? ?/")


def _single(value: float) -> Any:
    """Return a number in single precision."""
    with np.errstate(over="ignore"):
        number = np.float32(value)
    if not np.isfinite(number):
        raise ConfigError("A weight of the network is too large for single precision.")
    return number


def _loop(start: int, stop: Any, *body: str, variable: str = "i") -> list[str]:
    head = f"for (size_t {variable} = {start}; {variable} < {stop}; {variable}++) {{"
    return [head, *(f"    {line}" for line in body), "}"]


def _lines(lines: list[str]) -> str:
    """Return the lines of a function, long ones wrapped."""
    how: Any = {"subsequent_indent": " " * 8, "break_on_hyphens": False}
    kept = (line.replace(" * ", "\xa0*\xa0") for line in lines)  # not broken there
    return indent("".join(f"{fill(line, 95, **how)}\n" for line in kept), "    ").replace(
        "\xa0", " "
    )


def _declared(name: str, values: Any) -> str:
    is_float = values.dtype == np.float32
    # str() of a float32 has the fewest digits that give the same float32 again.
    cells = ", ".join(f"{value!s}{'f' if is_float else ''}" for value in values)
    rows = indent(fill(cells, 96, break_on_hyphens=False), "    ")
    array = f"{'float' if is_float else f'{values.dtype.name}_t'} {name}[{values.size}]"
    return f"/* {COMMENTS[name]} */\nstatic const {array} = {{\n{rows}\n}};\n"
