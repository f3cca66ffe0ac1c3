"""Settings: frozen dataclasses, validated once, on construction."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Literal, Self, cast, get_args

from smgrnn.errors import ConfigError, suggest
from smgrnn.graph.settings import NetworkConfig, NetworkSettings
from smgrnn.learning.settings import (
    LEARNING,
    OPTIMIZERS,
    Adam,
    LearningConfig,
    LearningSettings,
)
from smgrnn.rules.frugal import Contribution
from smgrnn.rules.paper import Relay
from smgrnn.rules.settings import GROWTH, NONE, PRUNING, PlasticityConfig
from smgrnn.settings_file import ENDING, SettingsFile, read_settings
from smgrnn.validation import (
    Count,
    Finite,
    Positive,
    Probability,
    Settings,
    Share,
    Whole,
    annotations,
    flatten,
)

__all__ = ["LearningConfig", "NetworkConfig", "PlasticityConfig", "RunConfig"]

Method = Literal["neat", "ndp"]
Preset = Literal["frugal", "paper", "as_printed"]
USUAL_PRESET: Preset = "frugal"
"""The preset of `smgrnn distill` and `smgrnn.distill`; the paper's experiments use "paper"."""
Student = Literal["smgrnn", "static", "growth-only", "mlp-100", "mlp-200", "mlp-pruned"]
EnvBackend = Literal["compiled", "gymnasium"]
Selection = Literal["return", "faithful", "final"]
Objective = Literal["mean", "worst", "share-above"]
NETWORK = {entry.name for entry in fields(NetworkSettings)}
"""The settings of the network, which go by their own names."""
UNCHANGING = ("static", "mlp-100", "mlp-200")
"""The students with a fixed graph."""
LAYERED = ("mlp-100", "mlp-200", "mlp-pruned")
"""The students that are MLPs; they have biases by default."""
CHOICES: dict[str, Mapping[str, type[Settings]]] = {
    "plasticity.growth": GROWTH,
    "plasticity.pruning": PRUNING,
    "learning.optimizer": OPTIMIZERS,
    "learning.rule": LEARNING,
}
"""Settings that are chosen by a name, and all there are to choose from.  The settings of a choice
follow the last part of this name: `growth.max_relays`."""
RULES = ("plasticity", "growth", "pruning")
"""First parts of the names of the settings of growth and pruning."""
RENAMED = {
    "handover": "select",
    "bar": "target_return",
    "parameters": "max_parameters",
}
"""Settings of smgrnn 0.2 that have other names now."""
LISTS = ("input_names", "output_names", "keep_inputs")
"""Settings that are lists, with commas between the values in a text."""
NO_PRESETS = ("seed", "student", "expert", "env_backend", "checkpoint_every", "held_out")
"""Settings that no preset has: they identify the run, say how it is stored, or name code to run."""


@dataclass(frozen=True, kw_only=True)
class RunSettings(Settings):
    """The settings that a plan takes over as they were asked for."""

    student: Student = "smgrnn"
    """The growing network; a fixed graph; growth without pruning; an MLP of 100 % or 200 % of the
    budget; or one of 100 % that is pruned to `max_parameters`."""
    episodes: Count = 1500
    """Training episodes."""
    stop_after: Whole = 0
    """Stop after this many episodes in a row that reach the task's threshold; 0 disables it."""
    seed: Whole = 0
    """Seed of the initial graph, of the rules' choices and of the episodes."""
    checkpoint_every: Count = 100
    """Episodes between two checkpoints, from which an interrupted run resumes."""
    held_out: Count = 100
    """New episodes that evaluate the selected network."""
    select: Selection = "return"
    """Select the network with the best return, or the one most faithful to the expert, both on
    separate episodes; or the final one."""
    max_parameters: Count | None = None
    """Maximum parameters of the result; training may exceed it temporarily.  None is any number."""
    keep: Share | None = None
    """Select the smallest network that keeps this fraction of the expert's return beyond that of a
    random policy; None disables it."""
    polish: Whole = 0
    """Episodes in which the weights of the selected network are searched for a higher return; 0
    disables it."""
    polish_for: Objective = "mean"
    """What that search raises: the mean return, the mean of the worst tenth, or the share of
    episodes that reach the task's threshold."""
    normalise: bool = False
    """Scale observations to mean 0 and deviation 1, by statistics of the run."""
    gain: Positive = 5.0
    """Multiplies inputs during training; folded into the weights afterwards."""
    target_return: Finite | None = None
    """Stop growing once the recent mean return reaches this value, for rules that follow a size;
    None is the task's threshold where no size is asked for, and never elsewhere."""
    input_names: tuple[str, ...] = ()
    """Names of the values of an observation; by default those that are known of the task."""
    output_names: tuple[str, ...] = ()
    """Names of the actions, or of the values of a continuous one."""
    protect: Probability = 0.0
    """Slow updates to important inherited edges by this fraction, and do not prune them.  For
    --from, and for the later stages of a sequence."""


