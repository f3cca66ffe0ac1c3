"""A notebook: its cells run in a kernel, and what a cell ends with is shown."""

from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

CELLS = (
    """
import smgrnn
run = smgrnn.distill("CartPole-v1", expert=lambda seen: int(seen[2] + seen[3] > 0), episodes=3,
                     held_out=2, out="a-run")
run
""",
    """
import numpy as np
from smgrnn import Learner
from smgrnn.config import PlasticityConfig

class DropTheWeakest:
    def decide(self, evidence, rng):
        draft = smgrnn.graph.EditDraft(evidence.graph)
        draft.remove_edge(int(evidence.graph.edge_ids[np.abs(evidence.graph.weight).argmin()]))
        return draft.finish()

rules = PlasticityConfig(growth=None, pruning=DropTheWeakest(), interval=100, prune_period=1)
learner = Learner(4, 2, plasticity=rules)
rows = np.random.default_rng(0).normal(size=(300, 4))
learner.learn_stream(rows, rows[:, 0] > 0)
learner
""",
    "smgrnn.load('a-run')",
    "smgrnn.SMGrNN(4, 2)",
)


def test_cells_run_and_show_the_networks_they_end_with(tmp_path: Path) -> None:
    made: Any = nbformat.v4
    notebook = made.new_notebook(cells=[made.new_code_cell(code) for code in CELLS])
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": tmp_path}}).execute()
    shown = []
    for cell in notebook.cells:
        (output,) = cell.outputs
        assert "<svg" in output.data["text/html"]
        shown.append(output.data["text/plain"])
    assert shown[0] == "Run(CartPole-v1, smgrnn, seed 0, 3 of 3 episodes)"
    assert shown[1] == "Learner(5 inputs, 0 hidden, 2 outputs, 7 edges, 300 updates)"
    assert shown[2].startswith("Policy(CartPole-v1: 5 inputs, ")  # one is the bias
    assert shown[3].startswith("SMGrNN(5 inputs, ")
