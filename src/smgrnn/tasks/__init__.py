"""Tasks: CartPole and Acrobot as compiled code, any fitting Gymnasium environment, and XOR."""

from smgrnn.tasks.registry import XOR, Task, find_task, make_env
from smgrnn.tasks.xor import xor_stream

__all__ = ["XOR", "Task", "find_task", "make_env", "xor_stream"]
