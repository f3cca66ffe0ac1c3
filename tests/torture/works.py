"""The commands that are disturbed, the records that they keep, and the end that they must reach."""

import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from multiprocessing.sharedctypes import RawValue
from pathlib import Path
from typing import Any, NamedTuple

from smgrnn.batch import Store
from smgrnn.config import RULES as RULE_PARTS
from smgrnn.errors import SmgrnnError
from smgrnn.runs.record import Record
from smgrnn.runs.record_file import MODEL
from smgrnn_paper.experiments.registry import STUDIES
from support import trials
from support.runs import contents, settings, teacher
from torture.children import Child, Ended, Found, command, misbehaviour
from torture.filecalls import FileCalls

OUT, STORE, EXPERIMENT = "run", "store", "torture-v1"
SHORT = ("distill", "evolve, neat")
"""Works of a short session."""


@dataclass(frozen=True)
class Work:
    """A short command; once stopped it goes on by the same command, or by --resume."""

    name: str
    words: tuple[str, ...]
    way: str = "same command"

    def again(self, folder: Path) -> tuple[str, ...]:
        """Return the words that begin it or go on with it."""
        if self.way == "--resume" and (folder / OUT / MODEL).exists():
            return ("distill", "--resume", OUT, "--quiet")
        return self.words


class Undisturbed(NamedTuple):
    end: dict[str, Any]
    cpu: float
    n_calls: int


class Bench:
    """A folder for cases, the works, and their undisturbed ends."""

    def __init__(self, folder: Path, *, is_long: bool = True) -> None:
        self.folder, self.is_long = folder, is_long
        folder.mkdir(parents=True)
        self.works = [each for each in _works(folder) if is_long or each.name in SHORT]
        self._undisturbed: dict[tuple[str, ...], Undisturbed] = {}
        self.kinds: list[Any] = []
        """Whole files of every kind, once they are asked for."""
        self._n = 0

    def new_folder(self) -> Path:
        self._n += 1
        path = self.folder / f"case-{self._n}"
        path.mkdir()
        return path

    def clear(self) -> None:
        for path in self.folder.glob("case-*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def undisturbed(self, work: Work) -> Undisturbed:
        """Return what a work comes to when nothing happens to it."""
        if work.words not in self._undisturbed:
            folder, counted = self.new_folder(), RawValue("q")
            calls = FileCalls(lambda _, n: setattr(counted, "value", n))
            ended = Child(command(work.words, calls.install), folder).wait()
            assert ended.code == 0, f"{work.name} fails undisturbed: {ended.err}"
            self._undisturbed[work.words] = Undisturbed(end_of(folder), ended.cpu, counted.value)
        return self._undisturbed[work.words]


def _works(folder: Path) -> list[Work]:
    expert = teacher(folder, "CartPole-v1")
    short = ("--episodes", "12", "--held-out", "2", "--set", "checkpoint_every=4", "--quiet")
    cartpole = ("distill", "CartPole-v1", "--expert", expert, *short)
    config = settings(folder)
    named = {name: it for name, it in config.named().items() if name.startswith(RULE_PARTS)}
    rules = [word for name in named for word in ("--set", f"{name}={named[name]}")]
    paper = (*cartpole, "--preset", "paper", *rules)
    xor = ("distill", "xor", *short, "--select", "return")
    size = ("--rollouts", "24", "--population", "6", "--held-out", "2")
    evolve = ("evolve", "CartPole-v1", "--quiet", *size, "--out", OUT)
    study = ("--over", "frugal", "--trials", "2", "--batch", "2", "--seeds", "1")
    brief = ("--episodes", "4", "--held-out", "2", "--jobs", "1", "--quiet", "--out", OUT)
    reproduce = ("reproduce", EXPERIMENT, "--jobs", "1", "--store", STORE, "--quiet")
    STUDIES[EXPERIMENT] = trials.asking(
        {"cartpole": trials.tiny(folder, held_out=2), "busy": trials.busy(folder, held_out=2)},
        n_seeds=2,
        name=EXPERIMENT,
    )
    return [
        Work("distill", (*paper, "--out", OUT)),
        Work("distill", (*paper, "--out", OUT), "--resume"),
        Work("distill, frugal", (*xor, "--out", OUT)),
        Work("distill, seeds", (*xor, "--seeds", "2", "--out", OUT)),
        Work(
            "sequence", ("sequence", "CartPole-v1", "CartPole-v1,gravity=20", *short, "--out", OUT)
        ),
        Work("evolve, neat", (*evolve, "--method", "neat")),
        Work("evolve, ndp", (*evolve, "--method", "ndp")),
        Work("tune", ("tune", "xor", *study, *brief)),
        Work("reproduce", reproduce),
    ]


def end_of(folder: Path) -> dict[str, Any]:
    """Return all that a finished work left in its folder, but for times."""
    found: dict[str, Any] = {}
    for summary in sorted(folder.rglob("run.json")):
        run, name = summary.parent, str(summary.parent.relative_to(folder))
        found[name] = contents(run)
        for table in run.glob("generations.csv"):
            found[f"{name} generations"] = table.read_bytes()
    for store in (folder / STORE, folder / OUT / STORE):
        for path in sorted(store.rglob("*.safetensors")):
            found[path.name] = trials.results(Store(store).load(path.stem))
    for name in ("study.json", "settings.toml", "trials.csv"):
        if (folder / OUT / name).exists():
            found[name] = (folder / OUT / name).read_bytes()
    return found


def kept(folder: Path) -> dict[str, Any]:
    """Return what may not be lost any more: episodes of runs, and every byte of stored records.

    What is only noted outlives a kill, but not a power cut.
    """
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("[!.]*.safetensors")):
        episodes = Record.load(path).episodes.n
        name = str(path.relative_to(folder))
        found[name] = episodes if path.name == MODEL else sha256(path.read_bytes()).hexdigest()
    return found


