"""Plan: all settings of a run exactly as the engine gets them.

The plan is trained, hashed into the key of the store, saved, printed and reported; no later step
changes a setting.  Settings that contradict each other or the task are refused here.
"""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from smgrnn.arrays import Floats, Ints
from smgrnn.config import RunConfig, RunSettings, check_student
from smgrnn.errors import ConfigError, plain, short
from smgrnn.experts import TeacherId
from smgrnn.graph.initial import initial_graph, mlp_graph, mlp_width
from smgrnn.graph.settings import NetworkConfig, Readout
from smgrnn.graph.state import Graph, check
from smgrnn.learning.credit import check_window
from smgrnn.learning.settings import LearningConfig, Loss
from smgrnn.machine import check_memory
from smgrnn.names import Names
from smgrnn.policy import Normalisation
from smgrnn.rules import PlasticityConfig
from smgrnn.rules.rule import follows_size
from smgrnn.seeding import stream
from smgrnn.storage import digest
from smgrnn.tasks import Task
from smgrnn.tasks.known import find_budget
from smgrnn.validation import Count, Finite, Settings, Whole

if TYPE_CHECKING:
    from smgrnn.runs.record import Record

CHOICE_LOSSES: tuple[Loss, ...] = ("cross_entropy", "one_hot", "plus_minus")
"""The losses of tasks whose actions are choices."""
POLISH_TO_KEEP = 10_000
"""Episodes of the polish of each size, where the smallest network is searched for."""
RECORDS_VERSION = 4
"""Part of every key: raise it when equal plans can lead to other results than before."""
PLANS = "smgrnn.plans"
"""The entry points of kinds of runs: each names a class of plans."""
MLP_MULTIPLES = {"mlp-100": 1, "mlp-200": 2, "mlp-pruned": 1}
"""Parameters of an MLP as a multiple of the budget."""


@dataclass(frozen=True, kw_only=True)
class Ancestor(Settings):
    """The network that a run starts from: the selected one of an earlier run, weights and all.

    So a run is repeated or resumed from its own record, even if the earlier folder is gone.
    """

    run: str
    """Key of the earlier plan."""
    task: str
    """Task of the earlier run."""
    seed: Whole
    """Seed of the earlier run."""
    episode: Whole
    """Training episodes that the network has seen."""
    n_inputs: Count
    n_outputs: Count
    node_ids: tuple[Whole, ...]
    source: tuple[Whole, ...]
    target: tuple[Whole, ...]
    weight: tuple[Finite, ...]
    """The graph, see `Graph`; its weights take observations without the gain."""
    edge_ids: tuple[Whole, ...]
    next_node_id: Whole
    next_edge_id: Whole
    mean: tuple[Finite, ...] | None = None
    scale: tuple[Finite, ...] | None = None
    """The normalisation of its observations, if there is one."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(plain(text) != text for text in (self.run, self.task)):
            raise ConfigError("The ancestor of a run has a name that is not valid text.")
        _ = self.graph  # a wrong one is refused at once, not in the middle of a run

    @classmethod
    def of(cls, record: "Record") -> Self:
        """Return the selected network of a run."""
        student, plan = record.selected, record.plan
        arrays, normalisation = student.policy.graph._asdict(), student.policy.normalisation
        if normalisation is not None:
            arrays |= normalisation._asdict()
        values: dict[str, Any] = {name: np.asarray(each).tolist() for name, each in arrays.items()}
        run, episode = plan.key(), student.episode
        return cls(run=run, task=plan.task.id, seed=plan.seed, episode=episode, **values)

    @cached_property
    def graph(self) -> Graph:
        """The network's graph."""
        kinds: dict[str, Any] = dict.fromkeys(Graph._fields, np.int64) | {"weight": np.float64}
        columns = {name: np.array(getattr(self, name), kind) for name, kind in kinds.items()}
        return Graph.from_arrays(columns)

    @property
    def normalisation(self) -> Normalisation | None:
        """The normalisation of its observations, if there is one."""
        if self.mean is None or self.scale is None:
            return None
        return Normalisation(np.array(self.mean), np.array(self.scale))


