"""A network trained by your own loop as a record, with the loop as its only episode."""

from typing import Any

import numpy as np

from smgrnn.config import LearningConfig, PlasticityConfig
from smgrnn.episodes.table import Episodes
from smgrnn.experts import TeacherId
from smgrnn.graph.edit import Operation
from smgrnn.graph.log import EditLog
from smgrnn.policy import policy_of
from smgrnn.runs.plan import Plan
from smgrnn.runs.record import Record


def record_of(network: Any) -> Record:
    """Return the record of a run, or one of a bare network with the edits that it logged.

    >>> from smgrnn import Learner
    >>> learner = Learner(2, 2)
    >>> record_of(learner).final.graph == learner.graph
    True
    """
    if isinstance(found := getattr(network, "record", network), Record):
        return found
    policy = policy_of(network)
    graph, log = policy.graph, getattr(network, "log", EditLog())
    plan = Plan(
        task=policy.task,
        student="smgrnn",
        seed=0,
        teacher=TeacherId(kind="examples", name="your own loop", digest=""),
        network=policy.config,
        first_graph="random",
        learning=getattr(network, "learning", LearningConfig()),
        plasticity=getattr(network, "plasticity", PlasticityConfig.static()),
        backend="examples",
        episodes=1,
        held_out=1,
        checkpoint_every=1,
    )
    loop = Episodes.start(1)
    loop.steps[:] = max(getattr(network, "n_updates", 0), log.last[0], 1)
    loop.n_nodes[:], loop.n_edges[:] = graph.n_nodes, graph.n_edges
    n = np.bincount(log.columns.rows[:, 0], minlength=len(Operation)).tolist()
    n_nodes = graph.n_nodes - n[Operation.ADD_NODE] + n[Operation.REMOVE_NODE]
    n_edges = graph.n_edges - n[Operation.ADD_EDGE] + n[Operation.REMOVE_EDGE]
    edits, started = log.columns, (n_nodes, n_edges)
    return Record(
        plan=plan, episodes=loop, edits=edits, students={"final": policy}, started=started
    )
