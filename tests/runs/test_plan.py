"""A plan holds what is trained: every student on every kind of task, and what is refused."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from smgrnn.config import LearningConfig, NetworkConfig, RunConfig, Student
from smgrnn.errors import ConfigError
from smgrnn.experts import TeacherId, find_teacher
from smgrnn.graph import Graph
from smgrnn.learning import LEARNING, OPTIMIZERS
from smgrnn.rules import Relay
from smgrnn.runs.distillation import STUDENTS, new_learner
from smgrnn.runs.plan import Plan, plan_run
from smgrnn.tasks import Task, find_task
from support.flat import learner_of, network_config, plain, table
from support.learners import stream
from support.runs import nested, teacher
from support.training import BUSY

TASKS = ("CartPole-v1", "Acrobot-v1", "LunarLander-v3", "Pendulum-v1", "xor", "choices.npz")
"""Compiled, in Gymnasium, with continuous actions, with examples."""
FUNCTION = TeacherId(kind="function", name="my_module:expert", digest="")
FILE = TeacherId(kind="file", name="/expert.safetensors", digest="")
every_task = pytest.mark.parametrize("task", TASKS)
every_student = pytest.mark.parametrize("student", STUDENTS)


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Task]:
    path = tmp_path_factory.mktemp("recording") / "choices.npz"
    np.savez(path, observations=np.eye(12), actions=np.arange(12) % 3)
    return {name: find_task(path if name == path.name else name) for name in TASKS}


def planned(task: Task, teacher: TeacherId = FILE, **settings: Any) -> Plan:
    return plan_run(
        RunConfig.for_task(task.id, **nested({"preset": "paper", **settings})), task, teacher
    )


def test_a_student_is_named_once_everywhere() -> None:
    assert list(get_args(Student)) == list(STUDENTS)


@every_task
@every_student
def test_the_network_fits_the_task(tasks: dict[str, Task], task: str, student: str) -> None:
    found = tasks[task]
    budget: dict[str, Any] = {"budget": 60} if student.startswith("mlp") else {}
    plan = planned(found, student=student, **budget)
    has_bias = student.startswith("mlp") or found.is_supervised
    assert (plan.network.n_inputs, plan.network.bias) == (found.n_inputs, has_bias)
    assert plan.network.n_outputs == found.n_outputs
    assert plan.network.readout == ("sum" if found.is_discrete else "state")
    assert plan.learning.loss == ("cross_entropy" if found.is_discrete else "mse")
    assert (plan.first_graph == "layered") == student.startswith("mlp")
    graph = plan.make_graph()
    assert graph.n_inputs == plan.network.n_input_nodes
    assert graph.n_hidden == plan.network.n_hidden
    kinds = {"CartPole-v1": "compiled", "Acrobot-v1": "compiled"}
    usual = "examples" if found.is_supervised else "gymnasium"
    assert plan.backend == kinds.get(task, usual)
    assert Plan.from_dict(plan.to_dict()) == plan
    made = new_learner(plan)
    assert (made.config, made.learning, made.plasticity) == (
        *(plan.network, plan.learning, plan.plasticity),
    )
    assert made.graph == graph


@every_student
def test_a_student_is_what_its_name_says(tasks: dict[str, Task], student: str) -> None:
    plan = planned(tasks["CartPole-v1"], student=student)
    network, rules = plan.network, plan.plasticity
    names = [getattr(rule, "name", None) for rule in (rules.growth, rules.pruning)]
    assert (*names, rules.orphan_removal) == {
        "smgrnn": ("relay", "weak", True),
        "growth-only": ("relay", None, False),
        "mlp-pruned": (None, "contribution", True),
    }.get(student, (None, None, False))
    assert (network.iterations, network.output_activation, network.carry_state) == (
        (2, "identity", False) if student.startswith("mlp") else (1, "tanh", True)
    )
    widths = {"mlp-100": 11, "mlp-200": 23, "mlp-pruned": 11}
    assert network.n_hidden == widths.get(student, 0)


def test_a_plan_keeps_what_was_asked_for_beside_what_follows_from_it(
    tasks: dict[str, Task],
) -> None:
    plan = planned(tasks["CartPole-v1"], max_parameters=50, plasticity={"max_relays": 2})
    assert plan.asked is not None
    assert (plan.asked.learning.loss, plan.learning.loss) == (None, "cross_entropy")
    assert (plan.asked.plasticity.max_edges, plan.plasticity.max_edges) == (100_000, 50)
    assert plan_run(plan.asked, tasks["CartPole-v1"], FILE) == plan
    few = planned(tasks["CartPole-v1"], max_parameters=50, plasticity={"max_edges": 20})
    assert few.plasticity.max_edges == 20


def test_a_compiled_task_runs_in_gymnasium_where_it_must(tasks: dict[str, Task]) -> None:
    changes: list[Any] = [{"normalise": True}, {"env_backend": "gymnasium"}, {"teacher": FUNCTION}]
    for each in changes:
        assert planned(tasks["CartPole-v1"], **each).backend == "gymnasium"


OTHER = {
    "schedule": "falling",
    "update": 3,
    "bias_correction": "edge",
    "activation": "relu",
    "output_activation": "identity",
    "loss": "one_hot",
    "readout": "sum",
    "optimizer": "rmsprop",
    "rule": "hebbian",
}
"""Another value for each setting that is no plain number."""
NETWORK = network_config(n_inputs=3, n_outputs=2, n_hidden=2, iterations=2, weight_std=0.5)
SETTINGS: list[tuple[Any, Any]] = [
    (None, entry.name)
    for entry in fields(NetworkConfig)
    if entry.name not in ("n_inputs", "n_outputs", "state_dim")
]
SETTINGS += [({}, entry.name) for entry in fields(LearningConfig) if entry.name != "reduction"]
SETTINGS += [
    ({part: kind}, entry.name)
    for part, table in (("optimizer", OPTIMIZERS), ("rule", LEARNING))
    for kind in table
    for entry in fields(table[kind])
]


def learned(network: NetworkConfig, learning: LearningConfig) -> Graph:
    made = learner_of(network, learning, BUSY)
    made.progress = 0.9
    made.learn_stream(*stream(60))
    return made.averaged_graph


@pytest.mark.parametrize(("choice", "name"), SETTINGS)
def test_every_setting_of_network_and_learning_has_an_effect(choice: Any, name: str) -> None:
    """A setting that is recorded and does nothing looks as good as any."""
    learning = plain().changed(**(choice or {}))
    part = next(iter(choice), None) if choice else None
    owner: Any = NETWORK if choice is None else getattr(learning, part) if part else learning
    before = getattr(owner, name)
    other: Any = OTHER.get(name) or (before + 1 if isinstance(before, int) else before / 2 or 0.5)
    if isinstance(before, bool):
        other = not before
    network = replace(NETWORK, **{name: other}) if choice is None else NETWORK
    changes: Any = {part: {name: other}} if part else {} if choice is None else {name: other}
    assert learned(network, learning.changed(**changes)) != learned(NETWORK, learning)


def test_an_update_takes_the_mean_or_the_sum_of_gradients() -> None:
    mean = plain(update=3, optimizer="sgd")
    assert learned(NETWORK, mean.changed(reduction="sum")) != learned(NETWORK, mean)


# --- what is refused -----------------------------------------------------------------------------

CARTPOLE = "CartPole-v1"
KEEP: dict[str, Any] = {"preset": "frugal", "keep": 0.9}
FRUGAL = {"preset": "frugal"}
MLP, TIME = {"student": "mlp-100"}, {"through_time": 4}
COMPILED = {"env_backend": "compiled"}
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    (CARTPOLE, {"target_return": 400.0}, "target_return needs rules that follow a size"),
    (CARTPOLE, KEEP | {"target_return": 400.0}, "--keep sets target_return"),
    (
        CARTPOLE,
        FRUGAL | {"max_parameters": 8, "plasticity": {"size": 20}},
        "more than --max-parameters 8",
    ),
    (CARTPOLE, {"plasticity": {"size": 50}}, "A `size` needs rules that follow it"),
    (CARTPOLE, {"max_parameters": 3}, "6 edges, more than --max-parameters 3: lower the density"),
    (CARTPOLE, FRUGAL | {"student": "growth-only", "max_parameters": 3}, "starts with 10 edges"),
    (
        CARTPOLE,
        MLP | {"max_parameters": 30},
        "79 edges, more than --max-parameters 30: lower the budget",
    ),
    (CARTPOLE, MLP | {"learning": TIME}, "needs states carried from call to call"),
    (CARTPOLE, {"learning": {"rule": "feedback"} | TIME}, "not of the rule 'feedback'"),
    (CARTPOLE, {"learning": {"through_time": 10**7}}, "would take 9.6 TB"),
    (CARTPOLE, MLP | {"iterations": 3}, "contradicts the student mlp-100: it must be 2."),
    (CARTPOLE, MLP | {"carry_state": True}, "carry_state True contradicts the student mlp-100"),
    *(
        (CARTPOLE, {"student": student, "plasticity": rules}, f"contradicts the student {student}.")
        for student, rules in {
            "static": {"growth": "relay"},
            "growth-only": table(),
            "mlp-100": {"pruning": "weak"},
            "mlp-pruned": {"growth": "relay"},
        }.items()
    ),
    (CARTPOLE, {"student": "neat"}, "neat is evolved, not distilled"),
    (CARTPOLE, {"budget": 80}, "budget measures an MLP"),
    ("Pendulum-v1", {"learning": {"loss": "cross_entropy"}}, "learning.loss must be mse"),
    (CARTPOLE, {"learning": {"loss": "mse"}}, "must be cross_entropy or one_hot or plus_minus"),
    ("xor", {"readout": "sum"}, "readout must be state"),
    ("xor", {"carry_state": True}, "carry_state must be False"),
    ("Pendulum-v1", {"stop_after": 5}, "has no threshold"),
    ("LunarLander-v3", COMPILED, "the task LunarLander-v3 is not compiled."),
    (CARTPOLE, COMPILED | {"normalise": True}, "its observations are normalised."),
    (CARTPOLE, COMPILED | {"teacher": FUNCTION}, "its expert is a function."),
    (CARTPOLE, KEEP | {"max_parameters": 6}, "Give --keep or --max-parameters, not both"),
    (CARTPOLE, KEEP | {"select": "final"}, "--keep selects by return"),
    (CARTPOLE, {"keep": 0.9}, "--keep needs rules that follow a size"),
    ("xor", KEEP, "--keep needs an expert that plays; xor has none"),
    ("xor", {"env_backend": "gymnasium"}, "xor is learned from examples and has no environment"),
    (
        CARTPOLE,
        {"protect": 0.5},
        "protect 0.5 has no effect on a run that starts",
    ),
]


@pytest.mark.parametrize(("task", "settings", "sentence"), REFUSED)
def test_a_setting_that_student_or_task_contradicts_is_refused(
    tasks: dict[str, Task], task: str, settings: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        planned(tasks[task], **settings)
    assert sentence in str(caught.value)


def test_the_same_settings_have_the_same_key_wherever_the_teacher_lies(tmp_path: Path) -> None:
    task, plans = find_task("CartPole-v1"), []
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        path = teacher(tmp_path / name, task.id)
        plans.append(
            plan_run(RunConfig.for_task(task.id, preset="paper"), task, find_teacher(path, task)[0])
        )
    assert plans[0] != plans[1]  # another path
    assert plans[0].key() == plans[1].key()


def test_a_key_depends_on_what_differs_from_the_defaults_alone(tasks: dict[str, Task]) -> None:
    """So a setting that is new, and at its default, changes no key."""
    usual = planned(tasks["CartPole-v1"])
    spelled = planned(tasks["CartPole-v1"], plasticity={"window": 100, "prune_period": 30})
    other = planned(tasks["CartPole-v1"], plasticity={"interval_width": 0.4})
    assert usual.key() == spelled.key() != other.key()
    assert "window" not in usual.key_content()["plasticity"]
    growth = other.key_content()["plasticity"]["growth"]
    assert growth == {"name": "relay", "max_relays": 1, "initial_weight": 0.04} | {
        "interval_width": 0.4
    }
    assert Relay().key_content() == {"name": "relay"}
