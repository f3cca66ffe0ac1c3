"""Plan: all settings of a run exactly as the engine gets them.

The plan itself is trained, hashed into the key of the store, saved, printed and reported; nothing
rewrites a setting after it.  Settings that cannot apply are refused first, see `refusals`.
"""

from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from smgrnn.config import (
    HandOver,
    LearningConfig,
    LearningSettings,
    Loss,
    Method,
    NetworkConfig,
    NetworkSettings,
    PlasticityConfig,
    Readout,
    RunConfig,
    Student,
)
from smgrnn.errors import ConfigError
from smgrnn.experts import TeacherId
from smgrnn.graph.initial import initial_graph
from smgrnn.graph.mlp import mlp_graph, mlp_width
from smgrnn.graph.state import Graph, check_width
from smgrnn.learning.rules import LEARNING
from smgrnn.learning.through_time import check_window
from smgrnn.machine import check_memory
from smgrnn.plasticity import GROWTH, PRUNING, follows_size
from smgrnn.plasticity.schedule import check_errors
from smgrnn.policy import Policy
from smgrnn.runs.ancestor import Ancestor
from smgrnn.runs.refusals import check_settings, require
from smgrnn.seeding import stream
from smgrnn.storage import digest
from smgrnn.tasks import Task
from smgrnn.tasks.known import find_budget
from smgrnn.validation import (
    Count,
    Finite,
    Positive,
    Probability,
    Settings,
    Share,
    Whole,
    later,
)

RECORDS_VERSION = 2
"""Part of every key: raise it when equal plans can lead to other results than before."""
MLP_SHARES = {"mlp-100": 1, "mlp-200": 2, "mlp-pruned": 1}
"""Parameters of an MLP as a multiple of the budget."""


@dataclass(frozen=True, kw_only=True)
class EpisodePlan(Settings):
    """The episodes of a run: how many there are, where they happen, and their purposes."""

    number: Count
    """Training episodes."""
    stop_after: Whole
    """Stop after this many episodes in a row that reach the task's threshold; 0 is never."""
    backend: Literal["compiled", "gymnasium", "examples"]
    """Compiled code, the Gymnasium environment, or rounds through examples."""
    normalise: bool
    """Whether observations are normalised for the network."""
    checkpoint_every: Count
    """Episodes between two checkpoints."""
    held_out: Count
    """Held-out episodes that judge the student that is handed over."""
    handover: HandOver = later("final")
    """The student to hand over: the best one that the run saw, or the final one."""
    keep: Share | None = later(None)
    """Share of the expert's return beyond a random policy that the smallest student is to keep."""
    gain: Positive = later(1.0)
    """Factor of the student's inputs, which its weights absorb in the end."""
    bar: Finite | None = later(None)
    """Mean return of the last episodes at which nothing grows any more; None is none."""
    course: tuple[str, ...] = later(())
    """Names of the tasks of a sequence, on all of which the student is scored; none for a run of
    its own."""


