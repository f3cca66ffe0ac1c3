"""Search spaces: what a user may write, and the one sentence that meets what is wrong."""

import pytest
from optuna.distributions import FloatDistribution, IntDistribution

from smgrnn.config import RunConfig
from smgrnn.errors import ConfigError
from smgrnn.tuning.space import SPACES, find_space

START = RunConfig.for_task("CartPole-v1", preset="paper")


def test_ranges_and_values_are_read_by_the_kind_of_the_setting() -> None:
    """Values are numbers, None and truths where they look like it; a later range wins."""
    texts = ["plasticity.window=10:200:log", "gain=1:10", "plasticity.growth=relay,none"]
    window, gain, growth = find_space(texts, START)
    assert window.distribution == IntDistribution(10, 200, log=True)
    assert gain.distribution == FloatDistribution(1.0, 10.0)
    assert growth.distribution.choices == ("relay", "none")
    more = ["growth.max_relays=1,2,None", "bias=true,false"]
    choices = [each.distribution.choices for each in find_space(more, START)]
    assert choices == [(1, 2, None), (True, False)]
    (period,) = find_space(["plasticity.prune-period=2:9", "plasticity.prune_period=3:5"], START)
    assert (period.name, period.range) == ("plasticity.prune_period", "3:5")
    # Rounded to six digits, studies of other ranges passed for the same.
    texts += ["plasticity.prune_period=1234567:1234568", "learning.learning_rate=1e-07:0.12345678"]
    assert [f"{each.name}={each.range}" for each in find_space(texts, START)] == texts


@pytest.mark.parametrize("name", SPACES)
def test_a_ready_space_is_one_of_settings_that_there_are(name: str) -> None:
    preset = "paper" if name == "plasticity" else "frugal"
    start = RunConfig.for_task("CartPole-v1", preset=preset)
    assert len(find_space([name], start)) == len(SPACES[name])


def test_settings_of_a_rule_that_is_tuned_are_those_of_all_that_it_is_chosen_from() -> None:
    """Studies of settings that no rule read had fronts, and told how important each was."""
    start, width = RunConfig.for_task("CartPole-v1", preset="frugal"), "growth.interval_width=0.1:1"
    with pytest.raises(ConfigError, match=r"^Frugal has no setting 'interval_width'"):
        find_space([width], start)
    both = find_space([width, "plasticity.growth=relay,split"], start)
    assert [each.name for each in both] == ["growth.interval_width", "plasticity.growth"]
    with pytest.raises(ConfigError, match=r"^Frugal has no setting 'interval_width'"):
        find_space([width, "plasticity.growth=relay,frugal"], start)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "nothing to tune"),
        ("nothing=1:2", "does not exist"),
        ("plasticty", "There is no search space 'plasticty'. Did you mean 'plasticity'?"),
        ("plasticity.windw=1:9", "Did you mean 'plasticity.window'?"),
        ("window=1:9", "Did you mean 'plasticity.window'?"),
        ("seed=0:9", "'seed' belongs to a run"),
        ("expert=a,b", "'expert' belongs to a run"),
        ("gain", "gain needs a range or values"),
        ("gain=", "gain needs a range or values"),
        ("gain=9:1", "of numbers that rise, and above 0 with log. Got '9:1'"),
        ("gain=2:2", "numbers that rise"),
        ("gain=1:nan", "numbers that rise"),
        ("gain=1:2:lin", "must be LOW:HIGH or LOW:HIGH:log, of numbers"),
        ("plasticity.window=1.5:9", "of whole numbers"),
        ("growth.explore_probability=0:1:log", "above 0 with log. Got '0:1:log'"),
        ("plasticity.growth=1:2", "plasticity.growth is not a number"),
        ("learning.schedule=falling", "needs several different values"),
        ("gain=1,1", "needs several different values"),
        ("plasticity.window=0:9", "must be an int in [1, inf). Got 0"),
        ("pruning.prune_fraction=0.5:1.5", "must be a float in (0, 1]. Got 1.5"),
        ("learning.schedule=falling,rising", "Got 'rising'"),
    ],
)
def test_what_is_wrong_is_met_by_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        find_space([text] if text else [], START)
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)
