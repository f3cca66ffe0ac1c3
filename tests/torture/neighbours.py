"""Neighbours: other users, other processes on one disk or cache, parents and children that end."""

import os
import select
import signal
import subprocess
import sys
import time
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import gymnasium as gym
from gymnasium.envs.classic_control import CartPoleEnv

import smgrnn
from support.runs import contents, teacher
from torture.children import PATIENCE, Child, Ended, Found, command, misbehaviour, sentence
from torture.filecalls import struck_at
from torture.works import OUT, Bench, compared, end_of, losses, settled

NOBODY = 65534
"""The number of a user who owns nothing."""
ODD_NAMES = ["a\nb", "\x1b[31m", "a\rb", "é\u202e", "a'b\"c $(x) `y`", "%s{0}", "é" * 127, "\udcff"]
USES = [("evaluate", "--episodes", "2"), ("view", "--no-open"), ("export", "--to", "c"), ("list",)]


@cache
def _skip(why: str) -> list[Found]:
    """Say once, and loudly, that a fault cannot be tried here."""
    print(f"NOT TRIED: {why}", file=sys.stderr, flush=True)
    return []


def full_tmpfs(rng: Random, bench: Bench) -> list[Found]:
    """Run a command on a file system that is too small for it, and again when it has grown."""
    if os.geteuid():
        return _skip("only root can mount a tmpfs")
    work, folder = rng.choice(bench.works), bench.new_folder()
    size = 4096 * rng.randint(1, 40)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(mount, check=False).returncode:
        return _skip("no tmpfs can be mounted here")
    try:
        ended = Child(command(work.words), folder).wait()
        lost = losses({}, folder)[1]
        subprocess.run(["mount", "-o", "remount,size=64m", str(folder)], check=True)
        return [lost or settled(bench, work, folder, ended)]
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def second_user(rng: Random, bench: Bench) -> list[Found]:
    """Kill a command, let another user repeat it, and then its owner, in either order."""
    if os.geteuid():
        return _skip("only root can become another user")
    work, folder = rng.choice(bench.works), bench.new_folder()
    bench.folder.parent.chmod(0o711)
    folder.chmod(rng.choice([0o755, 0o777, 0o1777]))
    users = rng.choice([(0, NOBODY), (NOBODY, 0), (NOBODY, NOBODY)])
    stop = rng.randint(1, bench.undisturbed(work).n_calls)
    for user, prepare in zip(users, ([struck_at(stop, signal.SIGKILL)], []), strict=True):
        words = work.again(folder)
        ended = Child(command(words, *prepare, partial(os.setuid, user)), folder).wait()
        if wrong := misbehaviour(ended) or sentence(ended):
            return [wrong]
    return [losses({}, folder)[1] or settled(bench, work, folder)]


COLD = """
import numpy
from smgrnn.rules import UpdateHistory
print(UpdateHistory.start(1, 2).push(numpy.ones(1)), "filled")
"""


def cold_cache(rng: Random, bench: Bench) -> list[Found]:
    """Let two processes fill one empty compile cache, one of them perhaps killed; use it."""
    folder = bench.new_folder()
    paths = os.environ | {"PYTHONPATH": str(Path(smgrnn.__file__).parents[1])}
    paths |= {"NUMBA_CACHE_DIR": str(folder), "NUMBA_BOUNDSCHECK": "0"}
    command = [sys.executable, "-P", "-c", COLD]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": paths}
    filling = [subprocess.Popen(command, **pipes) for _ in range(2)]
    if is_killed := rng.random() < 0.5:
        n = rng.randrange(1, 6)
        while filling[0].poll() is None and len([*folder.rglob("*.*")]) < n:
            time.sleep(0.001)
        filling[0].kill()
    users = [*filling[is_killed:], subprocess.Popen(command, **pipes)]
    for each in users:
        out, err = each.communicate(timeout=PATIENCE)
        if each.returncode or not out.endswith("filled\n") or err:
            return [Found("crash", f"code {each.returncode}: {out[-200:]} {err[-400:]}")]
    filling[0].communicate()
    return [Found("same")]


class Forking(CartPoleEnv):
    """A cart whose simulator forks now and then; the copy ends in one of many ways."""

    def __init__(self, way: str = "none", often: int = 40) -> None:
        super().__init__()
        self._way, self._often, self._n = way, often, 0

    def step(self, action: Any) -> Any:
        self._n += 1
        if self._way != "none" and self._n % self._often == 0 and not (pid := os.fork()):
            if self._way == "exits":
                sys.exit(0)
            if self._way == "raises":
                raise RuntimeError("a copy of a simulator")
            if self._way == "lingers":
                time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGKILL)
        elif self._way in ("exits", "raises", "dies") and self._n % self._often == 0:
            os.waitpid(pid, 0)
        done: Any = super()
        return done.step(action)


