"""One class for each way a caller can be wrong; every message is one clear sentence."""

import sysconfig
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cache, wraps
from inspect import signature
from pathlib import Path
from traceback import extract_tb
from typing import ParamSpec, Self, TypeVar
from unicodedata import category

_JOINERS = "\u200c\u200d"
"""Characters without a picture that the words of some languages need."""


class SmgrnnError(Exception):
    """Base of everything this package raises on purpose.

    Examples
    --------
    >>> from smgrnn import SmgrnnError
    >>> from smgrnn.config import NetworkConfig
    >>> try:
    ...     NetworkConfig(n_inputs=0, n_outputs=2)
    ... except SmgrnnError as error:
    ...     print(error)
    The 'n_inputs' parameter of NetworkConfig must be an int in [1, inf). Got 0 instead.
    """


class ConfigError(SmgrnnError, ValueError):
    """A setting is outside its range."""


class GraphError(SmgrnnError, ValueError):
    """A graph, or an edit of one, breaks an invariant."""


class ShapeError(SmgrnnError, ValueError):
    """An array has another shape than the network needs."""


class NonFiniteError(SmgrnnError, ValueError):
    """A NaN or infinity reached the network."""


class AttachmentError(SmgrnnError, ValueError):
    """Network, optimizer and plasticity do not belong together."""


class FileFormatError(SmgrnnError, ValueError):
    """A file is damaged, of another kind, or of another version."""


class TaskError(SmgrnnError, ValueError):
    """A task is unknown, cannot be made, or does not suit the network."""


class ExpertError(SmgrnnError, ValueError):
    """An expert is not a usable network, or does not fit its task."""


class MetricError(SmgrnnError, ValueError):
    """A run of this kind does not have this metric."""


class SampleError(SmgrnnError, ValueError):
    """A sample does not suffice for a statistic."""


class MissingPackageError(SmgrnnError, ImportError):
    """Something needs a package that is not installed."""


class GrowthLimitWarning(UserWarning):
    """Growth stopped because the network reached `max_nodes` or `max_edges`."""

    @classmethod
    def at(cls, size: str, max_nodes: int, max_edges: int) -> Self:
        """Return a warning that states the size at which growth stopped, and the limits.

        >>> print(GrowthLimitWarning.at("90 nodes", max_nodes=90, max_edges=500))
        Growth stopped at 90 nodes: it reached max_nodes=90 or max_edges=500.
        """
        limits = f"max_nodes={max_nodes} or max_edges={max_edges}"
        return cls(f"Growth stopped at {size}: it reached {limits}.")


EXTRAS = {
    "bokeh": ("Bokeh", "view"),
    "cma": ("cma", "paper"),
    "distributed": ("Dask", "cluster"),
    "loky": ("loky", "paper"),
    "neat": ("neat-python", "paper"),
    "networkx": ("networkx", "view"),
    "onnx": ("onnx", "export"),
    "optuna": ("Optuna", "tune"),
    "scipy": ("SciPy", "paper"),
    "sklearn": ("scikit-learn", "sklearn"),
    "stable_baselines3": ("Stable-Baselines3", "sb3"),
    "tensorboard": ("TensorBoard", "tensorboard"),
    "torch": ("PyTorch", "torch"),
}
"""Name and extra of each optional package, by the module that is imported."""


