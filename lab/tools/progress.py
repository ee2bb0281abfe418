"""Shows how far downloads and builds are: a moving line on a terminal, a plain line now and then elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.status import Status
from rich.text import Text

PLAIN_EVERY_SECONDS = 30.0
"""Logs of a CI run show life this often; some systems end a job after ten silent minutes."""


@dataclass(frozen=True)
class Step:
    """One thing that takes time.

    Attributes:
        title: What happens, as in "building etcd, the store behind the API server".
        done: What has happened once it is over, as in "built etcd 3.6.16".
        number: Its place among the steps, from 1; 0 if it stands alone.
        count: How many steps there are.
        usual: Seconds that it usually takes on two cores; None if that depends on the network.
        after: Seconds that the steps behind it usually take.
    """

    title: str
    done: str
    number: int = 0
    count: int = 0
    usual: float | None = None
    after: float = 0.0

    @property
    def place(self) -> str:
        """``[2/5] `` in front of what is said about it."""
        return f"[{self.number}/{self.count}] " if self.number else ""


def duration(seconds: float) -> str:
    """A length of time as people write it: ``45 s``, ``3 min 20 s``."""
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    parts = [f"{minutes} min" if minutes else "", f"{rest} s" if rest or not minutes else ""]
    return " ".join(part for part in parts if part)


def describe(step: Step, elapsed: float, detail: str = "") -> str:
    """The line that shows a step while it runs."""
    line = f"{step.place}{step.title}" + (f" ({detail})" if detail else "")
    if step.usual is None:
        return f"{line}: {duration(elapsed)} so far"
    to_come = max(step.usual - elapsed, 0) + step.after
    minutes = max(round(to_come / 60), 1)
    return f"{line}: {duration(elapsed)} of usually {duration(step.usual)}, about {minutes} min to go in all"


class Reporter:
    """Writes plain lines: one when a step begins, one every half minute while it runs, one when it is over.

    Args:
        write: Takes one line, without its end.
        clock: Seconds that only ever grow.
    """

    def __init__(self, write: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._write = write
        self._clock = clock
        self._step: Step | None = None
        self._began = 0.0
        self._shown = 0.0

    def note(self, line: str) -> None:
        """Writes one line that stays."""
        self._write(line)

    @contextmanager
    def step(self, step: Step) -> Iterator[None]:
        """Shows a step while the block runs, and one closing line if it ends well."""
        self._step, self._began = step, self._clock()
        self._open(describe(step, 0))
        try:
            yield
        finally:
            self._step = None
            self._close()
        self.note(f"{step.place}{step.done} in {duration(self._clock() - self._began)}")

    def tick(self, detail: str = "") -> None:
        """Called a few times a second while a step runs; ``detail`` says what it is at."""
        if self._step is not None:
            self._move(describe(self._step, self._clock() - self._began, detail))

    def _open(self, line: str) -> None:
        self._shown = self._clock()
        self._write(line)

    def _move(self, line: str) -> None:
        if self._clock() - self._shown >= PLAIN_EVERY_SECONDS:
            self._open(line)

    def _close(self) -> None:
        """Nothing to tidy up after plain lines."""


class TerminalReporter(Reporter):
    """Shows the running step as one line that changes in place."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(lambda line: console.print(Text(line)), clock)
        self._console = console
        self._status: Status | None = None

    def _open(self, line: str) -> None:
        self._status = self._console.status(Text(line))
        self._status.start()

    def _move(self, line: str) -> None:
        if self._status is not None:
            self._status.update(Text(line))

    def _close(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None


def reporter() -> Reporter:
    """The reporter that suits where the output goes; it writes to standard error, so that results can be piped."""
    console = Console(stderr=True)
    if console.is_terminal:
        return TerminalReporter(console)
    return Reporter(lambda line: print(line, file=console.file, flush=True))
