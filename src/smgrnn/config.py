"""Settings: frozen dataclasses, validated once, on construction."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from smgrnn.errors import ConfigError, suggest
from smgrnn.settings_file import ENDING, SettingsFile, read_settings
from smgrnn.validation import (
    Count,
    Decay,
    Finite,
    NonNegative,
    Positive,
    Probability,
    Settings,
    Share,
    Whole,
    Within,
    annotations,
    later,
)

Activation = Literal["tanh", "sigmoid", "relu", "identity"]
Scale = Literal["update", "variance_to_mean", "weight"]
Readout = Literal["state", "sum"]
OnEdit = Literal["keep", "reset"]
NewWeights = Literal["gaussian", "sign"]
Optimizer = Literal["adam", "adamw", "sgd", "rmsprop"]
BiasCorrection = Literal["shared", "edge"]
Loss = Literal["cross_entropy", "mse", "one_hot", "plus_minus"]
Rate = Literal["constant", "falling"]
Method = Literal["neat", "ndp"]
Preset = Literal["frugal", "paper", "as_printed"]
USUAL_PRESET: Preset = "frugal"
"""The preset of `smgrnn distill` and `smgrnn.distill`; the paper's experiments use "paper"."""
Student = Literal["smgrnn", "static", "growth-only", "mlp-100", "mlp-200", "mlp-pruned"]
EnvBackend = Literal["compiled", "gymnasium"]
HandOver = Literal["best", "final"]
RECORDINGS = (".npz", ".csv", ".safetensors")
"""Endings of the name of a task that is a file of recorded examples."""


@dataclass(frozen=True, kw_only=True)
class NetworkSettings(Settings):
    """The part of the network's settings that a user chooses; the task adds the rest."""

    n_hidden: Whole = 0
    """Hidden nodes at the start."""
    density: Share = 0.8
    """Share of the allowed node pairs that start connected."""
    weight_std: NonNegative = 0.1
    """Standard deviation of the zero-mean Gaussian initial weights."""
    iterations: Count = 1
    """Synchronous message-passing iterations in each call (K)."""
    activation: Activation = "tanh"
    """Activation of hidden nodes (φ)."""
    output_activation: Activation = "tanh"
    """Activation of output nodes (φ_out)."""
    readout: Readout | None = None
    """The states of the outputs, or the weighted sums before φ_out; None is the sums where they are
    the logits of a cross-entropy, and the states elsewhere."""
    carry_state: bool = True
    """Carry node states from call to call; False starts every call from zero."""


@dataclass(frozen=True, kw_only=True)
class NetworkConfig(NetworkSettings):
    """The network before it learns (Sec. III-B, IV-A2).

    Examples
    --------
    >>> from smgrnn import NetworkConfig
    >>> NetworkConfig(n_inputs=4, n_outputs=2, iterations=2).activation
    'tanh'
    """

    n_inputs: Count
    """Input nodes, one per observation value."""
    n_outputs: Count
    """Output nodes, one per action."""
    state_dim: Count = 1
    """Features in the state of a node (F)."""
    readout: Readout = "state"
    """A call returns the states of the outputs, or the weighted sums before φ_out."""


