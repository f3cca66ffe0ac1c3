"""Compiled kernels: none outlives a change of the package, and all run as Python too."""

import inspect
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smgrnn import Learner, NetworkConfig, kernels
from smgrnn.engine.state import held_by
from smgrnn.engine.stream import learn_rows
from smgrnn.graph.activation import slope

INNER = "from tiny.kernels import kernel\n\n\n@kernel\ndef inner(x):\n    return x + {}\n"
OUTER = (
    "from tiny.inner import inner\nfrom tiny.kernels import kernel\n\n\n"
    "@kernel\ndef outer(x):\n    return inner(x)\n"
)
RUN = """
from tiny.outer import outer
answer = outer(1)
print(answer, sum(outer.stats.cache_hits.values()) if hasattr(outer, "stats") else "Python")
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A package of one kernel that calls another, compiled by this package's own `kernel`."""
    return make_tiny(tmp_path)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Such a package with a whole compile cache, for tests that leave a whole one behind."""
    package = make_tiny(tmp_path_factory.mktemp("built"))
    run(package)
    return package


def make_tiny(folder: Path) -> Path:
    package = folder / "tiny"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "kernels.py").write_text(inspect.getsource(kernels))
    (package / "inner.py").write_text(INNER.format(1))
    (package / "outer.py").write_text(OUTER)
    return package


MOVED = b"cno_such_module\nNoSuchClass\n."
"""A pickle that names a class of a module that there is no more."""
FULL = """
def full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
os.replace = full
"""


def start(
    package: Path, warnings: str, script: str = RUN, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a script beside the package in a new Python."""
    folder = package.parent
    given = {"PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "cache")} | environment
    return subprocess.run(
        [sys.executable, "-W", warnings, "-c", script],
        env={**os.environ, **given},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )


def run(package: Path, **environment: str) -> str:
    """Call the outer kernel in a new Python; return the answer and the hits of the cache."""
    return start(package, "error", **environment).stdout.strip()


def test_a_kernel_is_stamped_with_every_file_that_has_kernels() -> None:
    compiled: Any = learn_rows
    stamp = compiled._cache._cache_file._source_stamp
    assert stamp == kernels._package_stamp()
    names = {name for name, _, _ in stamp}
    assert {"history.py", "optimizers.py", "propagation.py", "credit.py"} <= names
    assert not {"config.py", "cli.py", "network.py"} & names


def test_a_compiled_kernel_is_kept_until_a_kernel_it_calls_changes(tiny: Path) -> None:
    """Numba looks at a kernel's own file only, and went on using the old callee inside it."""
    assert run(tiny) == "2 0"
    assert run(tiny) == "2 1"
    (tiny / "inner.py").write_text(INNER.format(10))
    assert run(tiny) == "11 0"


@pytest.mark.parametrize("damage", [b"", b"\0" * 4096, b"cut", sha256(MOVED).digest() + MOVED])
@pytest.mark.parametrize("kind", ["*.nbi", "*.nbc", "*.nb?"])
def test_a_damaged_compile_cache_is_discarded_and_built_anew(
    built: Path, kind: str, damage: bytes
) -> None:
    """After a power cut 106 of its 112 files were empty, and every start died of an EOFError.

    After a class of a kernel's argument had moved to another module, it was an ImportError.
    """
    files = list((built.parent / "cache").rglob(kind))
    assert len(files) >= 2
    for file in files:
        file.write_bytes(file.read_bytes()[:-9] if damage == b"cut" else damage)
    assert run(built) == "2 0"
    assert run(built) == "2 1"


def test_an_index_never_names_the_code_of_another_version(tiny: Path) -> None:
    """Killed between its two writes, Numba left an index of the new source and the old code."""
    run(tiny)
    cache = {file: file.read_bytes() for file in (tiny.parent / "cache").rglob("*.nbc")}
    (tiny / "inner.py").write_text(INNER.format(10))
    run(tiny)
    for file, old in cache.items():
        file.write_bytes(old)
    assert run(tiny) == "11 0"


def test_without_a_place_for_a_cache_kernels_compile_in_memory_and_say_so_once(tiny: Path) -> None:
    """Where nothing could be written, importing the package was a RuntimeError."""
    (tiny.parent / "file").touch()
    blocked = str(tiny.parent / "file" / "cache")
    (tiny / "__pycache__").touch()  # where Numba would put it beside the source
    home = {"NUMBA_CACHE_DIR": blocked, "HOME": blocked, "XDG_CACHE_HOME": blocked}
    done = start(tiny, "default", **home, PYTHONDONTWRITEBYTECODE="1")
    assert done.stdout.strip() == "2 0"
    assert done.stderr.count("UserWarning: Compiled code cannot be kept: no folder") == 1


def test_a_full_disk_does_not_stop_a_kernel(tiny: Path) -> None:
    script = f"import os, errno\n{FULL}{RUN}"
    done = start(tiny, "default", script)
    assert done.stdout.strip() == "2 0"
    assert done.stderr.count("Compiled code cannot be kept: No space left on device.") == 1


def test_without_compilation_a_kernel_is_its_python_function(tiny: Path) -> None:
    assert run(tiny, NUMBA_DISABLE_JIT="1") == "2 Python"


def test_an_inlined_kernel_is_compiled_in_kernels_and_python_elsewhere() -> None:
    @kernels.kernel
    def doubled(values: Any) -> Any:
        return 2 * slope(values[0], 0)

    assert not hasattr(slope, "signatures")
    assert doubled(np.array([0.5])) == 2 * slope(0.5, 0) == 1.5


def test_only_a_lean_kernel_may_read_a_handle() -> None:
    """Elsewhere references would be counted of arrays that the handle does not own."""

    @kernels.kernel
    def width(handle: Any) -> Any:
        return held_by(handle).settings.network.n_inputs

    with pytest.raises(Exception, match="Only a lean kernel may read a handle"):
        Learner(NetworkConfig(n_inputs=3, n_outputs=2)).look(width)


@pytest.mark.parametrize("name", ["trace", "moments"])
def test_a_state_of_other_arrays_than_kernels_were_compiled_for_is_refused(name: str) -> None:
    made = Learner(NetworkConfig(n_inputs=3, n_outputs=2))
    wrong = made._state._replace(**{name: getattr(made._state, name).astype(np.float32)})
    with pytest.raises(TypeError):
        made._set_state(wrong)
    assert made.act([1.0, 2.0, 3.0]) in (0, 1)
