import io

import pytest
from rich.console import Console

from lab.tools.progress import Reporter, Step, TerminalReporter, describe, duration

ETCD = Step("building etcd, the store", "built etcd 3.6.16", number=2, count=5, usual=36, after=840)


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("seconds", "want"), [(0, "0 s"), (45.4, "45 s"), (60, "1 min"), (200, "3 min 20 s"), (59.6, "1 min")]
)
def test_durations_read_as_people_write_them(seconds: float, want: str) -> None:
    assert duration(seconds) == want


def test_a_running_step_tells_how_long_it_takes_and_what_is_to_come() -> None:
    assert describe(ETCD, 12, "compiling") == (
        "[2/5] building etcd, the store (compiling): 12 s of usually 36 s, about 14 min to go in all"
    )


def test_a_step_longer_than_usual_still_counts_what_comes_after_it() -> None:
    assert describe(ETCD, 600).endswith("10 min of usually 36 s, about 14 min to go in all")


def test_a_step_of_unknown_length_tells_only_what_has_passed() -> None:
    assert describe(Step("downloading pulumi", "downloaded"), 3, "5 of 90 MB") == (
        "downloading pulumi (5 of 90 MB): 3 s so far"
    )


def test_a_log_shows_life_every_half_minute_and_each_result() -> None:
    lines: list[str] = []
    clock = Clock()
    report = Reporter(lines.append, clock)
    with report.step(ETCD):
        for _second in range(65):
            clock.now += 1
            report.tick("compiling")
    report.tick("not running any more")
    report.note("done")
    assert lines == [
        describe(ETCD, 0),
        describe(ETCD, 30, "compiling"),
        describe(ETCD, 60, "compiling"),
        "[2/5] built etcd 3.6.16 in 1 min 5 s",
        "done",
    ]


def test_a_step_that_fails_has_no_closing_line() -> None:
    lines: list[str] = []
    report = Reporter(lines.append, Clock())
    with pytest.raises(KeyboardInterrupt), report.step(ETCD):
        raise KeyboardInterrupt
    assert lines == [describe(ETCD, 0)]


def test_a_terminal_shows_one_moving_line_and_keeps_the_results() -> None:
    output = io.StringIO()
    clock = Clock()
    report = TerminalReporter(Console(file=output, force_terminal=True, width=200, color_system=None), clock)
    with report.step(ETCD):
        clock.now += 5
        report.tick("[/compiling]")
    assert "[2/5] built etcd 3.6.16 in 5 s\n" in output.getvalue()
    assert "\x1b[?25h" in output.getvalue()  # the cursor is back
