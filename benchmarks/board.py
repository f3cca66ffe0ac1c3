"""Measure exported controllers: their return in integers, and their cost on microcontrollers.

    python benchmarks/board.py [--runs build/board] [--seeds 10] [--networks NAME ...]

Distils each network that the folder of runs lacks, plays it in floats and in integers, compiles it
for each target, executes it in QEMU, and compares the C with its Python model on a million inputs.
What is measured is saved at once in benchmarks/board.json, and skipped when the command runs again;
--again measures sizes and equality anew.  In the end the tables of docs/board.md are written.

Needs gcc, gcc-arm-none-eabi and libnewlib-arm-none-eabi, gcc-avr and avr-libc,
gcc-riscv64-unknown-elf and picolibc-riscv64-unknown-elf, qemu-user, and for the rival
`pip install emlearn`.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import smgrnn
from smgrnn.export import NUMBERS, controller_of, export
from smgrnn.export.program import STYLES, Controller
from smgrnn.export.trial import find_place, record, try_beside

ROOT = Path(__file__).parents[1]
PAGE, RESULTS = ROOT / "docs" / "board.md", ROOT / "benchmarks" / "board.json"
DIGITS = ROOT / "build" / "digits.npz"
"""The images of scikit-learn as examples: a controller that reads 64 numbers and names a digit."""
NETWORKS = {
    "cartpole": "CartPole-v1 --max-parameters 4",
    "acrobot": "Acrobot-v1 --max-parameters 16",
    "lunarlander-at-most-16": "LunarLander-v3 --max-parameters 16",
    "lunarlander-at-most-44": "LunarLander-v3 --max-parameters 44",
    "cartpole-without-velocities": "CartPole-v1,hide=velocities",
    "cartpole-mlp": "CartPole-v1 --student mlp-100",
    "acrobot-mlp": "Acrobot-v1 --student mlp-100",
    "lunarlander-mlp": "LunarLander-v3 --student mlp-100",
    "digits": f"{DIGITS} --max-parameters 300",
    "digits-mlp": f"{DIGITS} --student mlp-100 --set budget=900",
}
"""The words of `smgrnn distill` for each network."""
KINDS = [f"{number} {style}" for number in NUMBERS for style in STYLES]
RIVALS = ["plain C", "emlearn"]
"""The same MLP with dense matrices: in loops, and as emlearn writes it."""
FLAGS = ("-std=c99", "-Os", "-ffunction-sections", "-fdata-sections", "-fstack-usage")
NO_START = ("-nostartfiles", "-Wl,--gc-sections")
ARM = ("arm-none-eabi-gcc", "-mthumb")
HARD = ("-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard")
TARGETS: dict[str, tuple[str, ...]] = {
    "ATmega328P": ("avr-gcc", "-mmcu=atmega328p"),
    "Cortex-M0+": (*ARM, "-mcpu=cortex-m0plus"),
    "Cortex-M4F": (*ARM, *HARD),
    "RV32IMC": (
        *("riscv64-unknown-elf-gcc", "-march=rv32imc", "-mabi=ilp32"),
        "--specs=picolibc.specs",
    ),
}
EMULATORS = {
    "Cortex-M0+": ("qemu-arm", "-cpu", "cortex-a7"),
    "Cortex-M4F": ("qemu-arm", "-cpu", "cortex-a7"),
    "RV32IMC": ("qemu-riscv32",),
}
"""Each executes the target's machine code; a Cortex-A7 has all instructions of both Cortex-M."""
SYSTEM_CALL = """\
void _start(void);
void _start(void)
{
    for (int n = 0; n < STEPS; n++) (void)step(n % ROWS);
#ifdef __riscv
    register int code __asm__("a0") = 0, call __asm__("a7") = 93;
    __asm__ volatile("ecall" ::"r"(code), "r"(call));
#else
    register int code __asm__("r0") = 0, call __asm__("r7") = 1;
    __asm__ volatile("svc 0" ::"r"(code), "r"(call));
#endif
    for (;;) {}
}
"""
IMAGE = """\
extern unsigned long _stack;
void start(void);
__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void)) & _stack, start};
volatile VALUE sensor[N_OBSERVED];
volatile int motor;
void start(void)
{
    for (;;) {
        VALUE row[N_OBSERVED];
        for (int i = 0; i < N_OBSERVED; i++) row[i] = sensor[i];
        motor = act(row);
    }
}
"""
LINK = """\
MEMORY { FLASH (rx) : ORIGIN = 0x0, LENGTH = 256K  RAM (rwx) : ORIGIN = 0x20000000, LENGTH = 64K }
_stack = ORIGIN(RAM) + LENGTH(RAM);
SECTIONS {
  .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) *(.ARM.*) } > FLASH
  .data : { *(.data*) } > RAM AT > FLASH
  .bss : { *(.bss*) *(COMMON) } > RAM
}
"""
DENSE = """\
#include <math.h>
static const float below[N_HIDDEN][N_OBSERVED + 1] = {BELOW};
static const float above[N_OUTPUTS][N_HIDDEN + 1] = {ABOVE};
int dense_step(const float *x);
int dense_step(const float *x)
{
    float hidden[N_HIDDEN], best = 0.0f;
    int action = 0;
    for (int n = 0; n < N_HIDDEN; n++) {
        float sum = below[n][N_OBSERVED];
        for (int i = 0; i < N_OBSERVED; i++) sum += below[n][i] * x[i];
        hidden[n] = tanhf(sum);
    }
    for (int n = 0; n < N_OUTPUTS; n++) {
        float sum = above[n][N_HIDDEN];
        for (int i = 0; i < N_HIDDEN; i++) sum += above[n][i] * hidden[i];
        if (n == 0 || sum > best) {
            best = sum;
            action = n;
        }
    }
    return action;
}
"""
REPLAY = """\
#include <stdio.h>
#include <stdint.h>
int main(void)
{
    VALUE row[N_OBSERVED];
    while (fread(row, sizeof row, 1, stdin) == 1) {
        int32_t action = act(row);
        fwrite(&action, sizeof action, 1, stdout);
    }
    return 0;
}
"""
SAMPLE = 16
"""Recorded observations that are repeated while instructions are counted."""
N_COUNTED = 64


