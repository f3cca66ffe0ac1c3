"""The growing network for PyTorch users."""

from smgrnn.nn.network import SMGrNN
from smgrnn.nn.plasticity import StructuralPlasticity
