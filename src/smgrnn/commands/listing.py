"""`smgrnn list`: the names that the other commands accept."""

import json

from smgrnn.experiments.registry import EXPERIMENTS, STUDIES
from smgrnn.experts import shipped_experts, shipped_name
from smgrnn.runs.evolution import METHODS
from smgrnn.runs.students import STUDENTS
from smgrnn.tasks.compiled import CODES
from smgrnn.tasks.registry import RECALL, XOR
from smgrnn.tasks.variants import VELOCITIES


def list_command(*, as_json: bool) -> None:
    """List tasks, students, methods and experiments, each with a few words."""
    tasks = {XOR.id: "four examples, no expert"}
    for name, record in shipped_experts().items():
        task, mean = record["task"], record["held_out"]["mean"]
        if name == shipped_name(task):
            tasks[task] = f"{'compiled' if task in CODES else 'Gymnasium'}, expert {mean:.1f}"
            if task in VELOCITIES:
                tasks[f"{task},hide=velocities"] = "compiled, its expert sees them"
    tasks[RECALL.id] = "compiled, a cue to remember; recall,delay=4 for 4 steps"
    experiments = {id: experiment.question for id, experiment in (EXPERIMENTS | STUDIES).items()}
    listed = {
        "tasks": tasks,
        "students": STUDENTS,
        "methods": METHODS,
        "experiments": experiments,
    }
    if as_json:
        print(json.dumps(listed))
        return
    width = max(len(name) for entries in listed.values() for name in entries) + 2
    for title, entries in listed.items():
        print(f"{title}:")
        for name, what in entries.items():
            print(f"  {name:<{width}}{what}")
    print("A Gymnasium id with flat observations is a task too, with an --expert, or a recording.")