def run(*command: Any, folder: Path, data: bytes = b"") -> bytes:
    done = subprocess.run(
        [str(word) for word in command], cwd=folder, input=data, capture_output=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]}: {done.stderr.decode()[-400:]}")
    return done.stdout


def run_folder(name: str, seed: int, runs: Path) -> Path:
    """Return the folder of a run; it is distilled, or resumed, where it is not finished."""
    folder = runs / f"{name}-{seed}"
    words = [*NETWORKS[name].split(), "--seed", str(seed)]
    if not folder.is_dir():
        if str(DIGITS) in words and not DIGITS.is_file():
            images, digits = load_digits(return_X_y=True)
            DIGITS.parent.mkdir(exist_ok=True)
            np.savez(DIGITS, observations=images / 16.0, actions=digits)
        half = runs / f".{name}-{seed}-{os.getpid()}"  # renamed once it is whole
        command = [sys.executable, "-m", "smgrnn", "distill", *words, "--out", half, "--quiet"]
        subprocess.run([str(word) for word in command], check=True)
        half.rename(folder)
    return folder


def returns(policy: Any, episodes: int) -> dict[str, Any]:
    """Return what a network returns in each type of numbers, and how often it acts like floats."""
    place, found = find_place(policy), dict[str, Any]()
    for number in NUMBERS:
        chosen = policy if number == "float" else controller_of(policy, number)
        trial = try_beside(chosen, policy, place, episodes)
        found[number] = [float(trial.returns.mean()), trial.agreement]
    program = controller_of(policy).program
    found["n_numbers"] = program.n_weights + program.n_constants
    return found


def dense(policy: Any) -> tuple[Any, Any]:
    """Return the matrices of an MLP, biases last (n_hidden, n_observed + 1), (n_outputs, …)."""
    graph, n_observed = policy.graph, policy.task.n_inputs
    n_inputs, n_outputs = graph.n_inputs, graph.n_outputs
    whole = np.zeros((graph.n_nodes, graph.n_nodes))
    whole[graph.target, graph.source] = graph.weight
    bias = whole[:, n_observed:n_inputs].sum(axis=1, keepdims=True)
    outputs, hidden = slice(n_inputs, n_inputs + n_outputs), slice(n_inputs + n_outputs, None)
    below = np.hstack([whole[hidden, :n_observed], bias[hidden]])
    return below, np.hstack([whole[outputs, hidden], bias[outputs]])


