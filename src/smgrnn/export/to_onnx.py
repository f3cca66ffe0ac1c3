"""A controller as an ONNX model of one step, with the recurrence in the open.

Inputs: `observation` (batch, n_observations), and `state` (batch, n_states), all zeros at the start
of an episode.  Outputs: `action` (batch,), or (batch, n_actions) where it is continuous; `outputs`
(batch, n_actions), what the network read out; `next_state`, which is the `state` of the next step.

Weights are dense matrices: a few zeros more, and every runtime can multiply them.
"""

import json
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, checker, helper, numpy_helper

from smgrnn import __version__
from smgrnn.export.wiring import Wiring, facts
from smgrnn.machine import check_memory
from smgrnn.policy import Policy

OPSET, IR_VERSION = 17, 8
"""Versions of onnx 1.12 (2022), so that older runtimes read the file too."""
OPERATORS = {"tanh": "Tanh", "sigmoid": "Sigmoid", "relu": "Relu", "identity": "Identity"}


class _Body:
    """The operations and constants of a model."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, TensorProto] = {}

    def constant(self, name: str, values: Any, dtype: Any = np.float32) -> str:
        """Add a constant, or replace the one of this name, and return its name."""
        self.constants[name] = numpy_helper.from_array(np.asarray(values, dtype), name)
        return name

    def apply(self, operator: str, operands: list[str], result: str, **attributes: Any) -> str:
        """Append an operation and return the name of its result."""
        self.nodes.append(helper.make_node(operator, operands, [result], result, **attributes))
        return result

    def columns(self, matrix: str, first: int, last: int, result: str) -> str:
        """Append a slice of the columns [first, last) and return its name."""
        places = {f"column_{first}": first, f"column_{last}": last, "axis": 1}
        bounds = [self.constant(name, [place], np.int64) for name, place in places.items()]
        return self.apply("Slice", [matrix, *bounds], result)


def onnx_model(policy: Policy) -> ModelProto:
    """Return the model of one step: normalisation, iterations, readout and action."""
    network, wiring, task, body = policy.config, Wiring.of(policy), policy.task, _Body()
    check_memory(2000.0 * network.iterations, f"A model of {network.iterations} iterations")
    n_observed, n_inputs, n_outputs = task.n_inputs, network.n_inputs, network.n_outputs
    weights = np.zeros((policy.graph.n_nodes, wiring.n_states), np.float32)
    weights[wiring.source, wiring.target] = wiring.weight
    from_observation = body.constant("observation_weights", weights[:n_observed])
    biases = body.constant("biases", weights[n_observed:n_inputs].sum(axis=0))
    observed = "observation"
    if policy.normalisation is not None:
        mean, scale = policy.normalisation
        centred = body.apply("Sub", [observed, body.constant("mean", mean)], "centred")
        observed = body.apply("Mul", [centred, body.constant("scale", scale)], "normalised")
    seen = body.apply("MatMul", [observed, from_observation], "seen")
    drive = body.apply("Add", [seen, biases], "drive")  # the same in every iteration
    state, sums = "state" if network.carry_state else None, drive
    of_outputs, of_hidden = OPERATORS[network.output_activation], OPERATORS[network.activation]
    for iteration in range(1, network.iterations + 1):
        if state is not None:  # otherwise all nodes are 0 and only the inputs reach any
            from_nodes = body.constant("recurrent_weights", weights[n_inputs:])
            heard = body.apply("MatMul", [state, from_nodes], f"heard_{iteration}")
            sums = body.apply("Add", [drive, heard], f"sums_{iteration}")
        state = "next_state" if iteration == network.iterations else f"state_{iteration}"
        if of_outputs == of_hidden or policy.graph.n_hidden == 0:
            body.apply(of_outputs, [sums], state)
            continue
        outputs = body.columns(sums, 0, n_outputs, f"{state}_output_sums")
        hidden = body.columns(sums, n_outputs, wiring.n_states, f"{state}_hidden_sums")
        parts = [
            body.apply(of_outputs, [outputs], f"{state}_outputs"),
            body.apply(of_hidden, [hidden], f"{state}_hidden"),
        ]
        body.apply("Concat", parts, state, axis=1)
    body.columns(sums if network.readout == "sum" else "next_state", 0, n_outputs, "outputs")
    if task.is_discrete:
        body.apply("ArgMax", ["outputs"], "action", axis=1, keepdims=0)
    elif not task.is_bounded:
        body.apply("Identity", ["outputs"], "action")
    else:  # from ±1 to the bounds
        low, high = np.asarray(task.action_low), np.asarray(task.action_high)
        least, most = body.constant("minus_one", -1.0), body.constant("one", 1.0)
        share = body.apply("Clip", ["outputs", least, most], "share")
        above = body.apply("Add", [share, most], "above")
        half_range = body.constant("half_range", high / 2 - low / 2)
        scaled = body.apply("Mul", [above, half_range], "scaled")
        value = body.apply("Add", [scaled, body.constant("action_low", low)], "value")
        body.apply("Min", [value, body.constant("action_high", high)], "action")
    number, rows = (TensorProto.INT64, []) if task.is_discrete else (TensorProto.FLOAT, [n_outputs])
    ends = [
        helper.make_tensor_value_info(name, kind, ["batch", *shape])
        for name, kind, shape in (
            ("observation", TensorProto.FLOAT, [n_observed]),
            ("state", TensorProto.FLOAT, [wiring.n_states]),
            ("action", number, rows),
            ("outputs", TensorProto.FLOAT, [n_outputs]),
            ("next_state", TensorProto.FLOAT, [wiring.n_states]),
        )
    ]
    constants = list(body.constants.values())
    graph = helper.make_graph(body.nodes, "step", ends[:2], ends[2:], constants)
    model = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="smgrnn",
        producer_version=__version__,
        doc_string=__doc__,
    )
    names = {f"{end}_names": json.dumps(each) for end, each in policy.names._asdict().items()}
    properties = {name: str(fact) for name, fact in facts(policy).items()}
    helper.set_model_props(model, properties | names)
    checker.check_model(model, full_check=True)
    return model
