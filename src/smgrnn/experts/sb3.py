"""Experts from Stable-Baselines3: the network of a DQN, PPO, A2C, SAC, TD3 or DDPG policy.

A zip holds pickled objects, and so do saved statistics of `VecNormalize`: reading one can run
code, so it must be a file you trust.  `smgrnn expert convert` turns it into a file that cannot.
"""

import json
import pickle
import warnings
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from smgrnn.errors import ExpertError, SmgrnnError, needs
from smgrnn.experts.mlp import Expert
from smgrnn.machine import check_archive

ALGORITHMS = {
    "stable_baselines3.dqn": "DQN",
    "stable_baselines3.sac": "SAC",
    "stable_baselines3.td3": "TD3",  # DDPG too
}
"""The algorithm by the package of its policy; PPO and A2C share theirs with others."""


def load_sb3_expert(path: str | Path, statistics: str | Path | None = None) -> Expert:
    """Return the greedy policy in a zip of Stable-Baselines3, which can run code when read.

    `statistics` is a file that `VecNormalize.save` wrote; they become part of the first layer.
    The clipping of extreme observations, which `VecNormalize` also does, is left out.
    """
    path = Path(path)
    if not path.is_file():
        raise ExpertError(f"There is no expert file {path}.")
    try:
        check_archive(path)
        with zipfile.ZipFile(path) as archive:
            data = json.loads(archive.read("data"))  # nothing is unpickled yet
        module = str(data["policy_class"]["__module__"])
    except SmgrnnError:
        raise
    except (zipfile.BadZipFile, OSError, KeyError, TypeError, ValueError) as error:
        raise ExpertError(f"{path} is damaged or not a Stable-Baselines3 file.") from error
    package = ".".join(module.split(".")[:2])
    name = ALGORITHMS.get(package, "PPO" if "n_epochs" in data else "A2C")
    if name == "A2C" and "gae_lambda" not in data:
        raise ExpertError(f"{path} holds no policy of DQN, PPO, A2C, SAC, TD3 or DDPG.")
    with needs(f"Reading {path.name}"):
        import_module("smgrnn.plotting")  # first: Stable-Baselines3 imports matplotlib
        library = import_module("stable_baselines3")
    warnings.warn(
        f"{path} is a Stable-Baselines3 file, which can run code as it is read: load only files "
        f"you trust.",
        stacklevel=2,
    )
    try:
        policy = getattr(library, name).load(path, device="cpu").policy
    except Exception as error:  # it unpickles, so anything can happen
        raise ExpertError(f"{path} cannot be read by Stable-Baselines3: {error}.") from error
    is_on_policy = name in ("PPO", "A2C")  # the others keep these observations in any case
    if statistics is None and is_on_policy and data.get("_last_original_obs") is not None:
        warnings.warn(
            f"{path} was trained under VecNormalize, so its policy expects normalized "
            f"observations. Fold the statistics in: smgrnn expert convert {path} --statistics "
            f"vecnormalize.pkl --out expert.safetensors.",
            stacklevel=2,
        )
    layers, activations = _network(path, policy)
    if statistics is not None:
        layers[0] = _normalised(layers[0], Path(statistics))
    return Expert.from_layers(layers, activations)


def is_sb3_model(source: Any) -> bool:
    """Return whether an object is a model of Stable-Baselines3."""
    bases = (base.__module__.partition(".")[0] for base in type(source).__mro__)
    return "stable_baselines3" in bases and hasattr(source, "policy")


def expert_of_model(model: Any) -> Expert:
    """Return the greedy policy of a model, with the statistics of its `VecNormalize`, if any."""
    layers, activations = _network(f"This {type(model).__name__} model", model.policy)
    if (wrapper := model.get_vec_normalize_env()) is not None and wrapper.norm_obs:
        layers[0] = _folded(layers[0], wrapper)
    return Expert.from_layers(layers, activations)


def _network(path: str | Path, policy: Any) -> tuple[list[Any], list[Any]]:
    """Return the layers from observation to action, and the activation after each but the last."""
    if hasattr(policy, "q_net"):
        extractor, modules = policy.q_net.features_extractor, [*policy.q_net.q_net]
    elif hasattr(policy, "actor"):
        actor = policy.actor
        extractor = actor.features_extractor
        # The network of TD3 ends with the tanh that squashes its output.
        modules = [*actor.latent_pi, actor.mu] if hasattr(actor, "latent_pi") else [*actor.mu][:-1]
    else:
        modules = [*policy.mlp_extractor.policy_net, policy.action_net]
        extractor = policy.features_extractor
    if type(extractor).__name__ != "FlattenExtractor":
        raise ExpertError(f"{path} is no plain network: it has a {type(extractor).__name__}.")
    kinds = [type(module).__name__ for module in modules]
    for place, kind in enumerate(kinds):
        wanted = ("ReLU", "Tanh") if place % 2 else ("Linear",)
        if kind not in wanted:
            raise ExpertError(f"{path} has a {kind} where an expert has a {' or '.join(wanted)}.")
    layers = [
        tuple(p.detach().cpu().numpy().copy() for p in (m.weight, m.bias)) for m in modules[::2]
    ]
    activations, space = [kind.lower() for kind in kinds[1::2]], policy.action_space
    if type(space).__name__ not in ("Discrete", "Box"):
        raise ExpertError(f"{path} is for actions that no task here has: {space}.")
    if policy.squash_output:  # by a tanh, and from there to the bounds
        half = (space.high - space.low) / 2
        return [*layers, (np.diag(half), space.low + half)], [*activations, "tanh"]
    return layers, activations


def _normalised(layer: tuple[Any, Any], path: Path) -> tuple[Any, Any]:
    """Return a first layer that takes observations as they were before `VecNormalize`."""
    if not path.is_file():
        raise ExpertError(f"There is no file {path}.")
    try:
        with path.open("rb") as file:
            saved = pickle.load(file)
        if not saved.norm_obs:
            raise ValueError("only rewards were normalised")
        return _folded(layer, saved)
    except Exception as error:  # it unpickles, so anything can happen
        raise ExpertError(f"{path} holds no statistics of VecNormalize that fit.") from error


def _folded(layer: tuple[Any, Any], wrapper: Any) -> tuple[Any, Any]:
    mean = np.asarray(wrapper.obs_rms.mean, dtype=float)
    deviation = np.sqrt(np.asarray(wrapper.obs_rms.var, dtype=float) + wrapper.epsilon)
    weight = layer[0] / deviation
    return weight, layer[1] - weight @ mean
