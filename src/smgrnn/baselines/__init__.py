"""Baselines: the networks that the growing one is compared with."""
