"""Settings of learning: the optimizers, the learning rules, and what a loop does with them.

Kernels take them as numbers, and know an optimizer, a rule and a loss by its index in a table.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, Self, get_args

from smgrnn.validation import Choice, Count, Decay, NonNegative, Positive, Settings, Whole

BiasCorrection = Literal["shared", "edge"]
Loss = Literal["cross_entropy", "mse", "one_hot", "plus_minus"]
LOSSES: tuple[Loss, ...] = get_args(Loss)
CROSS_ENTROPY, MSE, ONE_HOT, PLUS_MINUS = range(len(LOSSES))
Rate = Literal["constant", "falling"]
Reduction = Literal["mean", "sum"]


@dataclass(frozen=True, kw_only=True)
class Adam(Choice):
    """Adam, as torch.optim defines it."""

    name: ClassVar[str] = "adam"
    beta1: Decay = 0.9
    """Decay of the mean gradient."""
    beta2: Decay = 0.999
    """Decay of the squared gradient."""
    epsilon: Positive = 1e-8
    """Keeps the division by the root of the squared gradient finite."""
    bias_correction: BiasCorrection = "shared"
    """Count the steps of all edges alike, as torch does, or of each edge since it was added."""
    weight_decay: NonNegative = 0.0
    """Weight decay, added to the gradient."""


@dataclass(frozen=True, kw_only=True)
class AdamW(Adam):
    """Adam with decoupled weight decay."""

    name: ClassVar[str] = "adamw"
    weight_decay: NonNegative = 0.01
    """Weight decay, apart from the gradient."""


@dataclass(frozen=True, kw_only=True)
class SGD(Choice):
    """Gradient descent with momentum."""

    name: ClassVar[str] = "sgd"
    momentum: Decay = 0.9
    """Momentum; the paper's is 0.9."""
    weight_decay: NonNegative = 0.0
    """Weight decay, added to the gradient."""


@dataclass(frozen=True, kw_only=True)
class RMSprop(Choice):
    """Gradients divided by the root of their mean square."""

    name: ClassVar[str] = "rmsprop"
    alpha: Decay = 0.99
    """Decay of the squared gradient."""
    epsilon: Positive = 1e-8
    """Keeps the division by the root of the squared gradient finite."""
    momentum: Decay = 0.0
    """Momentum."""
    weight_decay: NonNegative = 0.0
    """Weight decay, added to the gradient."""


Optimizer = Adam | AdamW | SGD | RMSprop
OPTIMIZERS = {kind.name: kind for kind in (Adam, AdamW, SGD, RMSprop)}
ADAM, ADAMW, MOMENTUM, RMSPROP = range(len(OPTIMIZERS))


@dataclass(frozen=True, kw_only=True)
class LearningRule(Choice):
    """How each edge gets credit for the loss."""

    n_rows: ClassVar[int] = 0
    """Values that it keeps for each edge; a new edge starts with zeros."""
    forgets: ClassVar[bool] = False
    """Whether these are set to zero at the start of an episode, as node states are."""
    draws_feedback: ClassVar[bool] = False
    """Whether each node draws fixed random weights from the outputs when it is made."""


@dataclass(frozen=True, kw_only=True)
class Backprop(LearningRule):
    """Backpropagation through the K iterations of a call."""

    name: ClassVar[str] = "backprop"
    summary: ClassVar[str] = "gradients through the K iterations of a call: the paper's"


@dataclass(frozen=True, kw_only=True)
class Feedback(LearningRule):
    """Feedback alignment."""

    name: ClassVar[str] = "feedback"
    summary: ClassVar[str] = "errors reach hidden nodes by fixed random weights"
    draws_feedback: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True)
class Hebbian(LearningRule):
    """A three-factor Hebbian rule."""

    name: ClassVar[str] = "hebbian"
    summary: ClassVar[str] = "an eligibility trace of pre × post, times the error: three factors"
    n_rows: ClassVar[int] = 1
    forgets: ClassVar[bool] = True
    draws_feedback: ClassVar[bool] = True
    trace_decay: Decay = 0.5
    """Fraction of an edge's eligibility trace that stays from one iteration to the next."""


