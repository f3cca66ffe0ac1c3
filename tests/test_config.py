"""Settings: every field refuses what is out of range, in one sentence; the rest round-trips."""

import json
import math
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from smgrnn.commands.settings import renamed
from smgrnn.config import LearningConfig, NetworkConfig, PlasticityConfig, RunConfig, with_settings
from smgrnn.errors import ConfigError, SmgrnnError, short
from smgrnn.graph.settings import NetworkSettings
from smgrnn.learning import LEARNING, OPTIMIZERS, SGD, Adam, Hebbian
from smgrnn.learning.settings import LearningSettings
from smgrnn.rules import GROWTH, PRUNING, Contribution, Relay, Split, Weak
from smgrnn.validation import Settings, annotations, choices
from smgrnn_paper import EvolutionConfig
from support.flat import network_config, plain, table

COUNT: list[Any] = [0, -1, 1.5, True, "3", None, math.nan, math.inf, -(10**400)]
WHOLE: list[Any] = [-1, 1.5, True, "3", None, math.nan]
POSITIVE: list[Any] = [0.0, -0.1, math.inf, math.nan, True, "0.5", None, 1j, 10**400]
NON_NEGATIVE: list[Any] = [-0.1, math.inf, -math.inf, math.nan, True, "0.5", None]
PROBABILITY: list[Any] = [-0.1, 1.1, math.inf, math.nan, True, "0.5", None]
SHARE: list[Any] = [0, -0.1, 1.1, math.inf, math.nan, True, "0.5", None]
FLAG: list[Any] = [0, 1, "yes", None]
DECAY: list[Any] = [-0.1, 1.0, math.inf, math.nan, True, "0.5", None]
CHOICE: list[Any] = ["swish", "", 0, None, True, ["keep"]]
PART: list[Any] = [None, {}, "tanh"]

KINDS: dict[str, tuple[list[Any], str]] = {
    "count": (
        COUNT,
        "n_inputs n_outputs state_dim iterations window interval update prune_period max_relays "
        "size n_candidates candidate_sources max_nodes max_edges episodes checkpoint_every "
        "held_out max_parameters budget rollouts population",
    ),
    "whole": (WHOLE, "n_hidden through_time least_updates seed stop_after polish"),
    "positive": (
        POSITIVE,
        "learning_rate epsilon interval_width fluctuation_threshold candidate_gain gain",
    ),
    "non-negative": (
        NON_NEGATIVE,
        "weight_std weight_decay initial_weight weight_threshold update_threshold",
    ),
    "probability": (PROBABILITY, "explore_probability explore_ratio dense_until protect"),
    "share": (SHARE, "density prune_fraction keep"),
    "decay": (DECAY, "beta1 beta2 alpha momentum averaging trace_decay"),
    "flag": (FLAG, "carry_state full_window explore_inputs orphan_removal bias normalise"),
    "choice": (
        CHOICE,
        "activation output_activation readout rule optimizer bias_correction loss schedule scale "
        "reduction history_on_edit optimizer_on_edit new_weights student env_backend select method "
        "polish_for",
    ),
    "part": (PART, "network learning plasticity"),
    "finite": (["3", True, math.inf], "target_return"),
    "text": ([0, True], "expert neat_config"),
    "names": (["angle", [0], (1,), None], "input_names output_names"),
    "inputs": (["angle", [0.5], [-1], [None], None], "keep_inputs"),
}
"""Values out of range, and the fields of that kind: a name has one meaning everywhere."""
OUT_OF_RANGE = {name: values for values, names in KINDS.values() for name in names.split()}
OUT_OF_RANGE["interval"] = OUT_OF_RANGE["update"] = [*COUNT, "epoch"]
OUT_OF_RANGE["population"] = [*COUNT, 1]
RULES = {"growth", "pruning"}
REQUIRED: dict[type[Settings], dict[str, Any]] = {
    NetworkSettings: {},
    NetworkConfig: {"n_inputs": 4, "n_outputs": 2},
    PlasticityConfig: {},
    LearningSettings: {},
    LearningConfig: {},
    RunConfig: {},
    EvolutionConfig: {},
    **{kind: {} for table in (GROWTH, PRUNING, OPTIMIZERS, LEARNING) for kind in table.values()},
}
"""All settings there are, and the values that they cannot do without."""


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        (settings, entry.name)
        for settings in REQUIRED
        for entry in fields(settings)
        if entry.name not in RULES
    ],
)
def test_every_field_refuses_values_out_of_range(settings: type[Settings], name: str) -> None:
    is_optional = type(None) in choices(annotations(settings)[name])
    for value in OUT_OF_RANGE[name]:
        if value is None and is_optional:
            continue
        with pytest.raises(ConfigError) as caught:
            settings(**{**REQUIRED[settings], name: value})
        start = f"The '{name}' parameter of {settings.__name__} must be "
        end = f". Got {short(value)} instead."
        message = str(caught.value)
        assert message.startswith(start)
        assert message.endswith(end)
        assert isinstance(caught.value, SmgrnnError)
        assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("name", sorted(RULES))
