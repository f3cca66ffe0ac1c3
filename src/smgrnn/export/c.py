"""A controller as C99: a header and a source file that need nothing but the C library's `math.h`.

A step is that of `engine.propagation.forward` in single precision.
"""

import re

from smgrnn import __version__
from smgrnn.export.c_tables import c_tables
from smgrnn.export.c_templates import (
    ACTIVATE_HIDDEN,
    ACTIVATION,
    CHOOSE,
    FORMULAS,
    HEADER,
    NORMALISED,
    SCALE,
    SET_BIASES,
    SOURCE,
)
from smgrnn.export.controller import Controller

FLOAT_BYTES = 4


def c_files(controller: Controller, stem: str) -> dict[str, bytes]:
    """Return the header and the source by the suffix of their files."""
    parts = {"file": stem, **_header_parts(controller, c_name(stem)), **_source_parts(controller)}
    texts = {".h": HEADER, ".c": SOURCE}
    return {suffix: text.substitute(parts).encode() for suffix, text in texts.items()}


def c_name(stem: str) -> str:
    """Return what the names in a file with this stem start with.

    >>> c_name("CartPole-v1")
    'cartpole_v1'
    """
    name = re.sub(r"[^a-z0-9]+", "_", stem.lower()).strip("_")
    return name if name[:1].isalpha() else f"controller_{name}".strip("_")


def table_bytes(controller: Controller) -> int:
    """Return what the constant arrays take."""
    return sum(table.values.nbytes for table in c_tables(controller))


def state_bytes(controller: Controller) -> int:
    """Return what one controller takes between two steps."""
    return FLOAT_BYTES * controller.n_states


def _header_parts(controller: Controller, name: str) -> dict[str, str | int]:
    task, graph = controller.task, controller.graph
    n_floats = graph.n_nodes + controller.n_states
    arguments = [f"{name}_state *state", f"const float observation[{name.upper()}_OBSERVATIONS]"]
    call = f"int action = {name}_step(&state, observation);"
    promise = f"Return the action for an observation: 0 to {task.n_outputs - 1}."
    if not task.is_discrete:
        arguments.append(f"float action[{name.upper()}_ACTIONS]")
        call = f"{name}_step(&state, observation, action);"
        promise = "Write the action for an observation, within its bounds, and return 0."
    student = f", student {controller.student}" if controller.student else ""
    return {
        "name": name,
        "upper": name.upper(),
        "task": task.id,
        "version": __version__,
        "about": f"{controller.n_parameters} parameters, {graph.n_hidden} hidden nodes{student}.",
        "memory": (
            f"{table_bytes(controller)} bytes of constant tables, {state_bytes(controller)} bytes "
            f"of state, {FLOAT_BYTES * n_floats} bytes of arrays on the stack."
        ),
        "call": call,
        "promise": promise,
        "arguments": f",\n{' ' * len(f'int {name}_step(')}".join(arguments),
        "n_observations": task.n_inputs,
        "n_actions": task.n_outputs,
        "n_states": controller.n_states,
    }


def _source_parts(controller: Controller) -> dict[str, str | int]:
    network, has_hidden = controller.network, controller.graph.n_hidden > 0
    kinds = {"output": network.output_activation}
    if has_hidden:
        kinds["hidden"] = network.activation
    activations = (
        ACTIVATION.substitute(kind=kind, formula=FORMULAS[activation])
        for kind, activation in kinds.items()
    )
    return {
        "n_inputs": network.n_inputs,
        "inputs": "the observation" + (", and a constant 1" if controller.n_biases else ""),
        "observed": NORMALISED if controller.normalisation else "observation[i]",
        "iterations": network.iterations,
        "tables": "\n".join(map(str, c_tables(controller))),
        "activations": "\n".join(activations),
        "set_biases": SET_BIASES if controller.n_biases else "",
        "carried": "state->node[i]" if network.carry_state else "0.0f",
        "activate_hidden": ACTIVATE_HIDDEN if has_hidden else "",
        "output": "sum" if network.readout == "sum" else "node + INPUTS",
        "act": CHOOSE if controller.task.is_discrete else SCALE,
    }
