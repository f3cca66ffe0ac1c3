"""Backends: where the episodes of a run happen: compiled code, Gymnasium, or recorded examples."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from math import isfinite, nan
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.engine import Learner
from smgrnn.episodes.rollout import Asked, EpisodeBatch, learn_steps, play_episodes, taught_step
from smgrnn.episodes.table import Episodes
from smgrnn.errors import NonFiniteError, SmgrnnError
from smgrnn.experts import Expert, Teacher
from smgrnn.experts.evaluation import play_expert
from smgrnn.learning.settings import LOSSES, Loss
from smgrnn.policy import Normalisation, Policy, scale_action, scale_target
from smgrnn.seeding import episode_seeds, stream
from smgrnn.tasks import CheckedEnv, Task, closing_env, make_env
from smgrnn.tasks.recording import Recording, read_recording

NORMALISING_EPISODES, DISTURBANCE = 10, 0.5
"""Episodes from which observations are normalised, and the fraction of random actions in them."""
RIGHT = 0.25
"""An answer to XOR is right below this squared error: nearer to it than to its opposite."""

Learn = Callable[[int], tuple[float, int, int, float]]
"""Learns the episode with a number; returns its return, steps, agreed steps and summed loss."""
Actor = Literal["student", "expert", "chance"]


class Beside(NamedTuple):
    """The expert that a student is compared with, whoever acts."""

    expert: Teacher | None
    loss: Loss
    actor: Actor = "student"


class Judged(NamedTuple):
    """Episodes that a student played beside the expert."""

    episodes: Episodes
    """Their returns, steps, agreed steps and summed losses."""
    answers: Floats
    """The expert's continuous answers (n_steps, n_outputs), with bounds at ±1; none of choices."""

    @property
    def likeness(self) -> dict[str, float | None]:
        """The fraction of equal choices or R² of continuous actions, and the mean loss per step."""
        n = max(int(self.episodes.steps.sum()), 1)
        found: dict[str, float | None] = {"agreement": None, "r_squared": None}
        found["loss"] = loss = float(self.episodes.loss.sum() / n)
        if not self.answers.size:
            return found | {"agreement": float(self.episodes.agreed.sum() / n)}
        variance = float(self.answers.var(axis=0).mean())
        return found | {"r_squared": 1 - loss / variance if variance > 0 else None}

    @property
    def scores(self) -> Floats:
        """The faithfulness in each episode: the fraction of equal choices, or minus the loss."""
        episodes, steps = self.episodes, np.maximum(self.episodes.steps, 1)
        return -episodes.loss / steps if self.answers.size else episodes.agreed / steps


class Backend(ABC):
    """A place where episodes happen.

    Parameters
    ----------
    task
        The task with its environment.
    normalisation
        How observations are normalised for the student, if they are.
    gain
        Factor of the student's inputs while it learns.
    target_return
        Recent mean return at which growth stops; NaN never stops it.
    """

    chunk = 1
    """Episodes trained in one call, between two reports of progress."""

    def __init__(
        self,
        task: Task,
        normalisation: Normalisation | None = None,
        *,
        gain: float = 1.0,
        target_return: float = nan,
    ) -> None:
        self._task, self._normalisation = task, normalisation
        self._gain, self._target_return = gain, target_return

    def distil(
        self,
        learner: Learner,
        expert: Teacher | None,
        seeds: list[int],
        progress: Floats,
        first: int = 0,
    ) -> Episodes:
        """Train on one episode per seed, each at some fraction of the run, counted from `first`."""
        is_observed = np.arange(learner.config.n_input_nodes) < self._task.n_inputs
        scale = np.where(is_observed, self._gain, 1.0)
        episodes, learn = Episodes.start(len(seeds)), self._teach(learner, expert, seeds, scale)
        for number in range(len(seeds)):
            learner.advance(progress[number])
            with self._placed(f"episode {first + number + 1}"):
                total, n_steps, n_agreed, lost = learn(number)
            episodes.returns[number], episodes.steps[number] = total, n_steps
            episodes.agreed[number], episodes.loss[number] = n_agreed, lost
            episodes.n_nodes[number], episodes.n_edges[number] = learner.shape
        return episodes

    @abstractmethod
    def _teach(
        self, learner: Learner, expert: Teacher | None, seeds: list[int], scale: Floats
    ) -> Learn:
        """Return a function that learns an episode; `scale` is the factor of each input."""

    def play(self, policy: Policy, seeds: list[int]) -> Episodes:
        """Play one episode per seed."""
        return self.judge(policy, seeds, None).episodes

    def compare(self, policy: Policy, seeds: list[int]) -> Episodes:
        """Play to compare checkpoints, never on the examples that judge the winner."""
        return self.play(policy, seeds)

    def judge(self, policy: Policy, seeds: list[int], beside: Beside | None) -> Judged:
        """Play one episode per seed, beside the expert if there is one."""
        episodes = Episodes.start(len(seeds))
        episodes.n_nodes[:], episodes.n_edges[:] = policy.graph.n_nodes, policy.graph.n_edges
        return Judged(episodes, self._play(policy, seeds, episodes, beside))

    @abstractmethod
    def _play(
        self, policy: Policy, seeds: list[int], episodes: Episodes, beside: Beside | None
    ) -> Floats:
        """Play and record one episode per seed; return the expert's continuous answers."""

    def _placed(self, episode: str) -> AbstractContextManager[None]:
        """Add to the sentence of an error where it arose, if that is known."""
        return nullcontext()