@dataclass(frozen=True, kw_only=True)
class RunConfig(RunSettings):
    """Settings of a distillation run; with the task they suffice to repeat it (Sec. IV-A).

    Examples
    --------
    >>> from smgrnn.config import PlasticityConfig, RunConfig
    >>> RunConfig(episodes=100, plasticity=PlasticityConfig(size=44)).learning.optimizer.name
    'adam'
    """

    expert: str | None = None
    """A bundled expert, a file of weights or module:function; None is the bundled smooth expert."""
    env_backend: EnvBackend | None = None
    """Where the task runs; None is compiled code if task and expert allow it, and Gymnasium
    otherwise."""
    budget: Count | None = None
    """Parameters of a 100 % MLP; None is the average number of the growing network."""
    network: NetworkSettings = field(default_factory=NetworkSettings)
    """The network before it learns."""
    learning: LearningSettings = field(default_factory=LearningSettings)
    """Optimizer and loss."""
    plasticity: PlasticityConfig = field(default_factory=PlasticityConfig)
    """Rules of growth and pruning."""

    def __post_init__(self) -> None:
        if type(self.learning) is LearningConfig:
            object.__setattr__(self, "learning", LearningSettings(**vars(self.learning)))
        super().__post_init__()

    @classmethod
    def for_task(
        cls,
        task: str,
        *,
        preset: str | Path = USUAL_PRESET,
        student: str = "smgrnn",
        **changes: Any,
    ) -> Self:
        """Return the settings to start from for a task and a student, with changes.

        "frugal" ends with the smallest network that solves the task, or with the parameters asked
        for.  "paper" comes closest to the paper's sizes; "as_printed" follows its text word for
        word.  A path ending in .toml is a settings file, such as `smgrnn tune` writes.  A task that
        needs memory has states that are carried.  XOR and recordings have examples in no order: no
        state is carried.  An MLP is two iterations of a layered graph with biases, from zero states
        to linear outputs.

        >>> RunConfig.for_task("recall", seed=1).network.carry_state
        True
        >>> RunConfig.for_task("CartPole-v1", preset="as_printed").plasticity.interval
        1
        """
        base, own = _open_preset(preset)
        if student in get_args(Method):
            raise ConfigError(f"{student} is evolved, not distilled: use smgrnn evolve.")
        if student in UNCHANGING:
            own = {name: each for name, each in own.items() if name.split(".")[0] not in RULES}
        start = cls._start(task, base)
        try:
            for name in own:
                find_setting(name)  # which refuses those of a run
            start = start.with_named(own)
        except ConfigError as error:
            raise ConfigError(f"{preset} cannot be used. {error}") from error
        start = start.with_changes(**_student_changes(student, start))
        is_reset = not start.network.carry_state and "learning.through_time" not in own
        if is_reset and start.learning.through_time:  # no way to an earlier call
            start = start.with_changes(learning={"through_time": 0})
        return start.with_changes(**changes)

    @classmethod
    @cache
    def _start(cls, task: str, preset: "Preset") -> Self:
        from smgrnn.tasks.known import find_facts  # here: a command that only helps needs no Numba
        from smgrnn.tasks.recording import RECORDINGS

        facts = find_facts(task)
        has_examples = facts.examples is not None or task.endswith(RECORDINGS)
        start = cls().with_changes(**PRESETS[preset])
        if preset == "frugal":
            start = start.with_changes(**IN_RUNS)
            if facts.needs_memory:
                start = start.with_changes(carry_state=True, learning={"through_time": 16})
                start = start.with_changes(episodes=2 * start.episodes)
            if has_examples:
                start = start.with_changes(gain=1.0)
        elif has_examples:
            start = start.with_changes(iterations=3, bias=True, carry_state=False)
            if preset == "paper":
                rules = PlasticityConfig.paper(growth=Relay(), interval=100)
                start = start.with_changes(plasticity=rules)
        return start.with_changes(**facts.presets.get(preset, {}))

    def with_changes(self, **changes: Any) -> Self:
        """Return the settings with some of them changed; those of the network by their own names.

        `network`, `learning` and `plasticity` are whole settings, or a dict of changes in them.
        Any other setting may be given by the last part of its name, if that is the only one.

        >>> RunConfig().with_changes(learning_rate=0.01, window=60).learning.learning_rate
        0.01

        >>> RunConfig().with_changes(iterations=3, plasticity={"window": 50}).network.bias
        True
        """
        refuse_renamed(*changes)
        direct = {entry.name for entry in fields(self)} | NETWORK
        named = {long_name(name): changes.pop(name) for name in changes.keys() - direct}
        own = {name: changes.pop(name) for name in NETWORK & changes.keys()}
        found = self.changed(**changes)
        found = found.changed(network=own) if own else found
        return found.with_named(named) if named else found

    def with_named(self, settings: Mapping[str, Any]) -> Self:
        """Return the settings with changes by the names that `--set` takes.

        >>> changes = {"growth.max_relays": 3, "plasticity.growth": "relay"}
        >>> RunConfig().with_named(changes).plasticity.growth.max_relays
        3
        """
        for name in settings.keys() - NO_PRESETS:
            find_setting(name)
        config, places = self, {name.rpartition(".")[2]: name for name in CHOICES}
        for are_choices in (True, False):  # then those of what is chosen
            changes: dict[str, Any] = {}
            for name in (name for name in settings if (name in CHOICES) == are_choices):
                part, _, last = name.rpartition(".")
                table = changes
                for each in places.get(part, part).split(".") if part else ():
                    table = table.setdefault(each, {})
                table[last] = settings[name]
            config = config.with_changes(**changes)
        return config

    def named(self) -> dict[str, Any]:
        """Return the value of every setting by the name that `--set` takes; a choice by its own.

        >>> named = RunConfig().named()
        >>> named["growth.n_candidates"], named["plasticity.growth"], named["density"]
        (32, 'frugal', 1.0)
        """
        found = {}
        for full, value in flatten(self.to_dict()).items():
            *parts, last = full.split(".")
            name = ".".join((*parts[-1:], last)).removeprefix("network.")
            found[name] = NONE if full in CHOICES and value is None else value
        return found


