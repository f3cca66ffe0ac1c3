"""A controller as C99: a header and a source file that need only the C library's `math.h`.

A step computes `graph.propagation.forward` in single precision.  The templates are `controller.h`
and `controller.c`; the parts that only some controllers have are here.
"""

import re
from importlib.resources import files
from string import Template
from textwrap import fill, indent
from typing import Any

import numpy as np

from smgrnn import __version__
from smgrnn.errors import ConfigError, plain, short
from smgrnn.export.wiring import used_edges
from smgrnn.policy import Policy
from smgrnn.text import quantity

FORMULAS = {
    "tanh": "tanhf(sum)",
    "sigmoid": "1.0f / (1.0f + expf(-sum))",
    "relu": "sum <= 0.0f ? 0.0f : sum",
    "identity": "sum",
}
ACTIVATION = "static float activate_{kind}(float sum)\n{{\n    return {formula};\n}}\n"
SET_BIASES = """\
    for (size_t i = OBSERVATIONS; i < INPUTS; i++) {
        node[i] = 1.0f;
    }
"""
ACTIVATE_HIDDEN = """\
        for (size_t i = OUTPUTS; i < STATES; i++) {
            node[INPUTS + i] = activate_hidden(sum[i]);
        }
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


def c_name(stem: str) -> str:
    """Return the prefix of all names in a file with this stem.

    >>> c_name("CartPole-v1")
    'cartpole_v1'
    """
    name = re.sub(r"[^a-z0-9]+", "_", stem.lower()).strip("_")
    return name if name[:1].isalpha() else f"controller_{name}".strip("_")


def c_files(policy: Policy, stem: str) -> tuple[bytes, ...]:
    """Return the header and the source."""
    if not re.fullmatch(r"[^\"*/<>?\\]+", plain(stem)):
        raise ConfigError(f"Files of C cannot be named {short(stem)}; choose another --out.")
    name, upper = c_name(stem), c_name(stem).upper()
    task, graph, network, names = policy.task, policy.graph, policy.config, policy.names
    (n_table, n_state), has_biases = fixed_bytes(policy), network.bias
    arguments = [f"{name}_state *state", f"const float observation[{upper}_OBSERVATIONS]"]
    call = f"int action = {name}_step(&state, observation);"
    promise = f"Return the action for an observation: 0 to {task.n_outputs - 1}."
    if not task.is_discrete:
        arguments.append(f"float action[{upper}_ACTIONS]")
        call = f"{name}_step(&state, observation, action);"
        bounds = ", within its bounds," if task.is_bounded else ""
        promise = f"Write the action for an observation{bounds} and return 0."
    student = f", student {policy.student}" if policy.student else ""
    n_parameters, n_hidden = len(used_edges(policy)[0]), graph.n_hidden
    size = f"{quantity(n_parameters, 'parameter')}, {quantity(n_hidden, 'hidden node')}"
    activations = [ACTIVATION.format(kind="output", formula=FORMULAS[network.output_activation])]
    if n_hidden:
        activations.append(ACTIVATION.format(kind="hidden", formula=FORMULAS[network.activation]))
    parts = {
        "file": stem,
        "name": name,
        "upper": upper,
        "task": _comment(task.id),
        "version": __version__,
        "about": f"{size}{student}.",
        "memory": f"{n_table} bytes of constant tables, {n_state} bytes of state, "
        f"{4 * graph.n_nodes + n_state} bytes of arrays on the stack.",
        "names": "\n".join(
            f" *     {array}[{n}]: {_comment(each)}"
            for array, listed in {"observation": names.inputs, "output": names.outputs}.items()
            for n, each in enumerate(listed)
        ),
        "call": call,
        "promise": promise,
        "arguments": f",\n{' ' * len(f'int {name}_step(')}".join(arguments),
        "n_observations": task.n_inputs,
        "n_actions": task.n_outputs,
        "n_states": n_state // 4,
        "n_inputs": graph.n_inputs,
        "inputs": "the observation" + (", and a constant 1" if has_biases else ""),
        "observed": (
            "(observation[i] - mean[i]) * scale[i]" if policy.normalisation else "observation[i]"
        ),
        "iterations": network.iterations,
        "tables": "\n".join(_declare(*table) for table in _tables(policy)),
        "activations": "\n".join(activations),
        "set_biases": SET_BIASES if has_biases else "",
        "carried": "state->node[i]" if network.carry_state else "0.0f",
        "activate_hidden": ACTIVATE_HIDDEN if n_hidden else "",
        "output": "sum" if network.readout == "sum" else "node + INPUTS",
        "act": CHOOSE if task.is_discrete else SCALE if task.is_bounded else COPY,
    }
    templates = (files("smgrnn.export").joinpath(f"controller.{suffix}") for suffix in "hc")
    texts = (Template(each.read_text(encoding="utf-8")) for each in templates)
    return tuple(text.substitute(parts).encode() for text in texts)


def fixed_bytes(policy: Policy) -> tuple[int, int]:
    """Return the bytes of the constant arrays, and those kept between two steps."""
    n_states = policy.graph.n_nodes - policy.graph.n_inputs
    return sum(values.nbytes for *_, values in _tables(policy)), 4 * n_states


def _comment(text: str) -> str:
    """Return text that neither ends nor begins a comment."""
    return plain(text).replace("*/", "* /").replace("/*", "/ *")


def _tables(policy: Policy) -> list[tuple[str, str, Any]]:
    """Return name, comment and values of each constant array."""
    (source, target, weight), task, graph = used_edges(policy), policy.task, policy.graph
    fan_in = np.bincount(target, minlength=graph.n_nodes - graph.n_inputs)
    found: list[tuple[str, str, Any]] = [
        ("fan_in", "Edges into each output and then into each hidden node.", fan_in),
        ("source", "The node each edge leaves: inputs, outputs, hidden nodes.", source),
        ("weight", "The weight of each edge.", weight),
    ]
    if policy.normalisation is not None:
        mean, scale = policy.normalisation
        found.append(("mean", "Subtracted from each value of the observation.", mean))
        found.append(("scale", "Multiplies the difference.", scale))
    if task.is_bounded and not task.is_discrete:
        low, high = np.asarray(task.action_low), np.asarray(task.action_high)
        found.append(("action_low", "Least value of each part of the action.", low))
        found.append(("action_high", "Largest value of each part of the action.", high))
        found.append(("half_range", "Half the difference of the two.", high / 2 - low / 2))
    tables = []
    for name, comment, values in found:
        filled = values if values.size else np.zeros(1, values.dtype)  # C has no empty arrays
        is_index = filled.dtype.kind == "i"
        smallest = np.min_scalar_type(filled.max()) if is_index else np.float32
        tables.append((name, comment, filled.astype(smallest)))
    return tables


def _declare(name: str, comment: str, values: Any) -> str:
    is_float = values.dtype == np.float32
    # str() of a float32 has the fewest digits that give the same float32 again.
    cells = ", ".join(f"{value!s}{'f' if is_float else ''}" for value in values)
    rows = indent(fill(cells, 96, break_on_hyphens=False), "    ")
    array = f"{'float' if is_float else f'{values.dtype.name}_t'} {name}[{values.size}]"
    return f"/* {comment} */\nstatic const {array} = {{\n{rows}\n}};\n"
