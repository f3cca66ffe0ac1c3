"""Self-tuning: how far settings travel that were tuned on one task.

The paper tuned its plasticity by hand.  `tuned_on_acrobot.toml` is what `smgrnn tune` made of the
same rules on Acrobot; the file says by which command.  The other tasks had no say in it.  The
preset frugal, whose size follows progress, was developed on LunarLander, so that its results there
are those of a task that tuned it.
"""

from pathlib import Path

from smgrnn.batch.condition import Condition
from smgrnn.batch.experiment import Experiment

EPISODES = {
    "Acrobot-v1": 1000,
    "CartPole-v1": 1000,
    "CartPole-v1,hide=velocities": 1000,
    "LunarLander-v3": 500,
}
"""Training episodes by task; the first is the one that settings were tuned on."""
SEEDS = tuple(range(20))
TUNED = Path(__file__).with_name("tuned_on_acrobot.toml")
"""The settings that `smgrnn tune` found on Acrobot, by trials with seeds from 1000 on."""
PRESETS: dict[str, str | Path] = {"paper": "paper", "tuned": TUNED, "frugal": "frugal"}

EXPERIMENT = Experiment(
    id="self-tuning-v1",
    question="Do settings that were tuned on one task serve others, or need they follow progress?",
    artefacts=("Fig. self-tuning",),
    conditions={
        f"{task}/{name}": Condition.distill(task, preset=preset, episodes=episodes)
        for task, episodes in EPISODES.items()
        for name, preset in PRESETS.items()
    },
    seeds=SEEDS,
)
