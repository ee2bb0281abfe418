"""Ends `pulumi up` of the whole local stack at random points, and holds that the next one ends as if undisturbed.

``python -m lab.soak`` brings up a lab of its own. A point is so many lines of progress, not a time, so that a seed
leads to about the same points again.
"""

import os
import random
import re
import signal
import subprocess
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import httpx
import psutil
import typer

from lab import cli, demo, engine
from lab.cluster import client, parts, record
from lab.cluster.crds import Definitions
from lab.cluster.layout import Layout
from lab.end_states import EndState, differences, end_state, objects
from lab.errors import LabError
from lab.folders import lab_folder
from lab.project import STACK, Project, make_whole

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)

LAB = "soak"
UP = ("up", "--yes", "--skip-preview")
DESTROY = ("destroy", "--yes", "--skip-preview")
PROGRESS = r" (creating|created)\b"
"""Lines of an update that brings up what is not there: a request is on its way, or was answered."""

_PATIENCE_SECONDS = 60
_LAST_REQUEST_SECONDS = 5


class Way(StrEnum):
    """How an update is ended."""

    MACHINE = "everything killed at once, as when the machine stops"
    ENGINE = "the engine killed alone, so that its providers finish what they were asked for"
    INTERRUPT = "interrupted, as by Ctrl-C"


def cut_off(project: Project, pattern: str, count: int, way: Way) -> bool:
    """Start an update and end it once so many lines matched a pattern. No process of it is left.

    Args:
        project: A project with a selected stack.
        pattern: What lines of progress look like.
        count: How many.
        way: How it is ended.

    Returns:
        Whether there were so many lines; if not, the update ended by itself.
    """
    process = subprocess.Popen(
        project.command(*UP),
        cwd=project.folder,
        env=dict(project.environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        process_group=0,
    )
    with process:
        reached = _reaches(process, pattern, count)
        if reached:
            _end(process, way)
    return reached


def recover(project: Project) -> None:
    """Go on after an update was cut off, as the documentation says.

    Raises:
        LabError: The engine reports a failure.
    """
    project.succeeds("cancel", "--yes")
    project.succeeds(*UP)
    project.succeeds("refresh", "--yes", "--skip-preview", "--clear-pending-creates")


def soak(project: Project, api: httpx.Client, points: int, seed: int) -> list[str]:
    """End updates at random points; say and return what ended otherwise than an undisturbed one.

    Args:
        project: A project with a selected and empty stack.
        api: A connection to the API server of its lab.
        points: How many.
        seed: Which.
    """
    chosen = random.Random(seed)  # noqa: S311 - for points that can be had again, not for secrets
    lines = len(re.findall(PROGRESS, project.succeeds(*UP)))
    undisturbed = end_state(project, api)
    kinds = {(one["apiVersion"], one["kind"]) for one in undisturbed.values() if "apiVersion" in one}
    project.succeeds(*DESTROY)
    empty = objects(api, kinds)
    findings = []
    for number in range(1, points + 1):
        count, way = chosen.randint(1, lines), chosen.choice(list(Way))
        typer.echo(f"{number}/{points}: after {count} of about {lines} lines, {way}")
        found = _disturbed(project, api, count, way, undisturbed)
        found += differences(empty, objects(api, kinds))
        for one in found:
            typer.echo(one)
        findings += found
    return findings


@app.command()
def main(
    points: Annotated[int, typer.Option(min=1, help="How many updates are ended.")] = 20,
    seed: Annotated[int | None, typer.Option(help="Where: the same number leads to the same points.")] = None,
) -> None:
    """End updates of the whole local stack at random points, and compare what the next ones end in."""
    chosen = random.SystemRandom().randrange(10**6) if seed is None else seed
    typer.echo(f"Seed {chosen}; again with: python -m lab.soak --points {points} --seed {chosen}")
    layout = Layout(lab_folder(LAB))
    try:
        cli.up(name=LAB, node_specs=[demo.NODES], bare=True)
        known = record.load(layout)
        if known is None:
            raise LabError("The lab has gone in the meantime.", "Run `make soak` again.")
        environment = os.environ | engine.environment(layout, os.environ.get("PATH", ""))
        with tempfile.TemporaryDirectory() as folder, client.connect(layout, known.ports[parts.API_PORT]) as api:
            project = Project(Path(folder) / "project", environment)
            project = make_whole(project, Path(folder) / "backend", Definitions())
            project.succeeds("stack", "select", "--create", STACK)
            findings = soak(project, api, points, chosen)
    finally:
        cli.down(name=LAB, keep=False)
    if findings:
        raise LabError("Updates that were cut off ended in another state.", "Where stands above, after each point.")
    typer.echo(f"{points} updates were cut off; each ended like the undisturbed one, and left nothing when destroyed.")


def _disturbed(project: Project, api: httpx.Client, count: int, way: Way, undisturbed: EndState) -> list[str]:
    """Cut off one update, go on, and destroy; return what is not as it should be."""
    try:
        cut_off(project, PROGRESS, count, way)
        recover(project)
        found = differences(undisturbed, end_state(project, api))
        project.succeeds(*DESTROY)
    except LabError as error:
        # So that the other points are tried, too.
        project.pulumi("cancel", "--yes")
        project.pulumi(*DESTROY)
        return [f"{error.sentence}\n{error.detail}"]
    return found


def _reaches(process: "subprocess.Popen[str]", pattern: str, count: int) -> bool:
    if process.stdout is None:
        raise AssertionError("its output is read")
    for line in process.stdout:
        count -= bool(re.search(pattern, line))
        if count <= 0:
            return True
    return False


def _end(process: "subprocess.Popen[str]", way: Way) -> None:
    """End an update. Its providers and its program are in process groups of their own."""
    others = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT if way is Way.INTERRUPT else signal.SIGKILL)
    if way is not Way.MACHINE:
        process.communicate(timeout=_PATIENCE_SECONDS)
        # The provider of Kubernetes stays for good where nobody ends it.
        psutil.wait_procs(others, timeout=_LAST_REQUEST_SECONDS)
    for other in others:
        if other.is_running():
            other.kill()
    psutil.wait_procs(others, timeout=_PATIENCE_SECONDS)


if __name__ == "__main__":
    cli.run(app)