@pytest.mark.parametrize("value", [1, True, ["relay"], Relay, object()])
def test_a_rule_is_an_object_that_decides(name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=rf"^A {name} rule is an object with `decide"):
        table(**{name: value})
    with pytest.raises(ConfigError, match=rf"^There is no {name} rule 'weka'"):
        table().changed(**{name: "weka"})


@pytest.mark.parametrize(
    "config",
    [
        table(),
        table(growth=Relay(max_relays=3, scale="weight"), pruning=None, interval=7),
        PlasticityConfig(size=9, pruning=Contribution(dense_until=0.5)),
        network_config(n_inputs=3, n_outputs=2, n_hidden=4, activation="relu", density=0.3),
        plain(rule=Hebbian(trace_decay=0.25), optimizer=SGD(momentum=0.5)),
        RunConfig.for_task(
            "xor", preset="paper", iterations=2, learning={"optimizer": "sgd"}, seed=3
        ),
    ],
)
def test_settings_survive_json(config: Settings) -> None:
    assert type(config).from_dict(json.loads(json.dumps(config.to_dict()))) == config


@pytest.mark.parametrize("settings", REQUIRED)
def test_an_unknown_name_is_refused(settings: type[Settings]) -> None:
    with pytest.raises(ConfigError, match=f"^{settings.__name__} has no setting 'widnow'"):
        settings.from_dict({**REQUIRED[settings], "widnow": 3})
    with pytest.raises(ConfigError, match="widnow"):
        settings(**{**REQUIRED[settings], "widnow": 3})


def test_numbers_of_numpy_become_plain_numbers() -> None:
    growth = Relay(epsilon=np.float64(0.5), explore_ratio=1)
    config = table(window=np.int64(5), growth=growth)
    assert json.dumps(config.to_dict())
    assert [type(each) for each in (config.window, growth.epsilon, growth.explore_ratio)] == [
        *(int, float, float)
    ]


def test_the_defaults_are_those_of_table_a_iii() -> None:
    config, growth, pruning = table(), Relay(), Weak()
    assert (config.growth, config.pruning) == (growth, pruning)
    assert (config.window, growth.interval_width, growth.fluctuation_threshold) == (100, 0.5, 0.1)
    assert (growth.explore_probability, growth.explore_ratio) == (0.25, 0.01)
    assert (pruning.weight_threshold, pruning.update_threshold) == (0.1, 1e-4)
    assert (pruning.prune_fraction, config.prune_period) == (0.8, 30)


# --- changes --------------------------------------------------------------------------------------


def test_a_choice_by_name_takes_over_what_was_changed_and_it_has_too() -> None:
    start = table(growth=Relay(interval_width=0.3, explore_ratio=0.5, max_relays=2))
    assert start.changed(growth="split").growth == Split(interval_width=0.3, max_relays=2)
    named = start.changed(growth={"name": "split", "max_relays": 1}).growth
    assert named == Split(interval_width=0.3, max_relays=1)
    assert start.changed(growth=Split()).growth == Split()  # an object is as it is
    assert start.changed(growth=None).growth is None
    assert plain(optimizer=Adam(beta1=0.5)).changed(optimizer="sgd").optimizer == SGD()
    with pytest.raises(ConfigError, match=r"^Split has no setting 'explore_ratio'\.$"):
        start.changed(growth={"name": "split", "explore_ratio": 0.5})
    with pytest.raises(ConfigError, match=r"^PlasticityConfig has no growth with max_relays\.$"):
        start.changed(growth=None).changed(growth={"max_relays": 2})