def owners() -> Iterator[tuple[str, type[Settings], str]]:
    """Yield the owners of settings: a title, the class, and the first part of their names."""
    yield "run", RunConfig, ""
    yield "network", NetworkSettings, ""
    yield "learning", LearningSettings, "learning."
    yield "plasticity module", PlasticityConfig, "plasticity."
    titles = {"growth": "growth rule", "pruning": "pruning rule", "rule": "learning rule"}
    for choice, table in CHOICES.items():
        part = choice.rpartition(".")[2]
        for name, kind in table.items():
            yield f"{titles.get(part, part)} {name}", kind, f"{part}."


@cache
def setting_kinds() -> dict[str, Any]:
    """Return the annotation of every setting by the name that `--set` takes.

    >>> "plasticity.window" in setting_kinds(), "growth.interval_width" in setting_kinds()
    (True, True)
    """
    parts = ("network", "learning", "plasticity")
    return {
        f"{prefix}{name}": kind
        for _, owner, prefix in owners()
        for name, kind in annotations(owner).items()
        if f"{prefix}{name}" not in parts
    }


def long_name(short_name: str) -> str:
    """Return the full name of a setting by its last part; refuse one that several have, or none.

    >>> long_name("learning_rate"), long_name("max_relays")
    ('learning.learning_rate', 'growth.max_relays')
    """
    kinds = setting_kinds()
    if short_name in kinds:
        return short_name
    found = [name for name in kinds if name.rpartition(".")[2] == short_name]
    if len(found) > 1:
        *most, last = found
        raise ConfigError(
            f"The setting {short_name!r} may be {', '.join(most)} or {last}. Give it by its full "
            f"name: --set {last}=VALUE, or **{{{last!r}: value}} in Python."
        )
    if not found:
        find_setting(short_name)  # which refuses it, with a suggestion
    return found[0]


