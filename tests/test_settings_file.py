"""Settings files: written and read alike, and refused by one sentence if anything is wrong."""

from pathlib import Path
from typing import Any

import pytest

from smgrnn.config import RunConfig, settings_file
from smgrnn.errors import ConfigError, SmgrnnError
from smgrnn.runs.start import new_run
from smgrnn.settings_file import read_settings
from support.commands import Command, refused

TEXT = """smgrnn = "settings"
version = 2
preset = "paper"

[settings]
gain = 2
iterations = 2

[settings.plasticity]
window = 40

[settings.growth]
max_relays = "None"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(TEXT)
    return path


def test_a_file_changes_the_preset_that_it_names(file: Path) -> None:
    config = RunConfig.for_task("CartPole-v1", preset=file)
    before = RunConfig.for_task("CartPole-v1", preset="paper")
    changes = {"window": 40, "growth": {"max_relays": None}}
    assert config == before.with_changes(gain=2.0, iterations=2, plasticity=changes)
    assert RunConfig.for_task("CartPole-v1", preset=str(file)) == config


def test_flags_and_the_student_come_after_the_file(file: Path) -> None:
    config = RunConfig.for_task("CartPole-v1", preset=file, plasticity={"window": 7})
    assert config.plasticity.window == 7
    static = RunConfig.for_task("CartPole-v1", preset=file, student="static")
    assert (
        static.plasticity
        == RunConfig.for_task("CartPole-v1", preset="paper", student="static").plasticity
    )


def test_a_file_is_refused_what_a_flag_is_refused(tmp_path: Path) -> None:
    """Steps back through time were once set to none without a word."""
    path = tmp_path / "mine.toml"
    path.write_text(TEXT.partition("[settings]")[0].replace("paper", "frugal"))
    with path.open("a") as file:
        file.write("[settings.learning]\nthrough_time = 5\n")
    assert RunConfig.for_task("CartPole-v1", preset=path).learning.through_time == 5
    with pytest.raises(ConfigError, match="through_time"):
        new_run("CartPole-v1", RunConfig.for_task("CartPole-v1", preset=path))


RULES = {"growth": {"name": "split", "max_relays": 3}, "pruning": None}
LEARNING = {"rule": "hebbian", "optimizer": {"name": "rmsprop", "alpha": 0.5}, "averaging": 0.25}


@pytest.mark.parametrize(
    ("preset", "changes"),
    [
        *(
            (preset, {"learning": {"optimizer": {"beta1": 0.1}}})
            for preset in ("paper", "frugal", "as_printed")
        ),
        ("paper", {"plasticity": RULES, "learning": LEARNING}),
    ],
)
def test_what_is_written_gives_the_same_settings_again(
    preset: str, changes: Any, tmp_path: Path
) -> None:
    wanted = RunConfig.for_task("Acrobot-v1", preset=preset, bias=True, **changes)
    path = tmp_path / "again.toml"
    path.write_text(settings_file("Acrobot-v1", preset, wanted, {"by": 'a "hand"'}).text())
    assert RunConfig.for_task("Acrobot-v1", preset=path) == wanted
    assert read_settings(path).about == {"by": 'a "hand"'}


def test_a_file_made_from_a_file_stands_alone(file: Path, tmp_path: Path) -> None:
    config = RunConfig.for_task("CartPole-v1", preset=file, density=0.5)
    made = settings_file("CartPole-v1", file, config, {})
    assert made.preset == "paper"
    path = tmp_path / "other.toml"
    path.write_text(made.text())
    file.unlink()
    assert RunConfig.for_task("CartPole-v1", preset=path) == config


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("window", "windw", "'plasticity.windw' does not exist. Did you mean 'plasticity.window'?"),
        ("version = 2", "version = 3", "has version 3, and this smgrnn reads version 2. A newer"),
        ("version = 2", 'version = "2"', "has version '2'"),
        ("version = 2", "", "Did you mean version = 2?"),
        ("= 40", '= "forty"', "must be an int in [1, inf). Got 'forty' instead"),
        ("= 40", "= {a = 1}", "must be an int in [1, inf)"),
        ("= 40", "=", "is not a settings file: Invalid value"),
        ('"paper"', '"papr"', "There is no preset 'papr'. Did you mean 'paper'?"),
        ('preset = "paper"', "", "does not name the preset"),
        ("preset =", "prest =", "unknown entry 'prest'. Did you mean 'preset'?"),
        ("[settings]", "[setings]", "unknown entry 'setings'. Did you mean 'settings'?"),
        ('smgrnn = "settings"', "", 'does not begin with smgrnn = "settings"'),
        ("gain = 2", 'expert = "a:b"', "'expert' belongs to a run, not to a preset"),
        ("plasticity]", "plastic]", "'plastic.window' does not exist. Did you mean"),
    ],
)
def test_what_is_wrong_is_met_by_one_sentence(
    old: str, new: str, sentence: str, file: Path, smgrnn: Command
) -> None:
    assert old in TEXT
    file.write_text(TEXT.replace(old, new))
    said = refused(smgrnn("distill", "CartPole-v1", "--preset", file, "--dry-run"))
    assert sentence in said


def test_a_file_that_is_no_text_or_not_there_is_refused(tmp_path: Path, smgrnn: Command) -> None:
    path = tmp_path / "bytes.toml"
    path.write_bytes(b"\xff\xfe\x00")
    assert "is not a settings file" in refused(smgrnn("distill", "xor", "--preset", path))
    missing = refused(smgrnn("distill", "xor", "--preset", "missing.toml"))
    assert "missing.toml cannot be read: No such file" in missing
    with pytest.raises(SmgrnnError, match=r"no preset 'frugl'.*Did you mean 'frugal'\?"):
        RunConfig.for_task("xor", preset="frugl")
