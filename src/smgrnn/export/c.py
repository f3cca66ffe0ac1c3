"""A controller as C99: a header and a source file that need nothing but the C library's `math.h`.

A step computes what `graph.propagation.forward` does, in single precision.
"""

import re

from smgrnn import __version__
from smgrnn.errors import ConfigError, plain, short
from smgrnn.export import c_templates
from smgrnn.export.c_tables import c_tables
from smgrnn.export.wiring import n_biases, n_parameters, n_states
from smgrnn.policy import Policy

FLOAT_BYTES = 4


def c_files(policy: Policy, stem: str) -> dict[str, bytes]:
    """Return the header and the source by the suffix of their files."""
    if not re.fullmatch(r"[^\"*/<>?\\]+", plain(stem)):
        raise ConfigError(f"Files of C cannot be named {short(stem)}; choose another --out.")
    parts = {"file": stem, **_header_parts(policy, c_name(stem)), **_source_parts(policy)}
    texts = {".h": c_templates.HEADER, ".c": c_templates.SOURCE}
    return {suffix: text.substitute(parts).encode() for suffix, text in texts.items()}


def c_name(stem: str) -> str:
    """Return the prefix of all names in a file with this stem.

    >>> c_name("CartPole-v1")
    'cartpole_v1'
    """
    name = re.sub(r"[^a-z0-9]+", "_", stem.lower()).strip("_")
    return name if name[:1].isalpha() else f"controller_{name}".strip("_")


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


def _comment(text: str) -> str:
    """Return text that neither ends nor begins a comment.

    >>> _comment("a */ b /* c")
    'a * / b / * c'
    """
    return plain(text).replace("*/", "* /").replace("/*", "/ *")


def table_bytes(policy: Policy) -> int:
    """Return the bytes that the constant arrays take."""
    return sum(table.values.nbytes for table in c_tables(policy))


def state_bytes(policy: Policy) -> int:
    """Return the bytes that one controller keeps between two steps."""
    return FLOAT_BYTES * n_states(policy)


def _header_parts(policy: Policy, name: str) -> dict[str, str | int]:
    task, graph = policy.task, policy.graph
    n_floats = graph.n_nodes + n_states(policy)
    arguments = [f"{name}_state *state", f"const float observation[{name.upper()}_OBSERVATIONS]"]
    call = f"int action = {name}_step(&state, observation);"
    promise = f"Return the action for an observation: 0 to {task.n_outputs - 1}."
    if not task.is_discrete:
        arguments.append(f"float action[{name.upper()}_ACTIONS]")
        call = f"{name}_step(&state, observation, action);"
        bounds = ", within its bounds," if task.is_bounded else ""
        promise = f"Write the action for an observation{bounds} and return 0."
    student = f", student {policy.student}" if policy.student else ""
    return {
        "name": name,
        "upper": name.upper(),
        "task": _comment(task.id),
        "version": __version__,
        "about": f"{_counted(n_parameters(policy), 'parameter')}, "
        f"{_counted(graph.n_hidden, 'hidden node')}{student}.",
        "memory": (
            f"{table_bytes(policy)} bytes of constant tables, {state_bytes(policy)} bytes "
            f"of state, {FLOAT_BYTES * n_floats} bytes of arrays on the stack."
        ),
        "names": "\n".join(
            [_listed("observation", policy.names.inputs), _listed("output", policy.names.outputs)]
        ),
        "call": call,
        "promise": promise,
        "arguments": f",\n{' ' * len(f'int {name}_step(')}".join(arguments),
        "n_observations": task.n_inputs,
        "n_actions": task.n_outputs,
        "n_states": n_states(policy),
    }


def _source_parts(policy: Policy) -> dict[str, str | int]:
    network, has_hidden = policy.config, policy.graph.n_hidden > 0
    kinds = {"output": network.output_activation}
    if has_hidden:
        kinds["hidden"] = network.activation
    activations = (
        c_templates.ACTIVATION.substitute(kind=kind, formula=c_templates.FORMULAS[activation])
        for kind, activation in kinds.items()
    )
    return {
        "n_inputs": network.n_inputs,
        "inputs": "the observation" + (", and a constant 1" if n_biases(policy) else ""),
        "observed": c_templates.NORMALISED if policy.normalisation else "observation[i]",
        "iterations": network.iterations,
        "tables": "\n".join(map(str, c_tables(policy))),
        "activations": "\n".join(activations),
        "set_biases": c_templates.SET_BIASES if n_biases(policy) else "",
        "carried": "state->node[i]" if network.carry_state else "0.0f",
        "activate_hidden": c_templates.ACTIVATE_HIDDEN if has_hidden else "",
        "output": "sum" if network.readout == "sum" else "node + INPUTS",
        "act": _act(policy),
    }


def _act(policy: Policy) -> str:
    """Return how a step ends: with a choice, or with values as they are or within bounds."""
    if policy.task.is_discrete:
        return c_templates.CHOOSE
    return c_templates.SCALE if policy.task.is_bounded else c_templates.COPY


def _listed(array: str, names: tuple[str, ...]) -> str:
    """Return lines of a comment that say what each value of an array is."""
    return "\n".join(f" *     {array}[{n}]: {_comment(name)}" for n, name in enumerate(names))
