"""A controller as a library for Arduino: the C, and a sketch that calls it."""

from smgrnn import __version__
from smgrnn.errors import plain
from smgrnn.export.c import c_name
from smgrnn.policy import Policy

PROPERTIES = """\
name={name}
version=1.0.0
author=smgrnn {version}
maintainer=smgrnn
sentence=A neural controller for {task}.
paragraph=Written by smgrnn {version}.
category=Data Processing
url=
architectures=*
includes={file}.h
"""
SKETCH = """\
#include <{file}.h>

{name}_state state;

void setup() {{
  Serial.begin(115200);
  {name}_reset(&state);
}}

void loop() {{
  {value} observation[{upper}_OBSERVATIONS] = {{0}}; // fill in what your sensors measure
{step}
  delay(20);
}}
"""
CHOICE = """\
  int action = {name}_step(&state, observation);
  Serial.println(action);"""
VECTOR = """\
  {value} action[{upper}_ACTIONS];
  {name}_step(&state, observation, action);
  Serial.println(action[0]);"""


def arduino_library(policy: Policy, stem: str, sources: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files of the library by their paths."""
    name, program = c_name(stem), getattr(policy, "program", None)
    value = "float" if program is None else "int16_t"
    words = {"name": name, "upper": name.upper(), "value": value, "file": stem}
    step = (CHOICE if policy.task.is_discrete else VECTOR).format(**words)
    properties = PROPERTIES.format(
        name=name, file=stem, version=__version__, task=plain(policy.task.id)
    )
    return {
        "library.properties": properties.encode(),
        **{f"src/{file}": text for file, text in sources.items()},
        f"examples/{name}/{name}.ino": SKETCH.format(step=step, **words).encode(),
    }
