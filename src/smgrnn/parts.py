"""Tables of parts: rules that are chosen by name, ours and those of other packages."""

from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, Protocol, TypeVar

from smgrnn.errors import ConfigError, reason, short, suggest


class Named(Protocol):
    """Anything with a name and a summary."""

    @property
    def name(self) -> str:
        """Its name in settings and on the command line."""

    @property
    def summary(self) -> str:
        """A few words on how it works."""


Item = TypeVar("Item", bound=Named)


class Table(Mapping[str, Item], Generic[Item]):
    """Rules of one kind by name.

    Rules of installed packages are found by their entry points in the group `smgrnn.KIND`; one that
    is not looked up is not imported.
    """

    def __init__(self, kind: str, items: Iterable[Item]) -> None:
        self.kind = kind
        self._items = {item.name: item for item in items}

    def add(self, item: Item) -> None:
        """Add a rule of your own."""
        if item.name in self:
            raise ConfigError(f"There is a {self.kind} rule {item.name!r} already.")
        self._items[item.name] = item

    def __getitem__(self, name: str) -> Item:
        if name in self._items:
            return self._items[name]
        for point in entry_points(group=self.group, name=name):
            self._items[name] = self._load(point)
            return self._items[name]
        hint = suggest(name, self) or f"There are {', '.join(self)}."
        raise ConfigError(f"There is no {self.kind} rule {name!r}. {hint}")

    def _load(self, point: EntryPoint) -> Item:
        try:
            item: Item = point.load()
        except Exception as error:  # importing runs the package
            raise ConfigError(
                f"The {self.kind} rule {point.name!r} cannot be imported: {reason(error)}."
            ) from error
        wanted = {type(each) for each in self._items.values()}
        if wanted and type(item) not in wanted:
            names = " or ".join(sorted(each.__name__ for each in wanted))
            raise ConfigError(
                f"The {self.kind} rule {point.name!r} must be a {names}. Got {short(item)} instead."
            )
        return item

    @property
    def group(self) -> str:
        """The group of entry points in which other packages name their rules."""
        return f"smgrnn.{self.kind}"

    def __contains__(self, name: object) -> bool:
        return name in self._names()

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def _names(self) -> dict[str, None]:
        return dict.fromkeys([*self._items, *entry_points(group=self.group).names])
