"""A self-test of exported C: recorded steps with the actions and states that must follow."""

from string import Template
from typing import Any

import numpy as np

from smgrnn.export.c import NUMBERS, c_name
from smgrnn.export.integers import IntegerPolicy
from smgrnn.export.program import SCALARS, Program
from smgrnn.policy import Policy

N_STEPS = 40
CLEAR = 1e-3
"""Floats are tested where the largest output leads by this much, or single precision decides."""
TEST = Template("""\
/* Self-test of $name: $n recorded steps.  Call ${name}_test on the board; it returns 0, or the
 * number of the first step that went wrong.  With -DSELF_TEST_MAIN this is a program. */
#include "$file.h"

#include <stddef.h>
#include <stdint.h>

int ${name}_test(void);

static const $value observations[$n][${upper}_OBSERVATIONS] = {
$observations
};
static const uint8_t starts[$n] = {$starts};
$tables
$close
int ${name}_test(void)
{
    ${name}_state state;
    ${name}_reset(&state);
    for (int step = 0; step < $n; step++) {
        if (starts[step]) {
            ${name}_reset(&state);
        }
$checks    }
    return 0;
}

#ifdef SELF_TEST_MAIN
int main(void)
{
    return ${name}_test();
}
#endif
""")
CLOSE = """
static int differs(float one, float other)
{
    float difference = one - other;
    return !(difference < 0.001f && difference > -0.001f);
}
"""
CHECK = """\
        for (size_t i = 0; i < {n}; i++) {{
            if ({differs}) {{
                return step + 1;
            }}
        }}
"""


def c_test(policy: Policy, program: Program, stem: str, observations: Any, starts: Any) -> bytes:
    """Return the source of a program that repeats the first recorded steps."""
    name, is_float, task = c_name(stem), program.type == "float", policy.task
    # Ten steps of four episodes, or the first ones.
    firsts = np.flatnonzero(starts)[:4]
    spans = [
        range(k, min([k + N_STEPS // len(firsts), len(starts), *firsts[firsts > k]]))
        for k in firsts
    ]
    chosen = [n for span in spans for n in span]
    seen: Any = np.asarray(observations, np.float32)[chosen]
    starts = np.asarray(starts)[chosen]
    if isinstance(policy, IntegerPolicy):
        seen = policy.integers(seen)
        steps = _integer_steps(policy, seen, starts)
    else:
        steps = _float_steps(policy, program, seen, starts)
    value = NUMBERS[program.type].value
    wanted, kept = (np.array(column) for column in zip(*steps, strict=True))

    def rows(values: Any) -> str:
        end = "f" if is_float and values.dtype.kind == "f" else ""
        cells = (", ".join(f"{np.float32(v) if end else v}{end}" for v in row) for row in values)
        return ",\n".join(f"    {{{row}}}" for row in cells)

    tables, checks = list[str](), list[str]()
    if task.is_discrete:
        listed = ", ".join(map(str, wanted))
        tables.append(
            f"static const int16_t actions[{len(wanted)}] = {{{listed}}}; /* -1: close */"
        )
        checks += [f"        int action = {name}_step(&state, observations[step]);\n"]
        checks += ["        if (actions[step] >= 0 && action != actions[step]) {\n"]
        checks += ["            return step + 1;\n        }\n"]
    else:
        size = f"[{len(wanted)}][{task.n_outputs}]"
        tables.append(f"static const {value} actions{size} = {{\n{rows(wanted)}\n}};")
        checks += [f"        {value} action[{task.n_outputs}];\n"]
        checks += [f"        (void){name}_step(&state, observations[step], action);\n"]
        checks += [_check(task.n_outputs, "action[i]", "actions[step][i]", is_float)]
    if program.n_kept:
        size = f"[{len(kept)}][{program.n_kept}]"
        tables.append(f"static const {value} states{size} = {{\n{rows(kept)}\n}};")
        checks += [_check(program.n_kept, "state.node[i]", "states[step][i]", is_float)]
    return TEST.substitute(
        file=stem,
        name=name,
        upper=name.upper(),
        value=value,
        n=len(seen),
        observations=rows(seen),
        starts=", ".join(str(int(start)) for start in starts),
        tables="\n".join(tables),
        close=CLOSE if any("differs(" in check for check in checks) else "",
        checks="".join(checks),
    ).encode()


def _check(n: int, given: str, wanted: str, is_float: bool) -> str:
    return CHECK.format(
        n=n, differs=f"differs({given}, {wanted})" if is_float else f"{given} != {wanted}"
    )


def _integer_steps(policy: IntegerPolicy, seen: Any, starts: Any) -> list[tuple[Any, list[Any]]]:
    steps = []
    for row, is_start in zip(seen, starts, strict=True):
        if is_start:
            policy.reset()
        steps.append((policy.step(row), list(policy.states)))
    policy.reset()
    return steps


def _float_steps(
    policy: Policy, program: Program, seen: Any, starts: Any
) -> list[tuple[Any, list[float]]]:
    steps, repeats = [], list(program.run(seen, starts))[program.repeat - 1 :: program.repeat]
    policy.reset()
    for row, is_start, values in zip(seen, starts, repeats, strict=True):
        if is_start:
            policy.reset()
        action, outputs = policy(row), np.sort(values[-program.n_outputs :])
        if policy.task.is_discrete and len(outputs) > 1 and outputs[-1] - outputs[-2] < CLEAR:
            action = -1
        kept = [SCALARS[kind](values[place]) for place, kind, _ in program.next]
        steps.append((action, kept))
    policy.reset()
    return steps