@dataclass(frozen=True, kw_only=True)
class Plan(Settings):
    """A distillation: all that the engine gets, resolved.

    Examples
    --------
    >>> import smgrnn
    >>> plan = smgrnn.distill("xor", episodes=1).plan
    >>> plan.learning.loss, plan.episodes.backend
    ('mse', 'examples')
    >>> plan.make_graph()
    Graph(3 inputs, 0 hidden, 1 outputs, 3 edges)
    >>> plan.key_content()["task"], len(plan.key())
    ('xor', 64)
    """

    task: Task
    """The facts about the task."""
    student: Student
    """The kind of student."""
    seed: Whole
    """Seed of the initial graph, of the rules' choices and of the episodes."""
    teacher: TeacherId
    """The identity of the teacher."""
    network: NetworkConfig
    """The network; inputs beyond the task's own are constant 1."""
    first_graph: Literal["random", "layered"]
    """A random graph of some density, or one layer of hidden nodes, as in an MLP."""
    learning: LearningConfig
    """Optimizer and loss."""
    plasticity: PlasticityConfig
    """Rules of growth and pruning."""
    episodes: EpisodePlan
    """How many episodes, and where."""
    parameters: Count | None = later(None)
    """Most parameters of what is handed over; None is any number."""
    ancestor: Ancestor | None = later(None)
    """The student of an earlier run to go on from; None starts from a new one."""
    protect: Probability = later(0.0)
    """Share by which updates of the ancestor's edges are held back, as far as they matter."""
    origin: "Plan | None" = later(None)
    """The stage before in a sequence, whose student is the ancestor; None is a run of its own."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ancestor is not None:
            check_width(self.ancestor.graph, self.network)

    @property
    def stages(self) -> "tuple[Plan, ...]":
        """The stages of a sequence that lead to this one, from the first, and this one."""
        return (*(() if self.origin is None else self.origin.stages), self)

    @property
    def n_episodes(self) -> int:
        """Training episodes."""
        return self.episodes.number

    @property
    def held_out(self) -> int:
        """Held-out episodes that judge the student that is handed over."""
        return self.episodes.held_out

    def make_graph(self) -> Graph:
        """Return the graph that the student starts from; its ablations start from the same one."""
        if self.ancestor is not None:
            graph = self.ancestor.graph
            gain = np.where(graph.source < self.task.n_inputs, self.episodes.gain, 1.0)
            return graph._replace(weight=graph.weight / gain)
        rng = stream(self.seed, "init")
        if self.first_graph == "random":
            return initial_graph(self.network, rng)
        network, n_inputs = self.network, self.task.n_inputs
        has_bias = network.n_inputs > n_inputs
        return mlp_graph(n_inputs, network.n_hidden, network.n_outputs, rng, has_bias=has_bias)

    def key_content(self) -> dict[str, Any]:
        """Return all that the results depend on: the task by its id, the teacher by its digest.

        The ancestor of a stage follows from the stage before, so that its key is known beforehand.
        """
        content = super().key_content()
        if self.origin is not None:
            content.pop("ancestor", None)
        return content | {"task": self.task.key, "teacher": self.teacher.digest}

    def key(self) -> str:
        """Return the SHA-256 of all that the results depend on."""
        return _key("distillation", self)


class Start(NamedTuple):
    """A student to go on from."""

    ancestor: Ancestor
    policy: Policy
    plan: Plan
    """The plan of the run that it is of."""


@dataclass(frozen=True, kw_only=True)
class EvolutionPlan(Settings):
    """An evolutionary search."""

    task: Task
    """The facts about the task."""
    method: Method
    """How controllers are bred."""
    seed: Whole
    """Seed of the search and of the episodes."""
    rollouts: Count
    """Episodes in all, one for each candidate."""
    population: Count
    """Candidates in a generation."""
    held_out: Count
    """Held-out episodes that judge the champion."""
    neat_settings: str
    """Text of the configuration for neat-python; nothing for another method."""

    @property
    def student(self) -> str:
        """The kind of student that is evolved, which is the method's name."""
        return self.method

    @property
    def n_episodes(self) -> int:
        """Episodes in all."""
        return self.rollouts

    @property
    def generations(self) -> int:
        """Generations that the budget pays for."""
        return self.rollouts // self.population

    def key_content(self) -> dict[str, Any]:
        """Return all that the results depend on."""
        return super().key_content() | {"task": self.task.key}

    def key(self) -> str:
        """Return the SHA-256 of all that the results depend on."""
        return _key("evolution", self)


AnyPlan = Plan | EvolutionPlan


def _key(kind: str, plan: Settings) -> str:
    return digest(kind, {"records": RECORDS_VERSION, "plan": plan.key_content()}, {})


def check_episodes(n: int) -> None:
    """Refuse more held-out episodes than there is memory for; they are played in one go."""
    check_memory(200.0 * n, f"A list of {n} held-out episodes")


