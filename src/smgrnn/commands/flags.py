"""Groups of flags, as the command line parses them and commands take them."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from smgrnn.commands.output import Flag
from smgrnn.errors import ConfigError
from smgrnn.kinds import USUAL_PRESET, EnvBackend, HandOver, Student

if TYPE_CHECKING:  # it imports Numba, for which help does not wait
    from smgrnn.config import RunConfig

STORE = Path("results/store")
"""Folder of finished runs, below the one that a command is called in."""


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The settings of a run that people change most; `--set` changes any other."""

    student: Student = "smgrnn"
    """The growing network; the same graph kept as it is; growth without pruning; an MLP of 100 % or
    200 % of the budget; or one that is pruned to --parameters."""
    parameters: int | None = None
    """Maximum parameters of the result; training may exceed it temporarily."""
    keep: float | None = None
    """Find the smallest student that keeps this fraction of what the expert returns beyond a random
    policy."""
    episodes: int | None = None
    """Training episodes."""
    expert: str | None = None
    """Name of a shipped expert, file of its weights, or a function as module:function; by default
    the smooth expert that comes with the package."""
    seed: int | None = None
    """Seed of the initial graph, of the rules' choices and of the episodes."""
    handover: HandOver | None = None
    """The student that the run ends with: the best one that it saw, or the final one."""
    held_out: int | None = None
    """Held-out episodes that judge it."""
    env_backend: EnvBackend | None = None
    """Where the task runs: compiled code if task and expert allow it, or Gymnasium."""
    set: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """Any other setting, as NAME=VALUE, such as growth.interval_width=0.4; repeat it for several.
    """

    def changes(self, config: "RunConfig") -> "RunConfig":
        """Return a run's settings with those of the flags."""
        own = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        given = {name: value for name, value in own.items() if value is not None}
        del given["set"], given["student"]
        return with_settings(config.with_changes(**given), self.set)

    def to_config(self, task: str, preset: str | Path | None, seed: int = 0) -> "RunConfig":
        """Return the settings of a run on a task."""
        from smgrnn.config import RunConfig

        start = RunConfig.for_task(task, preset=preset or USUAL_PRESET, student=self.student)
        return self.changes(start.with_changes(seed=seed))


def with_settings(config: "RunConfig", texts: tuple[str, ...]) -> "RunConfig":
    """Return a run's settings with changes that are given as NAME=VALUE.

    >>> from smgrnn import RunConfig
    >>> with_settings(RunConfig(), ("growth.max_relays=3",)).plasticity.growth.max_relays
    3
    """
    from smgrnn.config import CHOICES, by_part, find_setting, parse_value

    given: dict[str, Any] = {}
    for text in texts:
        name, is_given, value = text.partition("=")
        if not is_given:
            raise ConfigError(f"--set takes NAME=VALUE. Got {text!r} instead.")
        given[name.strip().replace("-", "_")] = parse_value(value.strip())
    chosen = {f"{part}.{place}" for part, place in CHOICES.values()} & given.keys()
    config = config.with_changes(**by_part({name: given.pop(name) for name in chosen}))
    for name in given:
        find_setting(name, config, in_run=True)
    return config.with_changes(**by_part(given))


def renamed_flag(word: str) -> str | None:
    """Return what a flag of version 0.2 is called now; None if it was none.

    >>> renamed_flag("--plasticity.interval-width"), renamed_flag("--iterations")
    ('--set growth.interval_width', '--set iterations')
    """
    from smgrnn.config import RunConfig, find_setting

    others = RunConfig().with_changes(learning={"optimizer": "rmsprop", "rule": "hebbian"})
    name = word.removeprefix("--").removeprefix("no-").partition("=")[0].replace("-", "_")
    part, _, last = name.rpartition(".")
    places = {"plasticity": ("plasticity", "growth", "pruning"), "learning": ("learning",)}
    if part == "learning":
        places["learning"] = ("learning", "optimizer", "rule")
    for place in places.get(part, ("",)):
        full = f"{place}.{last}" if place else last
        for config in (RunConfig(), RunConfig.for_task("", preset="frugal"), others):
            try:
                find_setting(full, config, in_run=True)
            except ConfigError:
                continue
            return f"--set {full}"
    return None


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """An earlier run to go on with, or to go on from."""

    resume: Path | None = None
    """Go on with the run in this folder instead of starting one; a TASK or an --expert that is code
    of your own is given again."""
    start: Annotated[Path | None, tyro.conf.arg(name="from")] = None
    """Start a run whose student is the one that this run handed over, with the settings of that
    run; TASK must have the same shape."""


@dataclass(frozen=True, kw_only=True)
class Extras:
    """Things that a run leaves beside its record."""

    tensorboard: Flag = False
    """Also write curves for TensorBoard into the run folder."""
    live: Flag = False
    """Open a page on which the network is seen to grow while it does."""
    dry_run: Flag = False
    """Print the plan of the run, all settings as the engine would get them, and run nothing."""


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How long a search for settings takes, and its aim."""

    trials: int = 160
    """Trials in all, rounded up to whole batches."""
    minutes: float | None = None
    """Begin no batch after this many minutes; the same command goes on later."""
    seeds: int = 8
    """Seeds of a trial; poor ones are stopped after one, two, four …"""
    batch: int = 16
    """Trials that are asked for at once, of which half are stopped at each stage."""
    price: float | None = None
    """Search for one number: the return, less this for each parameter; by default for a front."""
    floor: float | None = None
    """Least return on the front; that of the preset's worst run by default."""


@dataclass(frozen=True, kw_only=True)
class Workers:
    """Where runs happen."""

    jobs: int | None = None
    """Processes; one for each core by default."""
    scheduler: str | None = None
    """Address of a Dask scheduler to run on instead."""


@dataclass(frozen=True, kw_only=True)
class Which:
    """The student of a run to take; by default the one that it hands over."""

    final: Flag = False
    """Take the student that the run ended with."""
    parameters: int | None = None
    """Take the best student with at most this many parameters."""
