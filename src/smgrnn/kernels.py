"""How kernels are compiled and cached, and how they share a learner's state.

This is the one module that reaches into Numba.  A kernel takes arrays, scalars and named tuples of
them.  Floating point is strict, except in a `reduction`, whose sums may be taken in any order.
Three things have no public way and cost more than a tenth of a step: kernels that borrow arrays
without counting references, a cache that notices changes in any kernel and damage to its files, and
a `handle`, by which kernels read dozens of arrays through one pointer.
"""

import os
import pickle
import sys
import warnings
from collections.abc import Callable
from contextlib import ExitStack, chdir
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from smgrnn.first_use import tell_of_compilation

SETTINGS = ".numba_config.yaml"
"""File in the working directory that Numba obeys: it can name a folder of code and files to write.
It may be a stranger's, so Numba is imported elsewhere, and by this module before any other."""

with ExitStack() as elsewhere:
    if "numba" not in sys.modules and os.path.lexists(SETTINGS):
        elsewhere.enter_context(chdir(elsewhere.enter_context(TemporaryDirectory())))
    from numba import njit, typeof, types
    from numba.core import cgutils, config
    from numba.core.caching import FunctionCache, IndexDataCacheFile
    from numba.core.imputils import impl_ret_borrowed
    from numba.core.typing.templates import AttributeTemplate
    from numba.extending import (
        infer_getattr,
        intrinsic,
        lower_getattr_generic,
        models,
        register_model,
    )

__all__ = [
    "CompileCache",
    "Handle",
    "inlined",
    "intrinsic",
    "kernel",
    "lean",
    "make_handles",
    "reduction",
    "typeof",
    "types",
]

Function = TypeVar("Function", bound=Callable[..., Any])
Handle = NDArray[np.uint8]
SIZE = 4096
"""Bytes in a handle, more than state and settings take."""
_numba: Any = config
_numba._config_fname = ""  # or Numba would read the file at every compilation
_numba.reload_config()


def kernel(function: Function) -> Function:
    """Compile `function` to machine code on first use and keep the result on disk."""
    return _compile(function)


def lean(function: Function) -> Function:
    """Compile a kernel that makes and returns no array, and counts no references to any.

    In a step of learning, counting would take longer than the arithmetic.
    """
    return _compile(function, _nrt=False)


def inlined(function: Function) -> Function:
    """Compile a `lean` kernel for other kernels to call; its code is copied into theirs."""
    return cast(Function, _Inlined(function))


def reduction(function: Function) -> Function:
    """Compile an `inlined` kernel that only sums, so that the sum may use vector instructions."""
    return cast(Function, _Inlined(function, fastmath={"reassoc"}))


class _Inlined:
    """A function that kernels call compiled, and Python calls as it is written.

    Numba would make it ready to be called from Python too, which takes a third of a first run.
    """

    def __init__(self, function: Any, **options: Any) -> None:
        self.py_func, self.__doc__, self.__name__ = function, function.__doc__, function.__name__
        self.__module__ = function.__module__
        own = {"forceinline": True, "_nrt": False, "no_cpython_wrapper": True}
        self._compiled = _compile(function, **own, **options)  # the type refers to it weakly
        if not _numba.DISABLE_JIT:
            self._numba_type_ = types.Dispatcher(self._compiled)

    def __call__(self, *arguments: Any) -> Any:
        return self.py_func(*arguments)


def _compile(function: Function, **options: Any) -> Function:
    usual: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    compiled: Any = njit(**usual, **options)(function)
    try:
        if not _numba.DISABLE_JIT:
            compiled._cache = CompileCache(function)
    except (RuntimeError, OSError):  # Numba found no folder that it can write to
        _warn_uncached("no folder for it can be written to")
    return cast(Function, compiled)


@cache
def _warn_uncached(why: str) -> None:
    warnings.warn(
        f"Compiled code cannot be kept: {why}. Every start compiles again, for ten seconds or "
        f"more; NUMBA_CACHE_DIR can name another folder.",
        stacklevel=2,
    )


@cache
def _package_stamp() -> tuple[tuple[str, int, int], ...]:
    """Return name, time and size of all files with kernels, which contain one another."""
    files = sorted(Path(__file__).parent.rglob("*.py"))
    found = ((file, file.stat()) for file in files if b".kernels import" in file.read_bytes())
    return tuple((file.name, stat.st_mtime_ns, stat.st_size) for file, stat in found)


