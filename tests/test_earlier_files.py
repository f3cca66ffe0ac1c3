"""Files that smgrnn 0.2 wrote: networks are read, all others are refused by a sentence."""

from pathlib import Path

import pytest

from smgrnn import Learner, SMGrNN, load
from smgrnn.config import RunConfig
from smgrnn.errors import FileFormatError
from support.commands import Command, refused

EARLIER = Path(__file__).parent / "data" / "0.2"


def test_a_network_of_0_2_is_read() -> None:
    assert SMGrNN.load(EARLIER / "network.safetensors").graph.n_inputs == 2
    assert load(EARLIER / "network.safetensors").graph.n_outputs == 1


def test_a_learner_and_settings_of_0_2_are_refused() -> None:
    with pytest.raises(FileFormatError, match=r"has format version 2, .* by smgrnn 0\.2\.$"):
        Learner.load(EARLIER / "learner.safetensors")
    with pytest.raises(FileFormatError, match=r"has version 1, .* reads version 2\. smgrnn 0\.2"):
        RunConfig.for_task("xor", preset=EARLIER / "settings.toml")


@pytest.mark.parametrize("command", ["view", "evaluate", "export --to json", "compare"])
def test_commands_refuse_a_record_of_0_2(command: str, smgrnn: Command) -> None:
    said = refused(smgrnn(*command.split(), EARLIER / "run.safetensors"))
    assert said.endswith("it was written by smgrnn 0.2.")
