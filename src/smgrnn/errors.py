"""One class for each way a caller can be wrong; every message is one clear sentence."""

from typing import Self


class SmgrnnError(Exception):
    """Base of everything this package raises on purpose."""


class ConfigError(SmgrnnError, ValueError):
    """A setting is outside its range."""


class GraphError(SmgrnnError, ValueError):
    """A graph, or an edit of one, breaks an invariant."""


class ShapeError(SmgrnnError, ValueError):
    """An array has another shape than the network needs."""


class NonFiniteError(SmgrnnError, ValueError):
    """A NaN or infinity reached the network."""


class AttachmentError(SmgrnnError, ValueError):
    """Network, optimizer and plasticity do not belong together."""


class FileFormatError(SmgrnnError, ValueError):
    """A file is damaged, of another kind, or from a newer version."""


class TaskError(SmgrnnError, ValueError):
    """A task is unknown, cannot be made, or is of a kind the network cannot be put to."""


class ExpertError(SmgrnnError, ValueError):
    """An expert is not a usable network, or does not fit its task."""


class GrowthLimitWarning(UserWarning):
    """Growth stopped because the network reached `max_nodes` or `max_edges`."""

    @classmethod
    def at(cls, size: str, max_nodes: int, max_edges: int) -> Self:
        """Say where growth stopped and at which limits."""
        limits = f"max_nodes={max_nodes} or max_edges={max_edges}"
        return cls(f"Growth stopped at {size}: it reached {limits}.")


def reason(error: Exception) -> str:
    """Return what another's error says, in one line and as the end of a sentence.

    >>> reason(ValueError("The pole broke."))
    'The pole broke'
    """
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__
