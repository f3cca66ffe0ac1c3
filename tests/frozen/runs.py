"""The short runs whose numbers are frozen, as data: name -> (task, options)."""

from typing import Any

Options = dict[str, Any]
Entry = tuple[str | tuple[str, ...], Options]
"""A task, or several that are learned one after the other; and settings of `smgrnn.distill`.

Of the options "start" names a run to go on from, "method" asks for an evolution, and "folder" keeps
the run in a folder, with snapshots."""

CARTPOLE, ACROBOT, LANDER, PENDULUM = "CartPole-v1", "Acrobot-v1", "LunarLander-v3", "Pendulum-v1"
HIDDEN = f"{CARTPOLE},hide=velocities"
PAPER: Options = {"plasticity": {}}
"""The rules of the preset, not the busy ones of `support.runs`."""
FRUGAL: Options = {"preset": "frugal", "plasticity": {"interval": 20}}
FINAL: Options = {"select": "final"}

PRUNED: Options = {"student": "mlp-pruned", "budget": 80, "max_parameters": 30}
OFTEN: Options = {"interval": 20, "window": 20}
WINDOW: Options = {"window": 5, "interval": 20, "prune_period": 4}
FOUND = WINDOW | {"scale": "update", "max_relays": 1}
NEW: Options = {"initial_weight": 0.01}
EXPLORE: Options = {"explore_probability": 0.5, "explore_ratio": 0.05}
WEAK: Options = {"weight_threshold": 0.05, "update_threshold": 0.01}
BUSY = FOUND | NEW | EXPLORE | WEAK
AIMED: Options = {"interval": 20, "prune_period": 2, "size": 40, "pruning": "contribution"}
GROWING: Options = {"interval_width": 0.3, "fluctuation_threshold": 0.02, "prune_period": 10}
GROWTH: dict[str, Options] = {
    "relay": BUSY,
    "relay-alone": FOUND | NEW | WEAK | GROWING,
    "exploration": WINDOW | NEW | EXPLORE | WEAK | {"scale": "update"},
    "relay-random": FOUND | NEW | WEAK | GROWING,
    "split": FOUND | WEAK | GROWING,
    "duplicate": FOUND | NEW | WEAK | GROWING,
    "frugal": AIMED,
    "candidates": AIMED | {"n_candidates": 8},
    "gradient": AIMED,
    "none": WINDOW | WEAK | {"prune_period": 2, "weight_threshold": 0.2},
}
"""Settings under which each growth rule edits."""
PRUNING: dict[str, Options] = {
    "weak": BUSY | {"prune_fraction": 0.5},
    "contribution": FOUND | NEW | EXPLORE | {"size": 6, "prune_period": 2},
    "random": BUSY,
    "none": FOUND | NEW | EXPLORE,
}
"""Settings under which each pruning rule edits, beside relays."""


def cart(**options: Any) -> Entry:
    """Return a run on CartPole with two iterations, unless it has others."""
    return CARTPOLE, {"iterations": 2, **options}


def busy(**changes: Any) -> Entry:
    """Return one with busy rules and changes to them."""
    return cart(plasticity=BUSY | changes)


def learning(**changes: Any) -> Entry:
    """Return one with changes to how it learns."""
    return cart(episodes=20, learning=changes)


