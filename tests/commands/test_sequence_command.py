"""`smgrnn sequence`: stages, pictures and figures, in a terminal and for `view`."""

import json
from pathlib import Path

import pytest

from support.commands import Command, refused

SHORT = ("--preset", "paper", "--episodes", "6", "--held-out", "2", "--set", "iterations=2")
TASKS = ("CartPole-v1", "CartPole-v1,mirrored")


def test_a_sequence_is_learned_shown_and_not_learned_twice(smgrnn: Command, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    words = ("sequence", *TASKS, "--cue", *SHORT, "--out", str(folder), "--json")
    said = smgrnn(*words)
    summary = json.loads(said.out.splitlines()[-1])
    assert summary["stage_scores"]["stages"] == [
        "CartPole-v1,cue=1of2",
        "CartPole-v1,mirrored,cue=2of2",
    ]
    assert len(summary["n_parameters_by_stage"]) == 2
    assert {"average_return", "forgetting", "backward_transfer", "forward_transfer"} <= set(summary)
    assert json.loads((folder / "sequence.json").read_text()) == summary
    assert (folder / "stage_scores.png").stat().st_size > 1000
    again = smgrnn(*words[:-1])
    assert "As fractions of the experts' return beyond random: average return" in again.out
    said = smgrnn(*words, "--quiet")  # the seconds of training would be others if it trained again
    assert said.out.splitlines() == [json.dumps(summary)]
    sentence = "run holds a sequence. Name one of its stages: run/stage-1."
    assert sentence in refused(smgrnn("view", "run", "--no-open"))


def test_wrong_words_are_refused_in_one_sentence(smgrnn: Command, tmp_path: Path) -> None:
    for words, sentence in {
        "CartPole-v1 Acrobot-v1": "One student cannot learn CartPole-v1",
        "CartPole-v1,gravity=1000": "The setting 'gravity' of 'CartPole-v1' is a number in",
    }.items():
        assert refused(smgrnn("sequence", *words.split(), "--out", "run")).startswith(sentence)
        assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("task", ["CartPole-v1,hide=velocities", "CartPole-v1,gravity=20,cue=1of2"])
def test_an_expert_is_trained_on_all_of_an_observation_and_no_cue(
    task: str, smgrnn: Command, tmp_path: Path
) -> None:
    said = smgrnn("expert", "train", task, "--out", str(tmp_path / "expert.safetensors"))
    assert refused(said).startswith("An expert sees all of an observation and no cue. Leave")
