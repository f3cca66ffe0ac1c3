"""Validation: every field of a setting is checked against its annotation."""

import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cache
from numbers import Integral, Real
from typing import Annotated, Any, Literal, NamedTuple, Self, get_args, get_origin, get_type_hints

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
        settings: Any = type(self)
        for name, kinds in _kinds_by_name(settings):
            what = f"The '{name}' parameter of {self._title()}"
            object.__setattr__(self, name, _read(getattr(self, name), kinds, what))

    @classmethod
    def _title(cls) -> str:
        """Return the name that a refusal has for these settings."""
        return cls.__name__

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
    return _read(value, _kinds(hint), what)


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


class _Kind(NamedTuple):
    """A kind of values that an annotation asks for."""

    admits: Callable[[Any], bool]
    """Whether a value is of this kind, and in its range."""
    plain: Callable[[Any], Any]
    """The value as a plain number or tuple, whatever kind came in."""
    words: str
    """A description for whoever gave another."""


def _read(value: Any, kinds: tuple[_Kind, ...], what: str) -> Any:
    """Return a value as the first kind that admits it has it, or raise ConfigError."""
    for kind in kinds:
        if kind.admits(value):
            return kind.plain(value)
    expected = " or ".join(kind.words for kind in kinds)
    raise ConfigError(f"{what} must be {expected}. Got {short(value)} instead.")


@cache
def _kinds_by_name(settings: Any) -> tuple[tuple[str, tuple[_Kind, ...]], ...]:
    """Return the kinds that each setting of a class may be of.

    Experiments are made of thousands of settings, so this is read once.
    """
    hints = annotations(settings)
    return tuple((entry.name, _kinds(hints[entry.name])) for entry in fields(settings))


def _kinds(hint: Any) -> tuple[_Kind, ...]:
    return tuple(_kind(choice) for choice in choices(hint))


def _kind(hint: Any) -> _Kind:
    """Return the kind that a member of a union asks for."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is type(None):
        return _Kind(lambda value: value is None, _as_it_is, "None")
    if origin is Literal:
        words = " or ".join(repr(choice) for choice in arguments)
        return _Kind(lambda value: isinstance(value, str) and value in arguments, _as_it_is, words)
    if origin is tuple:  # of any length, all of one kind
        member = _kind(arguments[0])
        return _Kind(
            lambda value: isinstance(value, tuple | list) and all(map(member.admits, value)),
            lambda value: tuple(map(member.plain, value)),
            f"a tuple, each of it {member.words}",
        )
    if origin is Callable:
        return _Kind(callable, _as_it_is, "a function")
    if isinstance(hint, type):
        words = "True or False" if hint is bool else f"a {hint.__name__}"
        return _Kind(lambda value: isinstance(value, hint), _as_it_is, words)
    return _number(*arguments)


def _number(kind: type, within: Within) -> _Kind:
    is_int = kind is int
    number, largest = (Integral, 2**63 - 1) if is_int else (Real, sys.float_info.max)

    def admits(value: Any) -> bool:
        is_number = isinstance(value, number) and not isinstance(value, bool)
        return bool(is_number and abs(value) <= largest and value in within)

    return _Kind(admits, kind, f"{'an int' if is_int else 'a float'} in {within.interval}")


def _as_it_is(value: Any) -> Any:
    return value
