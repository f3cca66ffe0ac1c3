"""The worked example in C does what it says."""

from pathlib import Path

from support import exports
from test_examples import example


def test_the_cartpole_controller_in_c_is_small_and_plays(tmp_path: Path) -> None:
    exports.tool("cc")
    outcome = example("cartpole_controller_in_c").build_controller(tmp_path, 100, played=3)
    assert outcome.returns.size == 3
    assert outcome.returns.min() > 50  # a random policy falls after about 20 steps
    assert outcome.sizes.table_bytes < 4000
    assert outcome.nanoseconds > 0
