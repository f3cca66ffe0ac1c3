"""Tuning: search for settings by the return and the parameters of the runs they lead to."""

from smgrnn.errors import needs

with needs("Tuning"):
    import optuna