@dataclass(frozen=True, kw_only=True)
class AnyPlan(Settings):
    """The common part of all plans; each kind of run adds its own settings."""

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
            """Held-out episodes that evaluate the selected network."""

    @property
    def packages(self) -> tuple[str, ...]:
        """Further packages that the results depend on."""
        return self.task.facts.packages

    def polished_as(self, other: "AnyPlan") -> Self:
        """Return the plan with the polish of another, which comes last and can be added."""
        return self

    def admits(self, n_episodes: int) -> bool:
        """Return whether a record can have so many episodes."""
        return True

    def figures(self, record: Any) -> dict[str, Any]:
        """Return the figures of a record with this plan."""
        raise NotImplementedError

    def tables(self, record: Any) -> dict[str, bytes]:
        """Return further files for the run folder."""
        return {}

    def key_content(self) -> dict[str, Any]:
        """Return all that the results depend on: the task by its id."""
        return super().key_content() | {"task": self.task.key}

    def key(self) -> str:
        """Return the SHA-256 of all that the results depend on."""
        content = {"records": RECORDS_VERSION, "plan": self.key_content()}
        return digest(self.kind, content, {})


def find_plan(kind: Any) -> type[AnyPlan]:
    """Return the class of plans of a kind; entry points name those of other packages."""
    if kind == Plan.kind:
        return Plan
    for point in entry_points(group=PLANS, name=str(kind)):
        found: type[AnyPlan] = point.load()
        return found
    raise ConfigError(f"There is no kind of run {short(kind)}.")


@dataclass(frozen=True, kw_only=True)
class Plan(AnyPlan, RunSettings):
    """All settings of a distillation, resolved.

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
    """The network."""
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
    """The network that the run starts from; None is a new one."""
    origin: "Plan | None" = None
    """The stage before in a sequence, whose selected network is the ancestor."""
    asked: RunConfig | None = None
    """The settings that the user asked for, from which all others follow."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.names  # wrong ones are refused at once
        if self.ancestor is not None:
            check(self.ancestor.graph, self.network)

    @property
    def stages(self) -> "tuple[Plan, ...]":
        """The stages of a sequence up to this one."""
        return (*(() if self.origin is None else self.origin.stages), self)

    @property
    def n_episodes(self) -> int:
        """Training episodes."""
        return self.episodes

    def polished_as(self, other: AnyPlan) -> Self:
        """Return the plan with the polish of another, which comes last and can be added."""
        if not isinstance(other, Plan) or self.keep is not None:
            return self
        return replace(self, polish=other.polish, polish_for=other.polish_for)

    @cached_property
    def names(self) -> Names:
        """The names of inputs and outputs: the user's, or those of the task."""
        task = self.task
        given = self.input_names or task.names.inputs, self.output_names or task.names.outputs
        return Names.given(*given, n_inputs=task.n_inputs, n_outputs=task.n_outputs)

    def gains(self, source: Ints) -> Floats:
        """Return the gain of each edge by its source: that of inputs, and 1 elsewhere."""
        return np.where(source < self.task.n_inputs, self.gain, 1.0)

    def make_graph(self) -> Graph:
        """Return the graph that the student starts from; it is the same for all its ablations."""
        if self.ancestor is not None:
            graph = self.ancestor.graph
            return graph._replace(weight=graph.weight / self.gains(graph.source))
        rng = stream(self.seed, "init")
        if self.first_graph == "random":
            return initial_graph(self.network, rng)
        network = self.network
        sizes = network.n_inputs, network.n_hidden, network.n_outputs
        return mlp_graph(*sizes, rng, has_bias=network.bias)

    def key_content(self) -> dict[str, Any]:
        """Return all that the results depend on: the task by its id, the teacher by its digest.

        The ancestor of a stage follows from the stage before and does not count.
        """
        content = super().key_content()
        for name in ("asked", "input_names", "output_names"):  # which change no result
            content.pop(name, None)
        if self.origin is not None:
            content.pop("ancestor", None)
        return content | {"teacher": self.teacher.digest}


