"""Settings: every field refuses what is out of range, in one sentence; the rest round-trips."""

import json
import math
import re
from dataclasses import FrozenInstanceError, dataclass, fields
from typing import Any

import numpy as np
import pytest

from smgrnn import NetworkConfig, PlasticityConfig
from smgrnn.config import (
    DEMANDS,
    LAYERED,
    LearningConfig,
    LearningSettings,
    NetworkSettings,
    RunConfig,
)
from smgrnn.errors import ConfigError, SmgrnnError, short
from smgrnn.validation import Count, Settings, later
from smgrnn_paper import EvolutionConfig
from support.flat import growing_rules, rules
from support.flat import learning as learning_config

COUNT: list[Any] = [0, -1, 1.5, True, "3", None, math.nan, math.inf]
POSITIVE: list[Any] = [0.0, -0.1, math.inf, math.nan, True, "0.5", None, 1j]
NON_NEGATIVE: list[Any] = [-0.1, math.inf, -math.inf, math.nan, True, "0.5", None]
PROBABILITY: list[Any] = [-0.1, 1.1, math.inf, math.nan, True, "0.5", None]
SHARE: list[Any] = [0, -0.1, 1.1, math.inf, math.nan, True, "0.5", None]
FLAG: list[Any] = [0, 1, "yes", None]
DECAY: list[Any] = [-0.1, 1.0, math.inf, math.nan, True, "0.5"]
NAME: list[Any] = [1, None, True, ["relay"]]
CHOICE: list[Any] = ["swish", "", 0, None, True, ["keep"]]

NETWORK: dict[str, list[Any]] = {
    "n_hidden": [-1, 1.5, True, "3", None, math.nan],
    "density": SHARE,
    "weight_std": NON_NEGATIVE,
    "iterations": COUNT,
    "activation": CHOICE,
    "output_activation": CHOICE,
    "readout": [value for value in CHOICE if value is not None],
    "carry_state": FLAG,
}
LEARNING: dict[str, list[Any]] = {
    "rule": NAME,
    "optimizer": CHOICE,
    "learning_rate": POSITIVE,
    "beta1": [*DECAY, None],
    "beta2": [*DECAY, None],
    "alpha": [*DECAY, None],
    "epsilon": POSITIVE,
    "bias_correction": CHOICE,
    "momentum": DECAY,
    "weight_decay": [value for value in NON_NEGATIVE if value is not None],
    "loss": [value for value in CHOICE if value is not None],
    "schedule": CHOICE,
    "averaging": [*DECAY, None],
    "through_time": [-1, 1.5, True, "3", None, math.nan],
    "trace_decay": [*DECAY, None],
}
OUT_OF_RANGE: dict[type[Settings], dict[str, list[Any]]] = {
    NetworkSettings: NETWORK,
    NetworkConfig: {
        **NETWORK,
        "n_inputs": COUNT,
        "n_outputs": COUNT,
        "state_dim": COUNT,
        "readout": CHOICE,
    },
    PlasticityConfig: {
        "window": COUNT,
        "interval_width": POSITIVE,
        "fluctuation_threshold": POSITIVE,
        "scale": CHOICE,
        "epsilon": POSITIVE,
        "full_window": FLAG,
        "history_on_edit": CHOICE,
        "optimizer_on_edit": CHOICE,
        "interval": [*COUNT, "epoch"],
        "prune_period": COUNT,
        "growth": NAME,
        "max_relays": [value for value in COUNT if value is not None],
        "initial_weight": NON_NEGATIVE,
        "new_weights": CHOICE,
        "explore_probability": PROBABILITY,
        "explore_ratio": PROBABILITY,
        "explore_inputs": FLAG,
        "pruning": NAME,
        "weight_threshold": NON_NEGATIVE,
        "update_threshold": NON_NEGATIVE,
        "prune_fraction": SHARE,
        "orphan_removal": FLAG,
        "size": [value for value in COUNT if value is not None],
        "dense_until": PROBABILITY,
        "least_updates": [-1, 1.5, True, "3", None],
        "n_candidates": COUNT,
        "candidate_sources": COUNT,
        "candidate_gain": POSITIVE,
        "max_nodes": COUNT,
        "max_edges": COUNT,
    },
    LearningSettings: LEARNING,
    LearningConfig: {**LEARNING, "loss": CHOICE},
    RunConfig: {
        "student": CHOICE,
        "episodes": COUNT,
        "seed": [-1, 1.5, True, "3", None],
        "expert": [0, True],
        "env_backend": [value for value in CHOICE if value is not None],
        "checkpoint_every": COUNT,
        "held_out": COUNT,
        "stop_after": [-1, 1.5, True, "3", None, math.nan],
        "handover": CHOICE,
        "parameters": [value for value in COUNT if value is not None],
        "keep": [value for value in SHARE if value is not None],
        "budget": [value for value in COUNT if value is not None],
        "bias": FLAG,
        "normalise": FLAG,
        "gain": POSITIVE,
        "bar": ["3", True, math.inf],
        "protect": PROBABILITY,
        "network": [None, {}, "tanh"],
        "learning": [None, {}, "adam"],
        "plasticity": [None, {}, learning_config()],
    },
    EvolutionConfig: {
        "method": CHOICE,
        "seed": [-1, 1.5, True, "3", None],
        "rollouts": COUNT,
        "population": [*COUNT, 1],
        "held_out": COUNT,
        "neat_config": [0, True],
    },
}
REQUIRED: dict[type[Settings], dict[str, Any]] = {
    NetworkSettings: {},
    NetworkConfig: {"n_inputs": 4, "n_outputs": 2},
    PlasticityConfig: {},
    LearningSettings: {},
    LearningConfig: {},
    RunConfig: {},
    EvolutionConfig: {},
}
every_class = pytest.mark.parametrize("settings", OUT_OF_RANGE)
every_field = pytest.mark.parametrize(
    ("settings", "name"),
    [(settings, field.name) for settings in OUT_OF_RANGE for field in fields(settings)],
)