class CompiledBackend(Backend):
    """Episodes of a compiled task, without Python."""

    chunk = 20

    def _teach(
        self, learner: Learner, expert: Teacher | None, seeds: list[int], scale: Floats
    ) -> Learn:
        assert isinstance(expert, Expert)  # a function is no compiled code
        batch, scratch = EpisodeBatch.start(self._task, seeds, scale), expert.scratch()

        def learn(number: int) -> tuple[float, int, int, float]:
            def stretch(handle: Any, stop: int) -> tuple[float, bool, bool]:
                loss, is_over = learn_steps(handle, batch, number, expert, scratch, stop)
                if is_over and isfinite(loss):
                    learner.note_return(batch.totals[0], self._target_return)
                return loss, is_over, is_over

            batch.totals[:], batch.counts[:] = 0.0, 0
            learner.run(stretch)
            return batch.totals[0], batch.counts[0], batch.counts[1], batch.totals[1]

        return learn

    def _play(
        self, policy: Policy, seeds: list[int], episodes: Episodes, beside: Beside | None
    ) -> Floats:
        batch = EpisodeBatch.start(self._task, seeds, np.ones(policy.graph.n_inputs))
        player, asked = policy.player, Asked.nothing()
        trace = player.new_traces()[0]
        if beside is not None:
            assert isinstance(beside.expert, Expert)
            kind, adjoint = LOSSES.index(beside.loss), np.zeros((1, trace.shape[1]))
            chances = asked.chances
            if beside.actor == "chance":
                shape = len(seeds), batch.max_steps
                chances = np.random.default_rng(seeds).integers(self._task.n_outputs, size=shape)
            expert, acts = beside.expert, beside.actor == "expert"
            asked = Asked(expert, expert.scratch(), kind, adjoint, chances, acts)
        play_episodes(player.net, trace, batch, episodes, asked)
        if np.isnan(episodes.returns).any():
            raise NonFiniteError("An output of the student became NaN or infinite in an episode.")
        return np.empty((0, 0))