def losses(before: Mapping[str, Any], folder: Path) -> tuple[dict[str, Any], Found | None]:
    """Return what is kept now, and what of that before is lost, if anything is."""
    try:
        now = kept(folder)
    except (SmgrnnError, OSError) as error:
        return dict(before), Found("lost", f"unreadable: {error}")
    for name, was in before.items():
        is_there = now.get(name, 0) >= was if isinstance(was, int) else now.get(name) == was
        if not is_there:
            return now, Found("lost", f"{name}: {was} before, {now.get(name)} now")
    return now, None


def settled(bench: Bench, work: Work, folder: Path, ended: Ended | None = None) -> Found:
    """Go on with a work that has not ended well, and compare its end."""
    if ended is None or (ended.code and not misbehaviour(ended)):
        ended = Child(command(work.again(folder)), folder).wait()
    if found := misbehaviour(ended):
        return found
    if ended.code:
        return Found("stuck", f"{work.name}, {work.way}: {ended.err.strip()[-300:]}")
    return compared(end_of(folder), bench.undisturbed(work).end)


def compared(end: dict[str, Any], expected: dict[str, Any]) -> Found:
    """Return whether two ends are the same, and where they differ."""
    if end == expected:
        return Found("same")
    different = {name for name in end | expected if end.get(name) != expected.get(name)}
    return Found("changed", f"the end differs in {', '.join(sorted(different))}")


def endure(
    bench: Bench, work: Work, disturbances: Iterable[Callable[[tuple[str, ...], Path], Ended]]
) -> list[Found]:
    """Disturb a work again and again, then let it finish; return what each disturbance did."""
    folder, before, n = bench.new_folder(), dict[str, Any](), 0
    for disturb in disturbances:
        ended = disturb(work.again(folder), folder)
        n += ended.is_struck
        if found := misbehaviour(ended):
            return [found]
        before, lost = losses(before, folder)
        if lost:
            return [lost]
        if ended.code == 0:  # it was done before it could be disturbed
            found = compared(end_of(folder), bench.undisturbed(work).end)
            is_missed = not n and found.outcome == "same"
            return [Found("missed")] if is_missed else [found] * max(n, 1)
        if not ended.is_struck:
            return [Found("stuck", f"{work.name}, {work.way}: {ended.err.strip()[-300:]}")]
    return [settled(bench, work, folder)] * n
