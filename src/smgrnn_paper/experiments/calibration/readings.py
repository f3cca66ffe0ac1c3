"""Readings: the choices that the paper's text leaves open, and the combinations that are tried."""

from dataclasses import asdict, dataclass, fields, replace
from itertools import product
from typing import Any, Literal

from smgrnn.batch.condition import Condition
from smgrnn.config import RunConfig, by_part, setting_of
from smgrnn.graph.settings import Readout
from smgrnn.learning.settings import BiasCorrection, Loss
from smgrnn.rules.instability import Scale
from smgrnn.rules.rule import NewWeights
from smgrnn.rules.settings import OnEdit

PLACES = {
    "loss": "learning",
    "bias_correction": "optimizer",
    **dict.fromkeys(("interval", "history_on_edit", "optimizer_on_edit"), "plasticity"),
    **dict.fromkeys(("scale", "max_relays", "initial_weight", "new_weights"), "growth"),
}
"""Where the settings of a reading belong; that of the network goes by its own name."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One way to read the text; the fields are settings of a run, by their own names."""

    loss: Loss = "cross_entropy"
    readout: Readout = "sum"
    interval: int | Literal["episode"]
    scale: Scale
    max_relays: int | None
    initial_weight: float
    new_weights: NewWeights = "gaussian"
    history_on_edit: OnEdit = "keep"
    optimizer_on_edit: OnEdit = "keep"
    bias_correction: BiasCorrection = "shared"

    @classmethod
    def of(cls, settings: RunConfig) -> "Reading":
        """Return the reading in a run's settings."""
        found = {entry.name: setting_of(settings, _place(entry.name)) for entry in fields(cls)}
        loss: Loss = settings.learning.loss or "cross_entropy"
        readout = settings.network.readout or ("sum" if loss == "cross_entropy" else "state")
        return cls(**found | {"loss": loss, "readout": readout})

    def apply(self, condition: Condition) -> Condition:
        """Return a distillation with the text read this way."""
        values = {_place(name): value for name, value in asdict(self).items()}
        return replace(condition, settings=condition.settings.with_changes(**by_part(values)))

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in asdict(self).items())


def _place(name: str) -> str:
    return f"{PLACES[name]}.{name}" if name in PLACES else name


AXES: dict[str, tuple[Any, ...]] = {
    "loss": ("cross_entropy", "one_hot", "plus_minus"),
    "readout": ("sum", "state"),
    "interval": ("episode", 100),
    "scale": ("update", "variance_to_mean", "weight"),
    "max_relays": (1, None),
    "initial_weight": (0.01, 0.02, 0.03, 0.04, 0.05, 0.07, 0.09, 0.11),
    "new_weights": ("gaussian", "sign"),
}
"""The values that are tried for each setting; histories and optimizers are kept by edits."""
SIGNED = (0.05, 0.09, 0.11)
"""Magnitudes of weights that have nothing but a random sign; weak edges are below 0.1 (τ_w)."""


def _is_tried(read: Reading) -> bool:
    """Return whether a combination is among those that are tried."""
    # A squared error is of states; sums have no bounds that a target could stand for.
    is_bounded = read.loss == "cross_entropy" or read.readout == "state"
    is_signed = read.new_weights == "sign"
    is_drawn = read.initial_weight in SIGNED if is_signed else read.initial_weight < 0.09
    # Networks explode where every unstable edge counts by the printed scale, and every 100 updates
    # by either of the first two.
    is_bounded &= (read.scale, read.max_relays) != ("update", None)
    return is_bounded and is_drawn and (read.interval == "episode" or read.scale == "weight")


READINGS: tuple[Reading, ...] = tuple(
    read
    for values in product(*AXES.values())
    if _is_tried(read := Reading(**dict(zip(AXES, values, strict=True))))
)
"""Every combination that is tried."""
