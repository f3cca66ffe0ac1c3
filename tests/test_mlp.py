"""The MLP student is a plain torch.nn network trained by Adam, compiled."""

import numpy as np
import torch

from smgrnn.baselines.mlp import MLP, learn_mlp
from smgrnn.baselines.teachability import late_returns
from smgrnn.experts import Expert
from smgrnn.seeding import stream
from smgrnn.tasks import find_task

HYPER = np.array([0.01, 0.9, 0.999, 1e-8, 0.0, 0.0, 0.99])


def torch_twin(network: MLP) -> torch.nn.Sequential:
    n_inputs, n_hidden, n_outputs = network.sizes.tolist()
    twin = torch.nn.Sequential(
        torch.nn.Linear(n_inputs, n_hidden), torch.nn.Tanh(), torch.nn.Linear(n_hidden, n_outputs)
    ).double()
    torch.nn.utils.vector_to_parameters(torch.from_numpy(network.weight.copy()), twin.parameters())
    return twin


def test_the_student_learns_as_a_torch_network_does() -> None:
    network = MLP.start(4, 7, 3, stream(0, "init"))
    twin = torch_twin(network)
    optimizer = torch.optim.Adam(twin.parameters(), lr=0.01)
    rng = np.random.default_rng(1)
    for _ in range(300):
        observation = rng.normal(size=4)
        label = int(np.argmax(observation[:3]))
        outputs = twin(torch.from_numpy(observation))
        loss = torch.nn.functional.cross_entropy(outputs, torch.tensor(label))
        action, lost = learn_mlp(network, observation, label, HYPER)
        assert action == int(outputs.argmax())
        assert abs(lost - float(loss.detach())) < 1e-9
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    expected = torch.nn.utils.parameters_to_vector(twin.parameters()).detach().numpy()
    np.testing.assert_allclose(network.weight, expected, rtol=0, atol=1e-9)


def test_a_smooth_teacher_is_teachable_and_a_useless_one_is_not() -> None:
    task = find_task("CartPole-v1")
    direction = np.array([0.1, 0.3, 1.0, 0.5])
    hidden = (np.stack([direction, -direction]), np.zeros(2))
    smooth = Expert.from_layers([hidden, (np.array([[-1.0, 1.0], [1.0, -1.0]]), np.zeros(2))])
    useless = Expert.from_layers([hidden, (np.zeros((2, 2)), np.array([1.0, 0.0]))])
    good, bad = (late_returns(expert, task, 100, (1000,)).mean() for expert in (smooth, useless))
    assert good > 400
    assert bad < 20
