"""Bare defaults learn four small problems: the benchmark scores ten seeds, these tests one."""

import importlib.util
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[1] / "benchmarks" / "bare_defaults.py"
spec = importlib.util.spec_from_file_location("bare_defaults", BENCHMARK)
assert spec is not None
assert spec.loader is not None
bare = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bare)


@pytest.mark.parametrize("engine", bare.ENGINES)
@pytest.mark.parametrize("name", bare.PROBLEMS)
def test_bare_defaults_learn(name: str, engine: str) -> None:
    problem = bare.PROBLEMS[name]
    score, graph = bare.ENGINES[engine](problem, 0)
    assert score >= problem.enough
    assert 0 < graph.n_hidden < 100
