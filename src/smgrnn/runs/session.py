"""Session: the life of a run, whatever it trains: begin, checkpoint, resume, evaluate, save."""

import platform
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

from smgrnn.arrays import Floats
from smgrnn.episodes.table import Episodes
from smgrnn.errors import ConfigError, GrowthLimitWarning, SmgrnnError
from smgrnn.runs.folder import RunFolder, check_same, write_results
from smgrnn.runs.plan import AnyPlan
from smgrnn.runs.record import Record
from smgrnn.runs.record_file import Times

PACKAGES = ("smgrnn", "numpy", "numba", "gymnasium")
"""Packages that every result depends on."""

P = TypeVar("P", bound=AnyPlan)
T = TypeVar("T")
Watch = Callable[[T], None]
"""Called now and then with the work in progress: a run, an evolution or a batch of runs."""


class Session(Generic[P]):
    """A run in progress or finished, with the folder that it is kept in.

    Each kind of run defines `_advance`, which trains a part at a time and then evaluates, and
    `_before_first`, the record before the first part.
    """

    plan_kind: ClassVar[type[AnyPlan]]
    """The class of its plans."""

    def __init__(
        self, plan: P, folder: str | Path | RunFolder | None = None, record: Record | None = None
    ) -> None:
        self.plan = plan
        self._home = RunFolder(Path(folder)) if isinstance(folder, str | Path) else folder
        self._record = record
        self._caught: list[warnings.WarningMessage] = []

    @classmethod
    def _open(cls, path: str | Path, **sources: Any) -> Self:
        """Return the run in a folder or a file."""
        home = RunFolder(Path(path)) if Path(path).is_dir() else None
        record = Record.load(path) if home is None else home.load()
        plan = record.plan
        if not isinstance(plan, cls.plan_kind):
            raise ConfigError(
                f"{path} holds another kind of run: resume it with smgrnn {plan.command} --resume."
            )
        return cls(plan, home, record=record, **sources)  # type: ignore[arg-type]

    @classmethod
    def _start_or_resume(cls, plan: P, folder: Path | None, **sources: Any) -> Self:
        """Return a run that has not begun, or the one begun in the folder with these settings."""
        if folder is None:
            return cls(plan, **sources)
        home = RunFolder(folder)
        record = home.find_record()
        if record is not None:
            check_same(plan, record.plan, folder)
            plan = plan.polished_as(record.plan)
        return cls(plan, home, record=record, **sources)

    @property
    def folder(self) -> Path | None:
        """The folder that it is kept in, if any."""
        return None if self._home is None else self._home.path

    @property
    def record(self) -> Record:
        """The record of the run so far."""
        if self._record is None:
            versions = {name: version(name) for name in (*PACKAGES, *self.plan.packages)}
            self._record = Record(
                plan=self.plan,
                versions=versions | {"python": platform.python_version()},
                times=Times(began=time.time()),
                **self._before_first(),
            )
        return self._record

    @property
    def episodes(self) -> Episodes:
        """The table of all episodes so far."""
        return self.record.episodes

    @property
    def held_out(self) -> Floats:
        """Returns of the selected network on held-out episodes; empty before the end."""
        return self.record.held_out

    def _before_first(self) -> dict[str, Any]:
        """Return fields of the record before the first part."""
        return {}

    def _advance(self) -> Iterator[None]:
        """Train what is left, a part at a time, and evaluate; yield when a watch may look."""
        raise NotImplementedError

    def begin(self) -> None:
        """Make the folder, if there is to be one, with a first checkpoint in it."""
        _ = self.record  # errors come before anything is made
        with self._owned():
            if self._home is not None and not self._home.stamp:
                self._home.save(self.record)

    def train(self, *watches: Watch[Self]) -> Record:
        """Train to the end, with checkpoints on the way, and evaluate the selected network.

        Every few episodes each of `watches` is called with the run.
        """
        self.begin()
        with self._owned():
            if self.held_out.size:
                if self._home is not None and not self._home.has_results:  # after a kill
                    self._write_results()
                return self.record
            try:
                self._train_and_save(watches)
            except SmgrnnError:
                if self._home is not None and not self.episodes.n:
                    self._home.discard()
                raise
        return self.record

    def _owned(self) -> AbstractContextManager[None]:
        return nullcontext() if self._home is None else self._home.owned()

    def _train_and_save(self, watches: tuple[Watch[Self], ...]) -> None:
        start, spent = time.perf_counter(), self.record.times.total
        try:
            with warnings.catch_warnings(record=True) as self._caught:
                warnings.simplefilter("always", GrowthLimitWarning)
                for _ in self._advance():
                    for watch in watches:
                        watch(self)
        finally:  # after a Ctrl-C too
            total = spent + time.perf_counter() - start
            self._update(times=self.record.times._replace(total=total))
            self._note_warnings()
            if self._home is not None:
                self._home.save(self.record)
            self._write_results()
        for each in self._caught:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)

    def _update(self, **changes: Any) -> None:
        self._record = replace(self.record, **changes)

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        """Add the time of the block to the times of the run."""
        begin = time.perf_counter()
        yield
        spent = getattr(self.record.times, what) + time.perf_counter() - begin
        self._update(times=self.record.times._replace(**{what: spent}))

    def _checkpoint(self) -> None:
        self._note_warnings()
        if self._home is not None:
            self._home.keep(self.record)

    def _note_warnings(self) -> None:
        limits = (each for each in self._caught if issubclass(each.category, GrowthLimitWarning))
        noted = dict.fromkeys([*self.record.warnings, *(str(each.message) for each in limits)])
        self._update(warnings=tuple(noted))

    def _write_results(self) -> None:
        if self.folder is not None and self.episodes.n and self.record.students:
            write_results(self.folder, self.record)

    def summary(self) -> dict[str, Any]:
        """Return every figure of the run so far, by name."""
        folder = None if self.folder is None else str(self.folder)
        return self.record.summary() | {"run_dir": folder}

    def save(self, folder: str | Path) -> None:
        """Write the run to a new folder."""
        home = RunFolder(Path(folder))
        if home.find_record() is not None:
            raise ConfigError(f"{folder} exists and holds a run. Use another folder.")
        self._home = home
        with self._owned():
            home.save(self.record)
            self._write_results()
