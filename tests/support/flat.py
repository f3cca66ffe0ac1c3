"""Settings of rules and of learning by their bare names, put where they belong."""

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from smgrnn import Learner
from smgrnn.config import LearningConfig, NetworkConfig, PlasticityConfig, in_own_loop
from smgrnn.learning import LEARNING, OPTIMIZERS, Adam
from smgrnn.rules import GROWTH, PRUNING, Relay

if TYPE_CHECKING:
    from smgrnn import SMGrNN


def flat_rules(flat: dict[str, Any]) -> dict[str, Any]:
    """Return changes of a PlasticityConfig: {"scale": "update"} is one of its growth rule."""
    return _nest(flat, PlasticityConfig, {"growth": GROWTH, "pruning": PRUNING})


def flat_learning(flat: dict[str, Any]) -> dict[str, Any]:
    """Return changes of a LearningConfig: {"beta1": 0.8} is one of its optimizer."""
    return _nest(flat, LearningConfig, {"optimizer": OPTIMIZERS, "rule": LEARNING})


TABLE = PlasticityConfig.paper(growth=Relay(), interval=100)
"""The paper's rules with the numbers of Table A.III."""
PLAIN = LearningConfig(learning_rate=0.01, optimizer=Adam(), schedule="constant", averaging=0.0)
"""Adam as torch has it."""
PAPER = vars(in_own_loop("paper").network) | {"readout": "state"}
"""The paper's network, whose outputs are read as states."""


def table(**changes: Any) -> PlasticityConfig:
    return TABLE.changed(**changes)


def rules(**flat: Any) -> PlasticityConfig:
    return table(**flat_rules(flat))


def plain(**changes: Any) -> LearningConfig:
    return PLAIN.changed(**changes)


def learning(**flat: Any) -> LearningConfig:
    return plain(**flat_learning(flat))


def network_config(**settings: Any) -> NetworkConfig:
    return NetworkConfig(**{**PAPER, **settings})


def learner_of(
    config: NetworkConfig,
    learning: LearningConfig | None = None,
    plasticity: PlasticityConfig | None = None,
    **more: Any,
) -> Learner:
    return Learner(**vars(config), learning=learning or PLAIN, plasticity=plasticity, **more)


def paper_net(n_inputs: int, n_outputs: int, **settings: Any) -> "SMGrNN":
    from smgrnn import SMGrNN  # with torch, which worker processes need not import

    return SMGrNN(n_inputs, n_outputs, **{**PAPER, "seed": 0, **settings})


def _nest(flat: dict[str, Any], kind: Any, tables: dict[str, Any]) -> dict[str, Any]:
    place = {
        entry.name: part
        for part, table in tables.items()
        for each in table.values()
        for entry in fields(each)
    }
    place |= {entry.name: "" for entry in fields(kind)}
    found: dict[str, Any] = {}
    for name, value in flat.items():
        if name in tables and isinstance(value, str) and value != "none":
            found.setdefault(name, {})["name"] = value
        elif name in tables or not place[name]:
            found[name] = value
        else:
            found.setdefault(place[name], {})[name] = value
    return found


def paper_rules(**flat: Any) -> PlasticityConfig:
    return PlasticityConfig.paper(**flat_rules(flat))


def growing_rules(**flat: Any) -> PlasticityConfig:
    """Return the paper's rules without pruning, with changes by their bare names."""
    return table(pruning=None, orphan_removal=False).changed(**flat_rules(flat))
