"""Settings of the structural plasticity module: its rules, and when it calls them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self, get_args

from smgrnn.errors import ConfigError, short, suggest
from smgrnn.rules.frugal import BestCandidate, Contribution, Frugal, Gradient
from smgrnn.rules.paper import Exploration, Relay, RelayAlone, Weak
from smgrnn.rules.rule import BuiltInRule, Rule, Statistic, follows_size
from smgrnn.rules.variants import Duplicate, RandomPruning, RandomRelay, Split
from smgrnn.validation import Choice, Count, Settings, Whole

OnEdit = Literal["keep", "reset"]
HistoryOnEdit = Literal["keep", "reset", "reset_on_removal"]

_GROWTH: tuple[type[BuiltInRule], ...] = (Relay, RelayAlone, Exploration, RandomRelay, Split)
_GROWTH += (Duplicate, Frugal, BestCandidate, Gradient)
GROWTH = {kind.name: kind for kind in _GROWTH}
PRUNING: dict[str, type[BuiltInRule]] = {it.name: it for it in (Weak, Contribution, RandomPruning)}
_TABLES = {"growth": GROWTH, "pruning": PRUNING}
NONE = "none"  # the name of no rule at all


@dataclass(frozen=True, kw_only=True)
class PlasticityConfig(Settings):
    """Settings of the structural plasticity module.

    By default growth adds where the gradient is largest, and pruning keeps what contributes most.
    Both follow `size`, or the error at the outputs without one: see docs/frugal.md.

    Examples
    --------
    >>> from smgrnn.config import PlasticityConfig
    >>> from smgrnn.rules import Relay
    >>> PlasticityConfig(size=44).pruning.name
    'contribution'
    >>> PlasticityConfig.paper(window=50, growth=Relay(interval_width=0.3)).prune_period
    30
    """

    growth: Rule | None = field(default_factory=Frugal)
    """The growth rule, an object or the name of one; None adds nothing."""
    pruning: Rule | None = field(default_factory=Contribution)
    """The pruning rule, an object or the name of one; None removes nothing but orphans."""
    window: Count = 100
    """Weight updates remembered per edge (T)."""
    full_window: bool = True
    """Judge an edge only once it has seen `window` updates; False judges from the first one."""
    interval: Count | Literal["episode"] | None = None
    """Updates between two calls of the module, or "episode" for a call at each episode's end; None
    is every 100 updates, with at least 1000 examples between two calls."""
    least_updates: Whole | None = 0
    """With interval="episode", fewest updates between two calls; earlier episode ends are skipped.
    None is a hundredth of the updates expected in the run, from 500 to 2500, and 1000 where the
    length of the run is not known."""
    prune_period: Count = 2
    """Every prune_period-th call prunes, the others grow (s)."""
    orphan_removal: bool = True
    """Remove hidden nodes without incoming or without outgoing edges when pruning."""
    history_on_edit: HistoryOnEdit = "keep"
    """Whether an edit keeps or resets the update history of surviving edges; "reset_on_removal"
    resets it only when the edit removes an edge."""
    optimizer_on_edit: OnEdit = "keep"
    """Whether an edit keeps or resets the optimizer state of surviving edges."""
    size: Count | None = None
    """Target number of edges, for rules that follow a size; None lets it follow the error, or in a
    run the parameters asked for."""
    keep_inputs: tuple[Whole | str, ...] = ()
    """Inputs that stay connected to an output, by name or by number from 0: no rule removes a
    shortest path from them."""
    max_nodes: Count = 10_000
    """Growth stops at this many nodes."""
    max_edges: Count = 100_000
    """Growth stops at this many edges."""

    def __post_init__(self) -> None:
        for name, table in _TABLES.items():
            object.__setattr__(self, name, _find_rule(name, getattr(self, name), table))
        super().__post_init__()
        if self.size is not None and not self.follows_size:
            raise ConfigError("A `size` needs rules that follow it, like Frugal and Contribution.")

    @classmethod
    def _choices(cls, name: str) -> list[type[Choice]]:
        return list(_TABLES[name].values()) if name in _TABLES else super()._choices(name)

    @classmethod
    def _read_field(cls, name: str, value: Any, former: Any = None) -> Any:
        is_named = name in _TABLES and isinstance(value, dict) and "name" in value
        if is_named and value["name"] not in {*GROWTH, *PRUNING}:
            return ForeignRule(value)
        return super()._read_field(name, value, former)

    @property
    def is_static(self) -> bool:
        """Whether the rules never change the graph."""
        return self.growth is None and self.pruning is None and not self.orphan_removal

    @property
    def follows_size(self) -> bool:
        """Whether one of the rules follows a size."""
        return any(map(follows_size, (self.growth, self.pruning)))

    def limited(self, n_edges: int) -> Self:
        """Return rules that end with at most so many edges."""
        if self.follows_size:
            return self.changed(size=n_edges)
        return self.changed(max_edges=n_edges)

    def numbered(self, n_inputs: int, names: Sequence[str] = ()) -> Self:
        """Return rules that have `keep_inputs` by number; refuse inputs that do not exist.

        >>> PlasticityConfig(keep_inputs=["speed"]).numbered(2, ["place", "speed"]).keep_inputs
        (1,)
        """
        numbers = []
        for given in self.keep_inputs:
            number = names.index(given) if given in names else given
            if not str(number).isdecimal() or int(number) >= n_inputs:
                known = [*names, *map(str, range(n_inputs))]
                hint = suggest(str(given), known) or f"There are {', '.join(known)}."
                raise ConfigError(f"There is no input {short(given)} to keep. {hint}")
            numbers.append(int(number))
        return self.changed(keep_inputs=tuple(numbers)) if numbers else self

    def needs(self, statistic: Any) -> bool:
        """Return whether one of the rules asks for a statistic."""
        rules = self.growth, self.pruning
        return any(statistic in getattr(rule, "statistics", ()) for rule in rules)

    @classmethod
    def paper(cls, **changes: Any) -> Self:
        """Return the reading that comes closest to the paper's sizes: see docs/calibration.md.

        >>> PlasticityConfig.paper(window=50).interval
        'episode'
        """
        growth = Relay(max_relays=1, initial_weight=0.04)
        rules = cls(growth=growth, pruning=Weak(), interval="episode", prune_period=30)
        return rules.changed(**changes)

    @classmethod
    def as_printed(cls, **changes: Any) -> Self:
        """Return the rules exactly as the paper's text states them."""
        growth = Relay(scale="update", explore_inputs=True)
        rules = cls.paper(growth=growth, interval=1, history_on_edit="reset")
        return rules.changed(**changes)

    @classmethod
    def static(cls, **changes: Any) -> Self:
        """Return rules without any structural change: the paper's Static-SMGrNN."""
        return cls(growth=None, pruning=None, orphan_removal=False).changed(**changes)


class ForeignRule(dict[str, Any]):
    """A rule that a file names and this package does not have: it is given again, or not used."""

    def decide(self, evidence: Any, rng: Any) -> Any:
        """Refuse to decide."""
        raise ConfigError(f"The rule {self['name']!r} is code of the user: pass it again.")


def _find_rule(kind: str, given: Any, table: dict[str, type[BuiltInRule]]) -> Any:
    """Return a rule: the object given, or a built-in one by its name."""
    if given is None or given == NONE:
        return None
    if isinstance(given, str):
        if given not in table:
            hint = suggest(given, table) or f"There are {', '.join(table)} and {NONE}."
            raise ConfigError(f"There is no {kind} rule {given!r}. {hint}")
        return table[given]()
    if isinstance(given, type) or not isinstance(given, Rule):
        raise ConfigError(
            f"A {kind} rule is an object with `decide(evidence, rng)`, or the name of one. Got "
            f"{short(given)} instead."
        )
    known = get_args(Statistic)
    for name in getattr(given, "statistics", ()):
        if name not in known:
            hint = suggest(str(name), known) or f"There are {', '.join(known)}."
            raise ConfigError(f"There are no statistics {short(name)} for a rule. {hint}")
    return given
