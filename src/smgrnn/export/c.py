"""A controller as C99: a header and a source file of one `Program`.

Rows are tables that a loop reads, or straight-line code.  Floats need `math.h` for tanh and
sigmoid alone; integers need no library.  The templates are `controller.h` and `controller.c`.
"""

import re
from importlib.resources import files
from string import Template
from textwrap import fill, indent
from typing import Any, NamedTuple

import numpy as np

from smgrnn import __version__
from smgrnn.errors import ConfigError, plain, short
from smgrnn.export.integers import CURVE
from smgrnn.export.program import Program, Row
from smgrnn.export.wiring import facts, network_digest
from smgrnn.policy import Policy
from smgrnn.text import quantity


class Numbers(NamedTuple):
    """How the numbers of a program are written in C."""

    value: str
    """Type of inputs, states and rows."""
    sum: str
    weight: str


NUMBERS = {
    "float": Numbers("float", "float", "float"),
    "q15": Numbers("int16_t", "int32_t", "int16_t"),
    "q7": Numbers("int16_t", "int32_t", "int8_t"),
}
FORMULAS = {
    "tanh": "tanhf(sum)",
    "sigmoid": "1.0f / (1.0f + expf(-sum))",
    "relu": "sum <= 0.0f ? 0.0f : sum",
}
ACTIVATION = """\
static float activate_{kind}(float sum)
{{
    return {formula};
}}
"""
IS_FINITE = """\
/* Return whether a number is neither NaN nor infinite. */
static int is_finite(float x)
{
    return x - x == 0.0f;
}
"""
ADD_UP = """\
/* Add up what reaches a row. */
static {sum} add_up(size_t row, const {value} value[])
{{
    {sum} total = {start};
    for (size_t edge = first_edge[row]; edge < first_edge[row + 1]; edge++) {{
        total += {product};
    }}
    return total;
}}
"""
CHOOSE = """\
    int action = 0;
    for (int i = 1; i < OUTPUTS; i++) {
        if (output[i] > output[action]) {
            action = i;
        }
    }
    return action;
"""
COPY = """\
    for (size_t i = 0; i < OUTPUTS; i++) {
        action[i] = output[i];
    }
    return 0;
"""
SCALE = """\
    for (size_t i = 0; i < OUTPUTS; i++) {
        float clipped = output[i] < -1.0f ? -1.0f : output[i] > 1.0f ? 1.0f : output[i];
        float value = action_low[i] + (clipped + 1.0f) * half_range[i];
        action[i] = value > action_high[i] ? action_high[i] : value; /* it may round up past it */
    }
    return 0;
"""
SCALED = """\
/* Return an output as a value within the bounds of the action. */
static float scaled(float output, float low, float half_range, float high)
{
    float clipped = output < -1.0f ? -1.0f : output > 1.0f ? 1.0f : output;
    float value = low + (clipped + 1.0f) * half_range;
    return value > high ? high : value; /* it may round up past it */
}
"""
SHIFTS_SIGN = """\
#if (-1 >> 1) != -1
#error "Shifting a negative number right must keep its sign."
#endif
"""
NARROW = """\
/* Drop the last bits of a sum, rounded, and keep it within a value's limits. */
static int16_t activate_identity(int32_t sum, int shift)
{
    int32_t x = (sum + (((int32_t)1 << shift) >> 1)) >> shift;
    int32_t left = 32767 - x;
    x += left & (left >> 31);
    left = x + 32767;
    return (int16_t)(x - (left & (left >> 31)));
}
"""
POSITIVE = """\
/* Return a sum, or 0 if it is negative. */
static int32_t positive(int32_t sum)
{
    return sum & ~(sum >> 31);
}
"""
SIGMOID = """\
static int16_t activate_sigmoid(int32_t sum, int shift)
{
    return (int16_t)(((int32_t)32768 + activate_tanh(sum, shift + 1)) >> 1);
}
"""
RELU = """\
static int16_t activate_relu(int32_t sum, int shift)
{
    return activate_identity(positive(sum), shift);
}
"""
TANH = """\
/* tanh, interpolated in steps of 1/8 up to 4; the shifted sum has 12 bits behind the point. */
static int16_t activate_tanh(int32_t sum, int shift)
{
    static const int16_t curve[] = {
$curve
    };
    int32_t sign = sum >> 31, x = ((sum ^ sign) - sign) >> shift;
    int32_t left = 16383 - x;
    x += left & (left >> 31);
    int32_t y = curve[x >> 9];
    y += ((curve[(x >> 9) + 1] - y) * (x & 511)) >> 9;
    return (int16_t)((y ^ sign) - sign);
}
"""
INTEGER_HELPERS = {
    "activate_relu": RELU,
    "activate_sigmoid": SIGMOID,
    "activate_tanh": Template(TANH).substitute(
        curve=indent(fill(", ".join(map(str, CURVE)), 88), " " * 8)
    ),
    "activate_identity": NARROW,
    "positive": POSITIVE,
}
"""Helpers; each comes before those that it calls."""
SAVED = 80
"""Bytes of the stack beside values: registers that are saved, and a call of an activation."""
Table = tuple[str, str, Any]
"""Name, comment and values of a constant array."""


