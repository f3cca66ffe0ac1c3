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


class Spent(NamedTuple):
    """The effort that the stages before took, in a sequence of which the last stage is kept."""

    steps: int = 0
    """Environment steps of training."""
    seconds: float = 0.0
    """Seconds from first to last, evaluation included."""
