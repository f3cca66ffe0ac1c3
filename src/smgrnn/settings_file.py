"""Settings files: your presets, such as `smgrnn tune` writes.

A file is TOML.  It names the preset that it starts from, and each setting that differs by the name
that `--set` takes.  The text "None" stands for None.
"""

import json
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from smgrnn.errors import FileFormatError, reason, short, suggest

ENDING = ".toml"
KIND = "settings"
VERSION = 2
KEYS = {"smgrnn": str, "version": int, "preset": str, "settings": dict, "about": dict}
"""The entries of a file, and of which kind each is."""


class SettingsFile(NamedTuple):
    """The content of a settings file."""

    preset: str
    """The preset that all other settings are taken from."""
    settings: dict[str, Any]
    """Settings by their names, such as "plasticity.window"."""
    about: dict[str, str]
    """How the settings were found, for people to read."""

    def text(self) -> str:
        """Return the text of the file.

        >>> print(SettingsFile("paper", {"gain": 2.0, "plasticity.window": 50}, {}).text())
        smgrnn = "settings"
        version = 2
        preset = "paper"
        <BLANKLINE>
        [settings]
        gain = 2.0
        plasticity.window = 50
        <BLANKLINE>
        """
        head = {"smgrnn": KIND, "version": VERSION, "preset": self.preset}
        tables: dict[str, dict[str, Any]]
        tables = {"": head, "about": self.about, "settings": self.settings}
        blocks = []
        for title, table in tables.items():
            lines = [f"[{title}]\n"] if title else []
            for name, value in table.items():  # JSON writes plain values as TOML does
                text = json.dumps("None" if value is None else value, ensure_ascii=False)
                lines.append(f"{name} = {text}\n")
            blocks += ["".join(lines)] if table else []
        return "\n".join(blocks)


def read_settings(path: Path) -> SettingsFile:
    """Return the content of a file; refuse one that is damaged, foreign or of another version."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileFormatError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:  # no Unicode; no TOML; nested too deep
        raise FileFormatError(f"{path} is not a settings file: {reason(error)}.") from error
    if content.get("smgrnn") != KIND:
        raise FileFormatError(
            f'{path} is not a settings file: it does not begin with smgrnn = "{KIND}".'
        )
    version = content.get("version")
    if type(version) is not int or version != VERSION:
        hint = f"Did you mean version = {VERSION}?"
        if type(version) is int and version > VERSION:
            hint = "A newer smgrnn wrote it."
        elif version == 1:
            hint = "smgrnn 0.2 wrote it; `smgrnn settings` lists the new names of its settings."
        raise FileFormatError(
            f"{path} has version {short(version)}, and this smgrnn reads version {VERSION}. {hint}"
        )
    for name, value in content.items():
        if name not in KEYS:
            hint = suggest(name, KEYS) or "Settings belong under [settings]."
            raise FileFormatError(f"{path} has an unknown entry {name!r}. {hint}")
        if not isinstance(value, KEYS[name]):
            kind = KEYS[name].__name__
            raise FileFormatError(f"The {name!r} of {path} must be a {kind}. Got {short(value)}.")
    if "preset" not in content:
        raise FileFormatError(f"{path} does not name the preset that it starts from.")
    settings: dict[str, Any] = {}
    for name, value in content.get("settings", {}).items():
        inner = value if isinstance(value, dict) else {"": value}
        for part, each in inner.items():
            settings[f"{name}.{part}".rstrip(".")] = None if each == "None" else each
    return SettingsFile(content["preset"], settings, content.get("about", {}))
