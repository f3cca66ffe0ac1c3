"""A learner's state and settings behind one pointer, which every step of learning takes.

Passing two dozen arrays, from Python or from one kernel to another, takes longer than learning from
an example.  So they are written, as compiled code sees them, into a block of bytes whenever they
change, and steps take that block.  Whoever has a handle must hold the state as well.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from smgrnn.engine.state import SETTINGS_TYPE, STATE_TYPE, EngineSettings, LearnerState
from smgrnn.kernels import lean

Handle = NDArray[np.uint8]
SIZE = 4096
"""Bytes in a handle, more than state and settings take."""


class Held(NamedTuple):
    """The state and the settings behind a handle."""

    state: LearnerState
    settings: EngineSettings


_HELD = types.NamedTuple((STATE_TYPE, SETTINGS_TYPE), Held)


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
"""Returns the `Held` behind a handle, in a `lean` kernel."""


@lean
def hold(handle: Handle, state: LearnerState, settings: EngineSettings) -> None:
    """Write state and settings into a handle."""
    _write(handle, Held(state, settings))
