"""How every kernel is compiled.

A kernel takes arrays, scalars and named tuples of them, and holds no Python object, so that another
target can compile the same source later.  Floating point is strict, except in a `reduction`, whose
sums may be taken in any order; NaN and infinity keep their meaning in both.
"""

import textwrap
from collections.abc import Callable
from functools import cached_property
from inspect import getsourcefile
from pathlib import Path
from typing import Any, TypeVar, cast

from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.core.ccallback import CFunc
from numba.core.errors import NumbaError
from numba.core.registry import CPUDispatcher
from numba.extending import intrinsic

from smgrnn.compile_cache import keep_code
from smgrnn.errors import ConfigError
from smgrnn.inner_code import InnerCompiler, set_environments

Function = TypeVar("Function", bound=Callable[..., Any])
Stamp = tuple[tuple[str, int, int], ...]
_HOME = Path(__file__).parent


def kernel(function: Function) -> Function:
    """Compile `function` to machine code on first use and keep the result on disk."""
    return _compile(function)


def lean(function: Function) -> Function:
    """Compile a kernel that makes and returns no array.

    It borrows the arrays it is given without counting references to them, which in a step of
    learning would take longer than the arithmetic.
    """
    return _compile(function, _nrt=False)


def inlined(function: Function) -> Function:
    """Compile a `lean` kernel that is small: its code is copied into the kernels that call it."""
    return _compile(function, forceinline=True, _nrt=False)


def reduction(function: Function) -> Function:
    """Compile an `inlined` kernel that only sums, so that the sum may use vector instructions."""
    return _compile(function, forceinline=True, _nrt=False, fastmath={"reassoc"})


def as_python(kernel: Function) -> Function:
    """Return the function that a kernel was made of: a call or two are not worth compiling."""
    return cast(Function, getattr(kernel, "py_func", kernel))


def _compile(function: Function, **options: Any) -> Function:
    if _SWITCHES.DISABLE_JIT:
        return function
    return cast(Function, Kernel(function, {}, _OPTIONS | options))


_SWITCHES: Any = config
_OPTIONS: dict[str, Any] = {
    "nopython": True,
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,  # a `Part` makes its own
}


class Kernel(CPUDispatcher):
    """A compiled function in two forms: for Python to call, and for other kernels.

    Either is compiled when it is first asked for.
    """

    def __init__(self, function: Any, variables: Any, options: Any) -> None:
        super().__init__(function, variables, options)
        self.inner: Any = CPUDispatcher(
            function, variables, options | {"no_cpython_wrapper": True}, InnerCompiler
        )
        stamps = _stamps_of(function)
        keep_code(self, function, stamps)
        keep_code(self.inner, function, stamps, is_inner=True)

    @property
    def _numba_type_(self) -> Any:
        """The type of the function that other kernels call."""
        return types.Dispatcher(self.inner)

    def add_overload(self, result: Any) -> None:
        """Take in what was compiled or kept."""
        super().add_overload(result)
        set_environments(result.library)


_COMPILED: list[Any] = []
"""The compiled code of all parts, kept alive because kernels hold its addresses."""


class Part:
    """A function that kernels call by its address: none of them has to be compiled anew for it.

    >>> from numba import types
    >>> double = Part(lambda x: 2 * x, types.float64(types.float64))
    >>> double(2.0), double.address > 0
    (4.0, True)
    """

    def __init__(
        self, function: Callable[..., Any], signature: Any, *, makes_arrays: bool = True
    ) -> None:
        self.function, self.signature, self._makes_arrays = function, signature, makes_arrays

    def __call__(self, *arguments: Any) -> Any:
        """Call the function as Python."""
        return self.function(*arguments)

    @cached_property
    def address(self) -> int:
        """Address of the compiled function, which is compiled when this is first asked for."""
        plain: Any = as_python(self.function)
        given = self.signature
        options = {"error_model": "numpy", "nopython": True, "_nrt": self._makes_arrays}
        compiled: Any = CFunc(plain, (given.args, given.return_type), {}, options)
        if _source_of(plain) is not None:  # in a notebook or at a prompt there is no file
            keep_code(compiled, plain, _stamps_of(plain))
        try:
            compiled.compile()
        except NumbaError as error:
            raise ConfigError(_why_not(plain, error)) from error
        set_environments(compiled._library)
        _COMPILED.append(compiled)
        return int(compiled.address)


def part_at(signature: Any) -> Callable[[int], Callable[..., Any]]:
    """Return an intrinsic that turns the address of a `Part` of this signature into a function."""

    @intrinsic
    def function_at(typing_context: Any, address: Any) -> Any:
        found = types.FunctionType(signature)

        def codegen(context: Any, builder: Any, _: Any, args: Any) -> Any:
            function = cgutils.create_struct_proxy(found)(context, builder)
            pointer = context.get_value_type(types.voidptr)
            nowhere = ir.Constant(pointer, None)
            function.c_addr = builder.inttoptr(args[0], pointer)
            function.py_addr = function.jit_addr = nowhere
            return function._getvalue()

        return found(types.int64), codegen

    return cast(Callable[[int], Callable[..., Any]], function_at)


def _why_not(function: Any, error: NumbaError) -> str:
    """Return in one sentence why a function cannot be compiled, and where it stands."""
    lines = [line.strip() for line in str(error).splitlines()]
    told = [line for line in lines if line and not line.startswith(("Failed in", "File", "During"))]
    places = [line.strip(": ") for line in lines if line.startswith("File ")]
    where = f" ({places[-1]})" if places else ""
    why = textwrap.shorten(" ".join(told[:1]), 160, placeholder=" …")
    return f"The function {function.__name__} cannot be compiled: {why}{where}."


def _source_of(function: Any) -> Path | None:
    """Return the file of a function, if it is in one."""
    source = Path(getsourcefile(function) or "")
    return source if source.suffix == ".py" and source.is_file() else None


def _stamps_of(function: Any) -> Stamp:
    """Return the stamps of all files that compiled code depends on.

    Code of another package depends on its own file too, and on those of the kernels that it calls.
    """
    found: dict[Path, None] = {}
    todo, done = [function], set()
    while todo:
        each = todo.pop()
        source = _source_of(each)
        if each in done or source is None or _HOME in source.parents:
            continue
        done.add(each)
        found[source] = None
        called = (each.__globals__.get(name) for name in each.__code__.co_names)
        todo += [kernel.py_func for kernel in called if isinstance(kernel, CPUDispatcher)]
    return (*_PACKAGE_STAMP, *map(_stamp_of, found))


def _stamp_of(file: Path) -> tuple[str, int, int]:
    found = file.stat()
    return file.name, found.st_mtime_ns, found.st_size


def _package_stamp() -> Stamp:
    """Return the stamps of all files with kernels, any of which discards the cache by changing.

    Numba looks at a kernel's own file only, and a kernel contains those it calls.
    """
    files = sorted(_HOME.rglob("*.py"))
    return tuple(_stamp_of(file) for file in files if b".kernels import" in file.read_bytes())


_PACKAGE_STAMP = _package_stamp()