class GymnasiumBackend(Backend):
    """Episodes of any Gymnasium task, with the compiled learner."""

    def __init__(self, task: Task, *args: Any, env: Any = None, **settings: Any) -> None:
        super().__init__(task, *args, **settings)
        self._env = CheckedEnv(make_env(task) if env is None else env, task)

    def _teach(
        self, learner: Learner, expert: Teacher | None, seeds: list[int], scale: Floats
    ) -> Learn:
        assert expert is not None
        task, env, normalise = self._task, self._env, self._normalisation
        row = np.ones(scale.size)  # that of a bias stays 1
        seen, inputs = row[: task.n_inputs], row.copy()
        whole = row if task.seen is None else np.zeros(task.n_observed)
        ask = self._teacher(learner, expert, whole, inputs)

        def learn(number: int) -> tuple[float, int, int, float]:
            observation, total, lost, n_agreed = env.reset(seeds[number]), 0.0, 0.0, 0
            is_over = False
            while not is_over:
                seen[:] = observation if normalise is None else normalise(observation)
                np.multiply(row, scale, out=inputs)
                if task.seen is not None:
                    whole[:] = observation = env.whole
                action, has_agreed = ask(observation)
                observation, reward, is_over = env.step(scale_action(task, action))
                total += reward
                n_agreed += has_agreed
                lost += learner.loss
            learner.note_return(total, self._target_return)
            learner.end_episode()
            return total, env.n_steps, n_agreed, lost

        return learn

    def _teacher(self, learner: Learner, expert: Teacher, whole: Floats, inputs: Floats) -> Any:
        """Return a function that teaches the learner the expert's answer to an observation.

        It takes the whole observation, which is also in `whole` and, as far as the student sees it,
        in `inputs`.  It returns the student's action and whether that is the expert's.
        """
        task, seen = self._task, inputs[: self._task.n_inputs]

        def move(observation: Any) -> tuple[Any, bool]:
            return learner.learn(seen, scale_target(task, expert.values(observation))), False

        def choose(observation: Any) -> tuple[Any, bool]:
            label = expert.action(observation)
            action = learner.learn(seen, label)
            return action, action == label

        if not task.is_discrete:
            return move
        if not isinstance(expert, Expert) or self._normalisation is not None:
            return choose
        question = (*expert, expert.scratch(), whole, inputs, np.empty(0))

        def choose_fast(_: Any) -> tuple[int, bool]:
            action, _, label = learner.learn_by(taught_step, *question)
            return action, action == label

        return choose_fast

    def _play(
        self, policy: Policy, seeds: list[int], episodes: Episodes, beside: Beside | None
    ) -> Floats:
        env, answers = self._env, list[Floats]()
        answer: Any = self._taught(policy, beside, answers)
        for number, seed in enumerate(seeds):
            policy.reset()
            with self._placed(f"episode {number + 1} of those that judge it"):
                observation, is_over, total, lost, n_agreed = env.reset(seed), False, 0.0, 0.0, 0
                if beside is not None and beside.actor == "chance":
                    env.actions.seed(seed)
                while not is_over:
                    action, has_agreed, loss = answer(observation)
                    observation, reward, is_over = env.step(action)
                    total += reward
                    n_agreed += has_agreed
                    lost += loss
            episodes.returns[number], episodes.steps[number] = total, env.n_steps
            episodes.agreed[number], episodes.loss[number] = n_agreed, lost
        policy.reset()
        return np.array(answers)

    def _taught(self, policy: Policy, beside: Beside | None, answers: list[Floats]) -> Any:
        """Return a function from an observation to the action, whether both agree, and the loss.

        It adds the expert's continuous answers to `answers`.
        """
        task, env = self._task, self._env
        if beside is None:
            return lambda observation: (scale_action(task, policy.answer(observation)), False, 0.0)
        expert, loss, actor = beside
        assert expert is not None
        kind = LOSSES.index(loss)

        def answer(observation: Any) -> tuple[Any, bool, float]:
            wanted = expert.action(env.whole) if task.is_discrete else expert.values(env.whole)
            if not task.is_discrete:
                wanted = scale_target(task, wanted)
                answers.append(wanted)
            given, lost = policy.answer_beside(observation, wanted, kind)
            action = scale_action(task, wanted if actor == "expert" else given)
            action = env.actions.sample() if actor == "chance" else action
            return action, task.is_discrete and given == wanted, lost

        return answer

    @contextmanager
    def _placed(self, episode: str) -> Iterator[None]:
        """Add to the sentence of an error the step and the episode in which it arose."""
        try:
            yield
        except SmgrnnError as error:
            n_steps = self._env.n_steps
            step = "the reset" if n_steps < 0 else f"step {n_steps + 1}"
            sentence = f"{str(error).removesuffix('.')} ({step} of {episode})."
            raise type(error)(sentence) from error.__cause__


def normalisation_by(expert: Teacher, task: Task, seed: int) -> Normalisation:
    """Return the normalisation of a run in an environment: its statistics never change.

    They are those of a few training episodes in which the expert acts and every second action is
    random, so that they cover where a student goes both early and late.
    """
    seeds = episode_seeds(seed, 0, NORMALISING_EPISODES, "train")
    with closing_env(make_env(task), task.id) as env:
        played = [play_expert(expert, task, env, each, DISTURBANCE) for each in seeds]
        return Normalisation.of([observation for steps in played for observation, _ in steps])


class Examples(NamedTuple):
    """Examples to learn from, to compare checkpoints by, and to judge by."""

    train: Recording
    compared: Recording
    held_out: Recording
    digest: str
    """Digest of the whole recording, empty for XOR; a run is never resumed with another."""

    @classmethod
    def of(cls, task: Task, seed: int) -> "Examples":
        """Return the examples of a task; those of a recording are drawn by the seed."""
        if task.facts.examples is not None:
            inputs, targets = task.facts.examples
            known = Recording(inputs, targets, np.arange(len(targets)))
            return cls(known, known, known, "")
        assert task.recording is not None
        recording = read_recording(Path(task.recording))
        return cls(*recording.split(stream(seed, "task")), recording.digest)


