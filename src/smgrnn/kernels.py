"""How kernels are compiled and cached, and how they share a learner's state.

This is the one module that reaches into Numba.  A kernel takes arrays, scalars and named tuples of
them.  Floating point is strict, except in a `reduction`.  Three things have no public way and cost
more than a tenth of a step: kernels that borrow arrays without counting references, a cache that
notices changed kernels and damaged files, and a `handle`, one pointer to dozens of arrays.
"""

import os
import pickle
from collections.abc import Callable
from contextlib import ExitStack, chdir, suppress
from functools import update_wrapper
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from smgrnn.first_use import package_stamp, tell_of_compilation, warn_uncached

with ExitStack() as elsewhere:
    # Numba obeys a file in the working directory, which may be a stranger's.
    if os.path.lexists(".numba_config.yaml"):
        elsewhere.enter_context(chdir(elsewhere.enter_context(TemporaryDirectory())))
    from numba import extending, njit, typeof, types
    from numba.core import cgutils, config
    from numba.core.caching import FunctionCache
    from numba.core.imputils import impl_ret_borrowed
    from numba.core.serialize import dumps
    from numba.core.typing.templates import AttributeTemplate

intrinsic = extending.intrinsic
__all__ = ["Handle", "inlined", "intrinsic", "kernel", "lean", "make_handles", "reduction", "types"]

Function = TypeVar("Function", bound=Callable[..., Any])
Handle = NDArray[np.uint8]
SIZE = 4096  # bytes in a handle, more than state and settings take
_numba: Any = config
_numba._config_fname = ""  # or Numba would read the file at every compilation
_numba.reload_config()


def kernel(function: Function, **options: Any) -> Function:
    """Compile `function` to machine code on first use and keep the result on disk."""
    usual: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    compiled: Any = njit(**usual, **options)(function)
    try:
        if not _numba.DISABLE_JIT:
            compiled._cache = CompileCache(function)
    except (RuntimeError, OSError):  # Numba found no folder that it can write to
        warn_uncached("no folder for it can be written to")
    return cast(Function, compiled)


def lean(function: Function) -> Function:
    """Compile a kernel that makes and returns no array, and counts no references to any."""
    return kernel(function, _nrt=False)


def inlined(function: Function) -> Function:
    """Compile a `lean` kernel for other kernels to call; its code is copied into theirs."""
    return cast(Function, _Inlined(function))


def reduction(function: Function) -> Function:
    """Compile an `inlined` kernel that only sums, in any order, by vector instructions."""
    return cast(Function, _Inlined(function, fastmath={"reassoc"}))


class _Inlined:
    """A function that kernels call compiled, and Python, to save compile time, as it is written."""

    def __init__(self, function: Any, **options: Any) -> None:
        update_wrapper(self, function)
        self.py_func = function
        own = {"forceinline": True, "_nrt": False, "no_cpython_wrapper": True}
        self._compiled = kernel(function, **own, **options)  # the type refers to it weakly
        if not _numba.DISABLE_JIT:
            self._numba_type_ = types.Dispatcher(self._compiled)

    def __call__(self, *arguments: Any) -> Any:
        return self.py_func(*arguments)


class CompileCache(FunctionCache):
    """Keeps machine code until a file with kernels changes: a file per signature, with a digest."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file: Any = self  # in place of Numba's, which trusts what a power cut left

    def _file(self, key: Any) -> Path:
        digest = sha256(repr(key).encode()).hexdigest()
        return Path(self._cache_path) / f"{self._impl.filename_base}.{digest[:16]}.nbc"

    def load(self, key: Any) -> Any:
        """Return the code of a key, or None if it is not there, damaged or out of date."""
        with suppress(OSError):
            content = self._file(key).read_bytes()
            if sha256(content[32:]).digest() == content[:32]:
                stamp, data = pickle.loads(content[32:])
                if stamp == package_stamp():
                    return data
        return tell_of_compilation()

    def save(self, key: Any, data: Any) -> None:
        """Keep code under a key, whole or not at all."""
        pickled, file = dumps((package_stamp(), data)), self._file(key)
        partial = file.with_suffix(f".{os.getpid()}")
        partial.write_bytes(sha256(pickled).digest() + pickled)
        partial.replace(file)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code; a disk that is full or read-only is no reason to stop."""
        try:  # without the annotated source, which names the type of every variable
            super().save_overload(sig, data._replace(type_annotation=""))
        except OSError as error:
            warn_uncached(str(error.strerror))


class View(types.Type):
    """The type of a pointer to a named tuple, which reads a field when it is asked for."""

    def __init__(self, seen: Any) -> None:
        self.seen = seen
        super().__init__(name=f"View({seen.instance_class.__name__})")

    def type_of(self, field: str) -> Any:  # of a pointer, if its class is viewed
        found = self.seen.types[self.seen.fields.index(field)]
        return View(found) if getattr(found, "instance_class", None) in _VIEWED else found


_VIEWED: set[type] = set()
extending.register_model(View)(extending.models.OpaqueModel)  # a bare pointer


@extending.infer_getattr
class _ViewFields(AttributeTemplate):
    key = View

    def generic_resolve(self, view: Any, field: str) -> Any:  # type: ignore[override]
        return view.type_of(field) if field in view.seen.fields else None


@extending.lower_getattr_generic(View)
def _read_field(context: Any, builder: Any, view: View, pointer: Any, field: str) -> Any:
    place = builder.bitcast(pointer, context.get_value_type(view.seen).as_pointer())
    found = cgutils.gep_inbounds(builder, place, 0, view.seen.fields.index(field))
    kind = view.type_of(field)
    if isinstance(kind, View):
        return builder.bitcast(found, context.get_value_type(kind))
    return impl_ret_borrowed(context, builder, kind, builder.load(found))


def make_handles(example: Any, *viewed: type) -> tuple[Callable[..., Handle], Any]:
    """Return two functions for named tuples like `example`: one makes handles, one reads them.

    A handle is a block of bytes that keeps no array alive; `lean` kernels read fields through it.
    """
    held = typeof(example)
    view = View(held)
    _VIEWED.update(viewed)

    @intrinsic
    def view_of(typing_context: Any, handle: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            if context.enable_nrt:
                raise TypeError("Only a lean kernel may read a handle.")
            block = context.make_array(handle)(context, builder, args[0])
            return builder.bitcast(block.data, context.get_value_type(view))

        return view(handle), codegen

    @intrinsic
    def write(typing_context: Any, handle: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            if context.get_abi_sizeof(args[1].type) > SIZE:
                raise TypeError("A handle is too small for the state of a learner.")
            block = context.make_array(handle)(context, builder, args[0])
            place = builder.bitcast(block.data, context.get_value_type(held).as_pointer())
            builder.store(args[1], place)
            return context.get_dummy_value()

        return types.void(handle, value), codegen

    compiled: Any = lean(lambda handle, value: write(handle, value))  # type: ignore[call-arg]

    def make(value: Any) -> Handle:
        if not compiled.signatures:
            compiled.compile((types.uint8[::1], held))
            compiled.disable_compile()  # an array of another type or layout is refused
        handle = np.zeros(SIZE, np.uint8)
        compiled(handle, value)
        return handle

    return make, view_of
