"""Groups of flags, as the command line parses them and commands take them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from smgrnn.commands.output import Flag

STORE = Path("results/store")
"""Folder of finished runs, below the one that a command is called in."""


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
