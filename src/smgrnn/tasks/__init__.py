"""Tasks: compiled ones, any fitting environment of Gymnasium, recorded examples, XOR."""

from smgrnn.tasks.registry import (
    CheckedEnv,
    TaskSource,
    closing_env,
    find_again,
    find_task,
    make_env,
)
from smgrnn.tasks.task import Task