def find_setting(name: str) -> Any:
    """Return the annotation of a setting that a preset may have, by its name."""
    refuse_renamed(name)
    if name in NO_PRESETS:
        raise ConfigError(f"The setting {name!r} belongs to a run, not to a preset: leave it out.")
    known = setting_kinds()
    if name not in known:
        ends = {place.rpartition(".")[2]: place for place in known}
        close = get_close_matches(name.rpartition(".")[2], ends, n=1)
        hint = f"Did you mean {ends[close[0]]!r}?" if close else suggest(name, known)
        raise ConfigError(f"The setting {name!r} does not exist. {hint}".strip())
    return known[name]


def refuse_renamed(*names: str) -> None:
    """Refuse settings of smgrnn 0.2 that have other names now."""
    for name in names:
        if name in RENAMED:
            raise ConfigError(f"The setting {name!r} of smgrnn 0.2 is now {RENAMED[name]!r}.")


def _student_changes(student: str, start: RunConfig) -> dict[str, Any]:
    """Return the settings that define a student."""
    changes: dict[str, Any] = {} if student == "smgrnn" else {"student": student}
    if student in LAYERED:  # the budget gives the number of hidden nodes
        usual = NetworkSettings()
        changes |= {"bias": True, "density": usual.density, "weight_std": usual.weight_std}
        changes |= {"n_hidden": 0, "iterations": 2, "output_activation": "identity"}
        changes |= {"carry_state": False}
    if student in UNCHANGING:
        changes["plasticity"] = PlasticityConfig.static()
    elif student == "growth-only":
        changes["plasticity"] = start.plasticity.changed(pruning=None, orphan_removal=False)
    elif student == "mlp-pruned":
        pruning = Contribution(dense_until=0.3)
        changes["plasticity"] = PlasticityConfig(
            growth=None, pruning=pruning, interval="episode", least_updates=2500
        )
    return changes


def check_student(config: RunConfig) -> None:
    """Refuse settings that contradict the student."""
    student, rules = config.student, config.plasticity
    fitting = {
        "smgrnn": True,
        "growth-only": rules.pruning is None and not rules.orphan_removal,
        "mlp-pruned": rules.growth is None and rules.follows_size,
    }
    if not fitting.get(student, rules.is_static):
        raise ConfigError(f"The growth or pruning rule contradicts the student {student}.")
    for name, wanted in _student_changes(student, config).items():
        if name in NETWORK - {"bias"} and (value := getattr(config.network, name)) != wanted:
            raise ConfigError(
                f"{name} {value} contradicts the student {student}: it must be {wanted}."
            )
    if config.budget is not None and student not in LAYERED:
        raise ConfigError(f"budget measures an MLP, and {student} is not one: leave it out.")


