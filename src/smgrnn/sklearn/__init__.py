"""Estimators of scikit-learn that find their own size, on the compiled engine.

They need scikit-learn, which `pip install 'smgrnn[sklearn]'` brings.
"""

from smgrnn.errors import needs

with needs("smgrnn.sklearn"):
    import sklearn as _  # before SciPy, which comes with it
    from smgrnn.sklearn.estimators import GrowingClassifier, GrowingRegressor
