"""How kernels are compiled and cached, and how they share a learner's state.

Only this module reaches into Numba, where that saves a tenth of a step or of a first run.
"""

import os
import pickle
from collections.abc import Callable
from contextlib import ExitStack, chdir, suppress
from ctypes import c_uint8
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from smgrnn.errors import ConfigError
from smgrnn.first_use import stamped, tell_of_compilation, warn_uncached

with ExitStack() as elsewhere:
    # Numba obeys a file in the working directory, which may be a stranger's.
    if os.path.lexists(".numba_config.yaml"):
        elsewhere.enter_context(chdir(elsewhere.enter_context(TemporaryDirectory())))
    from numba import extending, njit, typeof, types
    from numba.core import cgutils, config
    from numba.core.caching import FunctionCache
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler
    from numba.core.serialize import dumps
    from numba.core.typing.templates import AttributeTemplate

Function = TypeVar("Function", bound=Callable[..., Any])
Handle = NDArray[np.uint8]
SIZE = 4096  # bytes in a handle, more than state and settings take
_numba: Any = config
_numba._config_fname = ""  # or Numba would read the file at every compilation
_numba.reload_config()
if _numba.DISABLE_JIT:
    raise ConfigError("Numba's compiler is needed: unset NUMBA_DISABLE_JIT.")


def kernel(function: Function, **options: Any) -> Function:
    """Compile `function` to machine code on first use and keep the result on disk."""
    options |= {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    made: Any = njit(**options)(function)
    try:
        if "pipeline_class" not in options:
            made._cache = CompileCache(function)
    except (RuntimeError, OSError):  # Numba found no folder that it can write to
        warn_uncached("no folder for it can be written to")
    return cast(Function, made)


def lean(function: Function) -> Function:
    """Compile a kernel that makes and returns no array, and counts no references to any."""
    return kernel(function, _nrt=False)


def inlined(function: Function, **options: Any) -> Function:
    """Compile a `lean` kernel into those that call it; Python calls it as it is written."""
    own = options or {"pipeline_class": _Fragments}
    marked: Any = function  # the type refers to the compiled one weakly
    marked.compiled = kernel(function, forceinline=True, _nrt=False, no_cpython_wrapper=True, **own)
    marked._numba_type_ = _Unliteral(marked.compiled)
    return function


def reduction(function: Function) -> Function:
    """Compile an `inlined` kernel that only sums, in any order, by vector instructions."""
    return inlined(function, fastmath={"reassoc"})


class _Fragment(JITCodeLibrary):
    """Code that is only ever copied into that of others, so it is not made executable itself."""

    codegen: Any = SimpleNamespace(set_env=lambda *_: None)
    get_pointer_to_function: Any = lambda *_: 0
    _optimize_final_module: Any = lambda _: None
    _finalize_final_module: Any = lambda self: setattr(self, "_finalized", True)


class _Fragments(Compiler):
    def compile_extra(self, func: Any) -> Any:
        self.state.library = _Fragment(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


class _Unliteral(types.Dispatcher):
    """A function that is compiled once for all constants that it is called with."""

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        return super().get_call_type(context, tuple(map(types.unliteral, args)), kws)


class CompileCache(FunctionCache):
    """Keeps machine code until a file with kernels changes: a file per signature, with a digest."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file: Any = self  # Numba's own trusts what a power cut left

    def _file(self, key: Any) -> Path:
        digest = sha256(repr(key).encode()).hexdigest()
        return Path(self._cache_path) / f"{self._impl.filename_base}.{digest[:16]}.nbc"

    def load(self, key: Any) -> Any:
        """Return the code of a key, or None if it is not there, damaged or out of date."""
        with suppress(OSError):
            content = self._file(key).read_bytes()
            if stamped(content[32:]) == content[:32]:
                return pickle.loads(content[32:])
        return tell_of_compilation()

    def save(self, key: Any, data: Any) -> None:
        """Keep code under a key, whole or not at all; a full disk is no reason to stop."""
        pickled, file = dumps(data), self._file(key)
        partial = file.with_suffix(f".{token_hex(8)}")
        try:
            partial.write_bytes(stamped(pickled) + pickled)
            partial.replace(file)
        except OSError as error:
            warn_uncached(str(error.strerror))


class View(types.Type):
    """The type of a pointer to a named tuple, which reads a field when it is asked for."""

    def __init__(self, seen: Any) -> None:
        super().__init__(name=f"View({seen.instance_class.__name__})")
        self.seen = seen

    def _type_of(self, field: str) -> Any:
        found = self.seen.types[self.seen.fields.index(field)]
        return View(found) if getattr(found, "instance_class", None) in _VIEWED else found


_VIEWED: set[type] = set()  # classes of fields that are pointers too
for kind in (View, _Unliteral):
    extending.register_model(kind)(extending.models.OpaqueModel)


@extending.infer_getattr
class _ViewFields(AttributeTemplate):
    key = View

    def generic_resolve(self, view: Any, field: str) -> Any:  # type: ignore[override]
        return view._type_of(field) if field in view.seen.fields else None


@extending.lower_getattr_generic(View)
def _read_field(context: Any, builder: Any, view: View, pointer: Any, field: str) -> Any:
    place = builder.bitcast(pointer, context.get_value_type(view.seen).as_pointer())
    found = cgutils.gep_inbounds(builder, place, 0, view.seen.fields.index(field))
    value_type = context.get_value_type(view._type_of(field))
    is_view = isinstance(view._type_of(field), View)
    return builder.bitcast(found, value_type) if is_view else builder.load(found)


def make_handles(example: Any, *viewed: type) -> tuple[Callable[..., Handle], Any]:
    """Return functions that make and, in `lean` kernels, read handles of tuples like `example`."""
    held, view = typeof(example), View(typeof(example))
    _VIEWED.update(viewed)

    @extending.intrinsic
    def view_of(typing_context: Any, handle: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            if context.enable_nrt:
                raise TypeError("Only a lean kernel may read a handle.")
            block = context.make_array(handle)(context, builder, args[0])
            return builder.bitcast(block.data, context.get_value_type(view))

        return view(handle), codegen

    @extending.intrinsic
    def write(typing_context: Any, handle: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            assert context.get_abi_sizeof(args[1].type) <= SIZE
            block = context.make_array(handle)(context, builder, args[0])
            kind = context.get_value_type(held).as_pointer()
            builder.store(args[1], builder.bitcast(block.data, kind))
            return context.get_dummy_value()

        return types.void(handle, value), codegen

    compiled: Any = lean(lambda handle, value: write(handle, value))  # type: ignore[call-arg]

    def make(value: Any) -> Handle:
        if not compiled.overloads:
            compiled.compile((types.uint8[::1], held))
            compiled.disable_compile()  # an array of another type or layout is refused
        block: Any = (c_uint8 * SIZE)()
        block.held = value  # whose arrays a handle points to, and so keeps alive
        compiled(handle := np.frombuffer(block, np.uint8), value)
        return handle

    return make, view_of
