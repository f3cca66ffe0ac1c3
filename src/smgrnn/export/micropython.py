"""A controller as one module of MicroPython, which any Python runs too.

A step is straight-line code.  Integers are those of the C: a sum fits MicroPython's small integers
of 31 bits, so a step allocates nothing for them.
"""

from smgrnn import __version__
from smgrnn.errors import plain
from smgrnn.export.integers import CURVE
from smgrnn.export.program import Program, Row
from smgrnn.export.wiring import network_digest
from smgrnn.policy import Policy

FLOATS = {
    "tanh": "def _tanh(x, _):\n    return math.tanh(x)\n",
    "sigmoid": "def _sigmoid(x, _):\n    return 1 / (1 + math.exp(-x)) if x > -80 else 0.0\n",
    "relu": "def _relu(x, _):\n    return max(x, 0.0)\n",
}
TANH = f"""\
_CURVE = {CURVE}


def _tanh(x, shift):
    y = min(abs(x) >> shift, 16383)
    left = _CURVE[y >> 9]
    y = left + ((_CURVE[(y >> 9) + 1] - left) * (y & 511) >> 9)
    return y if x >= 0 else -y
"""
IDENTITY = """\
def _identity(x, shift):
    return max(-32767, min(32767, (x + (1 << shift >> 1)) >> shift))
"""
INTEGERS = {
    "tanh": TANH,
    "sigmoid": "def _sigmoid(x, shift):\n    return (32768 + _tanh(x, shift + 1)) >> 1\n",
    "relu": "def _relu(x, shift):\n    return _identity(max(x, 0), shift)\n",
    "identity": IDENTITY,
}
CALLED = {"sigmoid": "tanh", "relu": "identity"}
"""The integer activation that another one calls."""
MODULE = '''\
"""{task}: a neural controller in {type}, written by smgrnn {version}; network {digest}.

{names}

Call reset at the start of every episode, then step for each observation.
"""
{maths}
UNITS = {units}
{activations}

class Controller:
    def __init__(self):
        self.reset()

    def reset(self):
        self.state = {zeros}

    def step(self, x):
        """Return the action for an observation{integers}."""
{body}
'''


def micropython_module(policy: Policy, program: Program) -> bytes:
    """Return the source of the module; `program` repeats nothing."""
    task, is_float = policy.task, program.type == "float"
    names = [f"x{place}" for place in program.inputs] + [f"s{n}" for n in program.states]
    names += [f"h{n}" for n in range(len(program.inner))]
    outputs = [f"y{n}" for n in range(program.n_outputs)]
    names += outputs
    used = set[str]()

    def activated(kind: str, total: str, shift: int) -> str:
        if is_float and kind == "identity":
            return total
        used.update({kind} if is_float else {kind, CALLED.get(kind, kind)})
        return f"_{kind}({total}, {shift})"

    def total(row: Row) -> str:
        terms = [f"{weight!r} * {names[place]}" for place, weight in row.terms.items()]
        return " + ".join([*([repr(row.bias)] if row.bias or not terms else []), *terms])

    lines = [f"x{place} = x[{place}]" for place in program.inputs]
    if program.states:
        lines.append(f"{', '.join(f's{n}' for n in program.states)}, = self.state")
    for n, row in enumerate(program.inner):
        lines.append(f"h{n} = {activated(row.activation, total(row), row.shift)}")
    for name, row in zip(outputs, program.outputs, strict=True):
        whole = total(row)
        if is_float:
            whole = activated(row.activation, whole, 0)
        elif task.is_discrete and row.activation == "relu":
            whole = f"max({whole}, 0)"
        lines.append(f"{name} = {whole}")
    if program.states:
        following = (
            activated(kind, names[place], shift) if names[place] in outputs else names[place]
            for place, kind, shift in program.next
        )
        lines.append(f"self.state = ({', '.join(following)},)")
    pairs = list(zip(outputs, program.outputs, strict=True))
    if task.is_discrete:
        lines += [f"y = ({', '.join(outputs)},)", "return y.index(max(y))"]
    elif not is_float:
        acts = (activated(row.activation, name, row.shift) for name, row in pairs)
        lines.append(f"return ({', '.join(acts)},)")
    elif task.action_low is not None and task.action_high is not None:
        bounds = zip(outputs, task.action_low, task.action_high, strict=True)
        acts = (f"{a!r} + (max(-1.0, min(1.0, {y})) + 1) * {b / 2 - a / 2!r}" for y, a, b in bounds)
        lines.append(f"return ({', '.join(acts)},)")
    else:
        lines.append(f"return ({', '.join(outputs)},)")
    places = dict(zip(program.inputs, program.bits, strict=False))
    units = [2.0 ** places[n] if n in places else 0.0 for n in range(task.n_inputs)]
    kinds = FLOATS if is_float else INTEGERS
    parts = "\n\n".join(kinds[kind] for kind in sorted(used))
    known = [f"x[{n}]: {name}" for n, name in enumerate(policy.names.inputs)]
    known += [f"action {n}: {name}" for n, name in enumerate(policy.names.outputs)]
    zeros = f"({'0, ' * len(program.states)})".replace(", )", ",)")
    text = MODULE.format(
        task=_text(policy.task.id),
        type=program.type,
        version=__version__,
        digest=network_digest(policy),
        names=_text("\n".join(known)),
        maths="import math\n" if is_float and used & {"tanh", "sigmoid"} else "",
        units=None if is_float else units,
        activations=f"\n\n{parts}\n" if parts else "",
        zeros=zeros,
        integers="" if is_float else " of integers, each value times its unit, rounded",
        body="\n".join(f"        {line}" for line in lines),
    )
    return text.encode()


def _text(text: str) -> str:
    """Return text that does not end its docstring."""
    return "\n".join(map(plain, text.split("\n"))).replace("\\", "/").replace('"', "'")
