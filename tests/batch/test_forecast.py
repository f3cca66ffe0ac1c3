"""Time left, computed by hand."""

from smgrnn.batch import Condition
from smgrnn.batch.forecast import Forecast
from smgrnn.batch.queue import RUN_SECONDS, QueuedRun

SHORT = QueuedRun("a", Condition.distill("CartPole-v1", episodes=950), 0, "short")
LONG = QueuedRun("b", Condition.distill("CartPole-v1", student="growth-only", episodes=95), 0, "x")


def test_runs_are_expected_to_take_as_long_as_their_episodes() -> None:
    assert SHORT.seconds == LONG.seconds == RUN_SECONDS + 0.95 == 1.0


def test_nothing_is_said_before_a_run_has_finished() -> None:
    assert Forecast([SHORT]).left(10.0) is None


def test_what_was_measured_of_one_kind_holds_for_all_until_they_are_measured_too() -> None:
    forecast = Forecast([SHORT, SHORT, LONG, LONG])
    forecast.finish(SHORT, 3.0, "one")  # three times as long as expected, so 9 s to come
    assert forecast.left(3.0) == 9.0
    forecast.finish(LONG, 5.0, "two")  # 8 s done; 3 + 5 to come; two workers, 4 s gone
    assert forecast.left(4.0) == 4.0
    forecast.drop(LONG)
    assert forecast.left(4.0) == 1.5


def test_the_time_left_is_never_negative() -> None:
    forecast = Forecast([SHORT])
    forecast.finish(SHORT, 1.0, "one")
    assert forecast.left(2.0) == 0.0
