"""Experts that are Python functions from an observation to an action."""

import operator
import sys
from collections.abc import Callable
from hashlib import sha256
from pkgutil import resolve_name
from typing import Any

import numpy as np

from smgrnn.arrays import Singles
from smgrnn.errors import ExpertError, failure, short
from smgrnn.experts.mlp import Expert
from smgrnn.tasks import Task


class FunctionExpert:
    """Asks a function for the number of an action, or for its values, and checks the answer."""

    def __init__(self, function: Callable[[Any], Any], task: Task, name: str) -> None:
        self._function, self._n_cues, self.name = function, len(task.variant.cue), name
        self.n_inputs, self.n_outputs = task.n_observed, task.n_outputs
        self.digest = sha256(name.encode()).hexdigest()  # all that can be compared of a function

    def action(self, observation: Any) -> int:
        """Return the number of the action."""
        given = self._ask(observation)
        try:
            number = operator.index(given)
        except TypeError:
            number = -1
        if not 0 <= number < self.n_outputs:
            self._refuse(given, f"an int from 0 to {self.n_outputs - 1}")
        return number

    def values(self, observation: Any) -> Singles:
        """Return the values (n_outputs,) of a continuous action."""
        given = self._ask(observation)
        try:
            values = np.asarray(given, dtype=np.float32).ravel()
        except (TypeError, ValueError):
            values = np.empty(0, np.float32)
        if values.size != self.n_outputs or not np.isfinite(values).all():
            self._refuse(given, f"finite numbers, {self.n_outputs} in all")
        return values

    def _ask(self, observation: Any) -> Any:
        try:
            return self._function(observation[: -self._n_cues] if self._n_cues else observation)
        except Exception as error:
            raise ExpertError(f"The expert {self.name!r} failed: {failure(error)}.") from error

    def _refuse(self, given: Any, what: str) -> None:
        raise ExpertError(f"The expert {self.name!r} must give {what}. Got {short(given)} instead.")


Teacher = Expert | FunctionExpert  # any expert that a student can ask for an action


def function_name(function: Callable[[Any], Any]) -> str:
    """Return the name by which `import_function` finds a function, if a module has it.

    Any other, such as a method of an object, gets a name that cannot be imported.

    >>> function_name(np.argmax), function_name([].count)
    ('numpy:argmax', 'builtins:<list.count>')
    """
    module = getattr(function, "__module__", None) or "builtins"
    name = getattr(function, "__qualname__", type(function).__qualname__)
    try:
        is_found = operator.attrgetter(name)(sys.modules[module]) is function
    except (AttributeError, KeyError):
        is_found = False
    return f"{module}:{name}" if is_found else f"{module}:<{name}>"


def import_function(name: str) -> Callable[[Any], Any]:
    """Return the function that `module:function` names."""
    try:
        function: Callable[[Any], Any] = resolve_name(name)
    except Exception as error:  # importing runs the module
        raise ExpertError(f"The expert {name!r} cannot be imported: {failure(error)}.") from error
    if not callable(function):
        raise ExpertError(f"The expert {name!r} is not a function.")
    return function