def write_kind(
    policy: Any, made: Controller | None, kind: str, folder: Path
) -> tuple[str, list[str]]:
    """Write the C of a kind; return the definition of `act`, and flags."""
    if made is not None:
        export(made, folder / "net.c")
        return '#include "net.h"\nnet_state state;\n#define act(row) net_step(&state, row)\n', []
    below, above = dense(policy)
    if kind == "plain C":
        sizes = {
            "N_HIDDEN": len(below),
            "N_OBSERVED": policy.task.n_inputs,
            "N_OUTPUTS": len(above),
        }
        text = DENSE
        for name, matrix in {"BELOW": below, "ABOVE": above}.items():
            rows = (", ".join(f"{np.float32(x)!s}f" for x in row) for row in matrix)
            text = text.replace(name, "{" + "}, {".join(rows) + "}")
        defines = "".join(f"#define {name} {n}\n" for name, n in sizes.items())
        (folder / "net.c").write_text(defines + text)
        return "int dense_step(const float *x);\n#define act(row) dense_step(row)\n", []
    emlearn, net = import_module("emlearn"), import_module("emlearn.net")

    weights, biases = [below[:, :-1].T, above[:, :-1].T], [below[:, -1], above[:, -1]]
    text = net.c_generate_net_loadable(["tanh", "identity"], weights, biases, prefix="em")
    (folder / "net.c").write_text(text)
    act = "int32_t em_predict(const float *, int32_t);\n"
    return f"#include <stdint.h>\n{act}#define act(row) em_predict(row, N_OBSERVED)\n", [
        f"-I{emlearn.includedir}"
    ]


def cost(policy: Any, made: Controller | None, kind: str, seen: Any) -> dict[str, Any]:
    """Return flash, RAM, stack, instructions and the linked image of one kind of C."""
    value = "float" if made is None or made.program.is_float else "int16_t"
    rows = (seen if made is None else made.encoded(seen))[:SAMPLE]
    found: dict[str, Any] = {}
    with TemporaryDirectory() as place:
        folder = Path(place)
        act, flags = write_kind(policy, made, kind, folder)
        head = (
            f"#include <stdint.h>\n#define N_OBSERVED {rows.shape[1]}\n#define VALUE {value}\n{act}"
        )
        cells = ", ".join("{" + ", ".join(map(str, row.tolist())) + "}" for row in rows)
        data = f"static const VALUE rows[ROWS][N_OBSERVED] = {{{cells}}};\n"
        data += "static int step(int n) { return act(rows[n]); }\n"
        (folder / "count.c").write_text(f"#define ROWS {len(rows)}\n{head}{data}{SYSTEM_CALL}")
        (folder / "image.c").write_text(head + IMAGE)
        (folder / "link.ld").write_text(LINK)
        for target, compiler in TARGETS.items():
            size = compiler[0].replace("gcc", "size")
            run(*compiler, *FLAGS, *flags, "-c", "net.c", folder=folder)
            text, data_bytes, bss = sized(size, "net.o", folder)
            stack = re.findall(r"\t(\d+)\t", (folder / "net.su").read_text())
            found[target] = {"flash": text + data_bytes, "ram": data_bytes + bss}
            found[target]["stack"] = max(map(int, stack))
            if target in EMULATORS:
                found[target]["instructions"] = instructions(target, flags, folder)
        command = (*TARGETS["Cortex-M4F"], *FLAGS, *flags, *NO_START, "-T", "link.ld")
        run(*command, "image.c", "net.c", "-lm", "-o", "image.elf", folder=folder)
        found["image"] = sum(sized("arm-none-eabi-size", "image.elf", folder)[:2])
        if made is not None:
            header = (folder / "net.h").read_text()
            found["state"] = int(re.findall(r"(\d+) bytes of state", header)[0])
            found["cycles"] = next(iter(re.findall(r"at most (\d+) cycles", header)), "–")
        else:  # does the rival act as the network does?
            (folder / "replay.c").write_text(head + REPLAY)
            run("cc", *flags, "replay.c", "net.c", "-lm", "-o", "replay", folder=folder)
            given = run("./replay", folder=folder, data=seen.astype(np.float32).tobytes())
            found["alike"] = float((np.frombuffer(given, np.int32) == policy(seen)).mean())
    return found


