"""Settings by hand, tuned on one task, and following progress: return against parameters."""

from matplotlib.figure import Figure

from smgrnn_paper.report.figures import style
from smgrnn_paper.report.figures.frontier import draw_groups
from smgrnn_paper.report.frontier import Group
from smgrnn_paper.report.paper import load_paper


def draw_self_tuning(records: style.Records) -> Figure:
    """Draw a panel for each task, and a point for each choice of settings."""
    groups = [Group.of(name.rpartition("/")[2], runs) for name, runs in records.items() if runs]
    return draw_groups(groups, load_paper())
