"""Self-tests, libraries for Arduino and MicroPython modules run and act as the policy does."""

import importlib.util
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smgrnn.export import NUMBERS, STYLES, controller_of, export
from smgrnn.policy import Policy
from support.exports import CASES, SANITIZED, choosing, random_policy, random_rows, tool
from support.networks import LOOP

SOME = dict(list(CASES.items())[::9])
KINDS = [(number, style) for number in NUMBERS for style in STYLES]
BOARDS = {
    "avr": ("avr-gcc", "-mmcu=atmega328p"),
    "M0+": ("arm-none-eabi-gcc", "-mcpu=cortex-m0plus", "-mthumb"),
    "M4F": (
        *("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb"),
        *("-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"),
    ),
}
STRICT = (*SANITIZED[:7], "-std=c99", "-Os", "-ffreestanding")


def made(policy: Policy, number: str, style: str) -> Any:
    seen = random_rows(policy).observations
    how: Any = {"style": style, "recording": seen}
    return policy if number == "float" else controller_of(policy, number, **how)


def run(*command: Any, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_self_test_fails_where_the_network_is_another(tmp_path: Path) -> None:
    other = choosing(LOOP._replace(weight=-LOOP.weight))
    for policy, folder in ((choosing(LOOP), tmp_path / "one"), (other, tmp_path / "other")):
        folder.mkdir()
        rows = random_rows(policy).observations
        export(policy, folder / "net.c", self_test=True, recording=rows)
    run("cc", "-DSELF_TEST_MAIN", "one/net.c", "other/net_test.c", "-Ione", "-lm", cwd=tmp_path)
    assert subprocess.run([tmp_path / "a.out"], check=False).returncode != 0


@pytest.mark.parametrize("case", SOME.values(), ids=SOME.keys())
def test_a_micropython_module_acts_as_the_policy(case: dict[str, Any], tmp_path: Path) -> None:
    policy = random_policy(**case)
    played = random_rows(policy, 60)
    for number in NUMBERS:
        judge = made(policy, number, "unrolled")
        (path,) = export(judge, tmp_path / f"net_{number}.py")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        controller = module.Controller()
        for is_start, row in zip(played.starts, played.observations, strict=True):
            if is_start:
                controller.reset()
                judge.reset()
            if number != "float":
                whole = judge.encoded(row)
                assert judge.units.tolist() == module.UNITS
                given, wanted = controller.step(whole.tolist()), judge.step(whole)
                assert np.array_equal(given, wanted)
            else:
                np.testing.assert_allclose(controller.step(row.tolist()), judge(row), atol=1e-6)


def test_micropython_itself_runs_the_module(tmp_path: Path) -> None:
    micropython = tool("micropython")
    seen = random_rows(choosing(LOOP)).observations
    policy = controller_of(choosing(LOOP), "q15", style="unrolled", recording=seen)
    export(policy, tmp_path / "net.py")
    rows = policy.encoded(seen)
    code = (
        f"import net\nc = net.Controller()\nfor x in {rows.tolist()}:\n c.step(x)\n print(c.state)"
    )
    (tmp_path / "main.py").write_text(code)
    printed = run(micropython, "main.py", cwd=tmp_path)
    policy.reset()
    for row, line in zip(rows, printed.splitlines(), strict=True):
        policy.step(row)
        assert line == str(tuple(map(int, policy.states)))


@pytest.mark.parametrize("board", BOARDS)
def test_boards_compile_it_strictly_within_what_the_header_says(board: str, tmp_path: Path) -> None:
    compiler = tool(BOARDS[board][0])
    policy = random_policy(**CASES["tanh relu sum True 3 True False"])
    relu = random_policy(**CASES["relu relu sum True 1 True False"])
    for n, each in enumerate((policy, relu)):
        for number, style in KINDS:
            if n == 0 and number == "float":
                continue  # tanh needs math.h, which is not part of the compiler
            stem = f"net_{n}_{number}_{style}"
            judge = made(each, number, style)
            export(judge, tmp_path / f"{stem}.c", style=style)
            flags = (*BOARDS[board][1:], *STRICT, "-fstack-usage", "-c", f"{stem}.c")
            run(compiler, *flags, cwd=tmp_path)
            used = [int(n) for n in re.findall(r"\t(\d+)\t", (tmp_path / f"{stem}.su").read_text())]
            header = (tmp_path / f"{stem}.h").read_text()
            (bound,) = map(int, re.findall(r"at most (\d+) bytes of stack", header))
            assert max(used) <= bound, stem


START = """\
int net_test(void);
void _start(void);
void _start(void)
{
    register int result __asm__("r0") = net_test();
    register int leave __asm__("r7") = 1;
    __asm__ volatile("svc 0" ::"r"(result), "r"(leave));
    for (;;) {}
}
"""


@pytest.mark.parametrize("board", ["M0+", "M4F"])
def test_the_self_test_passes_on_emulated_hardware(board: str, tmp_path: Path) -> None:
    """QEMU executes the machine code of the board, with floats in software on the M0+."""
    compiler, emulator = tool(BOARDS[board][0]), tool("qemu-arm")
    (tmp_path / "start.c").write_text(START)
    curved = random_policy(**CASES["tanh relu sum True 3 True False"])
    linear = random_policy(**CASES["relu relu sum True 1 True False"])
    flags = (*BOARDS[board][1:], *STRICT, "-nostdlib", "-fno-tree-loop-distribute-patterns")
    for number, style in (("float", "tables"), ("q15", "tables"), ("q7", "unrolled")):
        policy = linear if number == "float" else curved
        folder = tmp_path / number
        folder.mkdir()
        seen = random_rows(policy).observations
        how: Any = {"self_test": True, "style": style, "recording": seen}
        source = export(made(policy, number, style), folder / "net.c", **how)[1]
        files = ("../start.c", "net.c", "net_test.c", "-lgcc", "-o", "net.elf")
        run(compiler, *flags, *files, cwd=folder)
        run(emulator, "-cpu", "cortex-a7", "net.elf", cwd=folder)
        source.write_text(re.sub(r"(total \+=|y0 =) ", r"\1 -", source.read_text(), count=1))
        run(compiler, *flags, *files, cwd=folder)
        failed = subprocess.run([emulator, "-cpu", "cortex-a7", folder / "net.elf"], check=False)
        assert failed.returncode > 0


CYCLES = {"push": 10, "pop": 13, "bl": 4, "b": 3, "bx": 3, "ldr": 2, "str": 2, "ldm": 9, "stm": 9}
"""Most cycles of an instruction of a Cortex-M0+ by how its name starts; others take one."""


@pytest.mark.parametrize(
    "name", ["tanh relu sum True 3 True False", "sigmoid relu sum True 4 False True"]
)
def test_no_step_takes_more_cycles_than_the_header_says(name: str, tmp_path: Path) -> None:
    """Adds up the instructions of a step and of the activations that it calls, without a branch."""
    policy = random_policy(**CASES[name])
    export(made(policy, "q15", "unrolled"), tmp_path / "net.c", style="unrolled")
    run(tool("arm-none-eabi-gcc"), *BOARDS["M0+"][1:], *STRICT, "-c", "net.c", cwd=tmp_path)
    listing = run(tool("arm-none-eabi-objdump"), "-d", "net.o", cwd=tmp_path)
    functions = re.findall(r"<(\w+)>:\n((?:.+\n)+)", listing)

    def cycles(function: str) -> int:
        total = 0
        for word, rest in re.findall(r"\t([a-z.]+)\t(.*)", dict(functions)[function]):
            assert not re.fullmatch("b(eq|ne|cs|cc|mi|pl|hi|ls|ge|lt|gt|le)(.n)?", word), rest
            total += next((n for start, n in CYCLES.items() if word.startswith(start)), 1)
            called = re.search(r"<(\w+)>", rest) if word == "bl" else None
            total += cycles(called[1]) if called else 0
        return total

    (bound,) = map(int, re.findall(r"at most (\d+) cycles", (tmp_path / "net.h").read_text()))
    assert bound / 4 < cycles("net_step") <= bound


def test_a_static_check_finds_nothing(tmp_path: Path) -> None:
    """The C refuses to compile where a shift does not keep the sign, so that is suppressed."""
    policy = random_policy(**CASES["tanh relu sum True 3 True False"])
    for number, style in KINDS:
        export(made(policy, number, style), tmp_path / f"net_{number}_{style}.c", style=style)
    how = ("--error-exitcode=1", "--enable=warning,performance,portability", "--quiet", "--std=c99")
    run(tool("cppcheck"), *how, "--suppress=shiftTooManyBitsSigned", ".", cwd=tmp_path)


def test_an_arduino_library_compiles_with_its_sketch(tmp_path: Path) -> None:
    """A header takes the place of Arduino's own, with what the sketch uses of it."""
    core = "struct Port { void begin(long); template <class T> void println(T); };\n"
    (tmp_path / "Arduino.h").write_text(
        f"#include <stdint.h>\n{core}extern Port Serial;\nvoid delay(unsigned long);\n"
    )
    for number in NUMBERS:
        policy = made(choosing(LOOP), number, "tables")
        files = export(policy, tmp_path / number, to="arduino")
        names = {str(file.relative_to(tmp_path / number)) for file in files}
        sketch = f"examples/{number}/{number}.ino"
        assert names == {"library.properties", f"src/{number}.h", f"src/{number}.c", sketch}
        flags = ("-mmcu=atmega328p", "-Os", "-Wall", "-Werror", f"-I{number}/src", "-I.")
        cpp = ("-x", "c++", "-include", "Arduino.h", "-ffreestanding", "-c", f"{number}/{sketch}")
        run(tool("avr-g++"), *flags, *cpp, cwd=tmp_path)
