"""The worked example in C does what it says."""

import re
from pathlib import Path

import pytest

from support import exports
from test_examples import example

ROOT = Path(__file__).parents[2]


def test_a_controller_in_c_is_small_and_plays(tmp_path: Path) -> None:
    exports.tool("cc")
    build = example("controller_in_c").build_controller
    outcome = build("CartPole-v1", tmp_path, played=3, max_parameters=6, episodes=100)
    assert outcome.n_parameters <= 6
    assert outcome.returns.size == 3
    assert outcome.returns.min() > 50  # a random policy falls after about 20 steps
    assert outcome.table_bytes < 100 < outcome.code_bytes
    assert outcome.nanoseconds > 0


@pytest.mark.filterwarnings("ignore:builtin type:DeprecationWarning")  # Box2D's own, on import
def test_the_lunar_lander_in_c_compiles_without_a_warning_and_lands(tmp_path: Path) -> None:
    exports.tool("cc")
    built = example("controller_in_c")
    assert {"-Wall", "-Wextra", "-Werror"} <= set(built.COMPILE)
    source = ROOT / "examples" / "lunarlander_c" / "controller.c"
    assert re.search(r"^ \* 44 parameters", source.with_suffix(".h").read_text(), re.M)
    controller = built.Controller(source, tmp_path / "controller.so")
    returns, _ = built.play(controller, "LunarLander-v3", 10)
    assert returns.mean() > 200