class ExamplesBackend(Backend):
    """Rounds through XOR or the recordings of an expert, whose labels take a teacher's place.

    An episode is one round in random order.  Its return is, for XOR, how many of the four were
    answered right; for recorded choices, the fraction that was answered as recorded; for recorded
    continuous actions, minus the mean squared error, on a scale where their bounds are ±1.
    """

    def __init__(self, task: Task, examples: Examples, *args: Any, **settings: Any) -> None:
        super().__init__(task, *args, **settings)
        self._examples = examples

    def _teach(
        self, learner: Learner, expert: Teacher | None, seeds: list[int], scale: Floats
    ) -> Learn:
        questions = self._examples.train
        rows, normalise = questions.observations, self._normalisation
        rows = (rows if normalise is None else normalise(rows)) * self._gain
        labels = self._labels(questions)
        n = len(labels)
        is_last = np.arange(1, n + 1) == n
        learner.learn_stream(rows[:0], labels[:0])  # compiles, even for no round at all

        def learn(number: int) -> tuple[float, int, int, float]:
            order = np.random.default_rng(seeds[number]).permutation(n)
            actions, losses = learner.learn_stream(rows[order], labels[order], is_last)
            found = self._figures(actions, labels[order], losses)
            learner.note_return(found[0], self._target_return)
            return found

        return learn

    def compare(self, policy: Policy, seeds: list[int]) -> Episodes:
        """Answer the examples that checkpoints are compared by, once for all seeds."""
        episodes = Episodes.start(len(seeds))
        self._answer(policy, self._examples.compared, episodes)
        return episodes

    def judge(self, policy: Policy, seeds: list[int], beside: Beside | None) -> Judged:
        """Answer the held-out examples; beside their labels once, and one by one."""
        return super().judge(policy, seeds if beside is None else [0], beside)

    def _play(
        self, policy: Policy, seeds: list[int], episodes: Episodes, beside: Beside | None
    ) -> Floats:
        questions, has_choices = self._examples.held_out, self._task.has_agreement
        if beside is None:
            self._answer(policy, questions, episodes)
            return np.empty((0, 0))
        labels, is_choice = self._labels(questions), self._task.is_discrete
        for row, label in zip(questions.observations, labels, strict=True):
            policy.reset()
            given, lost = policy.answer_beside(row, label, LOSSES.index(beside.loss))
            episodes.agreed[0] += given == label if is_choice else has_choices and lost < RIGHT
            episodes.loss[0] += lost
        policy.reset()
        episodes.steps[0] = len(labels)
        return np.empty((0, 0)) if has_choices else labels

    def _answer(self, policy: Policy, questions: Recording, episodes: Episodes) -> None:
        policy.reset()  # each row of a batch starts from zero states
        given, labels = policy.answer(questions.observations), self._labels(questions)
        policy.reset()
        losses = np.zeros(len(given))
        if not self._task.is_discrete:
            losses = np.mean((given - labels) ** 2, axis=1)
        columns = episodes.returns, episodes.steps, episodes.agreed, episodes.loss
        for column, value in zip(columns, self._figures(given, labels, losses), strict=True):
            column[:] = value

    def _labels(self, questions: Recording) -> Any:
        """Return the answers that the network should give."""
        actions = questions.actions
        return actions if self._task.is_discrete else scale_target(self._task, actions)

    def _figures(self, given: Any, labels: Any, losses: Floats) -> tuple[float, int, int, float]:
        """Return the return, steps, right answers and summed loss of a round."""
        is_discrete, n = self._task.is_discrete, len(losses)
        is_right = given == labels if is_discrete else (losses < RIGHT) & self._task.has_agreement
        n_right = int(np.count_nonzero(is_right))
        total = float(n_right)
        if self._task.recording is not None:
            total = n_right / n if is_discrete else float(-losses.mean())
        return total, n, n_right, float(losses.sum())


def find_backend(task: Task, seed: int = 0, *, in_python: bool = False) -> Backend:
    """Return the backend of a task: the compiled one if there is one, unless Python is to watch.

    `seed` draws the examples of a recording.
    """
    if task.is_supervised:
        return ExamplesBackend(task, Examples.of(task, seed))
    is_compiled = task.facts.code is not None and not in_python
    return CompiledBackend(task) if is_compiled else GymnasiumBackend(task)
