"""Watch: a function that is called now and then with the work in progress."""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
Watch = Callable[[T], None]
"""Takes a run, an evolution or the progress of a session."""
