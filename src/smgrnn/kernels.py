"""How every kernel is compiled.

A kernel takes arrays, scalars and named tuples of them, and holds no Python object, so that another
target can compile the same source later.  Strict floating point throughout: a kernel that may
reassociate a reduction says so itself.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile `function` to machine code on first use and keep the result on disk."""
    return cast(Function, njit(cache=True, nogil=True, error_model="numpy")(function))
