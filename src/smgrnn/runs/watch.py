"""Watch: a function that is called on the way, with whatever is under way."""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
Watch = Callable[[T], None]
"""Takes a run, an evolution or the progress of a session, every now and then."""