@dataclass(frozen=True, kw_only=True)
class PlasticityConfig(Settings):
    """Settings of the structural plasticity module; defaults are Table A.III where it speaks.

    Examples
    --------
    >>> from smgrnn import PlasticityConfig
    >>> PlasticityConfig(window=50, interval="episode", growth="relay-alone").prune_period
    30
    """

    window: Count = 100
    """Weight updates remembered per edge (T)."""
    interval_width: Positive = 0.5
    """Half-width of the fluctuation interval, in standard deviations (λ)."""
    fluctuation_threshold: Positive = 0.1
    """Least normalised fluctuation of an unstable edge (θ_var)."""
    scale: Scale = "variance_to_mean"
    """Quantity that the fluctuation is normalised by; "update" is Eq. (3) as printed."""
    epsilon: Positive = 1e-8
    """Keeps the normalisation finite (ε)."""
    full_window: bool = True
    """Judge an edge only once it has seen `window` updates; False judges from the first one."""
    history_on_edit: OnEdit = "keep"
    """Whether an edit keeps or resets the update history of surviving edges."""
    optimizer_on_edit: OnEdit = "keep"
    """Whether an edit keeps or resets the optimizer state of surviving edges."""

    interval: Count | Literal["episode"] = 100
    """Updates between two calls of the module, or "episode" for a call at each episode's end."""
    prune_period: Count = 30
    """Every prune_period-th call prunes, the others grow (s)."""

    growth: str = "relay"
    """The growth rule, by its name: "relay" inserts relays on unstable edges and explores at
    random, "relay-alone" and "exploration" do one of the two; `smgrnn list` has them all."""
    max_relays: Count | None = None
    """Most relays inserted by one call, drawn from the unstable edges; None is all of them."""
    initial_weight: NonNegative = 0.01
    """Standard deviation of the zero-mean weights of new edges (w_init)."""
    new_weights: NewWeights = later("gaussian")
    """Distribution of the weights of new edges: Gaussian, or ± initial_weight at random."""

    explore_probability: Probability = 0.25
    """Probability that a growth call explores (p_rand)."""
    explore_ratio: Probability = 0.01
    """New edges per node in a call that explores, at least one edge in all (ρ_rand)."""
    explore_inputs: bool = False
    """Also propose edges into inputs, as Eq. (6) prints; inputs are clamped, so they do nothing."""

    pruning: str = "weak"
    """The pruning rule, by its name: "weak" removes edges with small weights that have stopped
    moving; `smgrnn list` has them all."""
    weight_threshold: NonNegative = 0.1
    """Largest absolute weight of a weak edge (τ_w)."""
    update_threshold: NonNegative = 1e-4
    """Largest absolute mean update of a weak edge (τ_Δ)."""
    prune_fraction: Annotated[float, Within("(0, 1]")] = 0.8
    """Share of the weak edges that one call removes (η_prune)."""
    orphan_removal: bool = True
    """Remove hidden nodes without incoming or without outgoing edges."""

    size: Count | None = later(None)
    """Edges that rules which follow a size end with; None is as many as the parameters that a run
    is asked for, or more than its task needs; outside of runs the size then follows the error."""
    dense_until: Probability = later(0.0)
    """Share of a run before which rules that follow a size prune nothing."""
    least_updates: Whole = later(0)
    """With interval="episode", fewest updates between two calls: the end of an earlier episode is
    passed over."""
    n_candidates: Count = later(32)
    """Candidate nodes that the growth rule "candidates" watches."""
    candidate_sources: Count = later(3)
    """Nodes that a candidate listens to."""
    candidate_gain: Positive = later(2.0)
    """Standard deviation of a candidate's weights, for sources with a mean square of 1."""
    max_nodes: Count = 10_000
    """Growth stops at this many nodes."""
    max_edges: Count = 100_000
    """Growth stops at this many edges."""

    @property
    def is_static(self) -> bool:
        """Whether the rules never change the graph.

        >>> PlasticityConfig.static().is_static, PlasticityConfig().is_static
        (True, False)
        """
        return self.growth == self.pruning == "none" and not self.orphan_removal

    @classmethod
    def paper(cls, **changes: Any) -> Self:
        """Return the reading that comes closest to the paper's sizes: see docs/calibration.md.

        >>> PlasticityConfig.paper(window=50).interval
        'episode'
        """
        closest = {"interval": "episode", "max_relays": 1, "initial_weight": 0.04}
        return cls(**{**closest, **changes})

    @classmethod
    def frugal(cls, **changes: Any) -> Self:
        """Return rules that grow what the loss asks for and keep what carries most.

        They follow `size`, or the error at the outputs if there is none: see docs/frugal.md.

        >>> PlasticityConfig.frugal(size=44).pruning
        'contribution'
        """
        rules = {"growth": "frugal", "pruning": "contribution", "interval": 1000}
        return cls(**{**rules, "prune_period": 2, **changes})

    @classmethod
    def as_printed(cls, **changes: Any) -> Self:
        """Return the rules exactly as the paper's text states them.

        >>> PlasticityConfig.as_printed().interval
        1
        """
        literal = {
            "scale": "update",
            "interval": 1,
            "history_on_edit": "reset",
            "explore_inputs": True,
        }
        return cls(**{**literal, **changes})

    @classmethod
    def static(cls, **changes: Any) -> Self:
        """Return rules without any structural change: the paper's Static-SMGrNN.

        >>> PlasticityConfig.static().growth
        'none'
        """
        off = {"growth": "none", "pruning": "none", "orphan_removal": False}
        return cls(**{**off, **changes})

    @classmethod
    def growth_only(cls, **changes: Any) -> Self:
        """Return rules of growth without pruning: the paper's no-prune ablation.

        >>> rules = PlasticityConfig.growth_only(window=50)
        >>> rules.growth, rules.pruning
        ('relay', 'none')
        """
        return cls(**{"pruning": "none", "orphan_removal": False, **changes})


