"""Experts from Stable-Baselines3: the ReLU network of a DQN or PPO policy.

Such a zip holds pickled objects, so reading one can run code: it must be a file you trust.
Normalisation kept outside the policy (`VecNormalize`) is not in the file and is not applied.
"""

import json
import warnings
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

from smgrnn.errors import ExpertError
from smgrnn.experts.mlp import Expert


def load_sb3_expert(path: str | Path) -> Expert:
    """Return the greedy policy in a zip of Stable-Baselines3, which can run code as it is read."""
    path = Path(path)
    algorithm = _algorithm(path)
    try:
        library = import_module("stable_baselines3")
    except ImportError as error:
        raise ExpertError(
            f"Reading {path} needs Stable-Baselines3: pip install 'smgrnn[sb3]'."
        ) from error
    warnings.warn(
        f"{path} is a Stable-Baselines3 file, which can run code as it is read: load only files "
        f"you trust.",
        stacklevel=2,
    )
    try:
        policy = getattr(library, algorithm).load(path, device="cpu").policy
    except Exception as error:  # it unpickles, so anything can happen
        raise ExpertError(f"{path} cannot be read by Stable-Baselines3: {error}.") from error
    return Expert.from_layers(_layers(path, policy))


def _algorithm(path: Path) -> str:
    """Return the name of the algorithm, which the zip tells without being unpickled."""
    if not path.is_file():
        raise ExpertError(f"There is no expert file {path}.")
    try:
        with zipfile.ZipFile(path) as archive:
            data = json.loads(archive.read("data"))
        module = str(data["policy_class"]["__module__"])
    except (zipfile.BadZipFile, OSError, KeyError, TypeError, ValueError) as error:
        raise ExpertError(f"{path} is damaged or not a Stable-Baselines3 file.") from error
    if module.startswith("stable_baselines3.dqn"):
        return "DQN"
    if "n_epochs" in data:
        return "PPO"
    raise ExpertError(f"{path} holds neither a DQN nor a PPO policy, which are the ones supported.")


def _layers(path: Path, policy: Any) -> list[tuple[Any, Any]]:
    """Return the (weight, bias) pairs of the network from observation to action values."""
    if hasattr(policy, "q_net"):
        extractor, modules = policy.q_net.features_extractor, [*policy.q_net.q_net]
    else:
        extractor = policy.features_extractor
        modules = [*policy.mlp_extractor.policy_net, policy.action_net]
    if type(extractor).__name__ != "FlattenExtractor":
        raise ExpertError(f"{path} is no plain network: it has a {type(extractor).__name__}.")
    if type(policy.action_space).__name__ != "Discrete":
        raise ExpertError(f"{path} is no expert for discrete actions: {policy.action_space}.")
    kinds = [type(module).__name__ for module in modules]
    expected = ["Linear", "ReLU"] * (len(modules) // 2) + ["Linear"]
    for kind, wanted in zip(kinds, expected, strict=True):
        if kind != wanted:
            raise ExpertError(f"{path} has a {kind} layer; an expert has Linear and ReLU only.")
    return [_arrays(module) for module in modules[::2]]


def _arrays(linear: Any) -> tuple[Any, Any]:
    weight, bias = linear.weight.detach().numpy(), linear.bias.detach().numpy()
    return weight.copy(), bias.copy()