OF_OLD: dict[str, Entry] = {
    "smgrnn": (CARTPOLE, {"episodes": 60}),
    "smgrnn of the paper": (CARTPOLE, {"episodes": 60, "seed": 3, **PAPER}),
    "static": (CARTPOLE, {"student": "static"}),
    "growth-only": (CARTPOLE, {"student": "growth-only"}),
    "mlp-100": (CARTPOLE, {"student": "mlp-100", "budget": 80}),
    "mlp-200": (ACROBOT, {"student": "mlp-200", "episodes": 4, "budget": 107}),
    "Acrobot": (ACROBOT, {"episodes": 8, "seed": 1}),
    "as printed": (CARTPOLE, {"preset": "as_printed", "readout": "sum", **PAPER}),
    "larger": cart(n_hidden=5, iterations=3, activation="sigmoid", carry_state=False),
    "xor": ("xor", {"episodes": 60, **PAPER}),
    "Pendulum": (PENDULUM, {"episodes": 3, "iterations": 2, "bias": True}),
    "normalised": (CARTPOLE, {"episodes": 8, "normalise": True}),
    "sgd": (CARTPOLE, {"learning": {"optimizer": "sgd"}}),
    "rmsprop": (CARTPOLE, {"learning": {"optimizer": "rmsprop"}}),
    "adamw": (CARTPOLE, {"learning": {"optimizer": "adamw", "bias_correction": "edge"}}),
    "squared error": (CARTPOLE, {"learning": {"loss": "plus_minus"}, "readout": "state"}),
    "mlp-pruned": (ACROBOT, {"episodes": 150, **PRUNED}),
    "frugal": (CARTPOLE, {"episodes": 60, **FRUGAL}),
    "frugal, at most 40": (ACROBOT, {"episodes": 40, "max_parameters": 40, **FRUGAL}),
    "frugal, at most 6": (CARTPOLE, {"episodes": 60, "max_parameters": 6, **FRUGAL}),
    "frugal, to keep a share": (CARTPOLE, {"episodes": 40, "keep": 0.9, **FRUGAL}),
    "frugal xor": ("xor", {"episodes": 1500, "max_parameters": 12, **FRUGAL}),
    "LunarLander": (LANDER, {"episodes": 4, **FINAL, **FRUGAL}),
    "no velocities": (HIDDEN, {"episodes": 300, "max_parameters": 20, **FRUGAL}),
    "recall": ("recall", {"episodes": 200, **FRUGAL}),
    "feedback": cart(learning={"rule": "feedback"}),
    "hebbian": cart(learning={"rule": "hebbian"}),
    "copies": (ACROBOT, {"episodes": 8, "plasticity": {**OFTEN, "growth": "duplicate"}}),
    "splits": (CARTPOLE, {"plasticity": {**OFTEN, "growth": "split", "pruning": "random"}}),
    "neat": (CARTPOLE, {"method": "neat", "seed": 1}),
    "ndp": (ACROBOT, {"method": "ndp", "seed": 0}),
}
LENGTHS = {CARTPOLE: 20, ACROBOT: 5, LANDER: 2, "xor": 60, PENDULUM: 3, "recall": 60, HIDDEN: 40}
"""Episodes on each task."""
LONGER = {"frugal": 8, "paper": 1, "as_printed": 1}
"""How many times as many a preset takes, as it edits less often."""
SIZED: dict[str, Options] = {
    "frugal": FRUGAL | {"max_parameters": 40},
    "paper": {},
    "as_printed": {},
}
"""What lets a preset edit often."""
STUDENTS: dict[str, Options] = {
    **{"static": {}, "growth-only": PAPER, "mlp-100": {"budget": 40}, "mlp-200": {"budget": 40}},
    "mlp-pruned": {"budget": 60, "max_parameters": 20},
}
OF_PRESETS: dict[str, Entry] = {
    f"{task}, {preset}": (
        task,
        {"preset": preset, "episodes": n * longer, **FINAL, **PAPER, **SIZED[preset]},
    )
    for task, n in LENGTHS.items()
    for preset, longer in LONGER.items()
}
OF_STUDENTS: dict[str, Entry] = {
    f"{student}, {task}, {preset}": (
        task,
        {"student": student, "preset": preset, "episodes": n * longer, **FINAL, **more}
        | (SIZED[preset] if student == "growth-only" else {}),
    )
    for student, more in STUDENTS.items()
    for task, n in LENGTHS.items()
    for preset, longer in LONGER.items()
    if task != LANDER and (preset == "frugal" or task == CARTPOLE)
    if preset != "as_printed" or student in ("static", "growth-only")
}
OF_RULES: dict[str, Entry] = {
    f"{kind} {name}, K = {k}": (
        CARTPOLE,
        {"iterations": k, "n_hidden": 3, "density": 0.5, "episodes": 120}
        | {"plasticity": {**rules, kind: name}},
    )
    for kind, table in (("growth", GROWTH), ("pruning", PRUNING))
    for name, rules in table.items()
    for k in (1, 2)
}
ORPHANS = {"growth": "none", "pruning": "none", "interval": 20, "prune_period": 2}
OF_PLASTICITY: dict[str, Entry] = {
    "only orphans": cart(n_hidden=6, density=0.08, plasticity=ORPHANS),
    "scale of the variance": busy(scale="variance_to_mean", window=20),
    "scale of the weight": busy(scale="weight"),
    "new weights of one size": busy(new_weights="sign"),
    "history reset": busy(history_on_edit="reset"),
    "optimizer reset": busy(optimizer_on_edit="reset"),
    "no full window": busy(full_window=False, window=50),
    "inputs explored": busy(explore_inputs=True),
    "three relays": busy(max_relays=3),
    "any relays": busy(max_relays=None),
    "at most 9 nodes": busy(max_nodes=9),
    "at most 14 edges": busy(max_edges=14),
    "a call an episode": busy(interval="episode", prune_period=3),
    "a call an episode, if due": cart(
        preset="frugal", plasticity={"interval": "episode", "least_updates": 60}
    ),
    "a call every 3 updates": cart(episodes=5, plasticity=BUSY | {"interval": 3}),
    "dense at first": cart(
        preset="frugal", plasticity={"interval": 20, "dense_until": 0.5, "size": 8}
    ),
    "frugal with a bar": cart(**FRUGAL, target_return=30.0, episodes=40),
}
TIME: Options = {"episodes": 300, "max_parameters": 20, **FRUGAL, "learning": {"through_time": 4}}
OF_LEARNING: dict[str, Entry] = {
    "outputs only": learning(rule="outputs"),
    "hebbian, long traces": learning(rule="hebbian", trace_decay=0.9),
    "sgd, no momentum": learning(optimizer="sgd", momentum=0.0, weight_decay=0.01),
    "rmsprop, momentum": learning(optimizer="rmsprop", momentum=0.5, weight_decay=0.01, alpha=0.9),
    "adam, decay": learning(weight_decay=0.01, beta1=0.8, beta2=0.9),
    "adam, edges' own steps": learning(bias_correction="edge"),
    "one hot": learning(loss="one_hot"),
    "cross-entropy of states": cart(episodes=20, readout="state"),
    "falling rate": learning(schedule="falling"),
    "mean weights": cart(episodes=20, learning={"averaging": 0.01}, select="return"),
    "through 3 calls": learning(through_time=3),
    "through 4 calls, frugal": (HIDDEN, TIME),
    "states of a call alone": cart(episodes=20, carry_state=False),
    "relu": cart(episodes=20, activation="relu", output_activation="identity", readout="state"),
}
RULES: Options = {"iterations": 2, "plasticity": BUSY}
OF_RUNS: dict[str, Entry] = {
    "frugal as it is": (LANDER, {"preset": "frugal", "episodes": 40, **FINAL, **PAPER}),
    "gain of 3": cart(plasticity=BUSY, gain=3.0),
    "stopped when solved": ("xor", {"episodes": 1500, "stop_after": 5, **FRUGAL}),
    "best handed over": (ACROBOT, {"episodes": 6, **RULES, "select": "return"}),
    "at most 10 handed over": cart(plasticity=BUSY, select="return", max_parameters=10),
    "biases, normalised": (PENDULUM, {"episodes": 2, "normalise": True, **RULES, "bias": True}),
    "other physics": (f"{CARTPOLE},gravity=20,mirrored", {"episodes": 10, **RULES}),
    "shorter recall": (
        "recall,delay=2",
        {"episodes": 900, "max_parameters": 30, **FINAL, **FRUGAL},
    ),
    "recorded choices": ("choices.npz", {"episodes": 5, **FRUGAL}),
    "recorded targets": ("targets.npz", {"preset": "paper", "normalise": True, **RULES}),
    "kept in a folder": cart(plasticity=BUSY, folder="run"),
    "goes on": (CARTPOLE, {"start": "smgrnn", "episodes": 20}),
    "goes on, protected": (CARTPOLE, {"start": "smgrnn", "episodes": 20, "protect": 0.8}),
    "goes on, frugal": (CARTPOLE, {"start": "frugal", "protect": 0.5, "max_parameters": 30}),
    "two tasks": ((CARTPOLE, f"{CARTPOLE},mirrored"), {"preset": "paper", "episodes": 20, **RULES}),
    "two tasks, protected, with a cue": (
        (CARTPOLE, f"{CARTPOLE},gravity=20"),
        {"episodes": 40, "protect": 0.5, "cue": True, "max_parameters": 24, **FINAL, **FRUGAL},
    ),
}
PARTS = (OF_OLD, OF_PRESETS, OF_STUDENTS, OF_RULES, OF_PLASTICITY, OF_LEARNING, OF_RUNS)
RUNS: dict[str, Entry] = {name: entry for part in PARTS for name, entry in part.items()}