@every_field
def test_every_field_refuses_values_out_of_range(settings: type[Settings], name: str) -> None:
    for value in OUT_OF_RANGE[settings][name]:
        with pytest.raises(ConfigError) as caught:
            settings(**{**REQUIRED[settings], name: value})
        start = f"The '{name}' parameter of {settings.__name__} must be "
        end = f". Got {short(value)} instead."
        message = str(caught.value)
        assert message.startswith(start)
        assert message.endswith(end)
        assert len(message) > len(start) + len(end)


def test_every_class_of_settings_is_listed() -> None:
    found, left = set(), [Settings]
    while left:
        kind = left.pop()
        left += kind.__subclasses__()
        found |= {kind} if kind.__module__ == RunConfig.__module__ else set()
    assert found == set(OUT_OF_RANGE)


@every_class
def test_no_field_is_listed_that_does_not_exist(settings: type[Settings]) -> None:
    assert OUT_OF_RANGE[settings].keys() == {field.name for field in fields(settings)}


@pytest.mark.parametrize(
    ("settings", "name", "value", "expected"),
    [
        (PlasticityConfig, "window", 0, "an int in [1, inf)"),
        (PlasticityConfig, "max_relays", 0, "an int in [1, inf) or None"),
        (PlasticityConfig, "interval", "epoch", "an int in [1, inf) or 'episode'"),
        (PlasticityConfig, "prune_fraction", 0.0, "a float in (0, 1]"),
        (PlasticityConfig, "explore_ratio", 2.0, "a float in [0, 1]"),
        (PlasticityConfig, "epsilon", 0.0, "a float in (0, inf)"),
        (PlasticityConfig, "orphan_removal", "yes", "True or False"),
        (PlasticityConfig, "history_on_edit", "x", "'keep' or 'reset'"),
        (NetworkConfig, "n_hidden", -1, "an int in [0, inf)"),
        (
            NetworkConfig,
            "activation",
            "swish",
            "'tanh' or 'sigmoid' or 'relu' or 'identity'",
        ),
    ],
)
def test_the_sentence_says_what_is_allowed(
    settings: type[Settings], name: str, value: Any, expected: str
) -> None:
    sentence = (
        f"The '{name}' parameter of {settings.__name__} must be {expected}. Got {value!r} instead."
    )
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        settings(**{**REQUIRED[settings], name: value})


@pytest.mark.parametrize("name", ["window", "initial_weight"])
def test_a_number_too_large_for_a_float_is_refused(name: str) -> None:
    """The OverflowError of a comparison with a float escaped."""
    with pytest.raises(ConfigError, match=f"'{name}'"):
        PlasticityConfig.from_dict({name: 10**400})


def test_a_config_error_is_a_value_error_of_this_package() -> None:
    with pytest.raises(ValueError, match="window") as caught:
        rules(window=0)
    assert isinstance(caught.value, SmgrnnError)


@pytest.mark.parametrize(
    "values",
    [
        {"max_relays": 3, "interval": "episode", "scale": "weight", "pruning": "none"},
        {"max_relays": None, "interval": 7, "initial_weight": 0, "explore_ratio": 1},
        {},
    ],
)
def test_plasticity_settings_survive_json(values: dict[str, Any]) -> None:
    config = PlasticityConfig.from_dict(values)
    assert PlasticityConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config
    assert config.to_dict().keys() == OUT_OF_RANGE[PlasticityConfig].keys()
    assert {name: config.to_dict()[name] for name in values} == values


def test_network_settings_survive_json() -> None:
    config = NetworkConfig(n_inputs=3, n_outputs=2, n_hidden=4, activation="relu", density=0.3)
    assert NetworkConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config
    assert config != NetworkConfig(n_inputs=3, n_outputs=2)


@every_class
def test_an_unknown_name_is_refused(settings: type[Settings]) -> None:
    sentence = f"{settings.__name__} has no setting named 'widnow'."
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        settings.from_dict({**REQUIRED[settings], "widnow": 3})
    with pytest.raises(TypeError, match="widnow"):
        settings(**{**REQUIRED[settings], "widnow": 3})


