"""Names of the inputs and outputs of Gymnasium's tasks that have no file here."""

_PENDULUM = (("cosine", "sine", "angular velocity"), ("torque",))
_CAR = ("position", "velocity")
_DOUBLE = (
    *("position", "sine 1", "sine 2", "cosine 1", "cosine 2"),
    *("velocity", "angular velocity 1", "angular velocity 2", "constraint force"),
)
_HOPPER = ("height", "angle", "thigh angle", "leg angle", "foot angle")
_LEGS = tuple(f"{end} {joint}" for end in ("back", "front") for joint in ("thigh", "shin", "foot"))
_WALKER = tuple(f"{side}{joint}" for side in ("", "left ") for joint in ("thigh", "leg", "foot"))


def _with_speeds(*places: str) -> tuple[str, ...]:
    """Return the names of places, of the speed in x, and of the speeds of these places."""
    return (*places, "speed in x", *(f"speed of {place}" for place in places))


NAMED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "Pendulum-v1": _PENDULUM,
    "MountainCar-v0": (_CAR, ("left", "nothing", "right")),
    "MountainCarContinuous-v0": (_CAR, ("force",)),
    "InvertedPendulum-v5": (("position", "angle", "velocity", "angular velocity"), ("force",)),
    "InvertedDoublePendulum-v5": (_DOUBLE, ("force",)),
    "Hopper-v5": (_with_speeds(*_HOPPER), ("thigh", "leg", "foot")),
    "HalfCheetah-v5": (_with_speeds("height", "angle", *_LEGS), _LEGS),
    "Walker2d-v5": (_with_speeds("height", "angle", *_WALKER), _WALKER),
}
"""Names of the values of an observation and of an action, by the id of the task."""