def plan_run(config: RunConfig, task: Task, teacher: TeacherId, start: Start | None = None) -> Plan:
    """Return the plan of a distillation; refuse settings that student or task contradicts.

    With a `start` it goes on from the student of another run.

    >>> from smgrnn.experts import find_teacher
    >>> from smgrnn.tasks import find_task
    >>> task = find_task("CartPole-v1")
    >>> config = RunConfig.for_task(task.id, student="mlp-100")
    >>> plan_run(config, task, find_teacher(None, task)[0]).network.n_hidden
    13
    """
    check_settings(config, task)
    require(
        config.protect == 0.0 or start is not None,
        f"--protect {config.protect} says nothing to a run that starts anew: leave it out",
    )
    check_episodes(config.held_out)
    plan = Plan(
        task=replace(task, make=None),
        student=config.student,
        seed=config.seed,
        teacher=teacher,
        network=_network(config, task),
        first_graph="layered" if config.student in MLP_SHARES else "random",
        learning=_learning(config, task),
        plasticity=_plasticity(config, task),
        episodes=EpisodePlan(
            number=config.episodes,
            stop_after=config.stop_after,
            backend=_backend(config, task, teacher),
            normalise=config.normalise,
            checkpoint_every=config.checkpoint_every,
            held_out=config.held_out,
            handover=config.handover,
            keep=config.keep,
            gain=config.gain,
            bar=_bar(config, task),
        ),
        parameters=config.parameters,
        ancestor=None if start is None else _ancestor(config, task, start),
        protect=config.protect,
    )
    _check_limit(config, plan)
    check_window(plan.learning, plan.network, plan.plasticity, plan.make_graph())
    check_errors(plan.plasticity, LEARNING[plan.learning.rule])
    return plan


def settings_of(plan: Plan) -> RunConfig:
    """Return the settings of a plan, for a run that goes on from there.

    >>> import smgrnn
    >>> plan = smgrnn.distill("xor", episodes=1, iterations=4).plan
    >>> settings_of(plan).network.iterations, settings_of(plan).bias
    (4, True)
    """
    episodes, task, network = plan.episodes, plan.task, plan.network.to_dict()
    chosen = {entry.name: network[entry.name] for entry in fields(NetworkSettings)}
    has_bias, budget = plan.network.n_inputs > task.n_inputs, None
    if plan.student in MLP_SHARES:
        n_own = task.n_outputs if has_bias else 0
        per_node = plan.network.n_inputs + task.n_outputs
        budget = (chosen["n_hidden"] * per_node + n_own) // MLP_SHARES[plan.student]
        chosen["n_hidden"] = 0
    rules, is_named = plan.plasticity, plan.teacher.kind in ("shipped", "file")
    is_open = plan.parameters is None and episodes.bar == task.reward_threshold
    if rules.size == (_enough(task, has_bias) if is_open else plan.parameters):
        rules = replace(rules, size=None)
    if rules.max_edges == plan.parameters:
        rules = replace(rules, max_edges=PlasticityConfig.max_edges)
    is_elsewhere = episodes.backend == "gymnasium" and task.compiled is not None
    return RunConfig(
        student=plan.student,
        episodes=episodes.number,
        stop_after=episodes.stop_after,
        seed=plan.seed,
        expert=plan.teacher.name if is_named else None,
        env_backend="gymnasium" if is_elsewhere else None,
        checkpoint_every=episodes.checkpoint_every,
        held_out=episodes.held_out,
        handover=episodes.handover,
        parameters=plan.parameters,
        keep=episodes.keep,
        budget=budget,
        bias=has_bias,
        normalise=episodes.normalise,
        gain=episodes.gain,
        bar=None if is_open else episodes.bar,
        protect=plan.protect,
        network=NetworkSettings(**chosen),
        learning=LearningSettings(**plan.learning.to_dict()),
        plasticity=rules,
    )


def _ancestor(config: RunConfig, task: Task, start: Start) -> Ancestor:
    """Return the ancestor; refuse a task of another shape, and a network that runs otherwise."""
    policy, before = start.policy, start.plan.task
    shapes = [(each.n_inputs, each.n_outputs, each.is_discrete) for each in (before, task)]
    require(
        shapes[0] == shapes[1],
        f"A run goes on only with a task of the same shape: {before.id} has {_shape(before)}, and "
        f"{task.id} {_shape(task)}",
    )
    new, old = _network(config, task).to_dict(), start.plan.network.to_dict()
    for name, value in new.items():
        require(
            value == old[name],
            f"--{name.replace('_', '-')} {value} contradicts the run to go on from, whose network "
            f"has {old[name]}",
        )
    require(
        config.normalise == (policy.normalisation is not None),
        "A run goes on with observations as they were: normalised, or not",
    )
    return start.ancestor


