"""Readings: the choices that the paper's rules leave open, and every combination that is tried."""

from dataclasses import asdict, dataclass, fields, replace
from itertools import product
from typing import Any, Literal

from smgrnn.config import BiasCorrection, OnEdit, RunConfig, Scale
from smgrnn.experiments.condition import Condition


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One way to read the rules; the fields are those of PlasticityConfig and LearningConfig."""

    interval: int | Literal["episode"]
    scale: Scale
    max_relays: int | None
    initial_weight: float
    history_on_edit: OnEdit
    optimizer_on_edit: OnEdit
    bias_correction: BiasCorrection

    @classmethod
    def of(cls, settings: RunConfig) -> "Reading":
        """Return the reading of the rules in a run's settings."""
        both = settings.plasticity.to_dict() | settings.learning.to_dict()
        return cls(**{field.name: both[field.name] for field in fields(cls)})

    def apply(self, condition: Condition) -> Condition:
        """Return a distillation with the rules read this way."""
        settings, values = condition.settings, asdict(self)
        assert isinstance(settings, RunConfig)
        correction = values.pop("bias_correction")
        learning = replace(settings.learning, bias_correction=correction)
        plasticity = replace(settings.plasticity, **values)
        return replace(
            condition, settings=replace(settings, learning=learning, plasticity=plasticity)
        )

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in asdict(self).items())


AXES: dict[str, tuple[Any, ...]] = {
    "interval": ("episode", 100, 1),
    "scale": ("update", "variance_to_mean", "weight"),
    "max_relays": (1, None),
    "initial_weight": (0.01, 0.02, 0.03, 0.04, 0.05, 0.1),
    "history_on_edit": ("keep", "reset"),
    "optimizer_on_edit": ("keep", "reset"),
    "bias_correction": ("shared", "edge"),
}
"""The values that are tried for each setting."""


def reading(*values: Any) -> Reading:
    """Return the reading with these values, in the order of `AXES`."""
    return Reading(**dict(zip(AXES, values, strict=True)))


WINDOW = 100
"""Updates in a window (T of Table A.III)."""


def _is_tried(read: Reading) -> bool:
    """Return whether a combination is worth its time and differs in effect from the others."""
    # An optimizer that starts anew at every edit has one step count for all edges either way.
    is_new = (read.optimizer_on_edit, read.bias_correction) != ("reset", "edge")
    # A window that is emptied by an edit is full again when the next call is a window later.
    is_new &= (read.interval, read.history_on_edit) != (WINDOW, "reset")
    # A call at every update takes as long as ten readings: only as the text has it.
    is_literal = (read.max_relays, read.bias_correction) == (None, "shared")
    return is_new and (read.interval != 1 or (is_literal and read.initial_weight == 0.01))


READINGS: tuple[Reading, ...] = tuple(
    read for values in product(*AXES.values()) if _is_tried(read := reading(*values))
)
"""Every combination that is tried."""
