"""Measure exported controllers: their return in integers, and their size on microcontrollers.

    python benchmarks/board.py [--seeds 10] [--episodes 100] [--runs build/board]

Distils each network that the folder lacks, plays it in floats and in integers, compiles it for each
target, and writes the tables of docs/board.md.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import smgrnn
from smgrnn.export import NUMBERS, STYLES, export, integers
from smgrnn.export.program import program_of
from smgrnn.export.trial import find_place, try_beside

PAGE = Path(__file__).parents[1] / "docs" / "board.md"
RECURRENT = "--preset paper --student static --set n_hidden=8 --set learning.through_time=4"
NETWORKS = {
    "cartpole": "CartPole-v1 --max-parameters 4",
    "acrobot": "Acrobot-v1 --max-parameters 16",
    "lunarlander-at-most-16": "LunarLander-v3 --max-parameters 16",
    "lunarlander-at-most-44": "LunarLander-v3 --max-parameters 44",
    "cartpole-without-velocities": f"CartPole-v1,hide=velocities {RECURRENT}",
}
"""The words of `smgrnn distill` for each network."""
FLAGS = ("-std=c99", "-Os", "-fstack-usage", "-Wall", "-Wextra", "-Wconversion", "-Werror")
TARGETS = {
    "ATmega328P": ("avr-gcc", "-mmcu=atmega328p"),
    "Cortex-M0+": ("arm-none-eabi-gcc", "-mcpu=cortex-m0plus", "-mthumb"),
    "Cortex-M4F": (
        *("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb"),
        *("-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"),
    ),
    "RV32IMC": ("riscv64-unknown-elf-gcc", "-march=rv32imc", "-mabi=ilp32"),
}
START = """\
#include <stdint.h>
#include "net.h"
extern uint32_t _stack;
int main(void);
void start(void);
__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))&_stack, start};
void start(void) { (void)main(); for (;;) {} }
volatile VALUE sensor[NET_OBSERVATIONS];
volatile int motor;
int main(void)
{
    net_state state;
    net_reset(&state);
    for (;;) {
        VALUE observation[NET_OBSERVATIONS];
        for (int i = 0; i < NET_OBSERVATIONS; i++) observation[i] = sensor[i];
        motor = net_step(&state, observation);
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


def run_folder(name: str, seed: int, runs: Path) -> Path:
    """Return the folder of a run, distilled if it is not there."""
    folder = runs / f"{name}-{seed}"
    if not folder.is_dir():
        words = [*NETWORKS[name].split(), "--seed", str(seed), "--out", str(folder), "--quiet"]
        subprocess.run([sys.executable, "-m", "smgrnn", "distill", *words], check=True)
    return folder


def returns(name: str, seeds: int, episodes: int, runs: Path) -> list[str]:
    """Return the cells that tell what a network returns in each type, over all seeds."""
    found: dict[str, list[float]] = {number: [] for number in NUMBERS}
    alike: dict[str, list[float]] = {number: [] for number in NUMBERS}
    sizes = []
    for seed in range(seeds):
        policy = smgrnn.load(run_folder(name, seed, runs))
        place = find_place(policy)
        sizes.append(program_of(policy).n_weights + program_of(policy).n_constants)
        for number in NUMBERS:
            chosen = policy if number == "float" else integers(policy, number)
            trial = try_beside(chosen, policy, place, episodes)
            found[number].append(float(trial.returns.mean()))
            alike[number].append(trial.agreement)
        print(
            name, seed, {number: round(each[-1], 1) for number, each in found.items()}, flush=True
        )
    exact = np.array(found["float"])
    cells = [name, str(seeds), f"{np.mean(sizes):.1f}", f"{exact.mean():.1f}"]
    for number in NUMBERS[1:]:
        made = np.array(found[number])
        change = (made.mean() - exact.mean()) / abs(exact.mean())
        worst = ((made - exact) / np.abs(exact)).min()
        cells += [f"{made.mean():.1f}", f"{change:+.1%}", f"{worst:+.1%}"]
        cells.append(f"{np.mean(alike[number]):.1%}")
    return cells


def compiled(folder: Path, target: str) -> tuple[int, int]:
    """Return the bytes of code and tables of net.c, and its deepest stack."""
    compiler, *flags = TARGETS[target]
    library = (
        () if compiler == "avr-gcc" or "riscv" not in compiler else ("--specs=picolibc.specs",)
    )
    command = [compiler, *flags, *library, *FLAGS, "-c", "net.c", "-o", "net.o"]
    subprocess.run(command, cwd=folder, check=True)
    size = compiler.replace("gcc", "size")
    listing = subprocess.run(
        [size, "net.o"], cwd=folder, capture_output=True, text=True, check=True
    )
    text, data, *_ = map(int, listing.stdout.splitlines()[1].split()[:2])
    stack = re.findall(r"\t(\d+)\t", (folder / "net.su").read_text())
    return text + data, max(map(int, stack))


def image(folder: Path, number: str) -> int:
    """Return the bytes of flash of a whole linked program for a Cortex-M4F."""
    value = "float" if number == "float" else "int16_t"
    (folder / "main.c").write_text(START.replace("VALUE", value))
    (folder / "link.ld").write_text(LINK)
    compiler, *flags = TARGETS["Cortex-M4F"]
    rest = ["-nostartfiles", "-Wl,--gc-sections", "-ffunction-sections", "-T", "link.ld"]
    files = ["main.c", "net.c", "-lm", "-o", "net.elf"]
    subprocess.run([compiler, *flags, "-std=c99", "-Os", *rest, *files], cwd=folder, check=True)
    listing = subprocess.run(
        ["arm-none-eabi-size", "net.elf"], cwd=folder, capture_output=True, text=True, check=True
    )
    text, data, *_ = map(int, listing.stdout.splitlines()[1].split()[:2])
    return text + data


def sizes(name: str, runs: Path) -> list[list[str]]:
    """Return rows of cells: bytes of flash and stack of a network for each type and target."""
    policy, rows = smgrnn.load(run_folder(name, 0, runs)), []
    for number in NUMBERS:
        for style in STYLES:
            with TemporaryDirectory() as place:
                folder = Path(place)
                chosen = policy if number == "float" else integers(policy, number, style=style)
                export(chosen, folder / "net.c", style=style)
                cells = [
                    f"{code} · {stack}" for code, stack in (compiled(folder, t) for t in TARGETS)
                ]
                header = (folder / "net.h").read_text()
                cycles = re.findall(r"at most (\d+) cycles", header)
                state = re.findall(r"(\d+) bytes of state", header)
                rows.append(
                    [
                        name,
                        number,
                        style,
                        *state,
                        *cells,
                        str(image(folder, number)),
                        *(cycles or "–"),
                    ]
                )
    return rows


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write(part: str, text: str) -> None:
    """Put a table between its marks in the page."""
    page = PAGE.read_text(encoding="utf-8")
    mark = f"<!-- {part} -->"
    before, _, after = page.split(mark)
    PAGE.write_text(f"{before}{mark}\n\n{text}\n\n{mark}{after}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--runs", type=Path, default=Path("build/board"))
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS), choices=NETWORKS)
    options = parser.parse_args()
    head = ["network", "number", "style", "state", *TARGETS, "image", "cycles"]
    write(
        "sizes",
        table(head, [row for name in options.networks for row in sizes(name, options.runs)]),
    )
    head = ["network", "seeds", "numbers", "float"]
    head += [f"{n}{what}" for n in NUMBERS[1:] for what in ("", " change", " worst seed", " alike")]
    rows = [
        returns(name, options.seeds, options.episodes, options.runs) for name in options.networks
    ]
    write("returns", table(head, rows))


if __name__ == "__main__":
    main()
