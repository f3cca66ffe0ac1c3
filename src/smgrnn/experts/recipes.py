"""How experts are trained: three recipes, their changes for each task, and the reasons.

Paper: Sec. IV-A1 prints the network, Adam with its step size, the discount, ε-greedy exploration,
the size of the replay buffer, the batch, and the steps between updates.  That is the recipe
`printed`.  The recipe `plain` learns more steadily, without mirror images or noise.  Both keep the
checkpoint that returns most by itself.  The recipe `smooth` was made such that students learn well
from its experts, and students choose its checkpoint.  What the tasks change, and the reasons, are
in `recipes.toml`.
"""

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Annotated, Any, Literal, NamedTuple, Self

from smgrnn.validation import Count, Decay, Positive, Probability, Settings, Within

Share = Annotated[float, Within("(0, 1]")]
RecipeName = Literal["smooth", "plain", "printed"]
Choice = Literal["own return", "students"]
"""The judge of the checkpoints of a training: their own returns, or those of MLP students."""


@dataclass(frozen=True, kw_only=True)
class DQNConfig(Settings):
    """Settings of expert training; the paper's where it prints them."""

    steps: Count = 100_000
    """Environment steps."""
    hidden: Count = 2048
    """ReLU units in the hidden layer."""
    learning_rate: Positive = 1e-3
    """Adam's step size at the start."""
    final_learning_rate: Positive = 1e-4
    """Adam's step size at the end, approached linearly."""
    discount: Decay = 0.99
    """Discount factor (γ)."""
    replay: Count = 10_000
    """Transitions kept for replay."""
    batch: Count = 64
    """Transitions per update."""
    update_every: Count = 4
    """Environment steps between two updates."""
    warmup: Count = 1000
    """Random steps before the first update."""
    epsilon_start: Probability = 1.0
    """Exploration rate at the start."""
    epsilon_end: Probability = 0.05
    """Exploration rate at the end."""
    epsilon_share: Share = 0.3
    """Share of the steps over which exploration falls."""
    reward_scale: Positive = 0.01
    """Factor on rewards, which brings values near 1, where the Huber loss is a square."""
    standardise: bool = True
    """Divide observations by their deviation in the random steps, as part of the first layer."""
    target_averaging: Share = 0.02
    """Share of the trained weights that flows into the target network at each update."""
    policy_averaging: Share = 0.001
    """Share of the trained weights that flows, at each update, into the policy that is kept."""
    action_noise: Probability = 0.0
    """Share of actions replaced by random ones while training, as if the task were disturbed."""
    mirror: bool = False
    """Learn from each transition's mirror image too, and make the expert exactly symmetric."""
    check_every: Count = 5000
    """Environment steps between two checkpoints."""

    @classmethod
    def paper(cls, **changes: Any) -> Self:
        """Return the settings that the paper prints, and the plainest choice where it is silent."""
        plain = {
            "final_learning_rate": 1e-3,
            "reward_scale": 1.0,
            "standardise": False,
            "target_averaging": 0.005,
            "policy_averaging": 1.0,
        }
        return cls(**{**plain, **changes})


class Recipe(NamedTuple):
    """A way to get an expert: the settings of its training, and how its checkpoint is chosen."""

    config: DQNConfig
    chosen_by: Choice


_DATA = tomllib.loads(files("smgrnn.experts").joinpath("recipes.toml").read_text(encoding="utf-8"))
CHOICES: dict[RecipeName, Choice] = {
    "smooth": "students",
    "plain": "own return",
    "printed": "own return",
}
"""How each recipe chooses among checkpoints."""


class Mirror(NamedTuple):
    """The mirror image of a task, in which left and right change places."""

    signs: tuple[int, ...]
    """Sign that each value of an observation takes."""
    order: tuple[int, ...]
    """Where each value of the mirrored observation comes from."""
    actions: tuple[int, ...]
    """The mirrored action of each action."""


MIRRORS = {
    "CartPole-v1": Mirror((-1, -1, -1, -1), (0, 1, 2, 3), (1, 0)),
    "Acrobot-v1": Mirror((1, -1, 1, -1, -1, -1), (0, 1, 2, 3, 4, 5), (2, 1, 0)),
    # Position, speed, angle and spin change sign; the legs and the side engines change places.
    "LunarLander-v3": Mirror((-1, 1, -1, 1, -1, -1, 1, 1), (0, 1, 2, 3, 4, 5, 7, 6), (0, 3, 2, 1)),
}
"""Tasks that look the same in a mirror."""


def find_recipe(task_id: str, name: RecipeName = "smooth") -> Recipe:
    """Return a recipe for this task; one that says nothing about it is the same as for others.

    A variant has the recipe of its task.
    """
    make, base = DQNConfig.paper if name == "printed" else DQNConfig, task_id.partition(",")[0]
    return Recipe(make(**_DATA[name].get(base, {})), CHOICES[name])


def changes(config: DQNConfig) -> dict[str, str]:
    """Return the settings in which training differs from the paper's recipe, with the reasons."""
    ours = config.to_dict()
    paper = DQNConfig.paper(steps=config.steps, check_every=config.check_every).to_dict()
    different = [name for name in ours if ours[name] != paper[name]]
    return {name: _DATA["reasons"].get(name, "Set by hand.") for name in different}