def parse_value(text: str) -> Any:
    """Return the value that a text stands for.

    >>> [parse_value(each) for each in ("3", "0.5", "None", "true", "relay")]
    [3, 0.5, None, True, 'relay']
    """
    words = {"none": None, "true": True, "false": False}
    if text.lower() in words and text != "none":  # "none" is a rule
        return words[text.lower()]
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def with_settings(config: RunConfig, texts: Sequence[str]) -> RunConfig:
    """Return a run's settings with changes that are given as NAME=VALUE.

    >>> with_settings(RunConfig(), ["growth.n_candidates=8"]).plasticity.growth.n_candidates
    8
    """
    given: dict[str, Any] = {}
    for text in texts:
        name, is_given, value = text.partition("=")
        if not is_given:
            raise ConfigError(f"--set takes NAME=VALUE. Got {text!r} instead.")
        name = name.strip().replace("-", "_")
        name = name if name in NO_PRESETS else long_name(name)
        if name.rpartition(".")[2] in LISTS:
            given[name] = tuple(filter(None, value.strip("[] ").split(",")))
        else:
            given[name] = parse_value(value.strip())
    return config.with_named(given)


def settings_file(
    task: str, preset: str | Path, config: RunConfig, about: dict[str, str]
) -> SettingsFile:
    """Return the settings file that gives a task these settings, starting from a preset.

    A preset that is itself a file is not referred to: the new one holds the changes of both.
    """
    base, _ = _open_preset(preset)
    start = RunConfig.for_task(task, preset=base, student=config.student).named()
    changed = {
        name: value
        for name, value in config.named().items()
        if name not in NO_PRESETS and (name, value) not in start.items()
    }
    return SettingsFile(base, changed, about)


def _open_preset(preset: str | Path) -> tuple[Preset, dict[str, Any]]:
    """Return the preset of this name, or the one that a file starts from and what it changes."""
    base, own, known = str(preset), dict[str, Any](), get_args(Preset)
    if base.endswith(ENDING):
        base, own, _ = read_settings(Path(preset))
    if base not in known:
        usual = f"Use {', '.join(known)} or a settings file, which ends in {ENDING}."
        where = "" if base == str(preset) else f"{preset} cannot be used. "
        raise ConfigError(f"{where}There is no preset {base!r}. {suggest(base, known) or usual}")
    return cast(Preset, base), own


def in_own_loop(preset: str | Path) -> RunConfig:
    """Return a preset's settings of network, learning and rules for your own loop.

    >>> in_own_loop("paper").network.carry_state, in_own_loop("frugal").network.carry_state
    (True, False)
    """
    base, own = _open_preset(preset)
    return RunConfig().with_changes(**PRESETS[base]).with_named(own)


CALENDAR: dict[str, Any] = {"interval": "episode", "least_updates": None}
"""When frugal rules are called in a run."""
IN_RUNS = {"activation": "tanh", "output_activation": "tanh", "plasticity": CALENDAR}
"""Settings of the preset frugal in runs, whose actions have bounds."""
PAPER: dict[str, Any] = {
    "episodes": 2000,
    "select": "final",
    "gain": 1.0,
    "bias": False,
    "density": 0.8,
    "weight_std": 0.1,
    "iterations": 1,
    "activation": "tanh",
    "output_activation": "tanh",
    "carry_state": True,
    "learning": {
        "learning_rate": 0.01,
        "optimizer": Adam(),
        "schedule": "constant",
        "averaging": 0.0,
    },
    "plasticity": PlasticityConfig.paper(),
}
PRESETS: dict[Preset, dict[str, Any]] = {
    "frugal": {},
    "paper": PAPER,
    "as_printed": PAPER | {"readout": "state", "plasticity": PlasticityConfig.as_printed()},
}
"""Settings of each preset that are not the defaults, for any task."""
