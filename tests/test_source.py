"""The source keeps its measures: functions one can take in, one class to a name, plain words."""

import ast
from collections import Counter
from pathlib import Path

import smgrnn

FILES = sorted(Path(smgrnn.__file__).parent.rglob("*.py"))
NODES = [
    (file.name, node)
    for file in FILES
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
]
FUNCTIONS = [(file, node) for file, node in NODES if isinstance(node, ast.FunctionDef)]
LONGEST, MOST_PARAMETERS = 60, 8
MANY = {("network.py", "__init__")}
"""SMGrNN, whose keywords are settings that the user chooses among."""
RIDDLES = ("What ", "Return what ", "Say ")


def test_functions_are_short() -> None:
    lines = [(file, node.name, (node.end_lineno or 0) - node.lineno) for file, node in FUNCTIONS]
    assert [each for each in lines if each[2] + 1 >= LONGEST] == []


def test_functions_take_few_parameters() -> None:
    many = set()
    for file, node in FUNCTIONS:
        given = node.args
        every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
        names = [each.arg for each in every if each is not None and each.arg not in ("self", "cls")]
        if len(names) > MOST_PARAMETERS:
            many.add((file, node.name))
    assert many == MANY


def test_a_class_has_a_name_of_its_own() -> None:
    counts = Counter(node.name for _, node in NODES if isinstance(node, ast.ClassDef))
    assert [name for name, n in counts.items() if n > 1] == []


def test_descriptions_begin_with_a_subject_or_a_verb() -> None:
    texts = [
        (file, node.value.value)
        for file, node in NODES
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ]
    assert [each for each in texts if str(each[1]).startswith(RIDDLES)] == []