def c_name(stem: str) -> str:
    """Return the prefix of all names in a file with this stem.

    >>> c_name("CartPole-v1")
    'cartpole_v1'
    """
    name = re.sub(r"[^a-z0-9]+", "_", stem.lower()).strip("_")
    return name if name[:1].isalpha() else f"controller_{name}".strip("_")


class _Body:
    """The code of a step and what it needs."""

    def __init__(self, policy: Policy, program: Program, style: str) -> None:
        self.policy, self.program = policy, program
        self.numbers, self.is_float = NUMBERS[program.type], program.type == "float"
        self.tables: list[Table] = []
        self.is_straight = style != "tables"
        self.stack = 0
        self.step = self._tables() if style == "tables" else self._straight()

    @property
    def cycles(self) -> str:
        """Return a bound of a step's cycles, where no loop and no library hides them.

        It adds up instructions: a weight costs a constant and a value from memory, a product and
        a sum; an activation its call and body; everything else a few moves.
        """
        if self.is_float or not self.is_straight:
            return ""
        program = self.program
        n = 40 + 10 * program.n_weights + 6 * program.n_constants + 6 * len(program.inputs)
        n += 70 * len(program.inner) + 80 * len(program.states) + 14 * program.n_outputs
        return f", at most {n} cycles on a Cortex-M0+ or M4 that multiplies in one"

    @property
    def unused(self) -> list[str]:
        """Return the arguments that the step does not use."""
        is_used = {"state": self.program.n_kept, "observation": self.program.inputs}
        return [name for name, used in is_used.items() if not used]

    @property
    def code(self) -> str:
        """Return the constants and functions that the step uses."""
        text, numbers = self.step, self.numbers
        product = "weight[edge] * value[source[edge]]"
        start = "bias[row]" if self.program.n_constants else self.number(0)
        add_up = ADD_UP.format(
            value=numbers.value,
            sum=numbers.sum,
            start=start,
            product=product if self.is_float else f"({numbers.sum}){product}",
        )
        helpers = {"add_up": add_up, "scaled": SCALED, "is_finite": IS_FINITE}
        if self.is_float:
            formulas = FORMULAS.items()
            helpers |= {f"activate_{k}": ACTIVATION.format(kind=k, formula=f) for k, f in formulas}
        else:
            helpers |= INTEGER_HELPERS
        used = list[str]()
        for name, helper in helpers.items():
            if f"{name}(" in text:
                used, text = [helper, *used], text + helper
        constants = {
            "INPUTS": len(self.program.inputs),
            "STATES": len(self.program.states),
            "OUTPUTS": self.program.n_outputs,
        }
        named = [
            f"    {k} = {n}" for k, n in constants.items() if re.search(rf"\b{k}\b", self.step)
        ]
        enum = ["enum {\n" + ",\n".join(named) + "\n};\n"] if named else []
        shifts = [SHIFTS_SIGN] if ">>" in text else []
        return "\n".join([*shifts, *enum, *(_declare(*each) for each in self.tables), *used])

    def table(self, name: str, comment: str, values: Any, dtype: Any = None) -> str:
        """Add a constant array and return its element i, or the value if all are equal."""
        array = np.asarray(values)
        if dtype is None and len(set(array.tolist())) == 1:
            return str(array[0])
        if not array.size:
            array = np.zeros(1, np.int64)  # C has no empty arrays
        if dtype is None:
            dtype = np.min_scalar_type(array.max())
        self.tables.append((name, comment, array.astype(dtype)))
        return f"{name}[i]"

    def number(self, value: float) -> str:
        """Return a constant of a sum."""
        return f"{_single(value)!s}f" if self.is_float else str(value)

    def activated(self, kind: str, total: str, shift: str, *, is_output: bool = False) -> str:
        """Return the expression of an activated sum."""
        if self.is_float:
            return total if kind == "identity" else f"activate_{kind}({total})"
        if is_output and self.policy.task.is_discrete:  # only which is largest matters
            return total if kind == "identity" else f"positive({total})"
        return f"activate_{kind}({total}, {shift})"

    def _tables(self) -> str:
        program, (value, total, weight) = self.program, self.numbers
        inner, outputs, n_states = program.inner, program.outputs, len(program.states)
        edges = [(place, w) for row in program.rows for place, w in row.terms.items()]
        firsts = np.cumsum([0, *(len(row.terms) for row in program.rows)])
        self.table("first_edge", "The first edge into each row.", firsts, _least(firsts))
        sources = [place for place, _ in edges]
        self.table(
            "source", "The value each edge leaves: inputs, states, rows.", sources, _least(sources)
        )
        dtype: Any = np.float32 if self.is_float else weight.removesuffix("_t")
        weights = [_single(w) if self.is_float else w for _, w in edges]
        self.table("weight", "The weight of each edge.", weights, dtype)
        if program.n_constants:
            biases = [_single(row.bias) if self.is_float else row.bias for row in program.rows]
            dtype = np.float32 if self.is_float else np.int32
            self.table("bias", "What is added to each row.", biases, dtype)
        size = len(program.inputs) + n_states + len(inner)
        self.stack = size * (4 if self.is_float else 2) + 4 * len(outputs) + SAVED
        lines = [f"{value} value[{max(size, 1)}];", f"{total} output[OUTPUTS];"]
        place = "i"
        if program.inputs != tuple(range(len(program.inputs))):
            comment = "The values of an observation that are read."
            self.table("read", comment, program.inputs, _least(program.inputs))
            place = "read[i]"
        if program.inputs:
            body = [f"value[i] = observation[{place}];"]
            if self.is_float and self._hides_infinity:
                body += ["if (!is_finite(value[i])) {", "    return -1;", "}"]
            lines += _loop("INPUTS", *body)
        if n_states:
            start = "state->node[i]" if program.is_carried else "0.0f" if self.is_float else "0"
            lines += _loop("STATES", f"value[INPUTS + i] = {start};")
        rows = self._inner_rows() + self._output_rows() + self._next_states()
        if program.repeat > 1:
            rows = _loop(f"{program.repeat}", *rows, variable="iteration")
        lines += rows + self._checks("output[i]")
        if program.n_kept:
            lines += _loop("STATES", "state->node[i] = value[INPUTS + i];")
        return _lines(lines) + self._act()

    @property
    def _hides_infinity(self) -> bool:
        """Whether an input that is infinite could leave all outputs finite."""
        return any(row.activation != "identity" for row in self.program.rows)

    def _inner_rows(self) -> list[str]:
        rows = self.program.inner
        if not rows:
            return []
        shift = self.table("shift", "Bits dropped from each sum.", [row.shift for row in rows])
        kinds = sorted({row.activation for row in rows})
        total, place = "add_up(i, value)", f"value[{self.program.first_row} + i]"
        if len(kinds) == 1:
            return _loop(str(len(rows)), f"{place} = {self.activated(kinds[0], total, shift)};")
        places = [kinds.index(row.activation) for row in rows]
        kind = self.table("kind", f"Which activation: {', '.join(kinds)}.", places)
        cases: list[str] = []
        for number, each in enumerate(kinds[:-1]):
            cases += [
                f"{'} else ' if number else ''}if ({kind} == {number}) {{",
                f"    {place} = {self.activated(each, 'sum', shift)};",
            ]
        last = self.activated(kinds[-1], "sum", shift)
        cases += ["} else {", f"    {place} = {last};", "}"]
        return _loop(str(len(rows)), f"{self.numbers.sum} sum = {total};", *cases)

    def _output_rows(self) -> list[str]:
        rows, n_inner = self.program.outputs, len(self.program.inner)
        row = f"{n_inner} + i" if n_inner else "i"
        kind = rows[0].activation if self.is_float or self.policy.task.is_discrete else "identity"
        whole = f"add_up({row}, value)"
        if kind != "identity":
            whole = self.activated(kind, whole, "", is_output=True)
        return _loop("OUTPUTS", f"output[i] = {whole};")

    def _next_states(self) -> list[str]:
        program, lines = self.program, list[str]()
        first_output = program.first_row + len(program.inner)
        n = sum(place >= first_output for place, *_ in program.next)  # they are the first
        if n:
            places, kinds, shifts = zip(*program.next[:n], strict=True)
            outputs = [place - first_output for place in places]
            number = (
                "i"
                if outputs == list(range(n))
                else self.table(
                    "next_output", "The output that each state becomes.", outputs, _least(outputs)
                )
            )
            shift = self.table("next_shift", "Bits dropped from it.", shifts)
            new = self.activated(kinds[0], f"output[{number}]", shift)
            lines += _loop(str(n), f"value[INPUTS + i] = {new};")
        if rest := [place for place, *_ in program.next[n:]]:
            index = self.table("next", "The row that each state becomes.", rest, _least(rest))
            target = f"INPUTS + {n} + i" if n else "INPUTS + i"
            lines += _loop(str(len(rest)), f"value[{target}] = value[{index}];")
        return lines

    def _checks(self, output: str) -> list[str]:
        if not self.is_float:
            return []
        return _loop("OUTPUTS", f"if (!is_finite({output})) {{", "    return -1;", "}")

    def _act(self) -> str:
        task = self.policy.task
        if task.is_discrete:
            return CHOOSE
        if not self.is_float:
            rows = self.program.outputs
            shift = self.table(
                "output_shift", "Bits dropped from each output.", [row.shift for row in rows]
            )
            value = self.activated(rows[0].activation, "output[i]", shift)
            return _lines(_loop("OUTPUTS", f"action[i] = {value};")) + "    return 0;\n"
        if not task.is_bounded:
            return COPY
        low, high = np.asarray(task.action_low), np.asarray(task.action_high)
        self.table("action_low", "Least value of each part of the action.", low, np.float32)
        self.table("action_high", "Largest value of each part of the action.", high, np.float32)
        half = high / 2 - low / 2
        self.table("half_range", "Half the difference of the two.", half, np.float32)
        return SCALE

    def _straight(self) -> str:
        program, (value, total, _) = self.program, self.numbers
        inputs = [f"x{place}" for place in program.inputs]
        states = [f"s{node}" for node in program.states]
        inner = [f"h{n}" for n in range(len(program.inner))]
        outputs = [f"y{n}" for n in range(program.n_outputs)]
        names = [*inputs, *states, *inner, *outputs]
        self.stack = 4 * len(names) + SAVED
        lines = [
            f"const {value} {name} = observation[{place}];"
            for name, place in zip(inputs, program.inputs, strict=True)
        ]
        if self._hides_infinity:
            lines += self._refusal(inputs)
        start = "state->node[{}]" if program.is_carried else "0"
        lines += [f"const {value} {name} = {start.format(n)};" for n, name in enumerate(states)]
        for name, row in zip(inner, program.inner, strict=True):
            new = self.activated(row.activation, self._sum(row, names), str(row.shift))
            lines.append(f"const {value} {name} = {new};")
        for name, row in zip(outputs, program.outputs, strict=True):
            whole = self._sum(row, names)
            if self.is_float or self.policy.task.is_discrete:
                whole = self.activated(row.activation, whole, "", is_output=True)
            lines.append(f"const {total} {name} = {whole};")
        lines += self._refusal(outputs)
        for n, (place, kind, shift) in enumerate(program.next):
            new = names[place]
            if names[place] in outputs:
                new = self.activated(kind, new, str(shift))
            lines.append(f"state->node[{n}] = {new};")
        return _lines(lines + self._straight_act(outputs))

    def _refusal(self, names: list[str]) -> list[str]:
        if not (self.is_float and names):
            return []
        check = " && ".join(f"is_finite({name})" for name in names)
        return [f"if (!({check})) {{", "    return -1;", "}"]

    def _sum(self, row: Row, names: list[str]) -> str:
        cast = "" if self.is_float else f"({self.numbers.sum})"
        parts = [self.number(row.bias)] if row.bias or not row.terms else []
        parts += [f"{cast}{names[place]} * {self.number(w)}" for place, w in row.terms.items()]
        return " + ".join(parts)

    def _straight_act(self, outputs: list[str]) -> list[str]:
        task, lines = self.policy.task, list[str]()
        if task.is_discrete:
            last, kind = len(outputs) - 1, self.numbers.sum
            lines += ["int action = 0;", *([f"{kind} best = y0;"] if last else [])]
            for n in range(1, last + 1):
                if self.is_float:
                    lines += [f"action = y{n} > best ? {n} : action;"]
                    lines += [f"best = y{n} > best ? y{n} : best;"] * (n < last)
                else:
                    lines += [f"action += ({n} - action) & (int)((best - y{n}) >> 31);"]
                    lines += [f"best += (y{n} - best) & ((best - y{n}) >> 31);"] * (n < last)
            return [*lines, "return action;"]
        low, high = task.action_low or (), task.action_high or ()
        for n, (name, row) in enumerate(zip(outputs, self.program.outputs, strict=True)):
            new = name
            if not self.is_float:
                new = self.activated(row.activation, name, str(row.shift))
            elif low:
                numbers = (low[n], high[n] / 2 - low[n] / 2, high[n])
                new = f"scaled({name}, {', '.join(map(self.number, numbers))})"
            lines.append(f"action[{n}] = {new};")
        return [*lines, "return 0;"]


