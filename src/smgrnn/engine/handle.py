"""A learner's state behind one pointer, for steps that are called from Python one by one.

To unpack a state of two dozen arrays takes longer than to learn from an example.  So a learner
writes state and settings, as compiled code sees them, into a block of bytes whenever they change,
and hands only that block over.  Whoever holds a handle must hold the state as well.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from smgrnn.arrays import Floats
from smgrnn.engine.restructuring import RESTRUCTURE
from smgrnn.engine.state import EngineSettings, LearnerState
from smgrnn.engine.steps import act_step, learn_step
from smgrnn.kernels import inlined

Handle = NDArray[np.uint8]
SIZE = 4096
"""Bytes in a handle, more than state and settings take."""
_STATE, _SETTINGS = RESTRUCTURE.signature.args[:2]


class Held(NamedTuple):
    """What is behind a handle."""

    state: LearnerState
    settings: EngineSettings


_HELD = types.NamedTuple((_STATE, _SETTINGS), Held)


def _pointer(context: Any, builder: Any, kind: Any, handle: Any) -> Any:
    block = context.make_array(kind)(context, builder, handle)
    return builder.bitcast(block.data, context.get_value_type(_HELD).as_pointer())


@intrinsic
def _write_intrinsic(typing_context: Any, handle: Any, held: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if context.get_abi_sizeof(args[1].type) > SIZE:
            raise ValueError("A handle is too small for the state of a learner.")
        builder.store(args[1], _pointer(context, builder, signature.args[0], args[0]))
        return context.get_dummy_value()

    return types.void(handle, held), codegen


@intrinsic
def _read(typing_context: Any, handle: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_pointer(context, builder, signature.args[0], args[0]))

    return _HELD(handle), codegen


_write: Any = _write_intrinsic
held_by: Any = _read
"""In an `inlined` kernel, what is behind a handle."""


@inlined
def hold(handle: Handle, state: LearnerState, settings: EngineSettings) -> None:
    """Write state and settings into a handle."""
    _write(handle, Held(state, settings))


@inlined
def act_with(handle: Handle, observation: Floats) -> int:
    """`act_step` on what is behind a handle."""
    held = held_by(handle)
    return act_step(held.state, held.settings, observation)


@inlined
def learn_with(
    handle: Handle, observation: Floats, label: int, target: Floats
) -> tuple[int, float]:
    """`learn_step` on what is behind a handle."""
    held = held_by(handle)
    return learn_step(held.state, held.settings, observation, label, target)
