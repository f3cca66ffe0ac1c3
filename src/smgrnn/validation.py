"""Validation: every field of a setting is checked against its annotation."""

import operator
import sys
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass, replace
from functools import cache
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar, Literal, Self, get_args, get_origin, get_type_hints

from smgrnn.errors import ConfigError, short, suggest


class Within:
    """The interval a number must lie in, in the notation of mathematics: `Within("(0, 1]")`."""

    def __init__(self, interval: str) -> None:
        low, high = interval[1:-1].split(",")
        self.interval = interval
        self._low, self._high = float(low), float(high)
        self._above = operator.ge if interval[0] == "[" else operator.gt
        self._below = operator.le if interval[-1] == "]" else operator.lt

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


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Base of all settings: checks every field against its annotation."""

    def __new__(cls, *_: Any, **settings: Any) -> Self:
        """Refuse names that are no settings, with a suggestion."""
        cls._check_names(settings)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for name, hint in annotations(type(self)).items():
            what = f"The '{name}' parameter of {type(self).__name__}"
            object.__setattr__(self, name, checked(getattr(self, name), hint, what))

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values, ready for JSON.

        >>> from smgrnn.config import NetworkConfig
        >>> NetworkConfig(n_inputs=4, n_outputs=2).to_dict()["density"]
        1.0
        """
        return {entry.name: _plain(getattr(self, entry.name)) for entry in fields(self)}

    def key_content(self) -> dict[str, Any]:
        """Return the settings that differ from their defaults, on which a stored result depends."""
        return {name: _plain(value, is_key=True) for name, value in self._differing().items()}

    def _differing(self) -> dict[str, Any]:
        found = {
            entry.name: (getattr(self, entry.name), default_of(entry)) for entry in fields(self)
        }
        return {name: value for name, (value, default) in found.items() if value != default}

    def changed(self, **changes: Any) -> Self:
        """Return the settings with some of them changed.

        A dict changes settings within a setting.  The name of a choice replaces the present choice
        and keeps the changed settings that both have.

        >>> from smgrnn.config import PlasticityConfig
        >>> PlasticityConfig().changed(growth={"n_candidates": 8}).growth.n_candidates
        8
        """
        self._check_names(changes)
        values = {
            name: self._read_field(name, value, getattr(self, name))
            for name, value in changes.items()
        }
        return replace(self, **values) if changes else self

    @classmethod
    def _check_names(cls, names: Iterable[str]) -> None:
        known = {entry.name for entry in fields(cls)}
        if unknown := sorted(set(names) - known):
            what, hint = short(unknown[0]), suggest(unknown[0], known)
            raise ConfigError(f"{cls.__name__} has no setting {what}. {hint}".strip())

    @classmethod
    def _choices(cls, name: str) -> "list[type[Choice]]":
        """Return the settings classes that a field chooses from."""
        kinds = choices(annotations(cls)[name])
        return [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Choice)]

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Rebuild settings from `to_dict`; an unknown name raises ConfigError.

        >>> from smgrnn.config import NetworkConfig
        >>> NetworkConfig.from_dict({"n_inputs": 4, "n_outputs": 2}).n_hidden
        0
        """
        if not isinstance(values, dict):
            kind = type(values).__name__
            raise ConfigError(f"{cls.__name__} must be settings by name. Got a {kind} instead.")
        cls._check_names(values)
        try:
            return cls(**{name: cls._read_field(name, value) for name, value in values.items()})
        except TypeError as error:
            raise ConfigError(f"{cls.__name__} is incomplete: {error}.") from error

    @classmethod
    def _read_field(cls, name: str, value: Any, former: Any = None) -> Any:
        """Return the value of a field; a dict has all its settings, or changes of former ones."""
        inner, kinds = value if isinstance(value, dict) else {"name": value}, cls._choices(name)
        for kind in kinds:
            if kind.name == inner.get("name"):
                known = {entry.name for entry in fields(kind)}
                kept = former._differing() if isinstance(former, Choice) else {}
                own = {each: kept[each] for each in kept.keys() & known} | inner
                del own["name"]
                return kind.from_dict(own)
        if not isinstance(value, dict):
            return value
        if isinstance(former, Settings) and "name" not in value:
            return former.changed(**value)
        if kinds:  # no such choice: code of the user, or a wrong name
            what = short(value["name"]) if "name" in value else f"with {', '.join(value)}"
            raise ConfigError(f"{cls.__name__} has no {name} {what}.")
        for kind in choices(annotations(cls)[name]):
            if isinstance(kind, type) and issubclass(kind, Settings):
                return kind.from_dict(value)
        return value


@dataclass(frozen=True, kw_only=True)
class Choice(Settings):
    """Settings of one of several things to choose from, such as an optimizer, known by its name."""

    name: ClassVar[str] = ""
    """Its name in settings files and on the command line."""
    summary: ClassVar[str] = ""
    """A few words on how it works."""

    def to_dict(self) -> dict[str, Any]:
        """Return the name and the settings as plain values."""
        return {"name": self.name, **super().to_dict()}

    def key_content(self) -> dict[str, Any]:
        """Return the name and the settings that differ from their defaults."""
        return {"name": self.name, **super().key_content()}


def _plain(value: Any, *, is_key: bool = False) -> Any:
    """Return a value as JSON has it; a user's object by its name and its fields."""
    if isinstance(value, Settings):
        return value.key_content() if is_key else value.to_dict()
    if value is None or isinstance(value, bool | int | float | str | list | dict):
        return value
    if isinstance(value, tuple):
        return list(value)
    is_data = is_dataclass(value) and not isinstance(value, type)
    own = {each.name: repr(getattr(value, each.name)) for each in fields(value)} if is_data else {}
    return {"name": type(value).__name__, **own}


