"""The view of a network in a notebook."""

from html import escape

from smgrnn.graph.drawing import draw_svg
from smgrnn.graph.state import Graph

LARGEST_DRAWN = 300  # edges; beyond this a drawing is slow and shows nothing


def network_html(title: str, graph: Graph) -> str:
    """Return one line of facts with the drawing of the graph under it."""
    picture = draw_svg(graph) if graph.n_edges <= LARGEST_DRAWN else ""
    return f"<div><code>{escape(title)}</code><br>{picture}</div>"
