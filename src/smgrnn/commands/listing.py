"""`smgrnn list`: the names that the other commands accept, or the runs in a folder."""

from pathlib import Path
from typing import Any

from smgrnn.commands.output import Output
from smgrnn.errors import ConfigError, SmgrnnError
from smgrnn.experts import shipped_experts
from smgrnn.learning import LEARNING
from smgrnn.plugins import plugins
from smgrnn.rules import GROWTH, PRUNING
from smgrnn.runs.distillation import STUDENTS
from smgrnn.runs.folder import RunFolder, runs_in
from smgrnn.storage import is_locked
from smgrnn.tasks.known import KNOWN


def list_command(output: Output) -> None:
    """List tasks, students, methods, rules and experiments, each with a few words."""
    tasks: dict[str, str] = {}
    records = shipped_experts()
    for id, facts in KNOWN.items():
        place = "Gymnasium" if facts.code is None else "compiled"
        if facts.examples is not None:
            tasks[id] = f"{len(facts.examples[0])} examples, no expert"
        elif facts.rule is not None:
            tasks[id] = f"{place}, its expert is a rule"
        elif facts.experts:
            mean = records[f"{id}-{facts.experts[0]}"]["held_out"]["mean"]
            tasks[id] = f"{place}, expert {mean:.1f}"
        else:
            tasks[id] = f"{place}, no expert"
        if facts.needs_memory:
            tasks[id] += "; needs memory"
        if facts.velocities:
            tasks[f"{id},hide=velocities"] = f"{place}, its expert sees them; needs memory"
        for variant, (mean, _) in facts.teacher_scores.items():
            tasks[f"{id},{variant}"] = f"{place}, expert {mean:.1f}"
    none = {"growth": {"none": "no growth"}, "pruning": {"none": "nothing but orphans"}}
    rules = {
        f"{kind} rules": {name: rule.summary for name, rule in table.items()} | none.get(kind, {})
        for kind, table in (("growth", GROWTH), ("pruning", PRUNING), ("learning", LEARNING))
    }
    listed = {
        "tasks": tasks,
        "students": STUDENTS,
        **rules,
    }
    for plugin in plugins():
        listed |= plugin.listed()
    width = max(len(name) for entries in listed.values() for name in entries) + 2
    lines = []
    for title, entries in listed.items():
        lines.append(f"{title}:")
        lines += [f"  {name:<{width}}{what}" for name, what in entries.items()]
    lines.append(
        "A Gymnasium id with flat observations is a task too, with an --expert, or a recording."
    )
    output.result("\n".join(lines), listed)


def list_runs_command(folder: Path, output: Output) -> None:
    """List the runs in a folder: what each is of, how far it came, and how good it is."""
    if not folder.is_dir():
        raise ConfigError(f"There is no folder {folder}.")
    runs = [_facts(path, folder) for path in runs_in(folder)]
    words = _table(runs) if runs else f"There are no runs in {folder}."
    output.result(words, runs)


def _table(runs: list[dict[str, Any]]) -> str:
    """Return the facts on runs as aligned lines."""
    head = ("run", "task", "student", "seed", "episodes", "state", "return", "parameters")
    rows = [head, *(_words(facts, head) for facts in runs)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return "\n".join(lines)


def _facts(path: Path, folder: Path) -> dict[str, Any]:
    name = str(path.relative_to(folder)) if path != folder else path.name
    try:
        record = RunFolder(path).load()
    except SmgrnnError as error:
        return {"run": name, "state": f"cannot be read: {error}"}
    state = "finished" if record.held_out.size else "interrupted"
    plan, n = record.plan, record.episodes.n
    is_known = n > 0 and "final" in record.students
    return {
        "run": name,
        "task": plan.task.id,
        "student": plan.student,
        "seed": plan.seed,
        "episodes": n,
        "asked": plan.n_episodes,
        "state": "under way" if is_locked(path) else state,
        "return": float(record.held_out.mean()) if record.held_out.size else None,
        "parameters": record.handed_over.n_parameters if is_known else None,
    }


def _words(facts: dict[str, Any], head: tuple[str, ...]) -> tuple[str, ...]:
    shown = dict(facts)
    if "asked" in facts and facts["asked"] != facts["episodes"]:
        shown["episodes"] = f"{facts['episodes']} of {facts['asked']}"
    if facts.get("return") is not None:
        shown["return"] = f"{facts['return']:.4g}"
    return tuple("" if shown.get(name) is None else str(shown[name]) for name in head)
