"""A network of one's own loop as a record: one episode, which is all that it learned."""

from typing import Any

import numpy as np

from smgrnn.config import LearningConfig, PlasticityConfig
from smgrnn.episodes.table import Edits, Episodes
from smgrnn.experts import TeacherId
from smgrnn.graph.edit import Operation
from smgrnn.graph.log import EditLog
from smgrnn.policy import policy_of
from smgrnn.runs.plan import Plan
from smgrnn.runs.record import Record
from smgrnn.runs.snapshots import Snapshots

_NOBODY = TeacherId(kind="examples", name="a loop of one's own", digest="")


def record_of(network: Any) -> Record:
    """Return the record of a run, or one of a bare network with the edits that it logged.

    >>> from smgrnn import Learner, NetworkConfig
    >>> learner = Learner(NetworkConfig(n_inputs=2, n_outputs=2))
    >>> record_of(learner).graph == learner.graph
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
        teacher=_NOBODY,
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
    n_added = np.bincount(log.columns.rows[:, 0], minlength=4)
    return Record(
        plan=plan,
        episodes=loop,
        edits=Edits.of(log),
        snapshots=Snapshots.start(),
        students={"final": policy},
        started=(
            graph.n_nodes - int(n_added[Operation.ADD_NODE] - n_added[Operation.REMOVE_NODE]),
            graph.n_edges - int(n_added[Operation.ADD_EDGE] - n_added[Operation.REMOVE_EDGE]),
        ),
    )
