"""Recorded behaviour: a file of observations and of the actions that an expert took.

`.npz` and `.safetensors` files hold arrays named `observations` (n, n_inputs) and `actions`: whole
numbers (n,) are choices, floats (n,) or (n, n_outputs) continuous actions.  An array `episodes`
(n,) may number the episode of each row.  In a `.csv` file the first line names the columns: those
that start with "action" are the action, "episode" numbers the episode, all others are the
observation.
"""

import csv
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors.numpy import load_file

from smgrnn.arrays import Floats, Ints
from smgrnn.errors import SmgrnnError, TaskError, short
from smgrnn.machine import check_archive

RECORDINGS = (".npz", ".csv", ".safetensors")  # endings of the names of recordings
FEWEST = 10  # rows that a recording must have, so that there is something to learn and to judge by
HELD_OUT = 0.1
"""Fraction of the episodes that is held out; as many compare checkpoints, the rest is learned."""


class Recording(NamedTuple):
    """Observations and the actions that were taken, row by row."""

    observations: Floats  # (n, n_inputs)
    actions: Any  # choices (n,) as int64, or continuous actions (n, n_outputs) as float64
    episodes: Ints  # the episode of each row (n,); each row is one if the file numbers none

    @property
    def is_discrete(self) -> bool:
        """Whether actions are choices."""
        return bool(self.actions.ndim == 1)

    @property
    def digest(self) -> str:
        """The SHA-256 of its content."""
        return sha256(b"".join(column.tobytes() for column in self)).hexdigest()

    def split(self, rng: np.random.Generator) -> tuple["Recording", "Recording", "Recording"]:
        """Return rows to learn from, to compare checkpoints by, and to judge by.

        Whole episodes are drawn, because a row tells too much about its neighbours in time.
        """
        names, place = np.unique(self.episodes, return_inverse=True)
        n = len(names)
        if n < 3:
            raise TaskError(f"A recording needs at least 3 episodes to hold some out. Got {n}.")
        n_held_out = max(1, round(HELD_OUT * n))
        part = np.digitize(rng.permutation(n)[place], [n - 2 * n_held_out, n - n_held_out])
        train, compared, held_out = (
            Recording(*(column[part == number] for column in self)) for number in range(3)
        )
        return train, compared, held_out


def read_recording(path: Path) -> Recording:
    """Read a recording, or raise TaskError with one sentence on what is wrong with it."""
    if not path.is_file():
        raise TaskError(f"There is no recording {path}.")
    try:
        if path.suffix == ".csv":
            arrays = _read_csv(path)
        elif path.suffix == ".npz":
            check_archive(path)
            with path.open("rb") as file, np.load(file, allow_pickle=False) as found:
                arrays = {name: found[name] for name in found.files}
        else:
            arrays = load_file(path)
    except SmgrnnError:
        raise
    except Exception as error:  # each format has its own way to be damaged
        raise TaskError(f"{path} is damaged or not a {path.suffix} file.") from error
    if not {"observations", "actions"} <= arrays.keys():
        names = ", ".join(sorted(arrays)) or "nothing"
        raise TaskError(f"A recording has 'observations' and 'actions'. {path} has {names}.")
    observations = arrays["observations"]
    if observations.ndim != 2 or 0 in observations.shape or observations.dtype.kind not in "fiu":
        raise TaskError(
            f"The observations of a recording must be numbers of shape (n, n_inputs). "
            f"{path} has {observations.dtype} of shape {observations.shape}."
        )
    n = len(observations)
    actions, episodes = _column(arrays["actions"]), _column(arrays.get("episodes", np.arange(n)))
    if arrays["actions"].ndim == 1 and actions.dtype.kind == "f":
        values = np.unique(actions)  # all whole numbers from 0 up are choices, and no values
        if values.size > 1 and np.array_equal(values, np.arange(values.size)):
            raise TaskError(
                f"The actions of {path} are the whole numbers 0 to {values[-1]:.0f}, written as "
                f"floats. Write choices as ints, such as 1 for 1.0; if they are continuous, give "
                f"an array of shape ({n}, 1) in an .npz file."
            )
    is_discrete = actions.dtype.kind in "iu"
    widths = (1,) if is_discrete else (1, 2)
    if actions.dtype.kind not in "fiu" or actions.ndim not in widths or len(actions) != n:
        raise TaskError(
            f"The actions of a recording must be {n} ints, or {n} rows of floats, as there are {n} "
            f"observations. {path} has {actions.dtype} of shape {actions.shape}."
        )
    if episodes.shape != (n,) or episodes.dtype.kind not in "iu":
        raise TaskError(f"The episodes of a recording must be {n} ints, one per row of {path}.")
    if n < FEWEST:
        raise TaskError(f"A recording needs {FEWEST} rows at least. {path} has {n}.")
    for what, rows in (("observation", observations), ("action", actions.reshape(n, -1))):
        for row, column in np.argwhere(~np.isfinite(rows))[:1]:
            raise TaskError(
                f"{path} has {rows[row, column]} in row {row} as value {column} of the {what}, "
                f"from 0."
            )
    actions = actions.astype(np.int64) if is_discrete else actions.reshape(n, -1).astype(np.float64)
    # Each choice has an output node: there cannot be more than rows.
    if is_discrete and (actions.min() < 0 or actions.max() >= n):
        raise TaskError(
            f"Discrete actions must be numbered from 0, without gaps. "
            f"{path} has {actions.min()} to {actions.max()} in {n} rows."
        )
    if (actions.min(axis=0) == actions.max(axis=0)).any():
        raise TaskError(f"There is nothing to learn from {path}: its action is always the same.")
    values = np.ascontiguousarray(observations, dtype=np.float64)
    return Recording(values, actions, episodes.astype(np.int64))


def _column(array: Any) -> Any:
    """Return an array of one column without its second axis."""
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def _read_csv(path: Path) -> dict[str, Any]:
    """Return the columns of a table by their names; refuse ragged rows and text."""
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = [row for row in csv.reader(file) if row]
    for number, row in enumerate(rows, 1):
        if len(row) != len(header):
            raise TaskError(
                f"Row {number} of {path} has {len(row)} cells; the first line names "
                f"{len(header)} columns."
            )
    columns: dict[str, list[Any]] = {}
    for name, *column in zip(map(str.strip, header), *rows, strict=True):
        for number, cell in enumerate(column, 1):
            try:
                float(cell)
            except ValueError:
                raise TaskError(
                    f"A recording has numbers only. Row {number} of {path} has {short(cell, 40)} "
                    f"in the column {short(name, 40)}; write numbers for it, or leave the column "
                    f"out."
                ) from None
        kind = "actions" if name.startswith("action") else "observations"
        columns.setdefault("episodes" if name == "episode" else kind, []).append(column)
    arrays: dict[str, Any] = {}
    for kind, found in columns.items():
        cells = np.array(found, dtype=str).T
        try:
            array: Any = cells.astype(np.int64)
        except ValueError:
            array = cells.astype(np.float64)
        arrays[kind] = array if kind == "observations" else _column(array)
    return arrays
