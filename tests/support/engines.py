"""The torch engine as one learner, and what it must have in common with the compiled one."""

from typing import Any

import numpy as np
import torch
from torch.nn import functional

from smgrnn import Learner, StructuralPlasticity
from smgrnn.config import LearningConfig, NetworkConfig, PlasticityConfig
from smgrnn.graph import GraphEdit
from smgrnn.learning.optimizers import rate_at
from support.flat import learner_of, paper_net
from support.learners import Stream


def torch_optimizer(learning: LearningConfig, parameters: Any) -> torch.optim.Optimizer:
    own = learning.optimizer.to_dict()
    kinds = {"adam": "Adam", "adamw": "AdamW", "sgd": "SGD", "rmsprop": "RMSprop"}
    options: dict[str, Any] = {"lr": learning.learning_rate, "weight_decay": own["weight_decay"]}
    if "beta1" in own:
        options["betas"] = own["beta1"], own["beta2"]
    options |= {name: own[name] for name in ("momentum", "alpha") if name in own}
    return getattr(torch.optim, kinds[own["name"]])(parameters, **options)  # type: ignore[no-any-return]


class Torch:
    """A network, an optimizer and a plasticity module, taught as a `Learner` is."""

    def __init__(
        self,
        network: NetworkConfig,
        learning: LearningConfig,
        plasticity: PlasticityConfig,
        seed: int = 7,
    ) -> None:
        self.learning = learning
        self.net = paper_net(
            **network.to_dict(),
            seed=seed,
            learning_rule=learning.rule,
            through_time=learning.through_time,
            dtype=torch.float64,
        )
        self.optimizer = torch_optimizer(learning, self.net.parameters())
        self.module = StructuralPlasticity(
            self.net, self.optimizer, plasticity, seed=seed, averaging=learning.averaging
        )
        self.actions: list[int] = []
        self.edits: list[tuple[int, GraphEdit]] = []
        self.n_examples = self.n_pending = 0

    def progress(self, share: float) -> None:
        self.module.progress = share
        rate = self.learning.learning_rate * rate_at(self.learning.schedule, share)
        self.optimizer.param_groups[0]["lr"] = rate

    def learn(self, observation: Any, label: Any) -> None:
        outputs = self.net(torch.from_numpy(observation))
        self.actions.append(int(outputs.argmax()))
        if not self.n_pending:
            self.net.weight.grad = None  # what zero_grad does, in a tenth of its time
        self._loss(outputs, torch.as_tensor(label)).backward()
        self.n_examples += 1
        self.n_pending += 1
        if self.n_pending == (1 if self.learning.update == "step" else self.learning.update):
            self._update()

    def _update(self) -> None:
        gradient = self.net.weight.grad
        if self.learning.reduction == "mean" and gradient is not None:
            gradient /= self.n_pending
        self.optimizer.step()
        self.n_pending = 0
        self._note(self.module.step())

    def end_episode(self) -> None:
        if self.n_pending:
            self._update()
        self._note(self.module.end_episode())
        self.net.reset_state()

    def _note(self, edit: GraphEdit) -> None:
        if edit:
            self.edits.append((self.n_examples, edit))

    def _loss(self, outputs: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        loss = self.learning.loss
        if loss == "cross_entropy":
            return functional.cross_entropy(outputs, target)
        if loss != "mse":
            one_hot = functional.one_hot(target, len(outputs)).double()
            target = one_hot if loss == "one_hot" else 2 * one_hot - 1
        return functional.mse_loss(outputs, target)


def both_engines(
    network: NetworkConfig, learning: LearningConfig, plasticity: PlasticityConfig, seed: int = 7
) -> tuple[Learner, Torch]:
    settings = network, learning, plasticity
    return learner_of(*settings, seed=seed), Torch(*settings, seed=seed)


def teach(learner: Any, rows: Stream, first: int = 0, n: int | None = None) -> None:
    """Teach a `Torch` or a `Learner` row by row, at fractions of a run of `n` updates."""
    for update, (observation, label, is_last) in enumerate(zip(*rows, strict=True), first):
        if n is not None and isinstance(learner, Torch):
            learner.progress(update / n)
        elif n is not None:
            learner.progress = update / n
        learner.learn(observation, label)
        if is_last:
            learner.end_episode()


def assert_same(made: Learner, theirs: Torch) -> None:
    """Check that both took the same decisions and hold the same weights and statistics."""
    found = list(made.log.edits())
    assert [update for update, _ in found] == [update for update, _ in theirs.edits]
    for (_, mine), (_, other) in zip(found, theirs.edits, strict=True):
        np.testing.assert_array_equal(mine.rows, other.rows)
        _close(mine.weight, other.weight)
    graph, same = made.graph, theirs.net.graph
    np.testing.assert_array_equal(graph.edge_ids, same.edge_ids)
    _close(graph.weight, same.weight)
    _close(made.averaged_graph.weight, theirs.module.averaged_graph.weight)
    _close(made._module.aim.to_array(), theirs.module._module.aim.to_array())
    watched = made._state.watched, theirs.module._watched
    for ours, others in zip(*(each.statistics for each in watched), strict=True):
        _close(ours, others)
    for ours, others in zip(*(each.candidates for each in watched), strict=True):
        _close(ours, others)
    if made.learning.rule.draws_feedback:
        np.testing.assert_array_equal(made._state.feedback, theirs.net.feedback.numpy())


def _close(ours: Any, others: Any) -> None:
    np.testing.assert_allclose(ours, others, rtol=1e-9, atol=1e-9)
