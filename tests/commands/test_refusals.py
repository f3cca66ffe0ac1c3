"""Tasks, experts and recordings that cannot work: one sentence, in Python and in a terminal."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from smgrnn import distill
from smgrnn.errors import SmgrnnError
from smgrnn.runs.record import Record
from smgrnn.tasks import Task
from support.commands import Command, refused
from support.runs import teacher

pytestmark = pytest.mark.usefixtures("own_modules")

MODULE = """
import gymnasium as gym
import numpy as np
from gymnasium import spaces

FLAT, CHOICE, MOVE = spaces.Box(-1, 1, (3,)), spaces.Discrete(2), spaces.Box(-1, 1, (1,))


class Mine(gym.Env):
    n_episodes = 0

    def __init__(
        self, sees=FLAT, acts=CHOICE, shows=(0.0, 0.0, 0.0), pays=0.0, ends=False, fault="", at=()
    ):
        self.observation_space, self.action_space = sees, acts
        self.shows, self.pays, self.ends, self.fault, self.at = shows, pays, ends, fault, at

    def reset(self, seed=None, options=None):
        self.n_episodes, self.n_steps = self.n_episodes + 1, 0
        return np.zeros(3, np.float32), {}

    def step(self, action):
        self.n_steps += 1
        shown = self.shows
        if (self.n_episodes, self.n_steps) == self.at:
            shown = shown[7] if self.fault == "raise" else (0.0, 0.0, np.nan)
        if not isinstance(shown, dict):
            shown = [*shown] if isinstance(shown[-1], list) else np.array(shown)
        return shown, self.pays, self.ends, False, {}


class Bare(gym.Env):
    pass


def register(name, entry_point=Mine, **settings):
    gym.register(f"{name}-v0", entry_point, max_episode_steps=5, kwargs=settings)


register("Mine")
register("Move", acts=MOVE)
register("Bare", Bare)
register("Image", sees=spaces.Box(0, 255, (8, 8, 3), np.uint8))
register("Longer", shows=(0.0, 0.0, 0.0, 0.0))
register("Named", shows={"a": 1.0})
register("Ragged", shows=(0.0, [1.0, 2.0]))
register("Nan", shows=(0.0, np.nan, 0.0))
register("Worded", shows=("a", "b", "c"))
register("Unpaid", pays=np.inf)
register("Priceless", pays=None)
register("Undecided", ends=np.array([False, True]))
for fault in ("raise", "nan"):
    for episode in (1, 3):
        register(f"{fault}-{episode}", fault=fault, at=(episode, 4))


def good(observation):
    return 0


def move(observation):
    return 0.5


number = 3


def fails(observation):
    raise RuntimeError("no battery.")


def answers(value):
    return lambda observation: value