@dataclass(frozen=True, kw_only=True)
class LearningConfig(Settings):
    """How the compiled engine trains; the names and defaults of torch.optim.

    Examples
    --------
    >>> from smgrnn import LearningConfig
    >>> LearningConfig(optimizer="sgd", learning_rate=0.1).loss
    'cross_entropy'
    """

    rule: str = "backprop"
    """How each edge gets credit for the loss, by its name; `smgrnn list` has them all."""
    optimizer: Optimizer = "adam"
    """Update rule."""
    learning_rate: Positive = 0.01
    """Step size."""
    beta1: Decay = 0.9
    """Decay of the mean gradient (Adam, AdamW)."""
    beta2: Decay = 0.999
    """Decay of the squared gradient (Adam, AdamW)."""
    alpha: Decay = 0.99
    """Decay of the squared gradient (RMSprop)."""
    epsilon: Positive = 1e-8
    """Keeps the division by the root of the squared gradient finite."""
    bias_correction: BiasCorrection = "shared"
    """Steps that Adam's bias correction counts: those of all edges alike, as torch does, or those
    of each edge since it was added."""
    momentum: Decay | None = None
    """Momentum (SGD, RMSprop); None is the paper's: 0.9 for SGD, 0 for RMSprop."""
    weight_decay: NonNegative | None = None
    """Weight decay; None is torch's: 0.01 for AdamW, 0 for the others."""
    loss: Loss = "cross_entropy"
    """Choices are learned by cross-entropy, or by the mean squared error from 1 for the expert's
    choice and 0 ("one_hot") or -1 ("plus_minus") for the others; continuous actions by "mse"."""
    schedule: Rate = later("constant")
    """The learning rate over a run: as it is, or falling linearly to 5 % in the second half; in a
    loop whose length is not known it does not fall."""
    averaging: Decay = later(0.0)
    """Keep a running mean of the weights, to which an update adds at least this share; 0 is not."""
    through_time: Whole = later(0)
    """Earlier calls that gradients flow back through by the carried states; 0 is the paper's, whose
    gradients stop at the states that a call starts from."""
    trace_decay: Decay = later(0.5)
    """Share of an edge's eligibility trace that stays from one iteration to the next (hebbian)."""

    def resolved(self) -> Self:
        """Return the settings with momentum and weight decay filled in where they are None.

        >>> LearningConfig(optimizer="sgd").resolved().momentum
        0.9
        """
        decay, momentum = self.weight_decay, self.momentum
        if decay is None:
            decay = 0.01 if self.optimizer == "adamw" else 0.0
        if momentum is None:
            momentum = 0.9 if self.optimizer == "sgd" else 0.0
        return replace(self, weight_decay=decay, momentum=momentum)


@dataclass(frozen=True, kw_only=True)
class LearningSettings(LearningConfig):
    """How a run trains; if no loss is given, it is the one that the task needs."""

    loss: Loss | None = None  # type: ignore[assignment]
    """The loss, see LearningConfig; None is cross-entropy for choices and "mse" for continuous
    actions."""


_NO_RULES = {"growth": "none", "pruning": "none", "orphan_removal": False}
_LAYERED: dict[str, Any] = {
    "network.n_hidden": 0,  # the budget says how many there are
    "network.density": NetworkSettings.density,
    "network.weight_std": NetworkSettings.weight_std,
    "network.iterations": 2,
    "network.output_activation": "identity",
    "network.carry_state": False,
}
_STATIC = PlasticityConfig.static()
_PRUNED = PlasticityConfig.frugal(
    growth="none", interval="episode", least_updates=2500, dense_until=0.3
)