def forking_environment(rng: Random, bench: Bench) -> list[Found]:
    """Distill in an environment that forks; its copies may do no harm to the run."""
    expert = teacher(bench.folder, "CartPole-v1")
    ways = ["none", rng.choice(["dies", "exits", "raises", "lingers"])]
    often, ends = rng.randrange(5, 60), []
    for way in ways:
        folder = bench.new_folder()

        def work(way: str = way) -> None:
            made: Any = partial(Forking, way, often)
            gym.register("Forking-v0", made, max_episode_steps=200)
            settings: Any = {"episodes": 6, "held_out": 2, "checkpoint_every": 2, "out": OUT}
            smgrnn.distill("Forking-v0", expert=expert, **settings)

        ended = Child(work, folder).wait()
        if ended.code or ended.is_hung or ("Traceback" in ended.err and ways[1] != "raises"):
            return [misbehaviour(ended) or Found("crash", f"{way}: {ended.err[-400:]}")]
        ends.append(contents(folder / OUT))
    return [compared(dict.fromkeys(ways[:1], ends[1]), {"none": ends[0]})]


def killed_parent(rng: Random, bench: Bench) -> list[Found]:
    """Kill what started a command and reads its output, and repeat the command."""
    work, folder = rng.choice(bench.works), bench.new_folder()
    words = [word for word in work.words if word != "--quiet"]
    n, (alive, kept) = rng.randrange(6), os.pipe()

    def parent() -> None:
        reader, writer = os.pipe()
        if not os.fork():
            for number in (1, 2):
                os.dup2(writer, number)
            os.close(reader)
            try:
                command(words)()
            finally:
                os._exit(0)
        os.close(writer)
        os.close(kept)
        while os.read(reader, 1000):
            pass
        os.wait()

    child = Child(parent, folder, "parent")
    os.close(kept)
    while child.is_running and len([*folder.rglob("*")]) < n:
        time.sleep(0.001)
    ended = child.strike(signal.SIGKILL, 0.0)
    has_two = work.name == "reproduce" and rng.random() < 0.5  # as a store may have
    if not (has_two or select.select([alive], [], [], PATIENCE)[0]):
        return [Found("hang", f"{work.name} outlived its parent")]
    os.close(alive)
    found = misbehaviour(ended) or losses({}, folder)[1] or settled(bench, work, folder)
    return [found if ended.is_struck or found.outcome != "same" else Found("missed")]


def clock_jumps(rng: Random, bench: Bench) -> list[Found]:
    """Kill a command, set its files and the clock to other years, and repeat it."""
    work, folder = rng.choice(bench.works), bench.new_folder()
    years = [0.0, 1e9, 4e9, time.time()]

    def jump() -> None:
        time.time = lambda: rng.choice(years)

    for _ in range(rng.randint(1, 2)):
        stop = struck_at(rng.randint(1, bench.undisturbed(work).n_calls), signal.SIGKILL)
        ended = Child(command(work.again(folder), jump, stop), folder).wait()
        if wrong := misbehaviour(ended):
            return [wrong]
        for path in folder.rglob("*"):
            if rng.random() < 0.7:
                os.utime(path, (rng.choice(years),) * 2)
    return [losses({}, folder)[1] or settled(bench, work, folder)]


def odd_paths(rng: Random, bench: Bench) -> list[Found]:
    """Run a command whose folder has an odd name, use what it left, and compare it."""
    works = [each for each in bench.works if OUT in each.words and each.way == "same command"]
    work, folder, name = rng.choice(works), bench.new_folder(), rng.choice(ODD_NAMES)

    def do(words: tuple[str, ...]) -> Ended:
        return Child(command([word if word != OUT else name for word in words]), folder).wait()

    found = []
    for words in (work.words, *((use[0], OUT, *use[1:]) for use in rng.sample(USES, 2))):
        ended = do(tuple(word for word in words if word != "--quiet"))
        wrong = misbehaviour(ended) or sentence(ended)
        if wrong is None and not (ended.out + ended.err).replace("\n", "").isprintable():
            wrong = Found("wordy", f"{name!r} is printed raw: {(ended.out + ended.err)[-300:]!r}")
        found.append(wrong or Found("refused" if ended.code else "worked"))
    if found[0].outcome == "worked":
        (folder / name).rename(folder / OUT)
        found[0] = compared(end_of(folder), bench.undisturbed(work).end)
    return found
