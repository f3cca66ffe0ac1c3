"""Names of a network's inputs and outputs."""

from collections.abc import Iterable
from typing import Any, NamedTuple, Self

from smgrnn.errors import ConfigError, plain

LONGEST = 40
"""Most characters of a name, which labels a node in pictures."""


class Names(NamedTuple):
    """Names of the inputs and outputs of a network."""

    inputs: tuple[str, ...]
    """Of the values of an observation; constant inputs are all called bias."""
    outputs: tuple[str, ...]

    @classmethod
    def given(
        cls, inputs: Iterable[Any], outputs: Iterable[Any], *, n_inputs: int, n_outputs: int
    ) -> Self:
        """Return the user's names; refuse a wrong number of them, and those that do not print."""
        found = cls(tuple(map(str, inputs)), tuple(map(str, outputs)))
        for names, n, what in zip(found, (n_inputs, n_outputs), ("inputs", "outputs"), strict=True):
            if len(names) != n:
                raise ConfigError(f"There are {n} {what}. Got {len(names)} names instead.")
            for name in names:
                if not 0 < len(name) <= LONGEST or plain(name) != name:
                    raise ConfigError(
                        f"A name is text of 1 to {LONGEST} characters. Got {plain(name)!r} instead."
                    )
        return found

    @classmethod
    def numbered(cls, n_inputs: int, n_outputs: int) -> Self:
        """Return names made of numbers."""
        inputs = tuple(f"in {n}" for n in range(n_inputs))
        return cls(inputs, tuple(f"out {n}" for n in range(n_outputs)))

    def of_nodes(self, n_inputs: int) -> tuple[str, ...]:
        """Return the names of a network's inputs, of which the last may be constant, and outputs.

        >>> Names.numbered(2, 1).of_nodes(3)
        ('in 0', 'in 1', 'bias', 'out 0')
        """
        biases = ("bias",) * (n_inputs - len(self.inputs))
        return (*self.inputs, *biases, *self.outputs)
