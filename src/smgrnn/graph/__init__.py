"""The graph that is the network: its state, its initial topology, its edits and its picture."""

from smgrnn.graph.drawing import draw as draw
from smgrnn.graph.drawing import to_networkx as to_networkx
from smgrnn.graph.edit import Applied as Applied
from smgrnn.graph.edit import Cause as Cause
from smgrnn.graph.edit import Change as Change
from smgrnn.graph.edit import EditDraft as EditDraft
from smgrnn.graph.edit import GraphEdit as GraphEdit
from smgrnn.graph.edit import Operation as Operation
from smgrnn.graph.edit import apply as apply
from smgrnn.graph.initial import initial_graph as initial_graph
from smgrnn.graph.state import Edge as Edge
from smgrnn.graph.state import Graph as Graph
from smgrnn.graph.state import check as check
