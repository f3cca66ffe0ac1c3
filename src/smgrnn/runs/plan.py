"""Plan: all settings of a run exactly as the engine gets them.

The plan itself is trained, hashed into the key of the store, saved, printed and reported; nothing
rewrites a setting after it.  Settings that contradict each other or the task are refused first.
"""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from smgrnn.config import RunConfig, RunSettings, check_student
from smgrnn.errors import ConfigError, plain, short
from smgrnn.experts import TeacherId
from smgrnn.graph.initial import initial_graph, mlp_graph, mlp_width
from smgrnn.graph.settings import NetworkConfig, Readout
from smgrnn.graph.state import Graph, check
from smgrnn.learning.settings import LearningConfig, Loss
from smgrnn.learning.through_time import check_window
from smgrnn.machine import check_memory
from smgrnn.policy import Normalisation, Policy
from smgrnn.rules import PlasticityConfig
from smgrnn.rules.rule import follows_size
from smgrnn.seeding import stream
from smgrnn.storage import digest
from smgrnn.tasks import Task
from smgrnn.tasks.known import find_budget
from smgrnn.validation import Count, Finite, Settings, Whole

CHOICE_LOSSES: tuple[Loss, ...] = ("cross_entropy", "one_hot", "plus_minus")
"""The losses of tasks whose actions are choices."""
RECORDS_VERSION = 3
"""Part of every key: raise it when equal plans can lead to other results than before."""
PLANS = "smgrnn.plans"
"""The entry points of kinds of runs: each names a class of plans."""
MLP_MULTIPLES = {"mlp-100": 1, "mlp-200": 2, "mlp-pruned": 1}
"""Parameters of an MLP as a multiple of the budget."""


_COLUMNS = ("node_ids", "source", "target", "weight", "edge_ids")


@dataclass(frozen=True, kw_only=True)
class Ancestor(Settings):
    """The student of an earlier run that another run goes on from.

    It is part of the plan, weights and all: a run is repeated or resumed from its own record,
    wherever the folder of its ancestor may be by then.
    """

    run: str
    """Key of the plan of the run."""
    task: str
    """Task of the run."""
    seed: Whole
    """Seed of the run."""
    episode: Whole
    """Episode after which the student was as it is taken over."""
    n_inputs: Count
    n_outputs: Count
    node_ids: tuple[Whole, ...]
    source: tuple[Whole, ...]
    target: tuple[Whole, ...]
    weight: tuple[Finite, ...]
    """The graph, see `Graph`; its weights take observations as they are."""
    edge_ids: tuple[Whole, ...]
    next_node_id: Whole
    next_edge_id: Whole
    mean: tuple[Finite, ...] | None = None
    scale: tuple[Finite, ...] | None = None
    """How the student normalises observations, if it does."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(plain(text) != text for text in (self.run, self.task)):
            raise ConfigError("The ancestor of a run has a name with characters that are no text.")
        _ = self.graph  # or a wrong one would be met in the middle of a run

    @classmethod
    def of(cls, policy: Policy, *, run: str, seed: int, episode: int) -> Self:
        """Return a student as an ancestor."""
        graph = policy.graph._asdict()
        columns = {name: tuple(graph[name].tolist()) for name in _COLUMNS}
        scales = {} if policy.normalisation is None else policy.normalisation._asdict()
        values: dict[str, Any] = {name: tuple(array.tolist()) for name, array in scales.items()}
        return cls(
            run=run,
            task=policy.task.id,
            seed=seed,
            episode=episode,
            **graph | columns | values,
        )

    @cached_property
    def graph(self) -> Graph:
        """The student's graph."""
        fields = {name: getattr(self, name) for name in Graph._fields}
        kinds = dict.fromkeys(_COLUMNS, np.int64) | {"weight": np.float64}
        columns = {name: np.array(fields[name], kind) for name, kind in kinds.items()}
        return Graph.from_arrays(fields | columns)

    @property
    def normalisation(self) -> Normalisation | None:
        """How the student normalises observations, if it does."""
        if self.mean is None or self.scale is None:
            return None
        return Normalisation(np.array(self.mean), np.array(self.scale))


