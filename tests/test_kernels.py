"""Compiled kernels: none outlives a change of the package, and all run as Python too."""

import importlib
import inspect
import pkgutil
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import types

import smgrnn
from smgrnn import errors, first_use, kernels
from smgrnn.engine.state import state_of
from smgrnn.graph.activation import slope
from support.commands import python
from support.flat import learner_of, network_config
from support.learners import stream

INNER = "from tiny.kernels import kernel\n\n\n@kernel\ndef inner(x):\n    return x + {}\n"
OUTER = (
    "from tiny.inner import inner\nfrom tiny.kernels import kernel\n\n\n"
    "@kernel\ndef outer(x):\n    return inner(x)\n"
)
RUN = """
from tiny.outer import outer
answer = outer(1)
print(answer, sum(outer.stats.cache_hits.values()))
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A package of one kernel that calls another, compiled by this package's own `kernel`."""
    package = tmp_path / "tiny"
    package.mkdir()
    (package / "__init__.py").touch()
    for module in (kernels, first_use, errors):
        source = re.sub(r"smgrnn\.(first_use|errors)", r"tiny.\1", inspect.getsource(module))
        (package / f"{module.__name__.split('.')[1]}.py").write_text(source)
    (package / "inner.py").write_text(INNER.format(1))
    (package / "outer.py").write_text(OUTER)
    return package


def run(package: Path, script: str = RUN, warning: str = "", **environment: str) -> str:
    """Call the outer kernel in a new Python; return the answer and the hits of the cache."""
    folder = package.parent
    given = {"PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "cache")} | environment
    kind = "default" if warning else "error"
    done = python("-W", kind, "-c", script, folder=folder, **given)
    assert done.returncode == 0, done.stderr
    assert not warning or done.stderr.count(warning) == 1
    return done.stdout.strip()


def test_a_kernel_is_stamped_with_every_file_that_has_kernels() -> None:
    names = {file[0] for file in first_use.package_stamp()[1:]}
    assert {"history.py", "optimizers.py", "propagation.py", "credit.py"} <= names
    assert {"settings.py", "arrays.py"} <= names  # whose constants and types they use
    assert not {"config.py", "cli.py", "network.py"} & names


def test_a_compiled_kernel_is_kept_until_a_kernel_it_calls_changes(tiny: Path) -> None:
    """Numba looks at a kernel's own file only, and went on using the old callee inside it."""
    assert run(tiny) == "2 0"
    assert run(tiny) == "2 1"
    (tiny / "inner.py").write_text(INNER.format(10))
    assert run(tiny) == "11 0"


MOVED = b"cno_such_module\nNoSuchClass\n."  # pickled, of a module that there is no more


@pytest.mark.parametrize("damage", [b"", b"cut", b"\0" * 99, sha256(MOVED).digest() + MOVED])
def test_a_damaged_compile_cache_is_discarded_and_built_anew(tiny: Path, damage: bytes) -> None:
    """After a power cut 106 of its 112 files were empty, and every start died of an EOFError."""
    run(tiny)
    files = list((tiny.parent / "cache").rglob("*.nbc"))
    assert len(files) >= 2
    for file in files:
        file.write_bytes(file.read_bytes()[:-9] if damage == b"cut" else damage)
    assert run(tiny) == "2 0"
    assert run(tiny) == "2 1"


def test_the_code_of_another_version_is_not_used(tiny: Path) -> None:
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
    warning = "UserWarning: Compiled code cannot be kept: no folder"
    assert run(tiny, warning=warning, **home, PYTHONDONTWRITEBYTECODE="1") == "2 0"


def test_a_constant_that_a_kernel_imports_counts_as_its_source(tiny: Path) -> None:
    (tiny / "number.py").write_text("NUMBER = 1\n")
    (tiny / "inner.py").write_text(
        "from tiny.number import NUMBER\n" + INNER.replace("{}", "NUMBER")
    )
    assert run(tiny) == "2 0"
    (tiny / "number.py").write_text("NUMBER = 10\n")
    assert run(tiny) == "11 0"


def test_without_the_compiler_one_sentence_says_what_to_unset(tmp_path: Path) -> None:
    words = ("-m", "smgrnn", "distill", "xor")
    done = python(*words, folder=tmp_path, NUMBA_DISABLE_JIT="1")
    sentence = "smgrnn: Numba's compiler is needed: unset NUMBA_DISABLE_JIT.\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", sentence)


def test_a_full_disk_does_not_stop_a_kernel(tiny: Path) -> None:
    full = "def full(*_):\n    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))"
    script = f"import os, errno\n{full}\nos.replace = full\n{RUN}"
    warning = "Compiled code cannot be kept: No space left on device."
    assert run(tiny, script, warning) == "2 0"


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
        return state_of(handle).settings.network.n_inputs

    with pytest.raises(Exception, match="Only a lean kernel may read a handle"):
        learner_of(network_config(n_inputs=3, n_outputs=2)).learn_by(width)


def test_a_state_of_other_arrays_than_kernels_were_compiled_for_is_refused() -> None:
    made = learner_of(network_config(n_inputs=3, n_outputs=2))
    wrong = made._state._replace(trace=made._state.trace.astype(np.float32))
    with pytest.raises(TypeError):
        made._set_state(wrong)
    assert made.act([1.0, 2.0, 3.0]) in (0, 1)


def holds_an_array(kind: Any) -> bool:
    return isinstance(kind, types.Array) or any(map(holds_an_array, getattr(kind, "types", ())))


def test_kernels_that_borrow_arrays_return_none() -> None:
    """An array that is made or returned where references are not counted would be freed twice."""
    made, rows = learner_of(network_config(n_inputs=3, n_outputs=2, carry_state=False)), stream(9)
    made.learn_stream(*rows)
    made.learn(rows.observations[0], 1)
    made.end_episode()
    made.act(rows.observations)
    made.act(rows.observations[0])
    n_seen = 0
    for info in pkgutil.walk_packages(smgrnn.__path__, "smgrnn."):
        if info.name == "smgrnn.__main__":
            continue
        for value in vars(importlib.import_module(info.name)).values():
            compiled = getattr(value, "_compiled", value)
            if getattr(compiled, "targetoptions", {}).get("_nrt", True):
                continue
            for result in compiled.overloads.values():
                n_seen += 1
                assert not holds_an_array(result.signature.return_type), value
    assert n_seen >= 5