def _rules(rules: PlasticityConfig) -> dict[str, Any]:
    values = rules.to_dict().items()
    return {f"plasticity.{name}": value for name, value in values if name != "size"}


DEMANDS: dict[str, dict[str, Any]] = {
    "smgrnn": {},
    "static": {f"plasticity.{name}": value for name, value in _NO_RULES.items()},
    "growth-only": {"plasticity.pruning": "none", "plasticity.orphan_removal": False},
    "mlp-100": _LAYERED | _rules(_STATIC),
    "mlp-200": _LAYERED | _rules(_STATIC),
    "mlp-pruned": _LAYERED | _rules(_PRUNED),
}
"""Settings that define each kind of student, by their dotted names in a RunConfig."""
UNCHANGING = ("static", "mlp-100", "mlp-200")
"""The students whose graph stays as it is."""
LAYERED = ("mlp-100", "mlp-200", "mlp-pruned")
"""The students that are MLPs; they have biases unless told otherwise."""


@dataclass(frozen=True, kw_only=True)
class RunConfig(Settings):
    """Settings of a distillation run; with the task they suffice to repeat it (Sec. IV-A).

    Examples
    --------
    >>> from smgrnn import PlasticityConfig, RunConfig
    >>> RunConfig(episodes=100, plasticity=PlasticityConfig(window=50)).learning.optimizer
    'adam'
    """

    student: Student = "smgrnn"
    """The growing network; the same graph kept as it is; growth without pruning; an MLP of 100 % or
    200 % of the budget; or one of the budget that is pruned to `parameters`."""
    episodes: Count = 2000
    """Training episodes."""
    stop_after: Whole = 0
    """Stop after this many episodes in a row that reach the task's threshold; 0 is never."""
    seed: Whole = 0
    """Seed of the initial graph, of the rules' choices and of the episodes."""
    expert: str | None = None
    """Name of a shipped expert, file of its weights, or a function as module:function; None is the
    smooth expert that comes with the package."""
    env_backend: EnvBackend | None = None
    """Where the task runs; None is compiled code if task and expert allow it, and Gymnasium
    otherwise."""
    checkpoint_every: Count = 100
    """Episodes between two checkpoints, from which an interrupted run can go on."""
    held_out: Count = 100
    """Held-out episodes that judge the student that is handed over."""
    handover: HandOver = "final"
    """The student to hand over: the best one that the run saw, chosen on episodes that do nothing
    else, or the final one."""
    parameters: Count | None = None
    """Most parameters that may be handed over; rules that follow a size may pass them on the way.
    None is any number."""
    keep: Share | None = None
    """Hand over the smallest student that keeps this share of what the expert returns beyond a
    random policy; None asks for no share."""
    budget: Count | None = None
    """Parameters of a 100 % MLP; None is the number that the growing network has on average."""
    bias: bool = False
    """Add an input that is always 1; its edges are biases."""
    normalise: bool = False
    """Scale observations to mean 0 and deviation 1, by statistics that the run keeps."""
    gain: Positive = later(1.0)
    """Factor of the student's inputs, which its weights absorb in the end."""
    bar: Finite | None = later(None)
    """Mean return of the last episodes at which nothing grows any more, for rules that follow a
    size; None is the task's threshold where no size is asked for, and no bar elsewhere."""
    protect: Probability = later(0.0)
    """Share by which updates are held back of edges that mattered to the run to go on from; they
    are not pruned either.  For --from, and for the later stages of a sequence."""
    network: NetworkSettings = field(default_factory=NetworkSettings)
    """The network before it learns."""
    learning: LearningSettings = field(default_factory=LearningSettings)
    """Optimizer and loss."""
    plasticity: PlasticityConfig = field(default_factory=PlasticityConfig.paper)
    """Rules of growth and pruning."""

    def __post_init__(self) -> None:
        if type(self.learning) is LearningConfig:
            object.__setattr__(self, "learning", LearningSettings(**self.learning.to_dict()))
        super().__post_init__()

    @classmethod
    def for_task(
        cls, task: str, *, preset: str | Path = "paper", student: str = "smgrnn", **changes: Any
    ) -> Self:
        """Return the settings to start from for a task and a student, with changes.

        The preset "frugal" ends with the smallest network that does the job, or with as many
        parameters as are asked for.  In an environment "paper" is the reading of the rules that
        comes closest to the paper's sizes; "as_printed" reads them word for word.  Examples, those
        of XOR and recorded ones, come in no order, so that nothing is carried from one to the next,
        a hidden node needs an iteration of its own to be heard, and growth is not counted in
        episodes.  A path ending in .toml is a settings file, which changes one of these presets;
        `smgrnn tune` writes such files.  An MLP is two iterations of a layered graph with biases,
        from zero states to linear outputs.

        >>> RunConfig.for_task("xor", seed=1).network.iterations
        3
        >>> RunConfig.for_task("CartPole-v1", preset="as_printed").plasticity.interval
        1
        >>> RunConfig.for_task("CartPole-v1", student="mlp-100", n_hidden=0).network.iterations
        2
        """
        base, own = _open_preset(preset)
        if student in get_args(Method):
            raise ConfigError(f"{student} is evolved, not distilled: use smgrnn evolve.")
        start = cls._start(task, base, student)
        if student in UNCHANGING:
            own = {name: each for name, each in own.items() if not name.startswith("plasticity.")}
        if own:
            start = start.with_changes(**by_part(own))
        for place, value in DEMANDS[student].items():
            part, _, name = place.rpartition(".")
            start = start.with_changes(**({part: {name: value}} if part else {name: value}))
        if student in LAYERED:
            start = start.with_changes(bias=True)
        if not start.network.carry_state and "learning.through_time" not in own:
            start = start.with_changes(learning={"through_time": 0})  # no way to an earlier call
        return start.with_changes(**changes)

    @classmethod
    @cache
    def _start(cls, task: str, preset: "Preset", student: str) -> Self:
        return cls().with_changes(student=student, **_starting_values(task, preset))

    def with_changes(self, **changes: Any) -> Self:
        """Return the settings with some of them changed.

        Settings of the network can also be given by their own names; `network`, `learning` and
        `plasticity` are whole settings, or a dict of the changes in them.

        >>> RunConfig().with_changes(iterations=2, plasticity={"window": 50}).plasticity.interval
        'episode'
        """
        own = {entry.name for entry in fields(NetworkSettings)} & changes.keys()
        values = {name: value for name, value in changes.items() if name not in own}
        for name in ("network", "learning", "plasticity"):
            if isinstance(values.get(name), dict):
                values[name] = replace(getattr(self, name), **values[name])
        if own:
            network = values.get("network", self.network)
            values["network"] = replace(network, **{name: changes[name] for name in own})
        return replace(self, **values)


