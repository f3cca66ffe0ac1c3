"""The examples do what they say."""

import importlib.util
from pathlib import Path
from statistics import mean, median
from types import ModuleType

from matplotlib.image import imread
from matplotlib.patches import FancyArrowPatch

from smgrnn.config import PlasticityConfig

EXAMPLES = Path(__file__).parents[1] / "examples"


def example(name: str) -> ModuleType:
    """Load a file of examples/, which is not a package."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_xor_is_learned_from_no_hidden_node_by_a_small_network() -> None:
    outcomes = [example("xor").learn_xor(seed) for seed in range(10)]
    assert sum(outcome.learned for outcome in outcomes) >= 9
    assert median(outcome.graph.n_nodes for outcome in outcomes) <= 40
    assert all(outcome.graph.n_hidden >= 1 for outcome in outcomes if outcome.learned)


def test_relay_insertion_draws_an_edge_and_the_relay_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "figure.svg"
    before, after = example("relay_insertion").main(str(path)).axes
    assert path.read_text().count("</svg>") == 1

    for ax, names in ((before, ["$i$", "$j$"]), (after, ["$i$", "$j$", "$h$"])):
        arrows = [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]
        assert [text.get_text() for text in ax.texts] == names
        assert len(arrows) == (1 if ax is before else 3)


def test_the_growth_strip_shows_growth_that_ends_when_the_job_is_done(tmp_path: Path) -> None:
    strip = example("growth_strip")
    (first, by_chance), *_, (third, _), (last, share) = strip.grow()
    assert (first.n_hidden, first.n_edges) == (0, 10)  # two of the bias
    assert by_chance < 0.6 < 0.95 < share
    assert 1 <= last.n_hidden == third.n_hidden  # half of the examples later
    assert last.n_edges == third.n_edges == 24
    strip.main(str(tmp_path / "growth.png"))
    height, width, _ = imread(tmp_path / "growth.png").shape
    assert width > 3 * height  # four frames side by side


def test_one_update_per_episode_learns_the_cartpole_within_forty_of_them() -> None:
    returns, graph = example("update_per_episode").learn(seed=0, episodes=40)
    assert mean(returns[-10:]) > 450
    assert graph.n_hidden == 0  # a window of a hundred updates is not full yet


def test_only_a_network_that_grows_tells_spirals_apart() -> None:
    spirals = example("supervised")
    grown = spirals.train(spirals.GROWING, seed=0, updates=800)
    static = spirals.train(PlasticityConfig.static(), seed=0, updates=800)
    assert static.after == static.before._replace(weight=static.after.weight)
    assert grown.after.n_hidden >= 1
    assert static.accuracy < 0.85 < 0.95 < grown.accuracy


def test_a_policy_that_grows_learns_cartpole_without_an_expert() -> None:
    reinforce = example("reinforce")
    returns, graph = reinforce.learn(reinforce.GROWING, seed=0, episodes=240)
    assert mean(returns[:20]) < 40  # what acting at random brings
    assert mean(returns[-40:]) > 150
    assert graph.n_edges > 3  # which it starts with


def test_a_ppo_policy_for_pendulum_is_distilled_into_a_few_dozen_parameters() -> None:
    """The short form of the table in docs/your-own-task.md."""
    pendulum = example("pendulum_from_ppo")
    outcome = pendulum.distill(pendulum.EXPERT, seed=10, episodes=200, held_out=20)
    assert outcome.share >= 0.9
    assert outcome.n_parameters <= 100