def check_episodes(n: int) -> None:
    """Refuse more held-out episodes than fit into memory; all are played in one call."""
    check_memory(200.0 * n, f"A list of {n} held-out episodes")


def plan_run(
    config: RunConfig, task: Task, teacher: TeacherId, start: "Record | None" = None
) -> Plan:
    """Return the plan of a distillation; refuse settings that contradict the student or the task.

    With `start` the run begins with the selected network of that record.
    """
    check_student(config)
    check_episodes(config.held_out)
    _check(config, task)
    require(
        start is not None or config.protect == 0.0,
        f"protect {config.protect} has no effect on a run that starts from a new network",
    )
    loss = config.learning.loss or ("cross_entropy" if task.is_discrete else "mse")
    network = _network(config, task, loss)
    if start is not None:
        _check_start(config, task, network, start.plan)
    rules, limit, target = config.plasticity, config.max_parameters, config.target_return
    rules = rules.numbered(task.n_inputs, config.input_names or task.names.inputs)
    n_kept = len(rules.keep_inputs)
    require(not n_kept or not rules.is_static, "keep_inputs has no effect on a fixed graph")
    require(
        limit is None or limit >= n_kept, f"--max-parameters {limit} cannot keep {n_kept} inputs"
    )
    if rules.follows_size:
        if (target, config.keep, limit, rules.size) == (None, None, None, None):
            target = task.reward_threshold
        enough = 2 * network.n_input_nodes * task.n_outputs + 10
        rules = replace(rules, size=rules.size or limit or enough)
    if limit is not None and not (follows_size(rules.growth) and follows_size(rules.pruning)):
        rules = replace(rules, max_edges=min(limit, rules.max_edges))
    polish = config.polish or (0 if config.keep is None else POLISH_TO_KEEP)
    is_layered = config.student in MLP_MULTIPLES
    settings = {entry.name: getattr(config, entry.name) for entry in fields(RunSettings)}
    plan = Plan(
        **settings | {"target_return": target, "polish": polish},
        task=replace(task, make=None),
        teacher=teacher,
        network=network,
        first_graph="layered" if is_layered else "random",
        learning=LearningConfig(**vars(config.learning) | {"loss": loss}),
        plasticity=rules,
        backend=_backend(config, task, teacher),
        ancestor=None if start is None else Ancestor.of(start),
        asked=config,
    )
    graph = plan.make_graph()
    require(
        limit is None or follows_size(rules.pruning) or graph.n_edges <= limit,
        f"The network starts with {graph.n_edges} edges, more than --max-parameters {limit}: lower "
        f"the {'budget' if is_layered else 'density'}",
    )
    n_nodes, n_edges = graph.n_nodes, graph.n_edges
    if not rules.is_static:
        n_nodes, n_edges = max(n_nodes, rules.max_nodes), max(n_edges, rules.max_edges)
    check_window(plan.learning, plan.network, n_nodes, n_edges)
    return plan


def require(holds: Any, sentence: str) -> None:
    """Raise ConfigError with a sentence unless a condition holds."""
    if not holds:
        raise ConfigError(f"{sentence}.")