PARTS = ("learning", "plasticity")
"""Parts of a RunConfig whose settings go by dotted names; those of the network by their own."""
NO_PRESETS = ("seed", "student", "expert", "env_backend", "checkpoint_every", "held_out")
"""Settings that no preset has: they say which run it is and how it is kept, or name code to run."""


def preset_settings() -> dict[str, Any]:
    """Return the annotation of each setting that a preset may have, by the name of its flag.

    >>> "plasticity.window" in preset_settings(), "iterations" in preset_settings()
    (True, True)
    """
    own = annotations(RunConfig) | annotations(NetworkSettings)
    left_out = (*NO_PRESETS, *PARTS, "network")
    found = {name: each for name, each in own.items() if name not in left_out}
    for part in PARTS:
        inner = annotations(annotations(RunConfig)[part])
        found |= {f"{part}.{name}": each for name, each in inner.items()}
    return found


def find_setting(name: str) -> Any:
    """Return the annotation of a setting by the name of its flag; refuse one that there is not."""
    known = preset_settings()
    if name in NO_PRESETS:
        raise ConfigError(f"The setting {name!r} belongs to a run, not to a preset: leave it out.")
    if name not in known:
        ends = {place.rpartition(".")[2]: place for place in known}
        hint = f"Did you mean {ends[name]!r}?" if name in ends else suggest(name, known)
        raise ConfigError(f"The setting {name!r} does not exist. {hint}".strip())
    return known[name]


