"""Plugins: modules of installed packages that bring commands, such as the paper's reproduction."""

from functools import cache
from importlib.metadata import entry_points
from typing import Any

GROUP = "smgrnn.commands"
"""The entry points; each names a module with `COMMANDS`, functions by name, and `listed()`."""


@cache
def plugins() -> tuple[Any, ...]:
    """Return the modules that entry points name."""
    return tuple(point.load() for point in entry_points(group=GROUP))
