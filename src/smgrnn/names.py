"""Names of a network's inputs and outputs."""

from collections.abc import Iterable
from typing import Any, NamedTuple, Self

from smgrnn.errors import ConfigError, plain

LONGEST = 40
"""Most characters of a name: it stands beside a node in pictures."""


class Names(NamedTuple):
    """Names of what goes into a network and of what comes out of it.

    >>> Names.given(["x", "y"], ["left", "right"], n_inputs=2, n_outputs=2).outputs
    ('left', 'right')
    """

    inputs: tuple[str, ...]
    """Of the values of an observation; constant inputs are all called bias."""
    outputs: tuple[str, ...]

    @classmethod
    def given(
        cls, inputs: Iterable[Any], outputs: Iterable[Any], *, n_inputs: int, n_outputs: int
    ) -> Self:
        """Return names that a user gave; refuse too few, and what cannot be printed."""
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
        """Return numbers, as in observations and actions, for want of names."""
        inputs, outputs = range(n_inputs), range(n_outputs)
        return cls(tuple(f"in {n}" for n in inputs), tuple(f"out {n}" for n in outputs))

    def of_nodes(self, n_inputs: int) -> tuple[str, ...]:
        """Return the names of a network's inputs, of which the last may be constant, and outputs.

        >>> Names.numbered(2, 1).of_nodes(3)
        ('in 0', 'in 1', 'bias', 'out 0')
        """
        biases = ("bias",) * (n_inputs - len(self.inputs))
        return (*self.inputs, *biases, *self.outputs)
