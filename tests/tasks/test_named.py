"""The names of MuJoCo's inputs and outputs are those of Gymnasium's own documentation."""

import re
from pathlib import Path

import gymnasium
import pytest

from smgrnn.tasks.named import NAMED

WORDS = {
    "angle": "ang",
    "speed": "velocity",
    "height": "z-coordinate",
    "x": "x-coordinate",
    "2": "two",
}
MUJOCO = [task for task in NAMED if task.endswith("-v5")]


@pytest.mark.parametrize("task", MUJOCO)
def test_each_name_is_in_its_row_of_the_documentation(task: str) -> None:
    """The file is read, not imported, which would need MuJoCo."""
    module = str(gymnasium.spec(task).entry_point).partition(":")[0]
    path = Path(gymnasium.__file__).parents[1] / f"{module.replace('.', '/')}.py"
    rows = re.findall(r"^ *\| (\d+) +\|(.*)", path.read_text(encoding="utf-8"), re.M)
    (first, second) = (place for place, (number, _) in enumerate(rows) if number == "0")
    inputs, outputs = NAMED[task]
    assert (second - first, len(rows) - second) == (len(outputs), len(inputs))
    for name, (_, row) in zip((*outputs, *inputs), rows, strict=True):
        for word in name.replace("1", "first").split():
            wanted = WORDS.get(word, word)
            assert wanted in row.lower() or word in ("of", "in"), (name, row)
