"""The tables of rules: one line for each of ours, and those of other packages.

A package of yours adds a rule without a change here: by `GROWTH.add(rule)` when it is imported, or
by an entry point of its own, in the group `smgrnn.growth` or `smgrnn.pruning`, that names a `Rule`;
then every command knows the rule by its name.
"""

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