@contextmanager
def needs(purpose: str = "This") -> Iterator[None]:
    """Import optional packages in a block; a missing one is a sentence with the command to type.

    >>> with needs("Viewing"):
    ...     raise ModuleNotFoundError(name="bokeh")
    Traceback (most recent call last):
    smgrnn.errors.MissingPackageError: Viewing needs Bokeh: pip install 'smgrnn[view]'.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        name, extra = EXTRAS[package]
        sentence = f"{purpose} needs {name}: pip install 'smgrnn[{extra}]'."
        raise MissingPackageError(sentence, name=package) from error


def reason(error: Exception) -> str:
    """Return the first line of a foreign error's message, fit to end a sentence.

    >>> reason(ValueError("The pole broke."))
    'The pole broke'
    """
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return _in_line(lines[0], 200).rstrip(".")


def failure(error: Exception) -> str:
    """Describe an error in code that is not ours: its kind, its place and its words."""
    kind, words, place = type(error).__name__, reason(error), ""
    if isinstance(error, SyntaxError) and error.filename:  # it was read, not run
        place = f"{_near(Path(error.filename))}, line {error.lineno}"
    else:
        for frame in extract_tb(error.__traceback__):  # the last line of the user's own code
            path = Path(frame.filename)
            if path.is_file() and not any(path.is_relative_to(each) for each in _libraries()):
                place = f"{_near(path)}, line {frame.lineno}"
    what = f"{kind} in {plain(place)}" if place else kind
    return what if words == kind else f"{what}: {words}"


def _near(path: Path) -> Path:
    """Return a path as seen from the working directory, if it is below that."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


@cache
def _libraries() -> tuple[Path, ...]:
    """Return the folders of this package, of installed ones and of Python itself."""
    folders = [sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")]
    return Path(__file__).parent, *map(Path, folders)


def short(thing: object, length: int = 60) -> str:
    """Return the repr of a thing in one line of at most `length` characters.

    >>> short(3), short("a" * 100, 10)
    ('3', "'aaaaaa...")
    >>> nested = []
    >>> for _ in range(100_000):
    ...     nested = [nested]
    >>> short(nested)
    'a list nested too deeply to print'
    """
    try:
        text = repr(thing)
    except ValueError:  # an int of thousands of digits
        text = f"an {type(thing).__name__} too long to print"
    except RecursionError:
        text = f"a {type(thing).__name__} nested too deeply to print"
    except Exception:  # whatever a class of a user's raises
        text = f"a {type(thing).__name__} that cannot be printed"
    return _in_line(text, length)


def _in_line(text: str, length: int) -> str:
    line = plain(" ".join(text.split()))
    return line if len(line) <= length else f"{line[: length - 3]}..."


P = ParamSpec("P")
T = TypeVar("T")


def known_arguments(function: Callable[P, T]) -> Callable[P, T]:
    """Refuse arguments that a function does not have with a ConfigError that names the closest.

    >>> @known_arguments
    ... def grow(network, max_nodes=3):
    ...     return max_nodes
    >>> grow(1, max_node=2)
    Traceback (most recent call last):
    smgrnn.errors.ConfigError: grow has no argument 'max_node'. Did you mean 'max_nodes'?
    """
    parameters = signature(function).parameters

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            signature(function).bind(*args, **kwargs)
        except TypeError as error:
            name = function.__name__ if function.__name__ != "__init__" else type(args[0]).__name__
            for given in kwargs:
                if given not in parameters:
                    hint = suggest(given, parameters)
                    sentence = f"{name} has no argument {given!r}. {hint}".strip()
                    raise ConfigError(sentence) from None
            needed = [
                each.name
                for each in parameters.values()
                if each.default is each.empty and each.kind != each.VAR_KEYWORD
            ]
            shown = ", ".join(each for each in (*needed, "...") if each != "self")
            raise ConfigError(f"{name}({shown}): {reason(error)}.") from None
        return function(*args, **kwargs)

    return call


def plain(text: str) -> str:
    """Return text in one line, in which characters that do not print are escaped.

    They move the cursor, end the line, or change the direction of the others.

    >>> plain("harmless, " + chr(27) + "[31mred") == "harmless, " + repr(chr(27))[1:-1] + "[31mred"
    True
    """
    return "".join(
        each
        if each.isprintable() or category(each) == "Zs" or each in _JOINERS
        else each.encode("unicode_escape").decode()
        for each in text
    )


def suggest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return a question that names the known word closest to a wrong one; nothing if none is.

    >>> suggest("cartpol-v1", ["CartPole-v1", "xor"]), suggest("?", ["xor"])
    ("Did you mean 'CartPole-v1'?", '')
    """
    words = {word.lower(): word for word in known}
    close = get_close_matches(name.lower(), words, n=1, cutoff=cutoff)
    return f"Did you mean {words[close[0]]!r}?" if close else ""
