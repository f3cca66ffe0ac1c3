"""Files that smgrnn 0.2 wrote: networks are read, all others are refused by a sentence."""

from pathlib import Path

import pytest

from smgrnn import Learner, SMGrNN, load
from smgrnn.config import RunConfig
from smgrnn.errors import FileFormatError
from smgrnn.runs import Record
from support.commands import Command, refused

EARLIER = Path(__file__).parent / "data" / "0.2"


def test_a_network_of_0_2_is_read() -> None:
    assert SMGrNN.load(EARLIER / "network.safetensors").graph.n_inputs == 2
    assert load(EARLIER / "network.safetensors").graph.n_outputs == 1


@pytest.mark.parametrize(("name", "read"), [("run", Record.load), ("learner", Learner.load)])
def test_a_record_and_a_learner_of_0_2_are_refused(name: str, read: type) -> None:
    path = EARLIER / f"{name}.safetensors"
    with pytest.raises(FileFormatError) as caught:
        read(path)
    assert str(caught.value) == (
        f"{path} has format version 2, and this smgrnn reads version 3: it was written by smgrnn "
        f"0.2."
    )


def test_settings_of_0_2_are_refused() -> None:
    path = EARLIER / "settings.toml"
    with pytest.raises(FileFormatError, match=r"has version 1, .* reads version 2\. smgrnn 0\.2"):
        RunConfig.for_task("xor", preset=path)


@pytest.mark.parametrize("command", ["view", "evaluate", "export --to json", "compare"])
def test_commands_refuse_a_record_of_0_2(command: str, smgrnn: Command) -> None:
    said = refused(smgrnn(*command.split(), EARLIER / "run.safetensors"))
    assert said.endswith("it was written by smgrnn 0.2.")