@dataclass(frozen=True, kw_only=True)
class AnyPlan(Settings):
    """What the plans of all kinds of runs have; a kind adds its own settings."""

    kind: ClassVar[str]
    """Name of the kind of run in keys and files."""
    command: ClassVar[str]
    """The command that trains such a run."""

    task: Task
    """The facts about the task."""
    seed: Whole
    """Seed of all that is random."""

    if TYPE_CHECKING:  # a field of one kind is a property of another

        @property
        def student(self) -> str:
            """The kind of student."""

        @property
        def n_episodes(self) -> int:
            """Training episodes."""

        @property
        def held_out(self) -> int:
            """Held-out episodes that judge the selected student."""

    @property
    def packages(self) -> tuple[str, ...]:
        """Packages that the results depend on, beside those that all do."""
        return self.task.facts.packages

    def admits(self, n_episodes: int) -> bool:
        """Return whether a record can have so many episodes."""
        return True

    def figures(self, record: Any) -> dict[str, Any]:
        """Return the figures of a record with this plan."""
        raise NotImplementedError

    def tables(self, record: Any) -> dict[str, bytes]:
        """Return files for the run folder, beside those that every run has."""
        return {}

    def key_content(self) -> dict[str, Any]:
        """Return all that the results depend on: the task by its id."""
        return super().key_content() | {"task": self.task.key}

    def key(self) -> str:
        """Return the SHA-256 of all that the results depend on."""
        content = {"records": RECORDS_VERSION, "plan": self.key_content()}
        return digest(self.kind, content, {})


def find_plan(kind: Any) -> type[AnyPlan]:
    """Return the class of plans of a kind; those of other packages are found by entry points."""
    if kind == Plan.kind:
        return Plan
    for point in entry_points(group=PLANS, name=str(kind)):
        found: type[AnyPlan] = point.load()
        return found
    raise ConfigError(f"There is no kind of run {short(kind)}.")


