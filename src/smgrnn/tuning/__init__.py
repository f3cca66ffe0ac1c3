"""Tuning: settings that are searched for, by return and parameters of the runs they lead to."""
