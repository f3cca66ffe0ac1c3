"""Whole runs: their plans, their records, their figures, and their folders on disk."""
