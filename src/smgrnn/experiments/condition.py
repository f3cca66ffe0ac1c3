"""Condition: one way to run a task, whatever the seed.  In the store its content is its name."""

import json
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, Self

from smgrnn.baselines.mlp import find_budget
from smgrnn.config import EvolutionConfig, RunConfig
from smgrnn.errors import ConfigError
from smgrnn.experts import load_expert
from smgrnn.runs.students import MLP_SHARES
from smgrnn.tasks.registry import XOR

RECORDS_VERSION = 1
"""Part of every key: raise it when equal settings can lead to other results than before."""
FEWEST = 4
"""Candidates in the smallest generation that an evolution is shortened to."""

Changes = dict[str, Any]


@dataclass(frozen=True)
class Condition:
    """A task and all settings of its runs; the seed comes with each run."""

    task: str
    """A Gymnasium id, or "xor"."""
    settings: RunConfig | EvolutionConfig
    """A distillation's or an evolution's; the seed in it is always 0."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", replace(self.settings, seed=0))

    @classmethod
    def distill(
        cls,
        task: str,
        *,
        learning: Changes | None = None,
        plasticity: Changes | None = None,
        **changes: Any,
    ) -> Self:
        """Return a distillation: the settings to start from for the task, and what is changed.

        A run that is stopped is run again, so it has no checkpoints on the way: to score each of
        them on held-out episodes takes a tenth of the time.

        >>> Condition.distill("CartPole-v1", plasticity={"window": 50}).settings.plasticity.window
        50
        """
        start = RunConfig.for_task(task, **changes)
        settings = replace(
            start,
            learning=replace(start.learning, **(learning or {})),
            plasticity=replace(start.plasticity, **(plasticity or {})),
            checkpoint_every=start.episodes,
        )
        return cls(task, settings)

    @classmethod
    def evolve(cls, task: str, **changes: Any) -> Self:
        """Return an evolutionary search; every field of EvolutionConfig is a keyword."""
        return cls(task, EvolutionConfig(**changes))

    @property
    def kind(self) -> Literal["distill", "evolve"]:
        """How it is run."""
        return "distill" if isinstance(self.settings, RunConfig) else "evolve"

    @property
    def variant(self) -> str:
        """The student that is trained, or the method that evolves one."""
        settings = self.settings
        return settings.student if isinstance(settings, RunConfig) else settings.method

    @property
    def episodes(self) -> int:
        """Episodes of a run, one for each candidate of an evolution."""
        settings = self.settings
        return settings.episodes if isinstance(settings, RunConfig) else settings.rollouts

    def with_episodes(self, n: int) -> Self:
        """Return the condition with runs of `n` episodes; evolutions keep two generations.

        >>> Condition.evolve("CartPole-v1").with_episodes(20).settings.population
        10
        """
        if n < 1:
            raise ConfigError(f"The number of episodes must be at least 1. Got {n} instead.")
        held_out = min(self.settings.held_out, n)
        if isinstance(self.settings, RunConfig):
            short = replace(self.settings, episodes=n, checkpoint_every=n, held_out=held_out)
            return replace(self, settings=short)
        population = max(min(self.settings.population, n // 2), FEWEST)
        rollouts = population * max(n // population, 2)
        settings = replace(
            self.settings, rollouts=rollouts, population=population, held_out=held_out
        )
        return replace(self, settings=settings)

    def key(self, seed: int) -> str:
        """Return the digest of all that a run depends on; equal content has equal keys.

        Of files, such as the expert's, it is the content that counts and not the path.
        """
        return digest(self._content() | {"seed": int(seed)})

    def _content(self) -> Changes:
        settings = self.settings.to_dict()
        content = {"records": RECORDS_VERSION, "kind": self.kind, "task": self.task}
        if isinstance(self.settings, RunConfig):
            content["expert"] = _expert_digest(settings.pop("expert") or self.task)
            if self.variant in MLP_SHARES:
                settings.pop("plasticity")  # which an MLP has not
            # Unset, the size of an MLP comes from a table that later measurements may change.
            sets_budget = self.variant in MLP_SHARES and self.settings.budget is None
            settings |= {"budget": find_budget(self.task)} if sets_budget else {}
        else:
            content["neat"] = _neat_digest(settings.pop("neat_config"), self.settings.method)
        return content | {"settings": settings}


def digest(content: Changes) -> str:
    """Return the SHA-256 of plain values, whatever the order of their names."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()


def _expert_digest(name_or_path: str) -> str:
    """Return the digest of an expert's weights; examples teach themselves."""
    if name_or_path == XOR.id:
        return ""
    return _read_digest(name_or_path, _modified(name_or_path))


@cache
def _read_digest(name_or_path: str, _: int) -> str:
    """Digest an expert once, until its file changes."""
    return load_expert(name_or_path).digest


def _modified(path: str) -> int:
    """Return when a file changed; what is not a file comes with the package and does not."""
    return Path(path).stat().st_mtime_ns if Path(path).is_file() else 0


def _neat_digest(path: str | None, method: str) -> str:
    """Return the digest of the settings that NEAT reads from a file, its own or a shipped one."""
    if method != "neat":
        return ""
    shipped = files("smgrnn.baselines").joinpath("neat_configs").iterdir()
    sources = [Path(path)] if path else sorted(shipped, key=lambda item: item.name)
    return sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
