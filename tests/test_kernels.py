"""Compiled kernels: none outlives a change of the package, and all run as Python too."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from smgrnn import compile_cache, inner_code, kernels
from smgrnn.graph.state import row_starts

INNER = "from tiny.kernels import kernel\n\n\n@kernel\ndef inner(x):\n    return x + {}\n"
OUTER = (
    "from tiny.inner import inner\nfrom tiny.kernels import kernel\n\n\n"
    "@kernel\ndef outer(x):\n    return inner(x)\n"
)
RUN = """
from tiny.outer import outer
from support.flat import rules
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
    for module in (kernels, compile_cache, inner_code):
        name = module.__name__.removeprefix("smgrnn.")
        text = re.sub(r"smgrnn\.(compile_cache|inner_code)", r"tiny.\1", inspect.getsource(module))
        (package / f"{name}.py").write_text(text)
    (package / "inner.py").write_text(INNER.format(1))
    (package / "outer.py").write_text(OUTER)
    return package


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
    compiled: Any = row_starts
    stamp = compiled._cache._cache_file._source_stamp
    assert stamp == kernels._PACKAGE_STAMP
    names = {name for name, _, _ in stamp}
    assert {"kernels.py", "history.py", "schedule.py", "propagation.py", "edit.py"} <= names
    assert not {"config.py", "cli.py", "network.py"} & names


def test_a_compiled_kernel_is_kept_until_a_kernel_it_calls_changes(tiny: Path) -> None:
    """Numba looks at a kernel's own file only, and went on using the old callee inside it."""
    assert run(tiny) == "2 0"
    assert run(tiny) == "2 1"
    (tiny / "inner.py").write_text(INNER.format(10))
    assert run(tiny) == "11 0"


@pytest.mark.parametrize("damage", [b"", b"\0" * 4096, b"cut"])
@pytest.mark.parametrize("kind", ["*.nbi", "*.nbc", "*.nb?"])
def test_a_damaged_compile_cache_is_discarded_and_built_anew(
    built: Path, kind: str, damage: bytes
) -> None:
    """After a power cut 106 of its 112 files were empty, and every start died of an EOFError."""
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


INTERRUPTED = """
import os, signal, threading
import numpy as np
from smgrnn import Graph, PlasticityConfig, UpdateHistory
from smgrnn.plasticity import decide_by

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job starts without it
graph = Graph.from_edges(1, 2000, edges=[(0, target, 1.0) for target in range(1, 2001)])
history, config = UpdateHistory.start(2000, 2), rules(window=2)
rng = np.random.default_rng(0)
decide_by(config, graph, history, 1, rng)
for _ in range(20):
    timer = threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        while True:
            decide_by(config, graph, history, 1, rng)
    except KeyboardInterrupt:
        timer.join()
print("survived")
"""


def test_an_interrupt_during_a_kernel_is_a_keyboard_interrupt() -> None:
    """A kernel that returns a named tuple calls Python to make it; a signal that came meanwhile
    raises there, Numba goes on with a null pointer, and the process is gone.
    """
    command = [sys.executable, "-c", INTERRUPTED]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1800)
    assert (done.returncode, done.stdout.strip()) == (0, "survived"), done.stderr
