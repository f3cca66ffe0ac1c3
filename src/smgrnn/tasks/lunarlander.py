"""LunarLander-v3: land between two flags.  Gymnasium plays it, with the physics of Box2D."""

from smgrnn.tasks.facts import Facts, Mirror

LUNARLANDER = Facts(
    id="LunarLander-v3",
    inputs=(
        *("x", "y", "velocity in x", "velocity in y"),
        *("angle", "angular velocity", "left leg down", "right leg down"),
    ),
    outputs=("nothing", "left engine", "main engine", "right engine"),
    max_steps=1000,
    reward_threshold=200.0,
    good_return=250.0,
    budget=130,
    experts=("smooth", "robust", "plain-0", "plain-1", "plain-2"),
    # Position, speed, angle and spin change sign; the legs and the side engines change places.
    mirror=Mirror((-1, 1, -1, 1, -1, -1, 1, 1), (0, 1, 2, 3, 4, 5, 7, 6), (0, 3, 2, 1)),
    packages=("box2d",),
)
