"""Episodes: where they happen, and what is written down of each."""
