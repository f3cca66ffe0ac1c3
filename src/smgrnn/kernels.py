"""How every kernel is compiled.

A kernel takes arrays, scalars and named tuples of them, and holds no Python object, so that another
target can compile the same source later.  Floating point is strict, except in a `reduction`, whose
sums may be taken in any order; NaN and infinity keep their meaning in both.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile `function` to machine code on first use and keep the result on disk."""
    return _compile(function)


def inlined(function: Function) -> Function:
    """Compile a kernel that is small and hot: its code is copied into the kernels that call it."""
    return _compile(function, forceinline=True)


def reduction(function: Function) -> Function:
    """Compile a kernel that only sums, so that the sum may use vector instructions."""
    return _compile(function, forceinline=True, fastmath={"reassoc"})


def _compile(function: Function, **options: Any) -> Function:
    compiled: Any = njit(cache=True, nogil=True, error_model="numpy", **options)(function)
    if hasattr(compiled, "_cache"):  # not so when compilation is switched off
        # Numba discards a cached kernel only when its own file changes.  A kernel contains those it
        # calls, so here a change of any file of the package with kernels discards it.
        compiled._cache._cache_file._source_stamp = _PACKAGE_STAMP
    return cast(Function, compiled)


def _package_stamp() -> tuple[tuple[str, int, int], ...]:
    files = sorted(Path(__file__).parent.rglob("*.py"))
    stats = [(file.name, file.stat()) for file in files if b".kernels import" in file.read_bytes()]
    return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in stats)


_PACKAGE_STAMP = _package_stamp()