class CompileCache(FunctionCache):
    """Keeps the machine code of a function until a file with kernels changes."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        name = self._impl.filename_base
        self._cache_file = _CheckedFiles(self._cache_path, name, _package_stamp())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return compiled code if it was kept; if not, tell that it will be compiled."""
        found = super().load_overload(sig, target_context)
        if found is None:
            tell_of_compilation()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code; a disk that is full or read-only is no reason to stop."""
        try:  # without the annotated source, which names the type of every variable
            super().save_overload(sig, data._replace(type_annotation=""))
        except OSError as error:
            _warn_uncached(str(error.strerror))


class _CheckedFiles(IndexDataCacheFile):
    """An index and the code it names, each behind the digest of what follows.

    Numba takes its files for whole.  A power cut leaves empty ones, and a process that is killed
    between its two writes leaves an index that names the code of another version.
    """

    def load(self, key: Any) -> Any:
        """Return the code of a key, or None if it is not there, damaged, or that of another."""
        name = self._load_index().get(key)
        found = None if name is None else self._read(name)
        return found[1] if found is not None and found[0] == key else None

    def _load_index(self) -> dict[Any, str]:
        found = self._read(self._index_name)
        return {} if found is None else dict(found)

    def _save_index(self, overloads: dict[Any, str]) -> None:
        super()._save_data(self._index_name, (self._version, self._source_stamp, overloads))

    def save(self, key: Any, data: Any) -> None:
        """Keep code under a key: first the code, then the index that names it."""
        overloads = self._load_index()
        taken = {name for each, name in overloads.items() if each != key}
        names = (self._data_name(number) for number in range(1, len(taken) + 2))
        name = next(name for name in names if name not in taken)
        super()._save_data(name, (self._version, self._source_stamp, (key, data)))
        self._save_index(overloads | {key: name})

    def _read(self, name: str) -> Any:
        """Return the content of a file if it is whole and of this version and source."""
        try:
            content = Path(self._data_path(name)).read_bytes()
        except OSError:
            return None
        digest, pickled = content[:32], content[32:]
        try:
            found = pickle.loads(pickled) if sha256(pickled).digest() == digest else (None,) * 3
        except (ImportError, AttributeError):  # it names a class that has moved since
            return None
        return found[2] if found[:2] == (self._version, self._source_stamp) else None

    def _dump(self, content: Any) -> bytes:
        pickled: bytes = super()._dump(content)
        return sha256(pickled).digest() + pickled


class View(types.Type):
    """The type of a pointer to a named tuple, which reads a field when it is asked for."""

    def __init__(self, seen: Any) -> None:
        self.seen = seen
        super().__init__(name=f"View({seen.instance_class.__name__})")

    def type_of(self, field: str) -> Any:
        """Return the type of a field: a view if its class is one of the viewed ones."""
        found = self.seen.types[self.seen.fields.index(field)]
        return View(found) if getattr(found, "instance_class", None) in _VIEWED else found


_VIEWED: set[type] = set()
register_model(View)(models.OpaqueModel)  # a bare pointer


@infer_getattr
class _ViewFields(AttributeTemplate):
    key = View

    def generic_resolve(self, view: Any, field: str) -> Any:  # type: ignore[override]
        return view.type_of(field) if field in view.seen.fields else None


@lower_getattr_generic(View)
def _read_field(context: Any, builder: Any, view: View, pointer: Any, field: str) -> Any:
    place = builder.bitcast(pointer, context.get_value_type(view.seen).as_pointer())
    found = cgutils.gep_inbounds(builder, place, 0, view.seen.fields.index(field))
    kind = view.type_of(field)
    if isinstance(kind, View):
        return builder.bitcast(found, context.get_value_type(kind))
    return impl_ret_borrowed(context, builder, kind, builder.load(found))


def make_handles(held: Any, *viewed: type) -> tuple[Callable[..., Handle], Any]:
    """Return two functions for named tuples of a Numba type: one makes handles, one reads them.

    A handle is the named tuple as kernels see it, in a block of bytes.  It keeps nothing alive: its
    owner keeps the arrays as long as the handle.  Fields of the `viewed` classes are read through
    the pointer too, not copied.  Only `lean` kernels can read a handle.
    """
    _VIEWED.update(viewed)
    view = View(held)

    def pointer_to(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = context.make_array(signature.args[0])(context, builder, args[0])
        return builder.bitcast(block.data, context.get_value_type(held).as_pointer())

    @intrinsic
    def view_of(typing_context: Any, handle: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            if context.enable_nrt:
                raise TypeError("Only a lean kernel may read a handle.")
            place = pointer_to(context, builder, signature, args)
            return builder.bitcast(place, context.get_value_type(view))

        return view(handle), codegen

    @intrinsic
    def write_value(typing_context: Any, handle: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            if context.get_abi_sizeof(args[1].type) > SIZE:
                raise TypeError("A handle is too small for the state of a learner.")
            builder.store(args[1], pointer_to(context, builder, signature, args))
            return context.get_dummy_value()

        return types.void(handle, value), codegen

    write: Any = write_value
    compiled: Any = lean(lambda handle, value: write(handle, value))

    @cache
    def ready() -> None:
        compiled.compile((types.uint8[::1], held))
        compiled.disable_compile()  # an array of another type or layout is refused

    def make(value: Any) -> Handle:
        ready()
        handle = np.zeros(SIZE, np.uint8)
        compiled(handle, value)
        return handle

    return make, view_of
