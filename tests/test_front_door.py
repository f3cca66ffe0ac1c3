"""Mistakes at the front door: wrong names and types are one sentence, with a suggestion."""

from collections.abc import Callable
from typing import Any

import pytest

import smgrnn as library
from smgrnn.config import RunConfig
from smgrnn.errors import ConfigError, GraphError, ShapeError

smgrnn: Any = library  # its callers here are wrong, as mypy would say

MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (lambda: smgrnn.evaluate("run", episode=3), "no argument 'episode'. Did you mean 'episodes'?"),
    (lambda: smgrnn.evaluate(3), "a run folder, a result of distill, or a policy. Got 3"),
    (lambda: smgrnn.load(3), "load takes a path. Got 3"),
    (lambda: smgrnn.load("run", finale=True), "no argument 'finale'. Did you mean 'final'?"),
    (lambda: smgrnn.distill(), "missing a required argument: 'task'"),
    (
        lambda: smgrnn.distill("xor", epsiodes=3),
        "'epsiodes' does not exist. Did you mean 'episodes'?",
    ),
    (lambda: smgrnn.distill("xor", learning_rat=1), "Did you mean 'learning.learning_rate'?"),
    (lambda: smgrnn.distill("xor", epsilon=0.1), "may be growth.epsilon or optimizer.epsilon"),
    (lambda: smgrnn.distill("xor", episodes="many"), "must be an int in [1, inf). Got 'many'"),
    (lambda: smgrnn.distill("xor", out=3), "The 'out' of distill is a path. Got 3"),
    (lambda: smgrnn.distill("xor", watch=3), "The 'watch' of distill is a function. Got 3"),
    (lambda: smgrnn.distill("xor", select="best"), "'return' or 'faithful' or 'final'"),
    (lambda: smgrnn.SMGrNN(4, 2, n_hiden=3), "no setting 'n_hiden'. Did you mean 'n_hidden'?"),
    (lambda: smgrnn.SMGrNN(4, "2"), "must be an int in [1, inf). Got '2'"),
    (lambda: smgrnn.SMGrNN(4), "SMGrNN(n_inputs, n_outputs, ...): missing a required argument"),
    (lambda: smgrnn.SMGrNN(4, 2, 8), "(n_inputs, n_outputs, ...): too many positional arguments"),
    (lambda: smgrnn.SMGrNN("4", 2), "must be an int in [1, inf). Got '4'"),
    (lambda: smgrnn.Learner(4), "Learner(n_inputs, n_outputs, ...): missing a required argument"),
    (lambda: smgrnn.Learner(4, 2, n_hiden=3), "Did you mean 'n_hidden'?"),
    (
        lambda: smgrnn.Learner(4, 2, plasticity="paper"),
        "be a PlasticityConfig or None. Got 'paper'",
    ),
    (lambda: smgrnn.Learner(4, 2, learning=0.1), "must be a LearningConfig or None. Got 0.1"),
    (lambda: smgrnn.StructuralPlasticity(), "StructuralPlasticity(network, ...): missing"),
    (lambda: smgrnn.StructuralPlasticity(3), "The 'network' of StructuralPlasticity must be"),
    (
        lambda: smgrnn.StructuralPlasticity(smgrnn.SMGrNN(4, 2), 0.01),
        "must be a Optimizer or None. Got 0.01",
    ),
    (
        lambda: smgrnn.StructuralPlasticity(smgrnn.SMGrNN(4, 2), None, "paper"),
        "must be a PlasticityConfig or None. Got 'paper'",
    ),
    (
        lambda: smgrnn.StructuralPlasticity(smgrnn.SMGrNN(4, 2), windw=3),
        "no setting 'windw'. Did you mean 'window'?",
    ),
    (lambda: smgrnn.sequence(), "sequence(tasks, ...): missing a required argument"),
    (
        lambda: smgrnn.config.NetworkConfig(n_inputs=4, n_outputs=2, densty=1),
        "Did you mean 'density'?",
    ),
]


@pytest.mark.parametrize(("call", "sentence"), MISTAKES)
def test_a_mistake_is_one_sentence_with_a_suggestion(
    call: Callable[[], Any], sentence: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        call()
    assert sentence in str(caught.value)


def test_a_network_takes_graphs_and_tensors_alone() -> None:
    for kind in (smgrnn.SMGrNN, smgrnn.Learner):
        with pytest.raises(GraphError, match="Got 3 instead"):
            kind(4, 2, graph=3)
    with pytest.raises(ShapeError, match="Got"):
        smgrnn.SMGrNN(2, 2)([0.0, 1.0])


def test_a_setting_goes_by_the_last_part_of_its_name() -> None:
    config = RunConfig().with_changes(learning_rate=0.02, window=60, growth="split", n_hidden=3)
    assert config.learning.learning_rate == 0.02
    assert (config.plasticity.window, config.network.n_hidden) == (60, 3)
    assert config == RunConfig().with_changes(
        learning={"learning_rate": 0.02}, plasticity={"window": 60, "growth": "split"}, n_hidden=3
    )


def test_a_run_that_was_too_short_to_grow_says_so() -> None:
    short: Any = {"episodes": 5, "held_out": 1, "interval": 100_000}
    run = smgrnn.distill("CartPole-v1", **short)
    n = int(run.episodes.steps.sum())
    (note,) = run.notes
    assert note == (
        f"Nothing could grow: training had {n:,} updates, of which the first 40% may grow, and "
        f"growth begins after 100,000."
    )
    assert run.summary()["notes"] == [note]
    assert str(run).endswith(f"\n{note}")
    assert smgrnn.distill("CartPole-v1", student="static", episodes=5, held_out=1).notes == ()
    grown = smgrnn.distill("CartPole-v1", **short | {"interval": 1}, least_updates=0)
    assert grown.notes == ()
