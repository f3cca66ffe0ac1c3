"""The tables of rules: one line for each of ours, and those of other packages.

A package of yours adds a rule without a change here: by `GROWTH.add(rule)` when it is imported, or
by an entry point of its own, in the group `smgrnn.growth` or `smgrnn.pruning`, that names a `Rule`;
then every command knows the rule by its name.
"""

from dataclasses import fields

from smgrnn.config import PlasticityConfig
from smgrnn.parts import Table
from smgrnn.plasticity import (
    contribution,
    duplicate,
    exploration,
    gradient,
    idle,
    random_pruning,
    random_relay,
    relay,
    split,
    weak,
)
from smgrnn.plasticity.rule import Rule

GROWTH = Table[Rule](
    "growth",
    [
        relay.RULE,
        relay.ALONE,
        exploration.RULE,
        random_relay.RULE,
        split.RULE,
        duplicate.RULE,
        gradient.FRUGAL,
        gradient.CANDIDATES,
        gradient.RULE,
        idle.GROWTH,
    ],
)
PRUNING = Table[Rule]("pruning", [weak.RULE, contribution.RULE, random_pruning.RULE, idle.PRUNING])

WHAT = frozenset({"growth", "pruning", "orphan_removal"})
"""Settings that say what may be edited."""
WHEN = frozenset({"interval", "least_updates", "prune_period", "optimizer_on_edit"})
"""Settings of every call of the module, whatever the rules."""


def settings_without_effect(config: PlasticityConfig) -> frozenset[str]:
    """Return the names of the settings that change nothing, given the rules.

    >>> "max_relays" in settings_without_effect(PlasticityConfig(growth="exploration"))
    True
    >>> sorted(settings_without_effect(PlasticityConfig(interval="episode")))[:2]
    ['candidate_gain', 'candidate_sources']
    """
    every = frozenset(entry.name for entry in fields(config))
    if config.is_static:
        return every - WHAT
    growth, pruning = GROWTH[config.growth].settings, PRUNING[config.pruning].settings
    if growth is None or pruning is None:
        return frozenset()
    of_episodes = frozenset() if config.interval == "episode" else {"least_updates"}
    return every - (growth | pruning | WHAT | WHEN) | of_episodes


def follows_size(config: PlasticityConfig) -> bool:
    """Return whether one of the rules follows a size.

    >>> follows_size(PlasticityConfig.frugal()), follows_size(PlasticityConfig.paper())
    (True, False)
    """
    return GROWTH[config.growth].follows_size or PRUNING[config.pruning].follows_size