def sized(tool: str, file: str, folder: Path) -> tuple[int, int, int]:
    """Return the bytes of code and constants, of data and of zeroed data."""
    text, data, bss = map(int, run(tool, file, folder=folder).decode().splitlines()[1].split()[:3])
    return text, data, bss


def instructions(target: str, flags: list[str], folder: Path) -> float:
    """Return the instructions that a step executes in QEMU, with the loop that calls it."""
    counts = []
    for n in (0, N_COUNTED):
        command = (*TARGETS[target], *FLAGS, *flags, *NO_START, f"-DSTEPS={n}", "count.c", "net.c")
        run(*command, "-lm", "-o", "count.elf", folder=folder)
        how = ("-singlestep", "-d", "exec,nochain", "-D", "log")
        run(*EMULATORS[target], *how, "./count.elf", folder=folder)
        counts.append((folder / "log").read_text().count("Trace"))
    return (counts[1] - counts[0]) / N_COUNTED


def equal(made: Controller, n: int) -> int:
    """Return on how many of `n` inputs the compiled C acts unlike the Python model.

    Inputs are usual ones, any, and extremes; floats also see NaN and infinities.  Floats whose two
    largest outputs are as close as rounding do not count.
    """
    rng, n_steps = np.random.default_rng(0), 100
    shape = (n // n_steps, n_steps, made.task.n_inputs)
    rows = made.encoded(rng.normal(size=shape))
    if made.program.is_float:
        odd = np.array([np.nan, np.inf, -np.inf, 3e38, -3e38, 1e-45, 0, -0.0], np.float32)
        rows = np.where(rng.random(shape) < 0.03, rng.choice(odd, shape), rows)
    else:
        wide, ends = (
            rng.integers(-(2**15), 2**15, shape),
            rng.choice([-(2**15), 0, 2**15 - 1], shape),
        )
        rows = np.choose(rng.integers(0, 3, shape), (rows, wide, ends))
    value = "float" if made.program.is_float else "int16_t"
    made.reset()
    unlike = 0
    with TemporaryDirectory() as place:
        folder = Path(place)
        act, _ = write_kind(made, made, "", folder)
        head = f"#include <stdint.h>\n#define N_OBSERVED {shape[2]}\n#define VALUE {value}\n{act}"
        text = head + REPLAY.replace("while", "int n = 0;\n    while").replace(
            "int32_t action",
            f"if (n++ % {n_steps} == 0) net_reset(&state);\n        int32_t action",
        )
        (folder / "replay.c").write_text(text)
        sanitize = "-fsanitize=undefined,address"
        run("cc", "-O1", sanitize, "replay.c", "net.c", "-lm", "-o", "replay", folder=folder)
        data = rows.astype(np.float32 if value == "float" else np.int16).tobytes()
        given = np.frombuffer(run("./replay", folder=folder, data=data), np.int32)
    for step, column in enumerate(given.reshape(shape[:2]).T):
        wanted = made.step(rows[:, step])
        is_other = column != wanted
        if made.program.is_float:
            ordered = np.sort(np.where(wanted[:, None] < 0, 0, made.scores), axis=-1)
            lead, size = ordered[:, -1] - ordered[:, -2], np.abs(ordered).max(axis=-1)
            is_other &= ~((wanted >= 0) & (column >= 0) & (lead <= 1e-4 * size))
        unlike += int(is_other.sum())
    return unlike


def kinds_of(name: str, policy: Any) -> Iterator[tuple[str, Controller | None]]:
    for kind in KINDS:
        number, style = kind.split()
        yield kind, controller_of(policy, number, style=style)
    if name.endswith("-mlp"):
        yield from ((kind, None) for kind in RIVALS)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Measure what is missing, and save each figure at once."""
    results = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}

    def save() -> None:
        part = RESULTS.with_suffix(".part")
        part.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
        part.replace(RESULTS)

    for name in options.networks:
        known = results.setdefault(name, {"returns": {}, "cost": {}, "unlike": {}})
        for seed in range(options.seeds):
            if str(seed) not in known["returns"]:
                policy = smgrnn.load(run_folder(name, seed, options.runs))
                known["returns"][str(seed)] = returns(policy, options.episodes)
                print(name, seed, known["returns"][str(seed)], flush=True)
                save()
        if not options.again and len(known["cost"]) >= len(KINDS):
            continue
        policy = smgrnn.load(run_folder(name, 0, options.runs))
        seen = np.asarray(record(policy, find_place(policy)).observations, np.float32)
        for kind, made in kinds_of(name, policy):
            try:
                known["cost"][kind] = cost(policy, made, kind, seen)
            except ImportError:
                print("emlearn is not installed; pip install emlearn", flush=True)
                continue
            if made is not None:
                known["unlike"][kind] = [equal(made, options.inputs), options.inputs]
            print(name, kind, known["cost"][kind], known["unlike"].get(kind), flush=True)
            save()
    return results


def table(head: list[str], rows: list[list[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def size_rows(name: str, known: dict[str, Any]) -> Iterator[list[Any]]:
    for kind, found in known["cost"].items():
        cells = [f"{found[t]['flash']} · {found[t]['stack']}" for t in TARGETS]
        counts = [f"{found[t]['instructions']:.0f}" for t in EMULATORS]
        ram = found.get("state", found["Cortex-M4F"]["ram"])
        yield [name, kind, ram, *cells, found["image"], *counts, found.get("cycles", "–")]


def return_row(name: str, known: dict[str, Any]) -> list[Any]:
    seeds = list(known["returns"].values())
    exact = np.array([each["float"][0] for each in seeds])
    row = [name, len(seeds), f"{np.mean([each['n_numbers'] for each in seeds]):.1f}"]
    row.append(f"{exact.mean():.4g}")
    for number in NUMBERS[1:]:
        made = np.array([each[number][0] for each in seeds])
        worst = ((made - exact) / np.abs(exact)).min()
        change = (made.mean() - exact.mean()) / abs(exact.mean())
        alike = np.mean([each[number][1] for each in seeds])
        row += [f"{made.mean():.4g}", f"{change:+.1%}", f"{worst:+.1%}", f"{alike:.1%}"]
    return row


def write(results: dict[str, Any]) -> None:
    """Put the tables between their marks in the page."""
    ordered = {name: results[name] for name in NETWORKS if name in results}
    head = ["network", "kind", "RAM", *TARGETS, "image"]
    head += [*(f"steps of {target}" for target in EMULATORS), "bound"]
    parts = {"sizes": table(head, [row for item in ordered.items() for row in size_rows(*item)])}
    head = ["network", "seeds", "numbers", "float"]
    head += [f"{n}{what}" for n in NUMBERS[1:] for what in ("", " change", " worst seed", " alike")]
    parts["returns"] = table(head, [return_row(*item) for item in ordered.items()])
    rows = [
        [name, kind, f"{n:,}", unlike]
        for name, known in ordered.items()
        for kind, (unlike, n) in known["unlike"].items()
    ]
    parts["equal"] = table(["network", "kind", "inputs", "other actions"], rows)
    page = PAGE.read_text(encoding="utf-8")
    for part, text in parts.items():
        mark = f"<!-- {part} -->"
        before, _, after = page.split(mark)
        page = f"{before}{mark}\n\n{text}\n\n{mark}{after}"
    PAGE.write_text(page, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=Path, default=Path("build/board"), help="folder of runs")
    parser.add_argument("--seeds", type=int, default=10, help="runs of each network")
    parser.add_argument("--episodes", type=int, default=100, help="new episodes per run")
    parser.add_argument("--inputs", type=int, default=10**6, help="inputs that the C must equal")
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS), choices=NETWORKS)
    parser.add_argument("--again", action="store_true", help="measure costs and equality again")
    options = parser.parse_args()
    options.runs.mkdir(parents=True, exist_ok=True)
    write(measure(options))


if __name__ == "__main__":
    main()
