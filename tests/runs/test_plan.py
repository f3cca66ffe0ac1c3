"""A plan holds what is trained: every student on every kind of task, and what is refused."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from smgrnn.engine.handle import held_by, whole
from smgrnn.plasticity.numbers import NEW_WEIGHTS, SCALES
from smgrnn.plasticity.rule import NO_PARTS

from smgrnn.config import (
    DEMANDS,
    LearningConfig,
    NetworkConfig,
    PlasticityConfig,
    Preset,
    RunConfig,
    Student,
)
from smgrnn.engine import Learner
from smgrnn.engine.state import EngineSettings, LearnerState
from smgrnn.errors import ConfigError
from smgrnn.experts import TeacherId, find_teacher
from smgrnn.graph.activation import ACTIVATIONS
from smgrnn.graph.numbers import NetworkNumbers
from smgrnn.kernels import lean
from smgrnn.learning import LEARNING
from smgrnn.learning.numbers import LOSSES, OPTIMIZERS, RATES, LearningNumbers
from smgrnn.rules import GROWTH, PRUNING
from smgrnn.rules.size import SIZE
from smgrnn.runs import Record
from smgrnn.runs.plan import Plan, plan_run
from smgrnn.runs.run import new_run
from smgrnn.runs.students import STUDENTS, new_learner
from smgrnn.tasks import Task, find_task
from support.flat import learning as learning_config
from support.flat import rules
from support.runs import teacher

TASKS = ("CartPole-v1", "Acrobot-v1", "LunarLander-v3", "Pendulum-v1", "xor", "choices.npz")
"""Compiled, in Gymnasium, with continuous actions, with examples."""
FUNCTION = TeacherId(kind="function", name="my_module:expert", digest="")
FILE = TeacherId(kind="file", name="/expert.safetensors", digest="")
every_task = pytest.mark.parametrize("task", TASKS)
every_student = pytest.mark.parametrize("student", DEMANDS)


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Task]:
    path = tmp_path_factory.mktemp("recording") / "choices.npz"
    np.savez(path, observations=np.eye(12), actions=np.arange(12) % 3)
    return {name: find_task(path if name == path.name else name) for name in TASKS}


def planned(task: Task, teacher: TeacherId = FILE, **settings: Any) -> Plan:
    return plan_run(RunConfig.for_task(task.id, **settings), task, teacher)


def test_a_student_is_named_once_everywhere() -> None:
    assert list(get_args(Student)) == list(DEMANDS) == list(STUDENTS)


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
    assert (rules.growth, rules.pruning, rules.orphan_removal) == {
        "smgrnn": ("relay", "weak", True),
        "growth-only": ("relay", "none", False),
        "mlp-pruned": ("none", "contribution", True),
    }.get(student, ("none", "none", False))
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
    assert growing == replace(full, pruning="none", orphan_removal=False)


@pytest.mark.parametrize(
    ("optimizer", "momentum", "decay"),
    [("adam", 0.0, 0.0), ("adamw", 0.0, 0.01), ("sgd", 0.9, 0.0), ("rmsprop", 0.0, 0.0)],
)
def test_what_an_optimizer_does_by_default_is_in_the_plan(
    tasks: dict[str, Task], optimizer: str, momentum: float, decay: float
) -> None:
    learning = planned(tasks["CartPole-v1"], learning={"optimizer": optimizer}).learning
    assert (learning.momentum, learning.weight_decay) == (momentum, decay)
    given = {"optimizer": "sgd", "momentum": 0.5, "weight_decay": 0.1}
    learning = planned(tasks["CartPole-v1"], learning=given).learning
    assert (learning.momentum, learning.weight_decay) == (0.5, 0.1)
    assert type(learning) is LearningConfig


def test_the_most_parameters_are_the_most_edges(tasks: dict[str, Task]) -> None:
    task = tasks["CartPole-v1"]
    assert planned(task, parameters=50).plasticity.max_edges == 50
    few = planned(task, parameters=50, plasticity={"max_edges": 20})
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
    return whole(held_by(handle).settings)


IN_THE_GRAPH = ("n_hidden", "density", "weight_std")
"""Settings of a network that are gone once its first graph is drawn."""


def settings_of_parts(plan: Plan) -> dict[str, dict[str, Any]]:
    """Return every setting of a plan that the engine needs, by its part."""
    network = plan.network.to_dict()
    return {
        "network": {name: network[name] for name in network if name not in IN_THE_GRAPH},
        "learning": plan.learning.to_dict(),
        "plasticity": plan.plasticity.to_dict(),
    }


def read_back(learner: Learner) -> dict[str, dict[str, Any]]:
    """Return what the kernels of a learner are given, in the words of settings."""
    given, state = settings_behind(learner._handle), learner._state
    return {
        "network": network_read_back(given.network),
        "learning": learning_read_back(given.learning),
        "plasticity": plasticity_read_back(given, state),
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
    named = {rule.address: name for name, rule in LEARNING.items()}
    names = {
        "rule": named[given.credit],
        "loss": LOSSES[given.loss],
        "optimizer": OPTIMIZERS[given.optimizer],
        "schedule": RATES[given.schedule],
        "bias_correction": "edge" if given.n_moments == 4 else "shared",
    }
    own = {"credit", "n_moments", "forgets"}
    return {name: value for name, value in given._asdict().items() if name not in own} | names


def plasticity_read_back(given: EngineSettings, state: LearnerState) -> dict[str, Any]:
    numbers, rules = given.plasticity.numbers._asdict(), given.plasticity
    growth, pruning = (
        {NO_PARTS: "none"} | {rule.parts: name for name, rule in table.items()}
        for table in (GROWTH, PRUNING)
    )
    is_full = numbers.pop("min_count") > 1
    most = numbers["max_relays"]
    return numbers | {
        "growth": growth[rules.growth],
        "pruning": pruning[rules.pruning],
        "scale": SCALES[numbers["scale"]],
        "new_weights": NEW_WEIGHTS[numbers["new_weights"]],
        "max_relays": None if most == numbers["max_nodes"] else most,
        "interval": given.interval or "episode",
        "least_updates": given.least_updates,
        "size": int(state.noticed.aim[SIZE]) or None,
        "window": state.history.window,
        "full_window": is_full,
        "history_on_edit": "keep" if given.keeps_history else "reset",
        "optimizer_on_edit": "keep" if given.keeps_optimizer else "reset",
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
    "rule": "hebbian",
    "optimizer": "adamw",
    "schedule": "falling",
    "bias_correction": "edge",
    "growth": "split",
    "pruning": "random",
    "scale": "weight",
    "new_weights": "sign",
    "interval": 7,
    "history_on_edit": "reset",
    "optimizer_on_edit": "reset",
    "activation": "relu",
    "output_activation": "identity",
    "max_relays": 3,
    "size": 9,
    "momentum": 0.5,
    "weight_decay": 0.25,
    "loss": "one_hot",
    "readout": "sum",
}
"""Another value for each setting that is no plain number."""
REFUSED_ALONE = {"state_dim": 2}
"""What the compiled engine does not offer."""


@pytest.mark.parametrize(
    ("part", "name"),
    [
        (part, entry.name)
        for part, kind in (
            ("network", NetworkConfig),
            ("learning", LearningConfig),
            ("plasticity", PlasticityConfig),
        )
        for entry in fields(kind)
        if entry.name not in REFUSED_ALONE
    ],
)
def test_every_setting_reaches_the_kernels_when_it_is_changed(part: str, name: str) -> None:
    """A setting that is recorded and does nothing looks as good as any."""
    network = NetworkConfig(n_inputs=3, n_outputs=2, n_hidden=2, iterations=2)
    parts: dict[str, Any] = {
        "network": network,
        "learning": learning_config().resolved(),
        "plasticity": rules(),
    }
    before = getattr(parts[part], name)
    if isinstance(before, bool):
        other: Any = not before
    elif name in OTHER:
        other = OTHER[name]
    elif isinstance(before, int):
        other = before + 1
    else:
        other = before / 2 if before else 0.5
    assert other != before
    usual = Learner(parts["network"], parts["learning"], parts["plasticity"])
    parts[part] = replace(parts[part], **{name: other})
    learner = Learner(parts["network"], parts["learning"], parts["plasticity"])
    if name in IN_THE_GRAPH:
        assert learner.graph != usual.graph
    else:
        assert read_back(learner)[part][name] == other


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

REFUSED: list[tuple[str, dict[str, Any], str]] = [
    (
        "CartPole-v1",
        {"preset": "frugal", "plasticity": {"window": 50}},
        "--plasticity.window 50 says nothing to the rules 'frugal' (growth) and 'contribution' "
        "(pruning): leave it out.",
    ),
    (
        "CartPole-v1",
        {"plasticity": {"n_candidates": 8}},
        "--plasticity.n_candidates 8 says nothing to the rules 'relay' (growth) and 'weak' "
        "(pruning): leave it out.",
    ),
    (
        "CartPole-v1",
        {"student": "static", "plasticity": {"window": 50}},
        "--plasticity.window 50 says nothing to a network that stays as it is: leave it out.",
    ),
    (
        "CartPole-v1",
        {"student": "mlp-100", "plasticity": {"size": 50}},
        "--plasticity.size 50 says nothing to a network that stays as it is: leave it out.",
    ),
    (
        "CartPole-v1",
        {"preset": "frugal", "plasticity": {"interval": 50, "least_updates": 7}},
        "--plasticity.least_updates 7 says nothing to calls every 50 updates: leave it out.",
    ),
    (
        "CartPole-v1",
        {"bar": 400.0},
        "--bar 400.0 says nothing to rules that follow no size: leave it out.",
    ),
    (
        "CartPole-v1",
        {"preset": "frugal", "keep": 0.9, "bar": 400.0},
        "--keep sets the bar itself: leave --bar 400.0 out.",
    ),
    (
        "CartPole-v1",
        {"preset": "frugal", "parameters": 8, "plasticity": {"size": 20}},
        "--plasticity.size 20 is more than --parameters 8 allows: leave one out.",
    ),
    (
        "CartPole-v1",
        {"preset": "frugal", "student": "growth-only", "parameters": 3},
        "The network starts with 10 edges, more than --parameters 3: lower the density.",
    ),
    (
        "CartPole-v1",
        {"learning": {"optimizer": "sgd", "epsilon": 0.1}},
        "--learning.epsilon 0.1 says nothing to the optimizer sgd: leave it out, or choose adam or "
        "adamw or rmsprop.",
    ),
    (
        "CartPole-v1",
        {"learning": {"averaging": 0.01}},
        "--learning.averaging 0.01 says nothing to the final student: leave it out, or use "
        "--handover best.",
    ),
    (
        "xor",
        {"carry_state": True},
        "--carry-state contradicts the task xor, whose examples come in no order: it must be "
        "--no-carry-state.",
    ),
    (
        "CartPole-v1",
        {"plasticity": {"growth": "relai"}},
        "There is no growth rule 'relai'. Did you mean 'relay'?",
    ),
    (
        "CartPole-v1",
        {"learning": {"rule": "backprob"}},
        "There is no learning rule 'backprob'. Did you mean 'backprop'?",
    ),
    (
        "CartPole-v1",
        {"student": "mlp-100", "learning": {"through_time": 4}},
        "learning.through_time 4 needs node states that are carried from call to call, and "
        "carry_state is off: turn that on (--carry-state), or leave through_time at 0.",
    ),
    (
        "CartPole-v1",
        {"learning": {"rule": "feedback", "through_time": 4}},
        "learning.through_time 4 is of backpropagation, and the learning rule is 'feedback': it "
        "must be 0.",
    ),
    (
        "CartPole-v1",
        {"learning": {"through_time": 10**7}},
        "learning.through_time 10000000 takes 8.94e+03 GB for a network of up to 10000 nodes and "
        "100000 edges, and may take 2: lower it, or max_nodes and max_edges.",
    ),
    (
        "CartPole-v1",
        {"learning": {"trace_decay": 0.9}},
        "--learning.trace_decay 0.9 says nothing to the learning rule backprop, which keeps no "
        "traces: leave it out.",
    ),
    (
        "CartPole-v1",
        {"student": "mlp-100", "iterations": 3},
        "--iterations 3 contradicts the student mlp-100: it must be 2.",
    ),
    (
        "CartPole-v1",
        {"student": "mlp-200", "carry_state": True},
        "--carry-state True contradicts the student mlp-200: it must be False.",
    ),
    (
        "CartPole-v1",
        {"student": "mlp-100", "n_hidden": 8},
        "--n-hidden 8 contradicts the student mlp-100: it must be 0.",
    ),
    (
        "CartPole-v1",
        {"student": "mlp-100", "plasticity": {"window": 50}},
        "--plasticity.window 50 contradicts the student mlp-100: it must be 100.",
    ),
    (
        "CartPole-v1",
        {"student": "static", "plasticity": {"growth": "relay"}},
        "--plasticity.growth relay contradicts the student static: it must be none.",
    ),
    (
        "CartPole-v1",
        {"student": "growth-only", "plasticity": rules()},
        "--plasticity.pruning weak contradicts the student growth-only: it must be none.",
    ),
    (
        "CartPole-v1",
        {"budget": 80},
        "--budget measures an MLP, and the student smgrnn is none: leave it out.",
    ),
    (
        "Pendulum-v1",
        {"learning": {"loss": "cross_entropy"}},
        "--learning.loss cross_entropy contradicts the task Pendulum-v1, whose actions are "
        "continuous: it must be mse.",
    ),
    (
        "CartPole-v1",
        {"learning": {"loss": "mse"}},
        "--learning.loss mse contradicts the task CartPole-v1, whose actions are choices: it must "
        "be cross_entropy or one_hot or plus_minus.",
    ),
    (
        "xor",
        {"readout": "sum"},
        "--readout sum contradicts the task xor, whose actions are continuous: it must be state.",
    ),
    (
        "choices.npz",
        {"carry_state": True},
        "--carry-state contradicts the task choices.npz, whose examples come in no order: "
        "it must be --no-carry-state.",
    ),
    (
        "Pendulum-v1",
        {"stop_after": 5},
        "--stop-after 5 contradicts the task Pendulum-v1, which has no threshold to reach: it must "
        "be 0.",
    ),
    (
        "LunarLander-v3",
        {"env_backend": "compiled"},
        "--env-backend must be gymnasium here: the task LunarLander-v3 is not compiled.",
    ),
    (
        "CartPole-v1",
        {"env_backend": "compiled", "normalise": True},
        "--env-backend must be gymnasium here: its observations are normalised.",
    ),
    (
        "xor",
        {"env_backend": "gymnasium"},
        "xor is learned from examples and has no environment: leave --env-backend out.",
    ),
    (
        "CartPole-v1",
        {"learning": {"momentum": 0.5}},
        "--learning.momentum 0.5 says nothing to the optimizer adam: leave it out, or choose sgd "
        "or rmsprop.",
    ),
    (
        "CartPole-v1",
        {"learning": {"optimizer": "sgd", "beta1": 0.5}},
        "--learning.beta1 0.5 says nothing to the optimizer sgd: leave it out, or choose adam or "
        "adamw.",
    ),
    (
        "CartPole-v1",
        {"parameters": 3},
        "The network starts with 6 edges, more than --parameters 3: lower the density.",
    ),
    (
        "CartPole-v1",
        {"student": "mlp-100", "parameters": 30},
        "The network starts with 93 edges, more than --parameters 30: lower the budget.",
    ),
]


@pytest.mark.parametrize(("task", "settings", "sentence"), REFUSED)
def test_a_setting_that_student_or_task_contradicts_is_refused(
    tasks: dict[str, Task], task: str, settings: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        planned(tasks[task], **settings)
    assert str(caught.value) == sentence


def test_a_function_is_no_compiled_code(tasks: dict[str, Task]) -> None:
    with pytest.raises(ConfigError, match="must be gymnasium here: its expert is a function"):
        planned(tasks["CartPole-v1"], teacher=FUNCTION, env_backend="compiled")


@pytest.mark.parametrize("student", [name for name in DEMANDS if DEMANDS[name]])
def test_every_setting_that_makes_a_student_is_refused_otherwise(
    tasks: dict[str, Task], student: str
) -> None:
    config, task = RunConfig.for_task("CartPole-v1", student=student), tasks["CartPole-v1"]
    for place, wanted in DEMANDS[student].items():
        part, _, name = place.rpartition(".")
        changed = OTHERS.get(name, 7 if not isinstance(wanted, bool) else not wanted)
        changes = {part: {name: changed}} if part else {name: changed}
        with pytest.raises(ConfigError, match=f"contradicts the student {student}: it must be"):
            plan_run(config.with_changes(**changes), task, FILE)


OTHERS: dict[str, Any] = {
    "dense_until": 0.9,
    "scale": "weight",
    "new_weights": "sign",
    "history_on_edit": "reset",
    "optimizer_on_edit": "reset",
    "growth": "relay",
    "pruning": "weak",
    "output_activation": "tanh",
    "density": 0.5,
    "prune_fraction": 0.5,
    "explore_probability": 0.5,
    "explore_ratio": 0.5,
}
"""Other values, of settings that 7 is none of."""


def test_the_same_settings_give_the_same_plan_and_its_key_depends_on_the_content(
    tmp_path: Path,
) -> None:
    task = find_task("CartPole-v1")
    here, there = (Path(teacher(folder, "CartPole-v1")) for folder in _two(tmp_path))
    plans = [
        plan_run(RunConfig.for_task(task.id), task, find_teacher(path, task)[0])
        for path in (here, there)
    ]
    assert plans[0] != plans[1]  # another path
    assert plans[0].key() == plans[1].key()


def _two(folder: Path) -> list[Path]:
    found = [folder / "here", folder / "there"]
    for each in found:
        each.mkdir()
    return found
