"""What the module decides, from the history of each edge's weight updates."""

from smgrnn.plasticity.history import UpdateHistory
from smgrnn.plasticity.schedule import Decision, Rules, decide

__all__ = ["Decision", "Rules", "UpdateHistory", "decide"]
