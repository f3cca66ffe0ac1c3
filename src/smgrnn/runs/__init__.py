"""Whole runs, from settings to results on disk.

- `plan`: all settings, resolved.  `start`: a run from a task and settings.
- `run`: a distillation.  `session`: the life of a run, which an evolution shares.
- `distillation`: the student, its teacher and the backend of the episodes.
- `checkpoints`, `polish`, `smallest`: select a network, improve it, and search for the smallest.
- `sequences`, `stage_scores`: runs one after the other, and the scores on all their tasks.
- `record`, `record_file`, `folder`: the results, their file and their folder.
- `metrics`, `words`, `pictures`: what a record says.  `evaluation`: new episodes of its networks.
- `own_loop`: a network that your own loop trained, as a record.
"""
