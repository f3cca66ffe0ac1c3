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
from smgrnn.export.wiring import facts, used_edges
from smgrnn.machine import check_memory
from smgrnn.policy import Policy

OPSET, IR_VERSION = 17, 8
"""Versions of onnx 1.12 (2022), so that older runtimes read the file too."""
OPERATORS = {"tanh": "Tanh", "sigmoid": "Sigmoid", "relu": "Relu", "identity": "Identity"}


def onnx_model(policy: Policy) -> ModelProto:
    """Return the model of one step: normalization, iterations, readout and action."""
    network, graph, task = policy.config, policy.graph, policy.task
    check_memory(2000.0 * network.iterations, f"A model of {network.iterations} iterations")
    n_observed, n_inputs, n_outputs = task.n_inputs, graph.n_inputs, network.n_outputs
    n_states, (source, target, weight) = graph.n_nodes - n_inputs, used_edges(policy)
    weights = np.zeros((graph.n_nodes, n_states), np.float32)
    weights[source, target] = weight
    nodes: list[NodeProto] = []
    constants: dict[str, TensorProto] = {}

    def constant(name: str, values: Any, dtype: Any = np.float32) -> str:
        constants[name] = numpy_helper.from_array(np.asarray(values, dtype), name)
        return name

    def apply(operator: str, operands: list[str], result: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(operator, operands, [result], result, **attributes))
        return result

    def columns(matrix: str, first: int, last: int, result: str) -> str:
        bounds = {f"column_{first}": first, f"column_{last}": last, "axis": 1}
        names = [constant(name, [index], np.int64) for name, index in bounds.items()]
        return apply("Slice", [matrix, *names], result)

    from_observation = constant("observation_weights", weights[:n_observed])
    biases = constant("biases", weights[n_observed:n_inputs].sum(axis=0))
    observed = "observation"
    if policy.normalisation is not None:
        mean, scale = policy.normalisation
        centred = apply("Sub", [observed, constant("mean", mean)], "centred")
        observed = apply("Mul", [centred, constant("scale", scale)], "normalised")
    seen = apply("MatMul", [observed, from_observation], "seen")
    drive = apply("Add", [seen, biases], "drive")  # the same in every iteration
    state, sums = "state" if network.carry_state else None, drive
    of_outputs, of_hidden = OPERATORS[network.output_activation], OPERATORS[network.activation]
    for iteration in range(1, network.iterations + 1):
        if state is not None:  # otherwise all states are 0 and only inputs have an effect
            from_nodes = constant("recurrent_weights", weights[n_inputs:])
            heard = apply("MatMul", [state, from_nodes], f"heard_{iteration}")
            sums = apply("Add", [drive, heard], f"sums_{iteration}")
        state = "next_state" if iteration == network.iterations else f"state_{iteration}"
        if of_outputs == of_hidden or graph.n_hidden == 0:
            apply(of_outputs, [sums], state)
            continue
        outputs = columns(sums, 0, n_outputs, f"{state}_output_sums")
        hidden = columns(sums, n_outputs, n_states, f"{state}_hidden_sums")
        parts = [
            apply(of_outputs, [outputs], f"{state}_outputs"),
            apply(of_hidden, [hidden], f"{state}_hidden"),
        ]
        apply("Concat", parts, state, axis=1)
    columns(sums if network.readout == "sum" else "next_state", 0, n_outputs, "outputs")
    if task.is_discrete:
        apply("ArgMax", ["outputs"], "action", axis=1, keepdims=0)
    elif not task.is_bounded:
        apply("Identity", ["outputs"], "action")
    else:  # from ±1 to the bounds
        low, high = np.asarray(task.action_low), np.asarray(task.action_high)
        least, most = constant("minus_one", -1.0), constant("one", 1.0)
        clipped = apply("Clip", ["outputs", least, most], "clipped")
        above = apply("Add", [clipped, most], "above")
        scaled = apply("Mul", [above, constant("half_range", high / 2 - low / 2)], "scaled")
        value = apply("Add", [scaled, constant("action_low", low)], "value")
        apply("Min", [value, constant("action_high", high)], "action")
    number, rows = (TensorProto.INT64, []) if task.is_discrete else (TensorProto.FLOAT, [n_outputs])
    ends = [
        helper.make_tensor_value_info(name, kind, ["batch", *shape])
        for name, kind, shape in (
            ("observation", TensorProto.FLOAT, [n_observed]),
            ("state", TensorProto.FLOAT, [n_states]),
            ("action", number, rows),
            ("outputs", TensorProto.FLOAT, [n_outputs]),
            ("next_state", TensorProto.FLOAT, [n_states]),
        )
    ]
    model = helper.make_model(
        helper.make_graph(nodes, "step", ends[:2], ends[2:], list(constants.values())),
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