beyond, below, half, none, word, nan, two = map(
    answers, (2, -1, 0.5, None, "left", float("nan"), [0.1, 0.2])
)
"""

LINE = MODULE.partition("raise RuntimeError")[0].count("\n") + 1
"""Line of the module in which its expert fails."""
WALK_LINE = MODULE.partition("shown[7]")[0].count("\n") + 1
"""Line in which its environment fails."""
ENVIRONMENTS = {
    "Bare": "The observations of a task must be a flat Box, of shape (n,)",
    "Image": "gymnasium.wrappers.FlattenObservation",
    "Longer": "my_tasks:Longer-v0 gave an observation of shape (4,) and type float64 instead of 3",
    "Named": "my_tasks:Named-v0 gave an observation of shape () and type object instead of 3",
    "Ragged": "my_tasks:Ragged-v0 gave an observation of shape () and type object instead of 3",
    "Nan": "my_tasks:Nan-v0 gave an observation whose value 1 is nan",
    "Worded": "my_tasks:Worded-v0 gave an observation of shape (3,) and type <U1 instead of 3",
    "Unpaid": "my_tasks:Unpaid-v0 gave a reward of inf (step 1 of episode 1)",
    "Priceless": "my_tasks:Priceless-v0 failed: TypeError: float() argument must be",
    "Undecided": "my_tasks:Undecided-v0 failed: ValueError: The truth value of an array",
}
EXPERTS = {
    ("Mine", "my_tasks:absent"): "AttributeError: module 'my_tasks' has no attribute 'absent'",
    ("Mine", "my_absent:good"): "ModuleNotFoundError: No module named 'my_absent'",
    ("Mine", "my_tasks:number"): "The expert 'my_tasks:number' is not a function",
    ("Mine", "my_tasks:fails"): f"failed: RuntimeError in my_tasks.py, line {LINE}: no battery",
    ("Mine", "my_tasks:beyond"): "must give an int from 0 to 1. Got 2 instead",
    ("Mine", "my_tasks:below"): "must give an int from 0 to 1. Got -1 instead",
    ("Mine", "my_tasks:half"): "must give an int from 0 to 1. Got 0.5 instead",
    ("Mine", "my_tasks:none"): "must give an int from 0 to 1. Got None instead",
    ("Move", "my_tasks:none"): "must give finite numbers, 1 in all. Got None instead",
    ("Move", "my_tasks:word"): "must give finite numbers, 1 in all. Got 'left' instead",
    ("Move", "my_tasks:nan"): "must give finite numbers, 1 in all. Got nan instead",
    ("Move", "my_tasks:two"): "must give finite numbers, 1 in all. Got [0.1, 0.2] instead",
    ("Mine", None): "No bundled expert for my_tasks:Mine-v0. Pass --expert",
    ("Mine", "absent.safetensors"): "There is no expert 'absent.safetensors'",
    ("Mine", "other.safetensors"): "The expert takes 4 inputs and gives 2 outputs",
}
SEEN, DONE = np.zeros((20, 3)), np.arange(20) % 2
INFINITE = np.where(DONE > 0, np.inf, 0.5)
RECORDINGS: dict[str, tuple[dict[str, Any], str]] = {
    "no actions": ({"actions": None}, "has 'observations' and 'actions'."),
    "images": ({"observations": np.zeros((20, 8, 8, 3))}, "of shape (n, n_inputs)"),
    "one value": ({"observations": np.zeros(20)}, "of shape (n, n_inputs)"),
    "no value": ({"observations": np.zeros((20, 0))}, "of shape (n, n_inputs)"),
    "too short": ({"observations": SEEN[:5], "actions": DONE[:5]}, "needs 10 rows at least"),
    "other length": ({"actions": DONE[:9]}, "must be 20 ints, or 20 rows of"),
    "several choices": ({"actions": np.ones((20, 2), int)}, "must be 20 ints, or 20 rows of float"),
    "matrices": ({"actions": np.ones((20, 2, 2))}, "must be 20 ints, or 20"),
    "flags": ({"actions": DONE > 0}, "must be 20 ints, or 20 rows of floats"),
    "NaN": ({"observations": SEEN * np.nan}, "has nan in row 0 as value 0 of the observation"),
    "whole floats": ({"actions": DONE * 1.0}, "written as floats. Write choices as ints"),
    "infinite action": ({"actions": INFINITE}, "has inf in row 1 as value 0 of the action"),
    "negative choice": ({"actions": DONE - 1}, "has -1 to 0 in 20 rows."),
    "far choice": ({"actions": DONE * 10**9}, "has 0 to 1000000000 in 20"),
    "one choice": ({"actions": DONE * 0}, "its action is always the same"),
    "one action": (
        {"actions": np.stack([DONE * 0.1, DONE * 0.0], axis=1)},
        "its action is always the same",
    ),
    "episodes of another length": ({"episodes": DONE[:9]}, "must be 20 ints, one per row"),
    "too few episodes": ({"episodes": DONE}, "needs at least 3 episodes"),
}
"""Changes of a recording that would do, and what is said of each."""


def refusal(start: Callable[[], Any]) -> str:
    """Return the one sentence with which Python refuses."""
    with pytest.raises(SmgrnnError) as caught:
        start()
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.endswith((".", "?"))
    return sentence


@pytest.fixture
def module(smgrnn: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Write the user's module and return the command line beside it."""
    (tmp_path / "my_tasks.py").write_text(MODULE)
    Path(teacher(tmp_path, "CartPole-v1")).rename(tmp_path / "other.safetensors")
    monkeypatch.syspath_prepend(tmp_path)
    return smgrnn


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_an_environment_that_cannot_work_is_one_sentence(module: Command, name: str) -> None:
    task, expert, expected = f"my_tasks:{name}-v0", "my_tasks:good", ENVIRONMENTS[name]
    assert expected in refusal(lambda: distill(task, expert=expert, episodes=1))
    flags = ("distill", task, "--expert", expert, "--episodes", 1, "--quiet")
    assert expected in refused(module(*flags))
    refused(module(*flags, "--set", "normalise=true"))  # then its expert plays first


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("raise", f"failed: IndexError in my_tasks.py, line {WALK_LINE}: tuple index out of range"),
        ("nan", "gave an observation whose value 2 is nan"),
    ],
)
def test_a_failing_environment_is_told_with_its_place_episode_and_step(
    module: Command, tmp_path: Path, fault: str, words: str
) -> None:
    def walk(task: str) -> str:
        flags = ("--expert", "my_tasks:good", "--episodes", 6, "--select", "final", "--quiet")
        return refused(module("distill", f"my_tasks:{task}-v0", *flags, "--out", "a b/run"))

    for is_there in (False, True):  # a folder that was there stays
        sentence = walk(f"{fault}-1")
        assert sentence.startswith(f"my_tasks:{fault}-1-v0 {words}")
        assert sentence.endswith(" (step 4 of episode 1).")
        assert [each.name for each in tmp_path.glob("a b*/**")] == ["a b"] * is_there
        (tmp_path / "a b").mkdir(exist_ok=True)
    assert "(step 4 of episode 3)" in walk(f"{fault}-3")
    assert Record.load(tmp_path / "a b/run").episodes.n == 2