def flatten(content: dict[str, Any]) -> dict[str, Any]:
    """Return nested values by dotted names; a choice is the name that it is known by.

    >>> flatten({"a": 1, "b": {"c": 2, "d": {"name": "relay", "e": 3}}})
    {'a': 1, 'b.c': 2, 'b.d': 'relay', 'b.d.e': 3}
    """
    flat: dict[str, Any] = {}
    for name, value in content.items():
        if isinstance(value, dict):
            inner = flatten(value)
            flat |= {name: inner.pop("name")} if "name" in inner else {}
            flat |= {f"{name}.{part}": each for part, each in inner.items()}
        else:
            flat[name] = value
    return flat


def checked(value: Any, hint: Any, what: str) -> Any:
    """Return a value as its annotation has it, or raise ConfigError with what it must be.

    >>> checked(1, Probability, "The share")
    1.0
    """
    kinds = [_kind(choice) for choice in choices(hint)]
    for admits, plain, _ in kinds:
        if admits(value):
            return plain(value)
    expected = " or ".join(words for _, _, words in kinds)
    raise ConfigError(f"{what} must be {expected}. Got {short(value)} instead.")


def default_of(entry: Field[Any]) -> Any:
    """Return the default of a field."""
    return entry.default if entry.default_factory is MISSING else entry.default_factory()


def annotations(settings: Any) -> dict[str, Any]:
    """Return the annotation of each setting by name, with the interval that it must lie in."""
    return _annotations(settings)


@cache
def _annotations(settings: Any) -> dict[str, Any]:
    hints = get_type_hints(settings, include_extras=True)
    return {name: hint for name, hint in hints.items() if get_origin(hint) is not ClassVar}


@cache
def choices(hint: Any) -> tuple[Any, ...]:
    """Split a union into its members; anything else is its own only member."""
    if isinstance(hint, type) or get_origin(hint) in (Annotated, Literal, tuple, Callable):
        return (hint,)
    return tuple(choice for member in get_args(hint) for choice in choices(member))


_Kind = tuple[Callable[[Any], bool], Callable[[Any], Any], str]
"""Whether a value is of a kind and in its range; the value as a plain number or tuple; words."""


@cache
def _kind(hint: Any) -> _Kind:
    """Return the kind that a member of a union asks for."""

    def same(value: Any) -> Any:
        return value

    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        words = " or ".join(repr(choice) for choice in arguments)
        return (lambda value: isinstance(value, str) and value in arguments), same, words
    if origin is tuple:  # of any length
        kinds = [_kind(each) for each in choices(arguments[0])]
        return (
            lambda value: (
                isinstance(value, tuple | list)
                and all(any(admits(each) for admits, _, _ in kinds) for each in value)
            ),
            lambda value: tuple(checked(each, arguments[0], "") for each in value),
            f"a tuple, each of it {' or '.join(words for _, _, words in kinds)}",
        )
    if origin is Callable:
        return callable, same, "a function"
    if isinstance(hint, type) and issubclass(hint, Choice):  # by its name, too
        return (
            lambda value: isinstance(value, hint) or value == hint.name,
            lambda value: hint() if isinstance(value, str) else value,
            repr(hint.name),
        )
    if isinstance(hint, type):
        words = {bool: "True or False", type(None): "None"}.get(hint, f"a {hint.__name__}")
        return (lambda value: isinstance(value, hint)), same, words
    kind, within = arguments
    is_int = kind is int
    number, largest = (Integral, 2**63 - 1) if is_int else (Real, sys.float_info.max)

    def is_within(value: Any) -> bool:
        is_number = isinstance(value, number) and not isinstance(value, bool)
        return bool(is_number and abs(value) <= largest and value in within)

    return is_within, kind, f"{'an int' if is_int else 'a float'} in {within.interval}"
