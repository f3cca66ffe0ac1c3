"""matplotlib, imported without a `matplotlibrc` of the working directory, maybe a stranger's.

Every import of matplotlib in this package goes through this module first.
"""

import io
import os
import sys
from contextlib import ExitStack, chdir
from tempfile import TemporaryDirectory

with ExitStack() as elsewhere:
    if "matplotlib" not in sys.modules and os.path.lexists("matplotlibrc"):
        elsewhere.enter_context(chdir(elsewhere.enter_context(TemporaryDirectory())))
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba_array
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import FancyArrowPatch


def save_figure(figure: Figure, suffix: str) -> bytes:
    """Return the bytes of a figure's svg or png file, the same each time."""
    buffer = io.BytesIO()
    metadata = {"svg": {"Date": None}, "png": {"Software": None}}[suffix]
    with mpl.rc_context({"svg.hashsalt": "smgrnn"}):
        figure.savefig(buffer, format=suffix, dpi=160, metadata=metadata)
    return buffer.getvalue()
