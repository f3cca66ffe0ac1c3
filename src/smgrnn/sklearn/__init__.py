"""Estimators of scikit-learn that find their own size, on the compiled engine.

They need scikit-learn, which `pip install 'smgrnn[sklearn]'` brings.
"""

try:
    import sklearn as _  # noqa: F401
except ImportError as error:
    raise ImportError(
        "smgrnn.sklearn needs scikit-learn: pip install 'smgrnn[sklearn]'."
    ) from error

from smgrnn.sklearn.estimators import GrowingClassifier, GrowingRegressor

__all__ = ["GrowingClassifier", "GrowingRegressor"]
