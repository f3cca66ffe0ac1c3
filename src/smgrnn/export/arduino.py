"""A controller as a library for Arduino: the C, and a sketch that calls it."""

from smgrnn import __version__
from smgrnn.errors import plain
from smgrnn.export.c import NUMBERS, c_name, template
from smgrnn.export.program import Controller
from smgrnn.export.wiring import facts, network_digest
from smgrnn.text import quantity


def arduino_library(
    controller: Controller, stem: str, sources: dict[str, bytes], *, has_scores: bool = False
) -> dict[str, bytes]:
    """Return the files of the library by their paths."""
    name, program = c_name(stem), controller.program
    upper, (value, total, _) = name.upper(), NUMBERS[program.type]
    reading = "read_sensor(i)" if program.is_float else f"{upper}_INTEGER(read_sensor(i), units[i])"
    units = f"  const float units[] = {upper}_UNITS;\n" * (not program.is_float)
    if program.is_choice:
        step = f"  {total} scores[{upper}_ACTIONS];\n" * has_scores
        step += f"  int action = {name}_step(&state, observation{', scores' * has_scores});\n"
        step += "  Serial.println(action);"
    else:
        step = f"  {value} action[{upper}_ACTIONS];\n  {name}_step(&state, observation, action);\n"
        step += "  Serial.println(action[0]);"
    fill = (
        f"{units}  for (int i = 0; i < {upper}_OBSERVATIONS; i++) {{\n"
        f"    observation[i] = {reading};\n  }}"
    )
    words = {"name": name, "upper": upper, "value": value, "file": stem, "fill": fill, "step": step}
    about = {
        "version": __version__,
        "task": plain(controller.task.id),
        "digest": network_digest(controller),
        "parameters": quantity(int(facts(controller)["n_parameters"]), "parameter"),
        "type": program.type,
    }
    return {
        "library.properties": template("library.properties", **words, **about).encode(),
        **{f"src/{file}": text for file, text in sources.items()},
        f"examples/{name}/{name}.ino": template("sketch.ino", **words).encode(),
    }