def _check(config: RunConfig, task: Task) -> None:
    """Refuse settings that contradict the task or each other."""
    losses = CHOICE_LOSSES if task.is_discrete else ("mse",)
    network, rules, limit = config.network, config.plasticity, config.max_parameters
    actions = f"the actions of {task.id} are {'choices' if task.is_discrete else 'continuous'}"
    require(
        config.learning.loss in (None, *losses),
        f"learning.loss must be {' or '.join(losses)}: {actions}",
    )
    require(task.is_discrete or network.readout != "sum", f"readout must be state: {actions}")
    require(
        not (task.is_supervised and network.carry_state),
        f"carry_state must be False: the examples of {task.id} have no order",
    )
    require(
        not config.stop_after or task.reward_threshold is not None,
        f"stop_after must be 0: {task.id} has no threshold",
    )
    require(
        config.target_return is None or rules.follows_size,
        "target_return needs rules that follow a size, such as those of the preset frugal",
    )
    require(
        rules.size is None or limit is None or rules.size <= limit,
        f"plasticity.size {rules.size} is more than --max-parameters {limit}: leave one out",
    )
    check_polish(config, task)
    if config.keep is not None:
        require(limit is None, "Give --keep or --max-parameters, not both")
        require(not task.is_supervised, f"--keep needs an expert that plays; {task.id} has none")
        require(rules.follows_size, "--keep needs rules that follow a size: use --preset frugal")
        require(config.select == "return", "--keep selects by return: use --select return")
        require(config.target_return is None, "--keep sets target_return: leave it out")


def check_polish(config: RunSettings, task: Task) -> None:
    """Refuse to polish for what a task does not have."""
    require(
        not (config.polish and task.is_supervised),
        f"--polish needs returns, and {task.id} has examples",
    )
    require(
        config.polish_for != "share-above" or task.reward_threshold is not None,
        f"--polish-for share-above needs a threshold, and {task.id} has none",
    )


def _check_start(config: RunConfig, task: Task, network: NetworkConfig, before: AnyPlan) -> None:
    """Refuse a task of another shape, and a network that runs otherwise."""
    assert isinstance(before, Plan)
    shapes = []
    for each in (before.task, task):
        kind = "choices" if each.is_discrete else "continuous actions"
        shapes.append(f"{each.n_inputs} inputs and {each.n_outputs} {kind}")
    require(
        shapes[0] == shapes[1],
        f"A run can only continue on a task of the same shape: {before.task.id} has {shapes[0]}, "
        f"and {task.id} {shapes[1]}",
    )
    for name, value in before.network.to_dict().items():
        given = getattr(network, name)
        require(
            given == value,
            f"{name} {given} contradicts the run to continue, whose network has {value}",
        )
    require(
        config.normalise == before.normalise,
        "A run continues with observations normalised as before: leave normalise out",
    )


def _network(config: RunConfig, task: Task, loss: Loss) -> NetworkConfig:
    n_inputs, n_outputs, network = task.n_inputs, task.n_outputs, config.network
    if config.student in MLP_MULTIPLES:
        budget = find_budget(task.id) if config.budget is None else config.budget
        n_parameters = MLP_MULTIPLES[config.student] * budget
        n_hidden = mlp_width(n_inputs, n_outputs, n_parameters, has_bias=network.bias)
        network = network.changed(n_hidden=n_hidden)
    readout: Readout = "sum" if loss == "cross_entropy" else "state"
    return network.sized(n_inputs, n_outputs, readout)


def _backend(
    config: RunConfig, task: Task, teacher: TeacherId
) -> Literal["compiled", "gymnasium", "examples"]:
    """Return the backend of the episodes: compiled unless something prevents it."""
    if task.is_supervised:
        require(
            config.env_backend is None,
            f"{task.id} is learned from examples and has no environment: leave --env-backend out",
        )
        return "examples"
    obstacles = {
        f"the task {task.id} is not compiled": task.facts.code is None,
        "its expert is a function": teacher.kind == "function",
        "its observations are normalised": config.normalise,
    }
    found = " and ".join(obstacle for obstacle, is_there in obstacles.items() if is_there)
    is_possible = config.env_backend != "compiled" or not found
    require(is_possible, f"--env-backend must be gymnasium here: {found}")
    return config.env_backend or ("gymnasium" if found else "compiled")