@dataclass(frozen=True, kw_only=True)
class Plan(AnyPlan, RunSettings):
    """A distillation: all that the engine gets, resolved.

    Examples
    --------
    >>> import smgrnn
    >>> plan = smgrnn.distill("xor", episodes=1).plan
    >>> plan.learning.loss, plan.backend
    ('mse', 'examples')
    >>> plan.make_graph()
    Graph(3 inputs, 0 hidden, 1 outputs, 3 edges)
    >>> plan.key_content()["task"], len(plan.key())
    ('xor', 64)
    """

    kind: ClassVar[str] = "distillation"
    command: ClassVar[str] = "distill"

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
    backend: Literal["compiled", "gymnasium", "examples"]
    """Compiled code, the Gymnasium environment, or rounds through examples."""
    task_sequence: tuple[str, ...] = ()
    """Names of the tasks of a sequence, on all of which the student is scored."""
    ancestor: Ancestor | None = None
    """The student of an earlier run to go on from; None starts from a new one."""
    origin: "Plan | None" = None
    """The stage before in a sequence, whose student is the ancestor; None is a run of its own."""
    asked: RunConfig | None = None
    """The settings that the user asked for, of which all others follow."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ancestor is not None:
            check(self.ancestor.graph, self.network)

    @property
    def stages(self) -> "tuple[Plan, ...]":
        """The stages of a sequence that lead to this one, from the first, and this one."""
        return (*(() if self.origin is None else self.origin.stages), self)

    @property
    def n_episodes(self) -> int:
        """Training episodes."""
        return self.episodes

    def make_graph(self) -> Graph:
        """Return the graph that the student starts from; its ablations start from the same one."""
        if self.ancestor is not None:
            graph = self.ancestor.graph
            gain = np.where(graph.source < self.task.n_inputs, self.gain, 1.0)
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
        content.pop("asked", None)
        if self.origin is not None:
            content.pop("ancestor", None)
        return content | {"teacher": self.teacher.digest}


class Start(NamedTuple):
    """A student to go on from."""

    ancestor: Ancestor
    policy: Policy
    plan: Plan
    """The plan of the run that it is of."""


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
    check_student(config)
    _check(config, task)
    require(
        config.protect == 0.0 or start is not None,
        f"protect {config.protect} has no effect on a run that starts from nothing: leave it out",
    )
    check_episodes(config.held_out)
    taken = {entry.name: getattr(config, entry.name) for entry in fields(RunSettings)}
    plan = Plan(
        **taken | {"target_return": _target_return(config, task)},
        task=replace(task, make=None),
        teacher=teacher,
        network=_network(config, task),
        first_graph="layered" if config.student in MLP_MULTIPLES else "random",
        learning=_learning(config, task),
        plasticity=_plasticity(config, task),
        backend=_backend(config, task, teacher),
        ancestor=None if start is None else _ancestor(config, task, start),
        asked=config,
    )
    _check_limit(config, plan)
    graph, rules = plan.make_graph(), plan.plasticity
    n_nodes, n_edges = graph.n_nodes, graph.n_edges
    if not rules.is_static:
        n_nodes, n_edges = max(n_nodes, rules.max_nodes), max(n_edges, rules.max_edges)
    check_window(plan.learning, plan.network, n_nodes, n_edges)
    return plan


def require(holds: bool, sentence: str) -> None:
    """Refuse settings by a sentence, unless something holds."""
    if not holds:
        raise ConfigError(f"{sentence}.")


def _check(config: RunConfig, task: Task) -> None:
    """Refuse settings that contradict the task or each other."""
    losses = CHOICE_LOSSES if task.is_discrete else ("mse",)
    network, rules, parameters = config.network, config.plasticity, config.parameters
    kind = "choices" if task.is_discrete else "continuous"
    require(
        config.learning.loss in (None, *losses),
        f"learning.loss must be {' or '.join(losses)}: the actions of {task.id} are {kind}",
    )
    require(
        task.is_discrete or network.readout != "sum",
        f"readout must be state: the actions of {task.id} are continuous",
    )
    require(
        not (task.is_supervised and network.carry_state),
        f"carry_state must be False: the examples of {task.id} come in no order",
    )
    require(
        not config.stop_after or task.reward_threshold is not None,
        f"stop_after must be 0: {task.id} has no threshold to reach",
    )
    require(
        config.target_return is None or rules.follows_size,
        "target_return needs rules that follow a size, such as those of the preset frugal",
    )
    require(
        rules.size is None or parameters is None or rules.size <= parameters,
        f"plasticity.size {rules.size} is more than --parameters {parameters} allows: leave one "
        f"out",
    )
    if config.keep is None:
        return
    require(parameters is None, "Give --keep or --parameters: both ask for a size")
    require(
        not task.is_supervised,
        f"--keep needs an expert that plays, and {task.id} has none: use --parameters",
    )
    require(rules.follows_size, "--keep needs rules that follow a size: use --preset frugal")
    require(config.select == "best", "--keep chooses the network: use --select best")
    require(
        config.target_return is None,
        "--keep sets target_return itself: leave it out",
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
            f"{name} {value} contradicts the run to go on from, whose network has {old[name]}",
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
    readout: Readout = "sum" if _loss(config, task) == "cross_entropy" else "state"
    chosen = config.network.to_dict() | {"readout": config.network.readout or readout}
    if config.student in MLP_MULTIPLES:
        budget = find_budget(task.id) if config.budget is None else config.budget
        n_parameters = MLP_MULTIPLES[config.student] * budget
        chosen["n_hidden"] = mlp_width(
            task.n_inputs, task.n_outputs, n_parameters, has_bias=config.bias
        )
    n_inputs = task.n_inputs + config.bias
    return NetworkConfig(n_inputs=n_inputs, n_outputs=task.n_outputs, **chosen)


def _learning(config: RunConfig, task: Task) -> LearningConfig:
    own = {entry.name: getattr(config.learning, entry.name) for entry in fields(LearningConfig)}
    return LearningConfig(**own | {"loss": _loss(config, task)})


def _loss(config: RunConfig, task: Task) -> Loss:
    return config.learning.loss or ("cross_entropy" if task.is_discrete else "mse")


def _plasticity(config: RunConfig, task: Task) -> PlasticityConfig:
    """Return the rules; those that follow a size get one.

    That is the parameters asked for, or more than enough, of which a run that is good takes fewer.
    """
    rules, parameters = config.plasticity, config.parameters
    if rules.follows_size:
        enough = _enough(task, config.bias)
        rules = replace(rules, size=rules.size or parameters or enough)
    is_followed = follows_size(rules.growth) and follows_size(rules.pruning)
    if parameters is None or is_followed:
        return rules
    return replace(rules, max_edges=min(parameters, rules.max_edges))


def _enough(task: Task, has_bias: bool) -> int:
    """Return more parameters than a task is likely to need."""
    return 2 * (task.n_inputs + has_bias) * task.n_outputs + 10


def _target_return(config: RunConfig, task: Task) -> float | None:
    """Return the mean return at which nothing grows: the task's threshold, if no size is asked.

    If a share is to be kept, it is measured when the run begins.
    """
    if config.keep is not None:
        return None
    is_open = config.parameters is None and config.plasticity.size is None
    if config.target_return is None and is_open and config.plasticity.follows_size:
        return task.reward_threshold
    return config.target_return


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
    if config.parameters is None or follows_size(config.plasticity.pruning):
        return
    n_edges, lower = plan.make_graph().n_edges, "density"
    if plan.first_graph == "layered":
        lower = "budget"
    require(
        n_edges <= config.parameters,
        f"The network starts with {n_edges} edges, more than --parameters "
        f"{config.parameters}: lower the {lower}",
    )