def test_numbers_of_numpy_become_plain_numbers() -> None:
    config = PlasticityConfig.from_dict(
        {"window": np.int64(5), "epsilon": np.float64(0.5), "explore_ratio": 1}
    )
    assert json.dumps(config.to_dict())
    assert (type(config.window), type(config.epsilon)) == (int, float)
    assert type(config.explore_ratio) is float


def test_settings_cannot_be_changed_once_made() -> None:
    with pytest.raises(FrozenInstanceError):
        rules().window = 5  # type: ignore[misc]


def test_the_defaults_are_those_of_table_a_iii() -> None:
    config = rules()
    assert (config.window, config.interval_width, config.fluctuation_threshold) == (100, 0.5, 0.1)
    assert (config.explore_probability, config.explore_ratio) == (0.25, 0.01)
    assert (config.weight_threshold, config.update_threshold) == (0.1, 1e-4)
    assert (config.prune_fraction, config.prune_period) == (0.8, 30)


def test_static_switches_every_rule_off() -> None:
    config = PlasticityConfig.static(window=7)
    rules = (config.growth, config.pruning, config.orphan_removal)
    assert rules == ("none", "none", False)
    assert config.window == 7


def test_growth_only_switches_pruning_off_and_nothing_else() -> None:
    config = growing_rules(window=7)
    default = rules(window=7).to_dict()
    assert config.to_dict() == {**default, "pruning": "none", "orphan_removal": False}


def test_a_variant_refuses_bad_values_too() -> None:
    with pytest.raises(ConfigError, match="'window'"):
        PlasticityConfig.static(window=0)


# --- the settings of a run ------------------------------------------------------------------------


def test_settings_of_a_run_survive_json() -> None:
    config = RunConfig.for_task("xor", iterations=2, learning={"optimizer": "sgd"}, seed=3)
    assert RunConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_settings_change_by_name_by_part_and_as_a_whole() -> None:
    start = RunConfig.for_task("xor")
    assert start.with_changes(iterations=2).network.iterations == 2
    assert start.with_changes(network={"density": 0.5}).network.iterations == 3
    assert start.with_changes(network=NetworkSettings()).network.iterations == 1
    both = start.with_changes(network={"density": 0.5}, iterations=7).network
    assert (both.density, both.iterations) == (0.5, 7)
    assert start.with_changes(plasticity={"window": 7}).plasticity.interval == 10
    assert start.with_changes(plasticity=rules(window=7)).plasticity.interval == 100
    with pytest.raises(TypeError, match="widnow"):
        start.with_changes(widnow=3)


@pytest.mark.parametrize("student", DEMANDS)
@pytest.mark.parametrize("task", ["CartPole-v1", "xor", "a.npz"])
@pytest.mark.parametrize("preset", ["paper", "as_printed"])
def test_every_student_starts_from_what_makes_it_so(student: str, task: str, preset: Any) -> None:
    start = RunConfig.for_task(task, preset=preset, student=student)
    usual = RunConfig.for_task(task, preset=preset)
    flat, plain = ({**c.to_dict(), **flatten(c.to_dict())} for c in (start, usual))
    changed = {name for name in flat if flat[name] != plain[name]} - {
        *("student", "network", "plasticity")
    }
    assert ("bias" in changed) == (student in LAYERED and not plain["bias"])
    changed.discard("bias")
    assert {place: flat[place] for place in DEMANDS[student]} == DEMANDS[student]
    assert changed <= set(DEMANDS[student])  # and all else is as it was


def flatten(values: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of all parts by dotted names."""
    return {
        f"{part}.{name}": value
        for part, inner in values.items()
        if isinstance(inner, dict)
        for name, value in inner.items()
    }


def test_a_plain_learning_config_states_its_loss() -> None:
    assert RunConfig().learning.loss is None
    given = RunConfig().with_changes(learning=learning_config(optimizer="sgd")).learning
    assert (given.optimizer, given.loss) == ("sgd", "cross_entropy")


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(ConfigError, match="There is no preset 'best'"):
        RunConfig.for_task("xor", preset="best")


# --- keys ---------------------------------------------------------------------------------------


def test_a_setting_added_later_leaves_keys_alone_while_it_has_its_default() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Inner(Settings):
        size: Count = 1
        shade: str = later("grey")

    @dataclass(frozen=True, kw_only=True)
    class Outer(Settings):
        inner: Inner
        number: Count = 3
        speed: Count | None = later(None)

    assert Outer(inner=Inner()).key_content() == {"inner": {"size": 1}, "number": 3}
    changed = Outer(inner=Inner(shade="red"), speed=2).key_content()
    assert changed == {"inner": {"size": 1, "shade": "red"}, "number": 3, "speed": 2}
    assert Outer(inner=Inner()).to_dict()["speed"] is None  # what is saved is all of it
