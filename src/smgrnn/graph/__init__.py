"""The graph that is the network: its state, its initial topology, its edits and its picture."""

from smgrnn.graph.drawing import draw, to_networkx
from smgrnn.graph.edit import Applied, Cause, Change, EditDraft, GraphEdit, Operation, apply
from smgrnn.graph.initial import initial_graph
from smgrnn.graph.state import Edge, Graph, check
