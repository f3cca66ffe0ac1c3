"""Tasks: CartPole and Acrobot as compiled code, any fitting environment, recorded examples, XOR."""

from smgrnn.tasks.registry import (
    XOR,
    Task,
    TaskSource,
    close_env,
    find_again,
    find_task,
    make_env,
)

__all__ = ["XOR", "Task", "TaskSource", "close_env", "find_again", "find_task", "make_env"]
