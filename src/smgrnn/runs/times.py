"""Times: when a run began, and how long it took."""

from typing import NamedTuple


class Times(NamedTuple):
    """The time at which a run began, and how long it took."""

    began: float = 0.0
    """Seconds since 1970."""
    training: float = 0.0
    """Seconds of training."""
    choosing: float = 0.0
    """Seconds of choosing among students."""
    total: float = 0.0
    """Seconds from first to last, evaluation included."""