def _shape(task: Task) -> str:
    kind = "choices" if task.is_discrete else "continuous actions"
    return f"{task.n_inputs} inputs and {task.n_outputs} {kind}"


def _network(config: RunConfig, task: Task) -> NetworkConfig:
    readout: Readout = "sum" if _learning(config, task).loss == "cross_entropy" else "state"
    chosen = config.network.to_dict() | {"readout": config.network.readout or readout}
    if config.student in MLP_SHARES:
        budget = find_budget(task.id) if config.budget is None else config.budget
        n_parameters = MLP_SHARES[config.student] * budget
        chosen["n_hidden"] = mlp_width(
            task.n_inputs, task.n_outputs, n_parameters, has_bias=config.bias
        )
    n_inputs = task.n_inputs + config.bias
    return NetworkConfig(n_inputs=n_inputs, n_outputs=task.n_outputs, **chosen)


def _learning(config: RunConfig, task: Task) -> LearningConfig:
    loss: Loss = "cross_entropy" if task.is_discrete else "mse"
    chosen = config.learning.loss or loss
    return LearningConfig(**config.learning.to_dict() | {"loss": chosen}).resolved()


def _plasticity(config: RunConfig, task: Task) -> PlasticityConfig:
    """Return the rules; those that follow a size get one.

    That is the parameters asked for, or more than enough, of which a run that is good takes fewer.
    """
    rules, parameters = config.plasticity, config.parameters
    if follows_size(config.plasticity):
        enough = _enough(task, config.bias)
        rules = replace(rules, size=rules.size or parameters or enough)
    is_followed = GROWTH[rules.growth].follows_size and PRUNING[rules.pruning].follows_size
    if parameters is None or is_followed:
        return rules
    return replace(rules, max_edges=min(parameters, rules.max_edges))


def _enough(task: Task, has_bias: bool) -> int:
    """Return more parameters than a task is likely to need."""
    return 2 * (task.n_inputs + has_bias) * task.n_outputs + 10


def _bar(config: RunConfig, task: Task) -> float | None:
    """Return the mean return at which nothing grows: the task's threshold, if no size is asked.

    If a share is to be kept, it is measured when the run begins.
    """
    if config.keep is not None:
        return None
    is_open = config.parameters is None and config.plasticity.size is None
    if config.bar is None and is_open and follows_size(config.plasticity):
        return task.reward_threshold
    return config.bar


def _backend(
    config: RunConfig, task: Task, teacher: TeacherId
) -> Literal["compiled", "gymnasium", "examples"]:
    """Return the backend of the episodes: compiled if it can be and no other is asked for."""
    if task.is_supervised:
        require(
            config.env_backend is None,
            f"{task.id} is learned from examples and has no environment: leave --env-backend out",
        )
        return "examples"
    obstacles = {
        f"the task {task.id} is not compiled": task.compiled is None,
        "its expert is a function": teacher.kind == "function",
        "its observations are normalised": config.normalise,
    }
    found = [obstacle for obstacle, is_there in obstacles.items() if is_there]
    if config.env_backend == "compiled" and found:
        raise ConfigError(f"--env-backend must be gymnasium here: {found[0]}.")
    return config.env_backend or ("gymnasium" if found else "compiled")


def _check_limit(config: RunConfig, plan: Plan) -> None:
    if config.parameters is None or PRUNING[config.plasticity.pruning].follows_size:
        return
    n_edges, lower = plan.make_graph().n_edges, "density"
    if plan.first_graph == "layered":
        lower = "budget"
    require(
        n_edges <= config.parameters,
        f"The network starts with {n_edges} edges, more than --parameters "
        f"{config.parameters}: lower the {lower}",
    )