def c_files(
    policy: Policy, program: Program, stem: str, style: str = "tables"
) -> tuple[bytes, ...]:
    """Return the header and the source."""
    if not re.fullmatch(r"[^\"*/<>?\\]+", plain(stem)):
        raise ConfigError(f"Files of C cannot be named {short(stem)}; choose another --out.")
    name, upper, task = c_name(stem), c_name(stem).upper(), policy.task
    body = _Body(policy, program, style)
    value, is_float = body.numbers.value, body.is_float
    arguments = [f"{name}_state *state", f"const {value} observation[{upper}_OBSERVATIONS]"]
    call = f"int action = {name}_step(&state, observation);"
    promise = f"Return the action for an observation: 0 to {task.n_outputs - 1}."
    if not task.is_discrete:
        arguments.append(f"{value} action[{upper}_ACTIONS]")
        call = f"{name}_step(&state, observation, action);"
        bounds = ", within its bounds," if task.is_bounded and is_float else ""
        promise = f"Write the action for an observation{bounds} and return 0."
    if is_float:
        promise += (
            "\n * Return -1, and change nothing, if a value read, or an output, is not finite."
        )
    code, needs_maths = body.code, is_float and {"tanh", "sigmoid"} & set(program.activations)
    parameters = quantity(int(facts(policy)["n_parameters"]), "parameter")
    student = f", student {policy.student}" if policy.student else ""
    n_tables, n_kept = fixed_bytes(policy, program, style)
    additions = program.n_weights + program.n_constants
    parts = {
        "file": stem,
        "name": name,
        "upper": upper,
        "task": _comment(task.id),
        "version": __version__,
        "about": f"{parameters}, {quantity(policy.graph.n_hidden, 'hidden node')}{student}: "
        f"{program.n_weights} weights + {program.n_constants} constants in {program.type}.",
        "numbers": f"A step takes {program.repeat * program.n_weights} multiplications, "
        f"{program.repeat * additions} additions and "
        f"{quantity(program.repeat * len(program.inner) + 0, 'activation')}.",
        "memory": f"{n_tables} bytes of constant tables, {n_kept} bytes of state, "
        f"at most {body.stack} bytes of stack{body.cycles}.",
        "network": f"Network {network_digest(policy)} (SHA-256 of nodes, weights and settings).",
        "names": _names(policy, program),
        "call": call,
        "promise": promise,
        "include": "" if is_float else "\n#include <stdint.h>\n",
        "link": "Compile as C99"
        + (" and link with the mathematical library (-lm)." if needs_maths else "; no library."),
        "units": "" if is_float else _units(policy, program, upper),
        "arguments": f",\n{' ' * len(f'int {name}_step(')}".join(arguments),
        "n_observations": task.n_inputs,
        "n_actions": task.n_outputs,
        "n_states": program.n_kept,
        "kept": "Values of nodes after the last step."
        if program.n_kept
        else "No value is kept from one step to the next.",
        "member": f"{value} node[{upper}_STATES]" if program.n_kept else "char unused",
        "includes": "#include <math.h>\n" * bool(needs_maths)
        + "#include <stddef.h>\n#include <stdint.h>\n",
        "declarations": code,
        "reset": _lines(_loop(f"{upper}_STATES", "state->node[i] = 0;"))
        if program.n_kept
        else "    state->unused = 0;\n",
        "step": _lines([f"(void){unused};" for unused in body.unused]) + body.step,
    }
    templates = (files("smgrnn.export").joinpath(f"controller.{suffix}") for suffix in "hc")
    texts = (Template(each.read_text(encoding="utf-8")) for each in templates)
    return tuple(text.substitute(parts).encode() for text in texts)


