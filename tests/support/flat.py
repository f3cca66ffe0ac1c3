"""Settings of rules and of learning by their bare names, put where they belong."""

from dataclasses import fields
from typing import Any

from smgrnn import LearningConfig, PlasticityConfig
from smgrnn.learning import LEARNING, OPTIMIZERS
from smgrnn.rules import GROWTH, PRUNING

_PLASTICITY: dict[str, dict[str, Any]] = {"growth": GROWTH, "pruning": PRUNING}
_LEARNING: dict[str, dict[str, Any]] = {"optimizer": OPTIMIZERS, "rule": LEARNING}


def flat_rules(flat: dict[str, Any]) -> dict[str, Any]:
    """Return changes of a PlasticityConfig: {"scale": "update"} is one of its growth rule."""
    return _nest(flat, PlasticityConfig, _PLASTICITY)


def flat_learning(flat: dict[str, Any]) -> dict[str, Any]:
    """Return changes of a LearningConfig: {"beta1": 0.8} is one of its optimizer."""
    return _nest(flat, LearningConfig, _LEARNING)


def rules(**flat: Any) -> PlasticityConfig:
    """Return the paper's rules with changes by their bare names."""
    return PlasticityConfig().changed(**flat_rules(flat))


def learning(**flat: Any) -> LearningConfig:
    """Return settings of learning with changes by their bare names."""
    return LearningConfig().changed(**flat_learning(flat))


def _nest(flat: dict[str, Any], kind: Any, tables: dict[str, dict[str, Any]]) -> dict[str, Any]:
    own = {entry.name for entry in fields(kind)}
    found: dict[str, Any] = {}
    for name, value in flat.items():
        if name in own and name not in tables:
            found[name] = value
            continue
        if name in tables:
            if not isinstance(value, str) or value == "none":
                found[name] = value
            else:
                found.setdefault(name, {})["name"] = value
            continue
        place = next(
            place
            for place, table in tables.items()
            if name in {entry.name for each in table.values() for entry in fields(each)}
        )
        found.setdefault(place, {})[name] = value
    return found


def paper_rules(**flat: Any) -> PlasticityConfig:
    """Return the rules of the preset paper with changes by their bare names."""
    return PlasticityConfig.paper(**flat_rules(flat))


def frugal_rules(**flat: Any) -> PlasticityConfig:
    """Return the rules of the preset frugal with changes by their bare names."""
    return PlasticityConfig.frugal(**flat_rules(flat))


def printed_rules(**flat: Any) -> PlasticityConfig:
    """Return the rules as printed with changes by their bare names."""
    return PlasticityConfig.as_printed(**flat_rules(flat))


def growing_rules(**flat: Any) -> PlasticityConfig:
    """Return the paper's rules without pruning, with changes by their bare names."""
    return PlasticityConfig.growth_only(**flat_rules(flat))
