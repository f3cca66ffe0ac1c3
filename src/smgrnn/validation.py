"""Validation: every field of a setting is checked against its annotation."""

import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cache
from numbers import Integral, Real
from typing import Annotated, Any, Literal, Self, get_args, get_origin, get_type_hints

from smgrnn.errors import ConfigError, short

_LATER = "smgrnn.later"


class Within:
    """The interval a number must lie in, in the notation of mathematics: `Within("(0, 1]")`."""

    def __init__(self, interval: str) -> None:
        low, high = interval[1:-1].split(",")
        self.interval = interval
        self._low, self._high = float(low), float(high)
        self._above = operator.ge if interval[0] == "[" else operator.gt
        self._below = operator.le if interval[-1] == "]" else operator.lt

    def __repr__(self) -> str:
        return f"Within({self.interval!r})"

    def __contains__(self, value: float) -> bool:
        return bool(self._above(value, self._low) and self._below(value, self._high))


Count = Annotated[int, Within("[1, inf)")]
Whole = Annotated[int, Within("[0, inf)")]
Positive = Annotated[float, Within("(0, inf)")]
NonNegative = Annotated[float, Within("[0, inf)")]
Finite = Annotated[float, Within("(-inf, inf)")]
Probability = Annotated[float, Within("[0, 1]")]
Share = Annotated[float, Within("(0, 1]")]
Decay = Annotated[float, Within("[0, 1)")]


def later(default: Any) -> Any:
    """Declare a setting that was added after runs had been stored by their content.

    Its default does what was done before, so keys stay the same while it has its default.

    >>> @dataclass(frozen=True, kw_only=True)
    ... class Example(Settings):
    ...     size: Count = 1
    ...     colour: str = later("grey")
    >>> Example().key_content(), Example(colour="red").key_content()
    ({'size': 1}, {'size': 1, 'colour': 'red'})
    """
    return field(default=default, metadata={_LATER: True})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Base of all settings: checks every field against its annotation."""

    def __post_init__(self) -> None:
        hints = annotations(type(self))
        for entry in fields(self):
            what = f"The '{entry.name}' parameter of {type(self).__name__}"
            value = checked(getattr(self, entry.name), hints[entry.name], what)
            object.__setattr__(self, entry.name, value)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values, ready for JSON.

        >>> from smgrnn import NetworkConfig
        >>> NetworkConfig(n_inputs=4, n_outputs=2).to_dict()["density"]
        0.8
        """
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {
            name: value.to_dict() if isinstance(value, Settings) else value
            for name, value in values.items()
        }

    def key_content(self) -> dict[str, Any]:
        """Return all that a stored result depends on; see `later`."""
        content = {}
        for entry in fields(self):
            value = getattr(self, entry.name)
            if not (entry.metadata.get(_LATER) and value == entry.default):
                is_nested = isinstance(value, Settings)
                content[entry.name] = value.key_content() if is_nested else value
        return content

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Rebuild settings from `to_dict`; an unknown name raises ConfigError.

        >>> from smgrnn import NetworkConfig
        >>> NetworkConfig.from_dict({"n_inputs": 4, "n_outputs": 2}).n_hidden
        0
        """
        if not isinstance(values, dict):
            kind = type(values).__name__
            raise ConfigError(f"{cls.__name__} must be settings by name. Got a {kind} instead.")
        unknown = sorted(set(values) - {entry.name for entry in fields(cls)})
        if unknown:
            raise ConfigError(f"{cls.__name__} has no setting named {unknown[0]!r}.")
        try:
            hints = annotations(cls)
            for name, value in values.items():
                kinds = [kind for kind in choices(hints[name]) if _is_settings(kind)]
                if isinstance(value, dict) and kinds:
                    values = values | {name: kinds[0].from_dict(value)}
            return cls(**values)
        except TypeError as error:
            raise ConfigError(f"{cls.__name__} is incomplete: {error}.") from error


def checked(value: Any, hint: Any, what: str) -> Any:
    """Return a value as its annotation has it, or raise ConfigError with what it must be.

    >>> checked(1, Probability, "The share")
    1.0
    """
    kinds = choices(hint)
    accepting = [choice for choice in kinds if _admits(choice, value)]
    if not accepting:
        expected = " or ".join(_describe(choice) for choice in kinds)
        raise ConfigError(f"{what} must be {expected}. Got {short(value)} instead.")
    return _plain(accepting[0], value)


def _is_settings(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Settings)


def annotations(settings: Any) -> dict[str, Any]:
    """Return the annotation of each setting by name, with the interval that it must lie in."""
    return _read_annotations(settings)


@cache
def _read_annotations(settings: Any) -> dict[str, Any]:
    return get_type_hints(settings, include_extras=True)


@cache
def choices(hint: Any) -> tuple[Any, ...]:
    """Split a union into its members; anything else is its own only member."""
    is_plain = hint is type(None) or isinstance(hint, type)
    if get_origin(hint) is Annotated and not isinstance(get_args(hint)[1], Within):
        return choices(get_args(hint)[0])  # a note for somebody else
    if is_plain or get_origin(hint) in (Annotated, Literal, tuple, Callable):
        return (hint,)
    return tuple(choice for member in get_args(hint) for choice in choices(member))


def _admits(hint: Any, value: Any) -> bool:
    """Return whether a value is of the kind, and in the range, that an annotation asks for."""
    if hint is type(None):
        return value is None
    if get_origin(hint) is Literal:
        return isinstance(value, str) and value in get_args(hint)
    if get_origin(hint) is tuple:  # of any length, all of one kind
        member = get_args(hint)[0]
        return isinstance(value, tuple | list) and all(_admits(member, each) for each in value)
    if get_origin(hint) is Callable:
        return callable(value)
    if isinstance(hint, type):
        return isinstance(value, hint)
    kind, within = get_args(hint)
    is_number = isinstance(value, Integral if kind is int else Real)
    if isinstance(value, bool) or not is_number:
        return False
    largest = 2**63 - 1 if kind is int else sys.float_info.max
    return bool(abs(value) <= largest and value in within)


def _plain(hint: Any, value: Any) -> Any:
    """Return plain numbers and tuples, whatever kind came in."""
    if get_origin(hint) is Annotated:
        return get_args(hint)[0](value)
    if get_origin(hint) is tuple:
        return tuple(_plain(get_args(hint)[0], each) for each in value)
    return value


def _describe(hint: Any) -> str:
    if hint is type(None):
        return "None"
    if get_origin(hint) is Literal:
        return " or ".join(repr(choice) for choice in get_args(hint))
    if get_origin(hint) is tuple:
        return f"a tuple, each of it {_describe(get_args(hint)[0])}"
    if get_origin(hint) is Callable:
        return "a function"
    if hint is bool:
        return "True or False"
    if isinstance(hint, type):
        return f"a {hint.__name__}"
    kind, within = get_args(hint)
    return f"{'an int' if kind is int else 'a float'} in {within.interval}"