def test_a_search_that_fails_at_once_leaves_no_folder_behind(
    module: Command, tmp_path: Path
) -> None:
    flags = ("--rollouts", 20, "--population", 10, "--out", "bred", "--quiet")
    sentence = refused(module("evolve", "my_tasks:raise-1-v0", *flags))
    assert f"IndexError in my_tasks.py, line {WALK_LINE}" in sentence
    assert not (tmp_path / "bred").exists()


def test_a_module_that_python_cannot_read_is_told_with_its_line(
    smgrnn: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_typo.py").write_text("import gymnasium\n\nclass Walk(:\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    sentence = refused(smgrnn("distill", "my_typo:Walk-v0", "--expert", "my_typo:expert"))
    assert "cannot be imported: SyntaxError in my_typo.py, line 3: invalid syntax" in sentence


@pytest.mark.parametrize(("name", "expert"), EXPERTS)
def test_an_expert_that_cannot_work_is_one_sentence(
    module: Command, name: str, expert: str | None
) -> None:
    task, expected = f"my_tasks:{name}-v0", EXPERTS[name, expert]
    assert expected in refusal(lambda: distill(task, expert=expert, episodes=1))
    flags = () if expert is None else ("--expert", expert)
    assert expected in refused(module("distill", task, *flags, "--episodes", 1, "--quiet"))
    if expert is not None:
        assert expected in refused(module("expert", "evaluate", task, *flags))


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
@pytest.mark.parametrize("name", RECORDINGS)
def test_a_recording_that_cannot_work_is_one_sentence(
    smgrnn: Command, tmp_path: Path, name: str, suffix: str
) -> None:
    changes, expected = RECORDINGS[name]
    found = {"observations": SEEN, "actions": DONE, **changes}
    arrays = {key: array for key, array in found.items() if array is not None}
    path = tmp_path / f"recording{suffix}"
    if suffix == ".npz":
        np.savez(path, **arrays)
    else:
        save_file({key: np.ascontiguousarray(array) for key, array in arrays.items()}, path)
    assert expected in refused(smgrnn("distill", path.name, "--quiet"))
    assert expected in refusal(lambda: distill(path, episodes=1))


TABLES = {
    "": "is damaged or not a .csv file",
    "x,action\n": "of shape (n, n_inputs)",
    "x,y\n" + "1,2\n" * 20: "has 'observations' and 'actions'",
    "action\n" + "1\n" * 20: "has 'observations' and 'actions'",
    "x,action\n" + "1,0\n1\n" * 20: "Row 2 of ",
    "x, colour,action\n" + "1,0.5,0\n2,red,0\n" * 20: " has 'red' in the column 'colour'; write",
    "x,action\n" + "1,0.0\n2,1.0\n" * 20: "are the whole numbers 0 to 1, written as floats",
    "x,action\n" + "nan,0\n" * 20: "has nan in row 0 as value 0 of the observation",
    "x,action,episode\n" + "1,0,0.5\n" * 20: "must be 20 ints, one per row",
}


@pytest.mark.parametrize("text", TABLES)
def test_a_table_that_cannot_work_is_one_sentence(
    smgrnn: Command, tmp_path: Path, text: str
) -> None:
    (tmp_path / "recording.csv").write_text(text)
    assert TABLES[text] in refused(smgrnn("distill", "recording.csv", "--quiet"))


def test_a_recording_that_is_damaged_absent_or_pickled_is_refused(
    smgrnn: Command, tmp_path: Path
) -> None:
    """Objects are pickled, and what is unpickled can run code."""
    assert "There is no recording" in refused(smgrnn("distill", "absent.npz"))
    pickled: Any = np.array([{"a": 1}] * 20, dtype=object)
    np.savez(tmp_path / "pickled.npz", observations=SEEN, actions=pickled)
    for name in ("damaged.npz", "damaged.safetensors", "damaged.csv"):
        (tmp_path / name).write_bytes(b"\xff\x00 no such file")
    np.savez_compressed(tmp_path / "whole.npz", observations=SEEN, actions=DONE)
    whole = (tmp_path / "whole.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "changed.npz").write_bytes(whole[:60] + b"\xff" * 20 + whole[80:])
    np.save(tmp_path / "array.npy", SEEN)
    (tmp_path / "array.npy").rename(tmp_path / "array.npz")
    broken = [path.name for path in tmp_path.iterdir() if path.name != "whole.npz"]
    assert len(broken) == 7
    for name in broken:
        assert "is damaged or not a" in refused(smgrnn("distill", name))


def test_what_a_recording_cannot_do_is_refused(smgrnn: Command, tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", observations=SEEN, actions=DONE)
    assert "have no order" in refused(smgrnn("distill", "a.npz", "--set", "carry_state=true"))
    assert "has no environment" in refused(smgrnn("evolve", "a.npz"))
    sentence = "'a.npz' is learned from examples and takes no expert."
    assert sentence in refused(smgrnn("expert", "evaluate", "a.npz"))
    assert sentence in refused(smgrnn("distill", "a.npz", "--expert", "CartPole-v1"))
    assert sentence in refusal(lambda: distill(tmp_path / "a.npz", expert=len))


def test_what_makes_no_environment_is_refused() -> None:
    def broken() -> Any:
        raise RuntimeError("no port")

    answers = {
        dict: "'dict' makes no Gymnasium environment, but {}.",
        broken: "The task 'broken' cannot be made: RuntimeError in ",
    }
    for make, expected in answers.items():
        assert refusal(lambda make=make: distill(make, expert=len)).startswith(expected)  # type: ignore[misc]
    assert "or a function that makes" in refusal(lambda: distill(3))


HUGE = 10**12


@pytest.mark.parametrize(
    "arguments",
    [
        "distill CartPole-v1 --set n_hidden=200000",
        "distill CartPole-v1 --preset paper --set plasticity.window=1000000000",
        "distill CartPole-v1 --set iterations=1000000000",
        f"distill CartPole-v1 --set growth.n_candidates={HUGE}",
        f"distill CartPole-v1 --held-out {HUGE}",
        "distill CartPole-v1 --seeds 1000000000",
        f"distill CartPole-v1 --student mlp-100 --set budget={HUGE}",
        "distill xor --preset paper --set iterations=1000000000",
        "evolve CartPole-v1 --population 1000000000 --rollouts 1000000000",
        f"evolve CartPole-v1 --held-out {HUGE}",
        "reproduce growth-ablation --seeds 1000000000",
    ],
)
def test_a_size_that_cannot_be_had_is_refused_with_the_memory_it_would_take(
    smgrnn: Command, tmp_path: Path, arguments: str
) -> None:
    """Each was a traceback of a MemoryError, or the end of the process by the system."""
    sentence = refused(smgrnn(*arguments.split()))
    assert " would take " in sentence
    assert " of memory; this machine has " in sentence
    assert list(tmp_path.iterdir()) == []


def test_text_that_is_not_ours_reaches_a_terminal_as_text(smgrnn: Command, tmp_path: Path) -> None:
    """A name could colour, move or hide what the command said."""
    name = "run\x1b[31m\u202e\udcff"
    assert "run\\x1b[31m\\u202e\\udcff" in refused(smgrnn("evaluate", name))
    with pytest.raises(
        SmgrnnError, match=r"The name 'a\\x1b' of a task has characters that are no"
    ):
        Task("a\x1b", 1, 1, is_discrete=True)