def fixed_bytes(policy: Policy, program: Program, style: str = "tables") -> tuple[int, int]:
    """Return the bytes of the constant arrays, and those kept between two steps."""
    tables = _Body(policy, program, style).tables
    size = 4 if program.type == "float" else 2
    return sum(values.nbytes for *_, values in tables), size * program.n_kept


UNITS = """\

/* An observation holds integers: each value times its unit, rounded and kept within limits. */
#define {upper}_UNITS {{{units}}}
#define {upper}_INTEGER(value, unit) \\
    ((int16_t)(!((value) * (unit) > -32767.0f)  ? -32767.0f \\
               : (value) * (unit) >= 32767.0f ? 32767.0f \\
               : (value) * (unit) + ((value) < 0 ? -0.5f : 0.5f)))
"""
ACTION_UNITS = """\
/* An action holds integers too: each value times its unit. */
#define {upper}_ACTION_UNITS {{{units}}}
"""
BOUNDS = """\
/* Part i of the action is VALUE(action[i], low[i], high[i]) of these bounds. */
#define {upper}_LOW {{{low}}}
#define {upper}_HIGH {{{high}}}
#define {upper}_VALUE(number, low, high) \\
    ((low) + ((float)(number) / 32768.0f + 1.0f) * ((high) / 2.0f - (low) / 2.0f))
"""


