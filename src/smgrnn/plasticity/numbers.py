"""The settings of the rules as numbers, the form in which kernels take them."""

from typing import NamedTuple, Self, get_args

from smgrnn.config import NewWeights, PlasticityConfig, Scale

SCALES: tuple[Scale, ...] = get_args(Scale)
UPDATE, VARIANCE_TO_MEAN, WEIGHT = range(len(SCALES))
"""Codes of the scales, their places in SCALES."""
NEW_WEIGHTS: tuple[NewWeights, ...] = get_args(NewWeights)
GAUSSIAN, SIGN = range(len(NEW_WEIGHTS))
"""Codes of the distributions of new weights, their places in NEW_WEIGHTS."""

JUDGING = frozenset({"window", "full_window", "history_on_edit"})
"""Settings of rules that judge edges by their updates."""
INSTABILITY = JUDGING | {"interval_width", "fluctuation_threshold", "scale", "epsilon"}
"""Settings of rules that ask which edges are unstable."""
WEAKNESS = JUDGING | {"weight_threshold", "update_threshold", "prune_fraction"}
"""Settings of rules that ask which edges are weak."""
NEW_EDGES = frozenset({"initial_weight", "new_weights", "max_edges"})
"""Settings of rules that draw the weights of new edges."""
EXPLORATION = NEW_EDGES | {"explore_probability", "explore_ratio", "explore_inputs"}
"""Settings of rules that try random edges."""
AIM = frozenset({"size", "dense_until"})
"""Settings of rules that follow a size."""
CANDIDATE_SETTINGS = frozenset({"n_candidates", "candidate_sources", "candidate_gain"})
"""Settings of rules that watch candidate nodes."""


class RuleNumbers(NamedTuple):
    """A PlasticityConfig as numbers, without names of rules; its own docstrings explain them."""

    min_count: int
    """Updates that an edge must have seen before it is judged."""
    interval_width: float
    fluctuation_threshold: float
    scale: int
    """Place in SCALES."""
    epsilon: float
    prune_period: int
    max_relays: int
    initial_weight: float
    new_weights: int
    """Place in NEW_WEIGHTS."""
    explore_probability: float
    explore_ratio: float
    explore_inputs: bool
    weight_threshold: float
    update_threshold: float
    prune_fraction: float
    orphan_removal: bool
    max_nodes: int
    max_edges: int
    dense_until: float
    n_candidates: int
    candidate_sources: int
    candidate_gain: float

    @classmethod
    def of(cls, config: PlasticityConfig) -> Self:
        """Translate the settings."""
        numbers = config.to_dict() | {
            "min_count": config.window if config.full_window else 1,
            "scale": SCALES.index(config.scale),
            "new_weights": NEW_WEIGHTS.index(config.new_weights),
            "max_relays": config.max_nodes if config.max_relays is None else config.max_relays,
        }
        return cls(**{name: numbers[name] for name in cls._fields})
