"""Search spaces: the settings to tune, each with a range or with a few values.

For example `plasticity.window=10:200:log`, `gain=1:10`, `plasticity.growth=relay,split`.
"""

from collections.abc import Iterable
from math import inf
from typing import Any, NamedTuple, get_args

from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from smgrnn.config import CHOICES, RunConfig, find_setting, parse_value
from smgrnn.errors import ConfigError, short, suggest
from smgrnn.validation import choices

SPACES = {
    "plasticity": (
        "plasticity.window=10:200:log",
        "growth.interval_width=0.1:2:log",
        "growth.fluctuation_threshold=0.01:1:log",
        "plasticity.prune_period=2:60:log",
        "growth.initial_weight=0.005:0.5:log",
        "growth.explore_probability=0:1",
        "growth.explore_ratio=0.002:0.1:log",
        "pruning.weight_threshold=0.02:1:log",
        "pruning.update_threshold=1e-5:1e-2:log",
        "pruning.prune_fraction=0.1:1",
    ),
    "learning": (
        "learning.learning_rate=0.001:0.05:log",
        "optimizer.beta1=0:0.98",
        "learning.schedule=constant,falling",
        "optimizer.bias_correction=shared,edge",
    ),
    "frugal": (
        "gain=1:10:log",
        "learning.learning_rate=0.0005:0.02:log",
        "learning.averaging=1e-5:1e-3:log",
        "plasticity.least_updates=500:5000:log",
        "plasticity.prune_period=2:4",
        "growth.n_candidates=8:64:log",
        "growth.candidate_sources=1:5",
        "growth.candidate_gain=0.5:5:log",
    ),
}
"""Ready search spaces: the paper's rules, learning, and the rules and learning of `frugal`."""


class Dimension(NamedTuple):
    """A setting to tune, as `--set` names it."""

    name: str
    range: str  # its range or values as the command line writes them, to the last digit
    distribution: Any  # the same for Optuna


def find_space(texts: Iterable[str], start: RunConfig) -> tuple[Dimension, ...]:
    """Return the search space that texts describe; a later range of a setting replaces others.

    The settings must allow each end of a range and each value.  Where a rule or an optimizer is
    tuned too, every one to choose from must have the settings to tune.

    >>> find_space(["gain=1:10:log", "gain=2:4"], RunConfig())[0].range
    '2:4'
    """
    singles = [single for text in texts for single in SPACES.get(text, (text,))]
    if not singles:
        raise ConfigError(
            f"There is nothing to tune: name settings with ranges, such as "
            f"--over plasticity.window=10:200:log, or one of {', '.join(SPACES)}."
        )
    named = [(it.partition("=")[0].strip().replace("-", "_"), it) for it in singles]
    starts = [start]
    for name, single in named:
        if name in CHOICES:
            values = _dimension(name, single, start).distribution.choices
            starts = [each.with_named({name: value}) for each in starts for value in values]
    found = {name: [_dimension(name, single, each) for each in starts] for name, single in named}
    return tuple(same[-1] for same in found.values())


def _dimension(name: str, text: str, start: RunConfig) -> Dimension:
    values = text.partition("=")[2].strip()
    if "=" not in text and suggest(name, SPACES):
        raise ConfigError(f"There is no search space {name!r}. {suggest(name, SPACES)}")
    kinds = choices(find_setting(name))
    if not values:
        raise ConfigError(f"{name} needs a range or values, such as {name}=1:10 or {name}=1,2,4.")
    if ":" not in values:
        ends: tuple[Any, ...] = tuple(parse_value(each.strip()) for each in values.split(","))
        if len(set(map(str, ends))) < max(len(ends), 2):
            raise ConfigError(f"{name} needs several different values. Got {values} instead.")
        found = Dimension(name, ",".join(map(str, ends)), CategoricalDistribution(ends))
    else:
        numbers = {each for kind in kinds for each in get_args(kind)[:1]} & {int, float}
        if not numbers:
            raise ConfigError(f"{name} is not a number. List its values: {name}=one,other.")
        number, noun = (float, "numbers") if float in numbers else (int, "whole numbers")
        range, is_log = values.removesuffix(":log"), values.endswith(":log")
        try:
            low, high = ends = tuple(map(number, range.split(":")))
        except ValueError:
            low = high = 0
        if not (0 if is_log else -inf) < low < high:
            raise ConfigError(
                f"The range of {name} must be LOW:HIGH or LOW:HIGH:log, of {noun} that rise, and "
                f"above 0 with log. Got {short(values)} instead."
            )
        kind: Any = IntDistribution if number is int else FloatDistribution
        written = ":".join(repr(end).removesuffix(".0") for end in ends) + ":log" * is_log
        found = Dimension(name, written, kind(low, high, log=is_log))
    for value in ends:
        start.with_named({name: value})
    return found