def _units(policy: Policy, program: Program, upper: str) -> str:
    """Return the macros that turn floats into the integers of an observation, and back."""

    def listed(values: Any) -> str:
        return ", ".join(f"{_single(value)!s}f" for value in values)

    units = dict(zip(program.inputs, program.bits, strict=False))
    every = (2.0 ** units[n] if n in units else 0.0 for n in range(policy.task.n_inputs))
    text, task = UNITS.format(upper=upper, units=listed(every)), policy.task
    if task.is_discrete:
        return text
    if task.action_low is not None and task.action_high is not None:
        low, high = listed(task.action_low), listed(task.action_high)
        return text + BOUNDS.format(upper=upper, low=low, high=high)
    every = (2.0**bits for bits in program.bits[-program.n_outputs :])
    return text + ACTION_UNITS.format(upper=upper, units=listed(every))


def _names(policy: Policy, program: Program) -> str:
    """Return the lines that name inputs and outputs."""
    lines = []
    for array, names in {
        "observation": policy.names.inputs,
        "output": policy.names.outputs,
    }.items():
        for n, name in enumerate(names):
            is_read = array == "output" or n in program.inputs
            lines.append(f" *     {array}[{n}]: {_comment(name)}{'' if is_read else ' (not read)'}")
    return "\n".join(lines)


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


def _least(values: Any) -> Any:
    """Return the smallest type of indices."""
    return np.min_scalar_type(max(values, default=0))


def _loop(n: str, *body: str, variable: str = "i") -> list[str]:
    head = f"for (size_t {variable} = 0; {variable} < {n}; {variable}++) {{"
    return [head, *(f"    {line}" for line in body), "}"]


def _lines(lines: list[str]) -> str:
    """Return the lines of a function, long ones wrapped."""
    wrapped = (
        fill(line, 95, subsequent_indent="        ", break_on_hyphens=False, break_long_words=False)
        if len(line) > 95
        else line
        for line in lines
    )
    return indent("".join(f"{line}\n" for line in wrapped), "    ")


def _declare(name: str, comment: str, values: Any) -> str:
    is_float = values.dtype == np.float32
    # str() of a float32 has the fewest digits that give the same float32 again.
    cells = ", ".join(f"{value!s}{'f' if is_float else ''}" for value in values)
    rows = indent(fill(cells, 96, break_on_hyphens=False), "    ")
    array = f"{'float' if is_float else f'{values.dtype.name}_t'} {name}[{values.size}]"
    return f"/* {comment} */\nstatic const {array} = {{\n{rows}\n}};\n"
