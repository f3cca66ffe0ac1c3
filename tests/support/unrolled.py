"""A network unrolled over its calls as dense matrices, for autograd to go back through."""

from typing import Any

import torch

from smgrnn import Graph, NetworkConfig

PHI: dict[str, Any] = {
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "identity": lambda total: total,
}


class Unrolled:
    """A network as dense matrices, one for each call, all of which autograd goes through."""

    def __init__(self, network: NetworkConfig, n: int) -> None:
        self.network, self.n = network, n
        self.start_episode()

    def start_episode(self) -> None:
        self.calls: list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]] = []
        self.state: torch.Tensor | None = None

    def gradient(self, graph: Graph, observation: Any, label: int) -> Any:
        """Return dL/dw of each edge, summed over this call and the n before it."""
        n_free = graph.n_nodes - graph.n_inputs
        start = torch.zeros(n_free, dtype=torch.float64) if self.state is None else self.state
        weight = torch.tensor(graph.weight, requires_grad=True)
        self.calls = [*self.calls[max(len(self.calls) - self.n, 0) :]]
        self.calls.append((weight, torch.tensor(observation), start))
        state = self.calls[0][2]
        for weight, inputs, _ in self.calls:
            state, sums = self._run(graph, weight, inputs, state)
        self.state = state.detach()
        outputs = (sums if self.network.readout == "sum" else state)[: graph.n_outputs]
        torch.nn.functional.cross_entropy(outputs, torch.tensor(label)).backward()
        found = [weight.grad for weight, _, _ in self.calls if weight.grad is not None]
        total = torch.stack(found).sum(dim=0).numpy()
        for weight, _, _ in self.calls:
            weight.grad = None
        return total

    def _run(self, graph: Graph, weight: Any, inputs: Any, state: Any) -> tuple[Any, Any]:
        matrix = torch.zeros(graph.n_nodes, graph.n_nodes, dtype=torch.float64)
        matrix = matrix.index_put((torch.tensor(graph.target), torch.tensor(graph.source)), weight)
        for _ in range(self.network.iterations):
            sums = (matrix @ torch.cat([inputs, state]))[graph.n_inputs :]
            outputs, hidden = sums[: graph.n_outputs], sums[graph.n_outputs :]
            phi, phi_out = PHI[self.network.activation], PHI[self.network.output_activation]
            state = torch.cat([phi_out(outputs), phi(hidden)])
        return state, sums
