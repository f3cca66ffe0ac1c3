"""Code of kernels that other kernels call: it becomes part of theirs.

Numba makes every function ready to be called from Python: it unpacks dozens of arrays, and emits
machine code.  Where nobody calls it so, that took a third of the time of a first run.  Here such a
function ends as optimized LLVM code, which is linked into its callers, and kept on disk for others
to come.
"""

from typing import Any

from llvmlite.binding import parse_bitcode
from numba.core.caching import CompileResultCacheImpl
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult
from numba.core.environment import lookup_environment


class InnerLibrary(JITCodeLibrary):
    """Code that is linked into other libraries and never loaded itself."""

    @property
    def codegen(self) -> Any:
        """Stand in for the engine, as nothing is loaded into it."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing; `set_environments` does it where the code is loaded."""

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0, as nothing is loaded."""
        self._ensure_finalized()
        return 0

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def serialize_using_object_code(self) -> tuple[str, bytes]:
        """Return the code for `InnerCode` to make a library of again."""
        self._ensure_finalized()
        return self.name, self._final_module.as_bitcode()


class InnerCompiler(Compiler):
    """Compiles a function for other kernels to call."""

    def __init__(self, typing_context: Any, target_context: Any, _: Any, *rest: Any) -> None:
        library = InnerLibrary(target_context.codegen(), "inner")
        super().__init__(typing_context, target_context, library, *rest)


class InnerCode(CompileResultCacheImpl):
    """Reads inner code back from the compile cache."""

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """Return the result of a compilation that was kept."""
        (name, code), description, environment, signature, *_, reload_init, environments = payload
        library = InnerLibrary(target_context.codegen(), name)
        library._final_module = parse_bitcode(code)
        library._finalize_final_module()
        made: Any = CompileResult
        return made(
            target_context=target_context,
            typing_context=target_context.typing_context,
            library=library,
            environment=environment,
            entry_point=target_context.get_executable(library, description, environment),
            fndesc=description,
            type_annotation="",
            signature=signature,
            objectmode=False,
            lifted=(),
            typing_error=None,
            call_helper=None,
            metadata=None,
            reload_init=reload_init,
            referenced_envs=environments,
        )


def set_environments(library: Any) -> None:
    """Give loaded code the globals of the inner functions in it."""
    for variable in library._final_module.global_variables:
        environment = lookup_environment(variable.name)
        if environment is not None:
            library.codegen.set_env(variable.name, environment)