def by_part(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings by the names of their flags as `with_changes` takes them.

    >>> by_part({"gain": 2.0, "plasticity.window": 50})
    {'gain': 2.0, 'plasticity': {'window': 50}}
    """
    found: dict[str, Any] = {}
    for place, value in settings.items():
        part, _, name = place.rpartition(".")
        (found.setdefault(part, {}) if part else found)[name] = value
    return found


def settings_file(
    task: str, preset: str | Path, config: RunConfig, about: dict[str, str]
) -> SettingsFile:
    """Return the settings file that gives a task these settings, starting from a preset.

    A preset that is itself a file is not referred to: the new one holds what both of them change.
    """
    base, _ = _open_preset(preset)
    start = RunConfig.for_task(task, preset=base, student=config.student)
    found = {name: setting_of(config, name) for name in preset_settings()}
    changed = {name: each for name, each in found.items() if each != setting_of(start, name)}
    return SettingsFile(base, changed, about)


def setting_of(config: RunConfig, name: str) -> Any:
    """Return the value of a setting by the name of its flag.

    >>> setting_of(RunConfig(), "iterations"), setting_of(RunConfig(), "plasticity.window")
    (1, 100)
    """
    is_network = name in {entry.name for entry in fields(NetworkSettings)}
    return attrgetter(f"network.{name}" if is_network else name)(config)


def _open_preset(preset: str | Path) -> tuple[Preset, dict[str, Any]]:
    """Return the preset of this name, or the one that a file starts from and what it changes."""
    known = {str(name): name for name in get_args(Preset)}
    if str(preset) in known:
        return known[str(preset)], {}
    path = Path(preset)
    if path.suffix != ENDING:
        hint = suggest(str(preset), known)
        names = f"there are {', '.join(known)}, and settings files, which end in {ENDING}"
        raise ConfigError(f"There is no preset {str(preset)!r}; {names}. {hint}".strip())
    file = read_settings(path)
    if file.preset not in known:
        hint = suggest(file.preset, known)
        raise ConfigError(f"{path} starts from {file.preset!r}, which is no preset. {hint}".strip())
    try:
        for name in file.settings:
            find_setting(name)
        RunConfig().with_changes(**by_part(file.settings))
    except ConfigError as error:
        raise ConfigError(f"{path} cannot be used. {error}") from error
    return known[file.preset], file.settings


def _starting_values(task: str, preset: Preset) -> dict[str, Any]:
    """Return the settings of a task and a preset that are not the defaults."""
    if preset == "frugal":
        return _frugal_values(task)
    values: dict[str, Any] = {}
    if task == "xor" or task.endswith(RECORDINGS):
        rules = PlasticityConfig()
        values = {"iterations": 3, "bias": True, "carry_state": False, "plasticity": rules}
    if task == "xor":
        rules = PlasticityConfig(interval=10, initial_weight=0.5)
        values |= {"density": 1.0, "weight_std": 0.05, "stop_after": 25, "plasticity": rules}
    if preset == "as_printed":
        values |= {"readout": "state", "plasticity": PlasticityConfig.as_printed()}
    return values


def _frugal_values(task: str) -> dict[str, Any]:
    learning = {"learning_rate": 0.003, "bias_correction": "edge", "schedule": "falling"}
    values: dict[str, Any] = {
        "episodes": 1500,
        "handover": "best",
        "bias": True,
        "gain": 5.0,
        "density": 1.0,
        "weight_std": 0.0,
        "iterations": 2,
        "carry_state": False,
        "learning": learning | {"averaging": 1e-4},
        "plasticity": PlasticityConfig.frugal(interval="episode", least_updates=2500),
    }
    if task.partition(",")[0] == "recall" or ",hide=" in task:  # nothing is done without memory
        values["carry_state"] = True
        values["learning"] |= {"through_time": 16}
    if task == "xor" or task.endswith(RECORDINGS):
        values["gain"] = 1.0
    if task == "xor":  # four examples an episode
        values["learning"] |= {"learning_rate": 0.02}
        values |= {"stop_after": 25, "plasticity": PlasticityConfig.frugal(interval=300)}
    return values
