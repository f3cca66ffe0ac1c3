"""A learner's state and settings behind one pointer, which every step of learning takes.

Passing two dozen arrays, from Python or from one kernel to another, takes longer than learning from
an example, and a kernel that does takes seconds to compile.  So they are written, as compiled code
sees them, into a block of bytes whenever they change.  Kernels take that block and read from it
what they need.  It keeps its arrays alive until others are written or `release` empties it.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model
from numpy.typing import NDArray

from smgrnn.engine.state import SETTINGS_TYPE, STATE_TYPE, EngineSettings, LearnerState
from smgrnn.kernels import kernel

Handle = NDArray[np.uint8]
SIZE = 4096
"""Bytes in a handle, more than state and settings take."""


class Held(NamedTuple):
    """The state and the settings behind a handle."""

    state: LearnerState
    settings: EngineSettings


def empty_handle() -> Handle:
    """Return a handle with nothing behind it."""
    return np.zeros(SIZE, np.uint8)


_HELD = types.NamedTuple((STATE_TYPE, SETTINGS_TYPE), Held)


class View(types.Type):
    """The type of a pointer to a named tuple, which reads a field when it is asked for."""

    def __init__(self, seen: Any) -> None:
        self.seen = seen
        super().__init__(name=f"View({seen.instance_class.__name__})")

    def type_of(self, field: str) -> Any:
        """Return the type of a field: a view if it is one of the large tuples."""
        found = self.seen.types[self.seen.fields.index(field)]
        return View(found) if found in (STATE_TYPE, SETTINGS_TYPE) else found


@register_model(View)
class _ViewModel(models.OpaqueModel):
    """A view is a bare pointer."""


@infer_getattr
class _ViewFields(AttributeTemplate):
    key = View

    def generic_resolve(self, view: Any, field: str) -> Any:  # type: ignore[override]
        return view.type_of(field) if field in view.seen.fields else None


def _place(context: Any, builder: Any, seen: Any, pointer: Any) -> Any:
    return builder.bitcast(pointer, context.get_value_type(seen).as_pointer())


@lower_getattr_generic(View)
def _read_field(context: Any, builder: Any, view: View, pointer: Any, field: str) -> Any:
    place = _place(context, builder, view.seen, pointer)
    found = cgutils.gep_inbounds(builder, place, 0, view.seen.fields.index(field))
    kind = view.type_of(field)
    if isinstance(kind, View):
        return builder.bitcast(found, context.get_value_type(kind))
    return impl_ret_borrowed(context, builder, kind, builder.load(found))


@intrinsic
def _held_by(typing_context: Any, handle: Any) -> Any:
    view = View(_HELD)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = context.make_array(signature.args[0])(context, builder, args[0])
        return builder.bitcast(block.data, context.get_value_type(view))

    return view(handle), codegen


@intrinsic
def _whole(typing_context: Any, view: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        found = builder.load(_place(context, builder, view.seen, args[0]))
        return impl_ret_borrowed(context, builder, view.seen, found)

    return view.seen(view), codegen


@intrinsic
def _write_intrinsic(typing_context: Any, view: Any, held: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if context.get_abi_sizeof(args[1].type) > SIZE:
            raise ValueError("A handle is too small for the state of a learner.")
        place = _place(context, builder, view.seen, args[0])
        former = builder.load(place)
        context.nrt.incref(builder, held, args[1])
        builder.store(args[1], place)
        context.nrt.decref(builder, held, former)  # which an array that is not there survives
        return context.get_dummy_value()

    return types.void(view, held), codegen


@intrinsic
def _empty_intrinsic(typing_context: Any, view: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _place(context, builder, view.seen, args[0])
        former = builder.load(place)
        builder.store(former.type(None), place)
        context.nrt.decref(builder, view.seen, former)
        return context.get_dummy_value()

    return types.void(view), codegen


held_by: Any = _held_by
"""Returns a view of the `Held` behind a handle, in a kernel."""
whole: Any = _whole
"""Returns all that a view sees, in a kernel."""
_write: Any = _write_intrinsic
_empty: Any = _empty_intrinsic


@kernel
def hold(handle: Handle, state: LearnerState, settings: EngineSettings) -> None:
    """Write state and settings into a handle."""
    _write(held_by(handle), Held(state, settings))


@kernel
def state_of(handle: Handle) -> LearnerState:
    """Return the state behind a handle."""
    state: LearnerState = whole(held_by(handle).state)
    return state


@kernel
def release(handle: Handle) -> None:
    """Let go of the arrays behind a handle."""
    _empty(held_by(handle))
