"""A plan holds what is trained: every student on every kind of task, and what is refused."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from smgrnn.config import (
    LearningConfig,
    NetworkConfig,
    PlasticityConfig,
    Preset,
    RunConfig,
    Student,
)
from smgrnn.engine import Learner
from smgrnn.engine.state import held_by
from smgrnn.errors import ConfigError
from smgrnn.experts import TeacherId, find_teacher
from smgrnn.graph.settings import ACTIVATIONS, NetworkNumbers
from smgrnn.kernels import lean
from smgrnn.learning import LEARNING, OPTIMIZERS
from smgrnn.learning.settings import LOSSES, LearningNumbers
from smgrnn.rules import Relay
from smgrnn.runs import Record
from smgrnn.runs.distillation import STUDENTS, new_learner
from smgrnn.runs.plan import Plan, plan_run
from smgrnn.runs.run import new_run
from smgrnn.tasks import Task, find_task
from support.runs import nested, teacher

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
    return plan_run(RunConfig.for_task(task.id, **nested(settings)), task, teacher)


def test_a_student_is_named_once_everywhere() -> None:
    assert list(get_args(Student)) == list(STUDENTS)


@every_task
@every_student
def test_the_network_fits_the_task(tasks: dict[str, Task], task: str, student: str) -> None:
    found = tasks[task]
    budget: dict[str, Any] = {"budget": 60} if student.startswith("mlp") else {}
    plan = planned(found, student=student, **budget)
    has_bias = student.startswith("mlp") or found.is_supervised
    assert plan.network.n_inputs == found.n_inputs + has_bias
    assert plan.network.n_outputs == found.n_outputs
    assert plan.network.readout == ("sum" if found.is_discrete else "state")
    assert plan.learning.loss == ("cross_entropy" if found.is_discrete else "mse")
    assert (plan.first_graph == "layered") == student.startswith("mlp")
    graph = plan.make_graph()
    assert (graph.n_inputs, graph.n_hidden) == (plan.network.n_inputs, plan.network.n_hidden)
    kinds = {"CartPole-v1": "compiled", "Acrobot-v1": "compiled"}
    usual = "examples" if found.is_supervised else "gymnasium"
    assert plan.episodes.backend == kinds.get(task, usual)
    assert Plan.from_dict(plan.to_dict()) == plan


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
    widths = {"mlp-100": 13, "mlp-200": 26, "mlp-pruned": 13}
    assert network.n_hidden == widths.get(student, 0)


def test_the_rules_of_the_ablations_keep_all_their_other_numbers(tasks: dict[str, Task]) -> None:
    numbers = {"window": 7, "interval": 3, "max_relays": 5}
    full, growing = (
        planned(tasks["CartPole-v1"], student=student, plasticity=numbers).plasticity
        for student in ("smgrnn", "growth-only")
    )
    assert growing == replace(full, pruning=None, orphan_removal=False)


def test_a_plan_keeps_what_was_asked_for_beside_what_follows_from_it(
    tasks: dict[str, Task],
) -> None:
    plan = planned(tasks["CartPole-v1"], parameters=50, plasticity={"max_relays": 2})
    assert plan.asked is not None
    assert (plan.asked.learning.loss, plan.learning.loss) == (None, "cross_entropy")
    assert (plan.asked.plasticity.max_edges, plan.plasticity.max_edges) == (100_000, 50)
    assert plan_run(plan.asked, tasks["CartPole-v1"], FILE) == plan
    few = planned(tasks["CartPole-v1"], parameters=50, plasticity={"max_edges": 20})
    assert few.plasticity.max_edges == 20


@pytest.mark.parametrize("settings", [{"normalise": True}, {"env_backend": "gymnasium"}])
def test_a_compiled_task_runs_in_gymnasium_where_it_must(
    tasks: dict[str, Task], settings: dict[str, Any]
) -> None:
    task = tasks["CartPole-v1"]
    assert planned(task, **settings).episodes.backend == "gymnasium"
    assert planned(task, teacher=FUNCTION).episodes.backend == "gymnasium"


# --- the engine gets the plan --------------------------------------------------------------------


@lean
def settings_behind(handle: Any) -> Any:
    settings = held_by(handle).settings
    return settings.network, settings.learning


IN_THE_GRAPH = ("n_hidden", "density", "weight_std")
"""Settings of a network that are gone once its first graph is drawn."""


def settings_of_parts(plan: Plan) -> dict[str, Any]:
    """Return every setting of a plan that the engine needs, by its part."""
    network = plan.network.to_dict()
    return {
        "network": {name: network[name] for name in network if name not in IN_THE_GRAPH},
        "learning": plan.learning.to_dict(),
        "plasticity": plan.plasticity,
        "size": plan.plasticity.size,
        "window": plan.plasticity.window,
    }


def read_back(learner: Learner) -> dict[str, Any]:
    """Return what the kernels and the module of a learner are given, in the words of settings."""
    network, learning = settings_behind(learner._engine.handle)
    learner.progress = 1.0
    schedule = "falling" if learner._state.rate[0] < 1.0 else "constant"
    learner.progress = None
    return {
        "network": network_read_back(network),
        "learning": learning_read_back(learning) | {"schedule": schedule},
        "plasticity": learner._module.config,
        "size": learner.size,
        "window": learner._state.watched.history.window,
    }


def network_read_back(given: NetworkNumbers) -> dict[str, Any]:
    return {
        "n_inputs": given.n_inputs,
        "n_outputs": given.n_outputs,
        "iterations": given.iterations,
        "activation": ACTIVATIONS[given.activation],
        "output_activation": ACTIVATIONS[given.output_activation],
        "readout": "sum" if given.reads_sums else "state",
        "carry_state": bool(given.carries_state),
        "state_dim": 1,  # the only one there is in this engine
    }


def learning_read_back(given: LearningNumbers) -> dict[str, Any]:
    optimizer, rule = (
        list(OPTIMIZERS.values())[given.optimizer],
        list(LEARNING.values())[given.credit],
    )
    numbers = given._asdict() | {"bias_correction": "edge" if given.n_moments == 4 else "shared"}
    return {
        "rule": rule(**{entry.name: numbers[entry.name] for entry in fields(rule)}).to_dict(),
        "optimizer": optimizer(
            **{entry.name: numbers[entry.name] for entry in fields(optimizer)}
        ).to_dict(),
        "loss": LOSSES[given.loss],
        **{name: numbers[name] for name in ("learning_rate", "averaging", "through_time")},
    }


@every_task
@every_student
@pytest.mark.parametrize("preset", get_args(Preset))
def test_what_reaches_the_kernels_is_the_plan(
    tasks: dict[str, Task], task: str, student: str, preset: str
) -> None:
    """Rules, loss, iterations and outputs were once changed after the settings were recorded."""
    settings: dict[str, Any] = {"budget": 60} if student.startswith("mlp") else {}
    plan = planned(tasks[task], student=student, preset=preset, parameters=200, **settings)
    learner = new_learner(plan)
    assert read_back(learner) == settings_of_parts(plan)
    assert learner._state.trace.shape[0] == plan.network.iterations + 1
    assert learner.graph == plan.make_graph()


OTHER = {
    "schedule": "falling",
    "bias_correction": "edge",
    "activation": "relu",
    "output_activation": "identity",
    "loss": "one_hot",
    "readout": "sum",
    "weight_std": 0.5,
}
"""Another value for each setting that is no plain number."""
REFUSED_ALONE = {"state_dim"}
"""What the compiled engine does not offer."""


def other_value(name: str, before: Any) -> Any:
    if isinstance(before, bool):
        return not before
    if name in OTHER:
        return OTHER[name]
    return before + 1 if isinstance(before, int) else before / 2 or 0.5


@pytest.mark.parametrize(
    "name", [entry.name for entry in fields(NetworkConfig) if entry.name not in REFUSED_ALONE]
)
def test_every_setting_of_a_network_reaches_the_kernels(name: str) -> None:
    """A setting that is recorded and does nothing looks as good as any."""
    usual = NetworkConfig(n_inputs=3, n_outputs=2, n_hidden=2, iterations=2)
    other = other_value(name, getattr(usual, name))
    learner = Learner(replace(usual, **{name: other}))
    if name in IN_THE_GRAPH:
        assert learner.graph != Learner(usual).graph
    else:
        assert read_back(learner)["network"][name] == other


@pytest.mark.parametrize(
    ("choice", "kind", "name"),
    [
        (choice, kind, entry.name)
        for choice, table in (("optimizer", OPTIMIZERS), ("rule", LEARNING))
        for kind in table
        for entry in fields(table[kind])
    ]
    + [(None, None, entry.name) for entry in fields(LearningConfig)],
)
def test_every_setting_of_learning_reaches_the_kernels(
    choice: str | None, kind: str | None, name: str
) -> None:
    network = NetworkConfig(n_inputs=3, n_outputs=2, n_hidden=2, iterations=2)
    learning = LearningConfig() if choice is None else LearningConfig().changed(**{choice: kind})
    if name in ("optimizer", "rule"):
        changes: dict[str, Any] = {name: {"optimizer": "rmsprop", "rule": "hebbian"}[name]}
    else:
        value = other_value(name, getattr(getattr(learning, choice) if choice else learning, name))
        changes = {choice: {name: value}} if choice else {name: value}
    changed = learning.changed(**changes)
    assert changed != learning
    assert read_back(Learner(network, changed))["learning"] == changed.to_dict()


@pytest.mark.parametrize("backend", ["compiled", "gymnasium"])
def test_a_run_trains_with_what_its_record_says(tmp_path: Path, backend: Any) -> None:
    expert = teacher(tmp_path, "CartPole-v1")
    config = RunConfig.for_task("CartPole-v1", expert=expert, episodes=2, env_backend=backend)
    run = new_run("CartPole-v1", config, tmp_path / "run")
    run.train()
    plan = Record.load(tmp_path / "run").plan
    assert isinstance(plan, Plan)
    assert read_back(run._distillation.learner) == read_back(new_learner(plan))


# --- what is refused -----------------------------------------------------------------------------

CARTPOLE = "CartPole-v1"
KEEP: dict[str, Any] = {"preset": "frugal", "keep": 0.9}
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    (CARTPOLE, {"bar": 400.0}, "bar needs rules that follow a size, such as those of the"),
    (CARTPOLE, {"preset": "frugal", "keep": 0.9, "bar": 400.0}, "--keep sets the bar itself"),
    (
        CARTPOLE,
        {"preset": "frugal", "parameters": 8, "plasticity": {"size": 20}},
        "plasticity.size 20 is more than --parameters 8 allows: leave one out.",
    ),
    (CARTPOLE, {"plasticity": {"size": 50}}, "A `size` needs rules that follow one"),
    (
        CARTPOLE,
        {"preset": "frugal", "student": "growth-only", "parameters": 3},
        "The network starts with 10 edges, more than --parameters 3: lower the density.",
    ),
    (
        CARTPOLE,
        {"parameters": 3},
        "The network starts with 6 edges, more than --parameters 3: lower the density.",
    ),
    (
        CARTPOLE,
        {"student": "mlp-100", "parameters": 30},
        "The network starts with 93 edges, more than --parameters 30: lower the budget.",
    ),
    (
        CARTPOLE,
        {"student": "mlp-100", "learning": {"through_time": 4}},
        "learning.through_time 4 needs node states that are carried from call to call",
    ),
    (
        CARTPOLE,
        {"learning": {"rule": "feedback", "through_time": 4}},
        "learning.through_time 4 is of backpropagation, and the learning rule is 'feedback'",
    ),
    (
        CARTPOLE,
        {"learning": {"through_time": 10**7}},
        "learning.through_time 10000000 takes 8.94e+03 GB for a network of up to 10000 nodes",
    ),
    (
        CARTPOLE,
        {"student": "mlp-100", "iterations": 3},
        "iterations 3 contradicts the student mlp-100: it must be 2.",
    ),
    (
        CARTPOLE,
        {"student": "mlp-200", "carry_state": True},
        "carry_state True contradicts the student mlp-200: it must be False.",
    ),
    (CARTPOLE, {"student": "mlp-100", "n_hidden": 8}, "n_hidden 8 contradicts the student mlp-100"),
    *(
        (CARTPOLE, {"student": student, "plasticity": rules}, f"contradicts the student {student}.")
        for student, rules in {
            "static": {"growth": "relay"},
            "growth-only": PlasticityConfig(),
            "mlp-100": {"pruning": "weak"},
            "mlp-pruned": {"growth": "relay"},
        }.items()
    ),
    (CARTPOLE, {"budget": 80}, "budget measures an MLP, and smgrnn is not one: leave it out."),
    (
        "Pendulum-v1",
        {"learning": {"loss": "cross_entropy"}},
        "learning.loss must be mse: the actions of Pendulum-v1 are continuous.",
    ),
    (
        CARTPOLE,
        {"learning": {"loss": "mse"}},
        "learning.loss must be cross_entropy or one_hot or plus_minus",
    ),
    ("xor", {"readout": "sum"}, "readout must be state"),
    ("xor", {"carry_state": True}, "carry_state must be False"),
    ("choices.npz", {"carry_state": True}, "carry_state must be False: the examples of"),
    (
        "Pendulum-v1",
        {"stop_after": 5},
        "stop_after must be 0: Pendulum-v1 has no threshold to reach.",
    ),
    ("LunarLander-v3", {"env_backend": "compiled"}, "the task LunarLander-v3 is not compiled."),
    (
        CARTPOLE,
        {"env_backend": "compiled", "normalise": True},
        "--env-backend must be gymnasium here: its observations are normalised.",
    ),
    (
        CARTPOLE,
        {"env_backend": "compiled", "teacher": FUNCTION},
        "--env-backend must be gymnasium here: its expert is a function.",
    ),
    (CARTPOLE, {**KEEP, "parameters": 6}, "Give --keep or --parameters"),
    (CARTPOLE, {**KEEP, "handover": "final"}, "--keep chooses the network"),
    (CARTPOLE, {"keep": 0.9}, "--keep needs rules that follow a size"),
    ("xor", KEEP, "--keep needs an expert that plays, and xor has none"),
    ("xor", {"env_backend": "gymnasium"}, "xor is learned from examples and has no environment"),
    (CARTPOLE, {"protect": 0.5}, "protect 0.5 has no effect on a run that starts from nothing"),
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
        plans.append(plan_run(RunConfig.for_task(task.id), task, find_teacher(path, task)[0]))
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
