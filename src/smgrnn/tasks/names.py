"""Names of what tasks show and take: of Gymnasium's own tasks, and numbers for all others."""

from smgrnn.names import Names
from smgrnn.tasks.registry import Task

OWN = {
    "CartPole-v1": Names(
        ("position", "velocity", "angle", "angular velocity"),
        ("left", "right"),
    ),
    "Acrobot-v1": Names(
        ("cos θ₁", "sin θ₁", "cos θ₂", "sin θ₂", "velocity of θ₁", "velocity of θ₂"),
        ("torque −1", "no torque", "torque +1"),
    ),
    "LunarLander-v3": Names(
        (
            "x",
            "y",
            "velocity in x",
            "velocity in y",
            "angle",
            "angular velocity",
            "left leg down",
            "right leg down",
        ),
        ("nothing", "left engine", "main engine", "right engine"),
    ),
}
"""Names of Gymnasium's own tasks, in the order of its documentation."""


def names_of(task: Task) -> Names:
    """Return the names of a task's observations and actions.

    >>> from smgrnn.tasks import find_task
    >>> names_of(find_task("CartPole-v1,hide=velocities"))
    Names(inputs=('position', 'angle'), outputs=('left', 'right'))
    >>> names_of(find_task("xor"))
    Names(inputs=('in 0', 'in 1'), outputs=('out 0',))
    """
    known = None if task.is_made or task.recording is not None else OWN.get(task.base)
    fits = known is not None and (len(known.inputs), len(known.outputs)) == (
        task.n_observed,
        task.n_outputs,
    )
    if known is None or not fits:
        return Names.numbered(task.n_inputs, task.n_outputs)
    return Names(tuple(known.inputs[place] for place in task.places), known.outputs)
