"""A self-test of exported C: recorded steps with the actions and states that must follow."""

from textwrap import fill, indent
from typing import Any

import numpy as np

from smgrnn.export.c import NUMBERS, c_name, template
from smgrnn.export.program import Controller
from smgrnn.policy import scale_action

N_STEPS, N_EPISODES = 40, 4
CLEAR = 1e-3
"""A choice in floats is tested where the largest output leads by this much; rounding may decide
closer ones."""
CLOSE = """
static int differs(float one, float other)
{
    float difference = one - other;
    return !(difference < 0.001f && difference > -0.001f);
}
"""
CHECK_CHOICE = """\
        if (actions[step] >= 0 && action != actions[step]) {
            return step + 1;
        }
"""
CHECK = """\
        for (size_t i = 0; i < {n}; i++) {{
            if ({differs}) {{
                return step + 1;
            }}
        }}
"""


def c_test(
    controller: Controller, stem: str, observations: Any, starts: Any, *, has_scores: bool = False
) -> bytes:
    """Return the source of a program that repeats the first steps of four recorded episodes."""
    name, program, task = c_name(stem), controller.program, controller.task
    firsts = np.flatnonzero(starts)[:N_EPISODES]
    n_each = N_STEPS // len(firsts)
    chosen = [
        n for k in firsts for n in range(k, min([k + n_each, len(starts), *firsts[firsts > k]]))
    ]
    rows = controller.encoded(np.asarray(observations)[chosen])
    actions, states = list[Any](), list[Any]()
    for n, row in zip(chosen, rows, strict=True):
        if n in firsts:
            controller.reset()
        action = controller.step(row)
        if not program.is_choice and program.is_float:
            action = scale_action(task, action)
        elif program.is_float and len(controller.scores) > 1:
            second, first = np.sort(controller.scores)[-2:]
            action = action if first - second >= CLEAR else -1
        actions.append(np.atleast_1d(action))
        states.append(controller.states)
    controller.reset()
    numbers, (n_steps, n_actions) = NUMBERS[program.type], np.shape(actions)
    call = f"{name}_step(&state, observations[step]"
    if program.is_choice:
        listed = fill(", ".join(str(action) for (action,) in actions), 96)
        tables = "/* -1: too close to test. */\n" * bool(min(actions) < 0)
        tables += f"static const int16_t actions[{n_steps}] = {{\n{indent(listed, '    ')}\n}};\n"
        checks = f"        {numbers.sum} scores[{task.n_outputs}];\n" * has_scores
        checks += f"        int action = {call}{', scores' * has_scores});\n"
        checks += CHECK_CHOICE
    else:
        tables = _table(numbers.value, "actions", actions)
        checks = f"        {numbers.value} action[{n_actions}];\n        (void){call}, action);\n"
        checks += _check(n_actions, "action[i]", "actions[step][i]", program.is_float)
    if program.n_kept:
        tables += _table(numbers.value, "states", states)
        checks += _check(program.n_kept, "state.node[i]", "states[step][i]", program.is_float)
    return template(
        "self_test.c",
        file=stem,
        name=name,
        upper=name.upper(),
        value=numbers.value,
        n=n_steps,
        observations=_listed(rows),
        starts="    " + ", ".join(str(int(n in firsts)) for n in chosen),
        tables=tables + CLOSE * ("differs(" in checks),
        checks=checks,
    ).encode()


def _check(n: int, given: str, wanted: str, is_float: bool) -> str:
    differs = f"differs({given}, {wanted})" if is_float else f"{given} != {wanted}"
    return CHECK.format(n=n, differs=differs)


def _table(number: str, name: str, rows: Any) -> str:
    values = np.array(rows, np.float32 if number == "float" else np.int64)
    size = "".join(f"[{n}]" for n in values.shape)
    return f"static const {number} {name}{size} = {{\n{_listed(values)}\n}};\n"


def _listed(values: Any) -> str:
    """Return the rows of an array in C."""
    end = "f" if values.dtype == np.float32 else ""
    return ",\n".join(f"    {{{', '.join(f'{value!s}{end}' for value in row)}}}" for row in values)
