"""The demonstration, cut off and run twice."""

import os
import re
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.cluster import control_plane
from lab.cluster.layout import Layout
from lab.folders import PROJECT, lab_folder

pytestmark = pytest.mark.lab

SHOWN = (
    r"LeaderWorkerSet +glm-5 ",
    r"NetworkPolicy +glm-5 ",
    r"PodDisruptionBudget +glm-5 ",
    r"add-on +LeaderWorkerSet +pulumi\S* +lws-system: 1 of 1 controller available, 3 kinds$",
    r"add-on +InferencePool API +1 kind$",
)


def shown(printed: str) -> tuple[str, ...]:
    """Lines that the table has for the deployment and for add-ons."""
    return tuple(line for line in SHOWN if re.search(rf"^ +{line}", printed, re.MULTILINE))


@pytest.fixture
def name() -> Iterator[str]:
    """The name of a lab that is taken down at the end."""
    name = f"demo-{secrets.token_hex(3)}"
    yield name
    control_plane.down(Layout(lab_folder(name)), keep=False)


def start(name: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "lab", "demo", "--name", name],
        cwd=PROJECT,
        env=os.environ | {"LWS_LAB_CONTROLLER": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        process_group=0,
    )


def end(process: "subprocess.Popen[str]") -> str:
    printed, _ = process.communicate(timeout=300)
    return printed


def test_two_at_once_succeed_where_others_were_cut_off(
    name: str, wait_until: Callable[[Callable[[], bool]], None]
) -> None:
    locks = Layout(lab_folder(name)).stacks
    seen: set[Path] = set()

    def works_on_the_stack() -> bool:
        # What was killed leaves its lock, which is not that of the next one.
        return bool(set(locks.glob(".pulumi/locks/**/*.json")) - seen)

    for number in (signal.SIGKILL, signal.SIGTERM):
        cut_off = start(name)
        wait_until(works_on_the_stack)
        seen |= set(locks.glob(".pulumi/locks/**/*.json"))
        os.killpg(cut_off.pid, number)
        end(cut_off)
    both: list[Any] = [start(name), start(name)]
    for process in both:
        printed = end(process)
        assert process.returncode == 0, printed
        assert shown(printed) == SHOWN