@dataclass(frozen=True, kw_only=True)
class Outputs(LearningRule):
    """The delta rule."""

    name: ClassVar[str] = "outputs"
    summary: ClassVar[str] = "edges into outputs alone: the delta rule"


AnyLearningRule = Backprop | Feedback | Hebbian | Outputs
LEARNING = {kind.name: kind for kind in (Backprop, Feedback, Hebbian, Outputs)}
BACKPROP, FEEDBACK, HEBBIAN, OUTPUTS = range(len(LEARNING))


@dataclass(frozen=True, kw_only=True)
class LearningConfig(Settings):
    """How the compiled engine trains; optimizers have the names and defaults of torch.optim.

    Examples
    --------
    >>> from smgrnn.config import LearningConfig
    >>> LearningConfig(optimizer="sgd", learning_rate=0.1).optimizer.momentum
    0.9
    """

    rule: AnyLearningRule = field(default_factory=Backprop)
    """How each edge gets credit for the loss."""
    optimizer: Optimizer = field(default_factory=lambda: Adam(bias_correction="edge"))
    """The optimizer and its settings."""
    learning_rate: Positive = 0.003
    """Step size."""
    update: Count | Literal["step", "episode"] = "step"
    """When the weights are updated: after every step, every n steps, or once per episode.  The end
    of an episode applies the gradients that are left."""
    reduction: Reduction = "mean"
    """Whether an update takes the mean or the sum of the gradients since the last one."""
    loss: Loss = "cross_entropy"
    """Cross-entropy of a choice, or its mean squared error from 1 for the expert's choice and 0
    ("one_hot") or -1 ("plus_minus") for the others; "mse" is for continuous actions."""
    schedule: Rate = "falling"
    """The learning rate over a run: constant, or falling linearly to 5 % in the second half."""
    averaging: Decay = 1e-4
    """Weight-averaging rate; 0 disables it."""
    through_time: Whole = 0
    """Earlier calls that gradients flow back through by the carried states; 0 is the paper's."""


@dataclass(frozen=True, kw_only=True)
class LearningSettings(LearningConfig):
    """How a run trains; without a loss, it is the one that the task needs."""

    loss: Loss | None = None  # type: ignore[assignment]
    """The loss; None is cross-entropy for choices and "mse" for continuous actions."""


class LearningNumbers(NamedTuple):
    """A LearningConfig as numbers, choices by their index; a setting that does not apply is 0."""

    loss: int
    credit: int  # index of the learning rule
    optimizer: int
    n_moments: int  # rows of the optimizer's memory
    learning_rate: float
    update: int  # steps from one update to the next; 0 is an episode
    takes_mean: bool  # whether an update takes the mean of the gradients, not their sum
    beta1: float
    beta2: float
    alpha: float
    epsilon: float
    momentum: float
    weight_decay: float
    averaging: float
    through_time: int
    trace_decay: float
    forgets: bool  # whether the learning rule's memory is set to zero at the start of an episode

    @classmethod
    def of(cls, config: LearningConfig) -> Self:
        """Translate the settings."""
        optimizer: Any = config.optimizer
        own = ("beta1", "beta2", "alpha", "epsilon", "momentum", "weight_decay")
        return cls(
            loss=LOSSES.index(config.loss),
            credit=list(LEARNING).index(config.rule.name),
            optimizer=list(OPTIMIZERS).index(optimizer.name),
            n_moments=4 if getattr(optimizer, "bias_correction", "shared") == "edge" else 2,
            learning_rate=config.learning_rate,
            update={"step": 1, "episode": 0}.get(config.update, config.update),  # type: ignore[arg-type]
            takes_mean=config.reduction == "mean",
            **{name: float(getattr(optimizer, name, 0.0)) for name in own},
            averaging=config.averaging,
            through_time=config.through_time,
            trace_decay=getattr(config.rule, "trace_decay", 0.0),
            forgets=config.rule.forgets,
        )
