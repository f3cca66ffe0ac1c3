"""Pictures: the figures as files, small enough to be kept beside a report."""

import io
from dataclasses import dataclass
from pathlib import Path

from smgrnn.errors import ConfigError, SmgrnnError
from smgrnn.plotting import Figure, mpl

LIMIT = 300_000
"""Most bytes that a picture may have."""
SUFFIXES = ("svg", "png")
"""Formats that a picture may have."""
RESOLUTIONS = (160, 120, 90, 60)
"""Dots per inch to try in a PNG, where an SVG is too large; the first is for dots in an SVG too."""


@dataclass(frozen=True)
class Picture:
    """A figure as the bytes of a file."""

    suffix: str
    """The format of the file, one of `SUFFIXES`."""
    data: bytes
    width: float
    """Width in inches."""

    @property
    def media_type(self) -> str:
        """The media type by which browsers know the format."""
        return "image/svg+xml" if self.suffix == "svg" else f"image/{self.suffix}"


def take_picture(figure: Figure, limit: int = LIMIT) -> Picture:
    """Return a figure as lines (SVG), or as dots (PNG) where lines take more than `limit` bytes.

    The same figure always gives the same bytes.
    """
    width = float(figure.get_size_inches()[0])
    lines = _save(figure, "svg", RESOLUTIONS[0])
    if len(lines) <= limit:
        return Picture("svg", lines, width)
    for resolution in RESOLUTIONS:
        dots = _save(figure, "png", resolution)
        if len(dots) <= limit:
            return Picture("png", dots, width)
    raise SmgrnnError(f"A figure takes {len(dots)} bytes at {resolution} dpi, more than {limit}.")


def check_picture(path: Path) -> None:
    """Refuse a file that is no picture, before the work that is to go into it."""
    if path.suffix.removeprefix(".") not in SUFFIXES:
        raise ConfigError(f"A picture is an .svg or a .png file. Got {path} instead.")


def save_picture(figure: Figure, path: Path) -> None:
    """Write a figure to a file, in the format of its ending."""
    path.write_bytes(_save(figure, path.suffix.removeprefix("."), RESOLUTIONS[0]))


def _save(figure: Figure, suffix: str, dpi: int) -> bytes:
    buffer = io.BytesIO()
    metadata = {"svg": {"Date": None}, "png": {"Software": None}}[suffix]
    with mpl.rc_context({"svg.hashsalt": "smgrnn"}):
        figure.savefig(buffer, format=suffix, dpi=dpi, metadata=metadata)
    return buffer.getvalue()