def test_settings_of_a_run_change_by_name_by_part_and_as_a_whole() -> None:
    start = RunConfig.for_task("xor", preset="paper")
    assert start.with_changes(iterations=2).network.iterations == 2
    assert start.with_changes(network={"density": 0.5}).network.iterations == 3
    assert start.with_changes(network=NetworkSettings()).network.iterations == 2
    both = start.with_changes(network={"density": 0.5}, iterations=7).network
    assert (both.density, both.iterations) == (0.5, 7)
    assert start.with_changes(plasticity={"window": 7}).plasticity.interval == 10
    assert start.with_changes(plasticity=table(window=7)).plasticity.interval == 100
    with pytest.raises(ConfigError, match=r"'episods'.* Did you mean 'episodes'"):
        start.with_changes(episods=3)
    assert RunConfig().learning.loss is None  # and a plain LearningConfig states its loss
    given = RunConfig().with_changes(learning=plain(optimizer=SGD())).learning
    assert (given.optimizer, given.loss) == (SGD(), "cross_entropy")
    layered = RunConfig.for_task("xor", preset="paper", student="mlp-100")
    assert (layered.network.iterations, layered.network.n_hidden, layered.network.bias) == (
        2,
        0,
        True,
    )
    assert layered.plasticity.is_static


PAPER = RunConfig.for_task("CartPole-v1", preset="paper")


# --- by name, as on the command line --------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("growth.interval_width=0.4", "growth.interval_width", 0.4),
        ("growth.interval-width = 0.4", "growth.interval_width", 0.4),
        ("plasticity.pruning=none", "plasticity.pruning", "none"),
        ("growth.max_relays=None", "growth.max_relays", None),
        ("optimizer.beta1=0.5", "optimizer.beta1", 0.5),
        ("learning.rule=feedback", "learning.rule", "feedback"),
        ("carry_state=false", "carry_state", False),
        ("stop_after=3", "stop_after", 3),
    ],
)
def test_a_setting_is_set_by_a_text(text: str, name: str, value: Any) -> None:
    assert with_settings(PAPER, (text,)).named()[name] == value


def test_a_choice_and_its_settings_are_set_together_in_any_order() -> None:
    texts = ("optimizer.momentum=0.5", "learning.optimizer=rmsprop", "rule.trace_decay=0.25")
    learning = with_settings(PAPER, (*texts, "learning.rule=hebbian")).learning
    assert RunConfig(learning=learning).named()["optimizer.momentum"] == 0.5
    assert learning.rule == Hebbian(trace_decay=0.25)
    named = {"growth.max_relays": 3, "plasticity.growth": "split"}
    assert PAPER.with_named(named).plasticity.growth == Split(max_relays=3)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("window", "takes NAME=VALUE. Got 'window' instead."),
        ("growth.windw=3", "Did you mean 'plasticity.window'?"),
        ("plasticity.growth=relai", "There is no growth rule 'relai'. Did you mean 'relay'?"),
        ("growth.n_candidates=3", "Relay has no setting 'n_candidates'."),
        ("rule.trace_decay=0.5", "Backprop has no setting 'trace_decay'."),
        ("growth.max_relays=0", "The 'max_relays' parameter of Relay must be an int in [1, inf)"),
        ("carry_state=3", "must be True or False. Got 3 instead."),
    ],
)
def test_a_text_that_sets_nothing_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        with_settings(PAPER, (text,))
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("flag", "now"),
    [
        ("--plasticity.window", "plasticity.window"),
        ("--plasticity.interval-width", "growth.interval_width"),
        ("--plasticity.weight-threshold", "pruning.weight_threshold"),
        ("--learning.beta1", "optimizer.beta1"),
        ("--learning.trace-decay", "rule.trace_decay"),
        ("--no-carry-state", "carry_state"),
        ("--n-hidden", "n_hidden"),
        ("--nonsense", None),
    ],
)
def test_a_flag_of_the_release_before_has_a_new_name(flag: str, now: str | None) -> None:
    assert renamed(flag) == now


def test_a_wrong_setting_whose_repr_raises_is_refused_in_words() -> None:
    class Unprintable:
        def __repr__(self) -> str:
            raise TypeError("no words")

    with pytest.raises(ConfigError, match="a Unprintable that cannot be printed"):
        RunConfig(episodes=Unprintable())  # type: ignore[arg-type]
