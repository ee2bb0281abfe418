"""Waiting for the rest of a group: when it ends, and what follows it."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pulumi_lws.serving import wait_for_group

PROGRAM = Path(wait_for_group.__file__)


def test_waiting_ends_when_nothing_is_missing() -> None:
    answers = iter(["a", "b", ""])
    assert wait_for_group.wait(lambda: next(answers), 60, lambda _: None)


def test_waiting_ends_with_the_budget_and_says_what_was_missing(capsys: pytest.CaptureFixture[str]) -> None:
    ticks = iter(range(100))
    assert not wait_for_group.wait(lambda: "nobody came", 3, lambda _: None, lambda: next(ticks))
    assert capsys.readouterr().err == "nobody came within 3 s\n"


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-ES", str(PROGRAM), *arguments]
    return subprocess.run(command, env=environment, check=False, timeout=30, capture_output=True, text=True)


@pytest.mark.parametrize("whom", ["leader", "workers"])
def test_a_pod_that_is_in_no_group_waits_for_nobody(whom: str) -> None:
    ended = run(whom, "--budget", "60")
    said = "LWS_LEADER_ADDRESS is empty: this pod is in no group of a LeaderWorkerSet\n"
    assert (ended.returncode, ended.stderr) == (1, said)


def test_a_command_that_cannot_be_run_is_named() -> None:
    ended = run("workers", "--", "/no/such/engine", LWS_LEADER_ADDRESS="a-0.a.b")
    assert (ended.returncode, ended.stderr) == (127, "cannot run /no/such/engine: No such file or directory\n")


def test_the_command_that_follows_the_wait_inherits_no_ignored_signal() -> None:
    look = [sys.executable, "-ISc", "print(open('/proc/self/status').read())"]
    direct = subprocess.run(look, check=True, capture_output=True, text=True).stdout
    waited = run("workers", "--", *look, LWS_LEADER_ADDRESS="a-0.a.b").stdout

    def ignored(status: str) -> str:
        return next(line for line in status.splitlines() if line.startswith("SigIgn"))

    assert ignored(waited) == ignored(direct)


def test_a_wait_ends_at_once_when_the_pod_is_told_to_stop() -> None:
    command = [sys.executable, "-ES", str(PROGRAM), "leader", "--budget", "60"]
    with subprocess.Popen(command, env={"LWS_LEADER_ADDRESS": "a-0.a.invalid"}) as waiting:
        end = time.monotonic() + 30
        while not handles(waiting.pid, signal.SIGTERM) and time.monotonic() < end:
            time.sleep(0.01)
        waiting.send_signal(signal.SIGTERM)
        assert waiting.wait(30) == 143


def handles(pid: int, number: signal.Signals) -> bool:
    """Whether a process has told the kernel what to do at a signal."""
    caught = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)
