"""Settings of rules and of learning by their bare names, put where they belong."""

from dataclasses import fields
from typing import Any

from smgrnn.config import LearningConfig, PlasticityConfig
from smgrnn.learning import LEARNING, OPTIMIZERS
from smgrnn.rules import GROWTH, PRUNING


def flat_rules(flat: dict[str, Any]) -> dict[str, Any]:
    """Return changes of a PlasticityConfig: {"scale": "update"} is one of its growth rule."""
    return _nest(flat, PlasticityConfig, {"growth": GROWTH, "pruning": PRUNING})


def flat_learning(flat: dict[str, Any]) -> dict[str, Any]:
    """Return changes of a LearningConfig: {"beta1": 0.8} is one of its optimizer."""
    return _nest(flat, LearningConfig, {"optimizer": OPTIMIZERS, "rule": LEARNING})


def rules(**flat: Any) -> PlasticityConfig:
    return PlasticityConfig().changed(**flat_rules(flat))


def learning(**flat: Any) -> LearningConfig:
    return LearningConfig().changed(**flat_learning(flat))


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
    return PlasticityConfig.growth_only(**flat_rules(flat))
