"""The compile cache: machine code on disk, in files that may be damaged or missing at any time.

Numba takes its files for whole.  A power cut leaves empty ones, and a process that is killed
between its two writes leaves an index that names the code of another version.  Here every file has
a digest and says whose code it is; one that is wrong is compiled anew and replaced.
"""

import pickle
import warnings
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile

from smgrnn.first_use import tell_of_compilation
from smgrnn.inner_code import InnerCode

_DIGEST_BYTES = 32


class CompileCache(FunctionCache):
    """Keeps the machine code of a function until one of the stamped files changes."""

    def __init__(self, function: Any, stamp: Any) -> None:
        super().__init__(function)
        self._cache_file = _CheckedFiles(self._cache_path, self._file_name, stamp)

    @property
    def _file_name(self) -> str:
        return str(self._impl.filename_base)

    @property
    def is_empty(self) -> bool:
        """Whether it has no code that could be used."""
        return not self._cache_file._load_index()

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
            say_nothing_is_kept(str(error.strerror))


class InnerCache(CompileCache):
    """Keeps the code of a function that other kernels call."""

    _impl_class: Any = InnerCode

    @property
    def _file_name(self) -> str:
        return f"{self._impl.filename_base}.inner"


def keep_code(compiled: Any, function: Any, stamp: Any, *, is_inner: bool = False) -> None:
    """Give a compiled function its cache; without a place for one it is compiled in memory."""
    try:
        compiled._cache = (InnerCache if is_inner else CompileCache)(function, stamp)
    except (RuntimeError, OSError):  # Numba found no folder that it can write to
        say_nothing_is_kept("no folder for it can be written to")


def is_missing(compiled: Any) -> bool:
    """Return whether code of a function could be in its cache and is not."""
    kept = getattr(compiled, "_cache", None)
    return isinstance(kept, CompileCache) and kept.is_empty


@cache
def say_nothing_is_kept(why: str) -> None:
    """Warn once that every start will compile."""
    warnings.warn(
        f"Compiled code cannot be kept: {why}. Every start compiles anew, for half a minute or "
        f"more; NUMBA_CACHE_DIR can name another folder.",
        stacklevel=2,
    )


class _CheckedFiles(IndexDataCacheFile):
    """An index and the code it names, each behind the digest of what follows."""

    def save(self, key: Any, data: Any) -> None:
        """Keep code under a key: first the code, then the index that names it."""
        overloads = self._load_index()
        taken = set(overloads.values()) - {overloads.get(key)}
        names = (self._data_name(number) for number in range(1, len(taken) + 2))
        name = overloads.get(key) or next(name for name in names if name not in taken)
        self._save_data(name, (self._version, self._source_stamp, key, data))
        self._save_index(overloads | {key: name})

    def load(self, key: Any) -> Any:
        """Return the code of a key, or None if it is not there, damaged, or that of another."""
        name = self._load_index().get(key)
        found = None if name is None else self._read(name)
        if found is None or found[:3] != (self._version, self._source_stamp, key):
            return None
        return found[3]

    def _load_index(self) -> dict[Any, str]:
        found = self._read(self._index_name)
        if found is None or found[:2] != (self._version, self._source_stamp):
            return {}
        return dict(found[2])

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._save_data(self._index_name, (self._version, self._source_stamp, overloads))

    def _read(self, name: str) -> Any:
        try:
            content = Path(self._data_path(name)).read_bytes()
        except OSError:
            return None
        digest, pickled = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        return pickle.loads(pickled) if sha256(pickled).digest() == digest else None

    def _dump(self, content: Any) -> bytes:
        pickled: bytes = super()._dump(content)
        return sha256(pickled).digest() + pickled
