"""Frozen numbers: digests of short runs, which no rewriting may move."""
