"""Pages of tables and pictures, in one HTML file each."""

import smgrnn.plotting  # noqa: F401  (first: figures import matplotlib)
