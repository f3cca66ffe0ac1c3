"""`smgrnn list`: the names that the other commands accept, or the runs in a folder."""

from argparse import Namespace
from pathlib import Path
from typing import Any

from smgrnn.commands.options import plugins
from smgrnn.commands.output import Output, aligned
from smgrnn.errors import ConfigError, SmgrnnError
from smgrnn.experts import shipped_experts
from smgrnn.learning import LEARNING
from smgrnn.rules import GROWTH, PRUNING
from smgrnn.runs.distillation import STUDENTS
from smgrnn.runs.folder import RunFolder, runs_in
from smgrnn.storage import is_locked
from smgrnn.tasks.known import KNOWN

NOTE = (
    "Recordings are tasks too, and so is any Gymnasium id with flat observations if you pass an "
    "--expert."
)
HEAD = ("run", "task", "student", "seed", "episodes", "state", "return", "parameters")

OPTIONS = """
[FOLDER]              a folder of runs
"""


def run(args: Namespace, output: Output) -> None:
    """List names, or runs with their progress and their score."""
    if args.folder is None:
        _list_names(output)
        return
    if not args.folder.is_dir():
        raise ConfigError(f"There is no folder {args.folder}.")
    runs = [_facts(path, args.folder) for path in runs_in(args.folder)]
    rows: list[tuple[str, ...]] = [HEAD]
    for facts in runs:
        shown = dict(facts)
        if facts.get("asked") != facts.get("episodes"):
            shown["episodes"] = f"{facts['episodes']} of {facts['asked']}"
        if facts.get("return") is not None:
            shown["return"] = f"{facts['return']:.4g}"
        rows.append(tuple("" if shown.get(name) is None else str(shown[name]) for name in HEAD))
    words = "\n".join(aligned(rows)) if runs else f"There are no runs in {args.folder}."
    output.result(words, runs)


def _facts(path: Path, folder: Path) -> dict[str, Any]:
    name = str(path.relative_to(folder)) if path != folder else path.name
    try:
        record = RunFolder(path).load()
    except SmgrnnError as error:
        return {"run": name, "state": f"cannot be read: {error}"}
    plan, n, held_out = record.plan, record.episodes.n, record.held_out
    state = "finished" if held_out.size else "interrupted"
    is_known = n > 0 and "final" in record.students
    return {
        "run": name,
        "task": plan.task.id,
        "student": plan.student,
        "seed": plan.seed,
        "episodes": n,
        "asked": plan.n_episodes,
        "state": "under way" if is_locked(path) else state,
        "return": float(held_out.mean()) if held_out.size else None,
        "parameters": record.selected.n_parameters if is_known else None,
    }


def _list_names(output: Output) -> None:
    listed: dict[str, dict[str, Any]] = {"tasks": _tasks(), "students": STUDENTS}
    none = {"growth": {"none": "no growth"}, "pruning": {"none": "nothing but orphans"}}
    for kind, table in (("growth", GROWTH), ("pruning", PRUNING), ("learning", LEARNING)):
        rules = {name: rule.summary for name, rule in table.items()}
        listed[f"{kind} rules"] = rules | none.get(kind, {})
    for plugin in plugins():
        listed |= plugin.listed()
    width = max(len(name) for entries in listed.values() for name in entries) + 2
    lines = []
    for title, entries in listed.items():
        lines += [f"{title}:", *(f"  {name:<{width}}{what}" for name, what in entries.items())]
    output.result("\n".join([*lines, NOTE]), listed)


def _tasks() -> dict[str, str]:
    """Return the known tasks, each with a few words on its code and its expert."""
    tasks, records = {}, shipped_experts()
    for id, facts in KNOWN.items():
        place, expert = "Gymnasium" if facts.code is None else "compiled", "no expert"
        if facts.experts:
            score = records[f"{id}-{facts.experts[0]}"]["held_out"]["mean"]
            expert = f"expert {score:.1f}"
        elif facts.rule is not None:
            expert = "its expert is a rule"
        elif facts.examples is not None:
            place = f"{len(facts.examples[0])} examples"
        tasks[id] = f"{place}, {expert}{'; needs memory' if facts.needs_memory else ''}"
        if facts.velocities:
            tasks[f"{id},hide=velocities"] = f"{place}, its expert sees them; needs memory"
        for variant, (mean, _) in facts.teacher_scores.items():
            tasks[f"{id},{variant}"] = f"{place}, expert {mean:.1f}"
    return tasks
