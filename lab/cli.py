"""The lab's command line: ``python -m lab build|up|down|status|env|seed``.

Results go to standard output, everything said on the way to standard error.
"""

import json
import os
import re
import signal
import time
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import Annotated, NoReturn

import httpx
import typer

from lab import charts, demo, engine
from lab.aws.cluster_access import ClusterAccess
from lab.aws.seeding import seed as seed_accounts
from lab.cluster import client, control_plane, nodes, parts, processes, record, report, status
from lab.cluster.crds import Definitions, Release, chosen_releases
from lab.cluster.layout import Layout
from lab.cluster.ports import LOOPBACK
from lab.errors import LabError
from lab.folders import DEFAULT_LAB, lab_folder
from lab.tools.given import LWS_CONTROLLER, given_controller
from lab.tools.obtain import obtain
from lab.tools.obtained import Obtained
from lab.tools.progress import reporter
from lab.tools.table import ALWAYS
from pulumi_lws.facts.versions import PINS

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


class ReportForm(StrEnum):
    """Forms of the status."""

    TEXT = "text"
    JSON = "json"


class EnvironmentForm(StrEnum):
    """Forms of the environment."""

    SHELL = "shell"
    JSON = "json"


def _checked_name(name: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,39}", name):
        raise typer.BadParameter("up to 40 lower-case letters, digits and hyphens, a hyphen not first")
    return name


Name = Annotated[str, typer.Option("--name", callback=_checked_name, metavar="NAME", help="Which lab.")]
Bare = Annotated[
    bool, typer.Option("--bare", help="Without the kinds of add-ons, for a program that brings them with their charts.")
]
WithKarpenter = Annotated[bool, typer.Option("--karpenter", help="With Karpenter, which adds fake nodes on demand.")]


@app.callback()
def _lab() -> None:
    """The real Pulumi engine on a real Kubernetes API server, on this machine alone."""


@app.command()
def build(name: Name = DEFAULT_LAB, karpenter: WithKarpenter = False) -> None:
    """Obtain the programs of a lab: found, downloaded, or else built, which takes half an hour once."""
    del name  # all labs share their programs; the option is there so that every command takes the same one
    for tool, obtained in _tools(karpenter=karpenter).items():
        typer.echo(f"{tool} {obtained.version} ({obtained.origin}): {obtained.folder}")


@app.command()
def up(
    name: Name = DEFAULT_LAB,
    node_specs: Annotated[
        list[str] | None,
        typer.Option(
            "--nodes",
            metavar="[POOL=]TYPE:[ISLANDSx]NODES",
            help="Fake nodes, such as p5=p5.48xlarge:1x2 (one island of two) or g6e.12xlarge:3. May be repeated.",
        ),
    ] = None,
    karpenter: WithKarpenter = False,
    bare: Bare = False,
    api_port: Annotated[int | None, typer.Option(min=1, max=65535, help="Port of the API server.")] = None,
) -> None:
    """Start a lab, or what lacks of it."""
    layout = Layout(lab_folder(name))
    fake_nodes = [*nodes.manifests(nodes.parse(node_specs or ())), nodes.system_manifest()]
    lws_controller = given_controller(os.environ)
    releases = _upstream_releases(lws_controller)
    known = record.load(layout)
    karpenter = karpenter or bool(known and known.karpenter)
    tools = _tools(karpenter=karpenter)
    if lws_controller:
        tools[LWS_CONTROLLER] = lws_controller
    if karpenter:
        own = tools["karpenter"]
        releases.append(Release("karpenter", own.version, own.folder / "crds", whole=True))
    if known and known.lws_controller and not lws_controller:
        typer.echo("LWS_LAB_CONTROLLER is not set any more: this lab goes on without that controller.", err=True)
    began = time.monotonic()
    charts.write(charts.FOLDER, Definitions(tuple(releases)))
    # A controller that runs in the lab itself needs its kinds from the start.
    left_out = charts.COMPONENTS - ({"lws"} if lws_controller else frozenset()) if bare else frozenset()
    wish = control_plane.Wish(
        tools,
        Definitions(tuple(releases), left_out),
        fake_nodes,
        karpenter=karpenter,
        lws_controller=bool(lws_controller),
        api_port=api_port,
    )
    outcome = control_plane.up(layout, wish, lambda sentence: typer.echo(sentence, err=True))
    engine.prepare(layout, tools["pulumi"], tools["kubernetes-provider"])
    for part, log_end in outcome.crashed.items():
        typer.echo(f"{part} had ended by itself and was started again. Its log had ended:\n{log_end}\n", err=True)
    address = f"https://{LOOPBACK}:{outcome.api_port}"
    if outcome.started:
        started = ", ".join(outcome.started)
        typer.echo(f"Lab {name} is up at {address} after {time.monotonic() - began:.1f} s; started {started}.")
    else:
        typer.echo(f"Lab {name} already runs at {address}; nothing to start.")
    with client.connect(layout, outcome.api_port) as api:
        names = [node["metadata"]["name"] for node in api.get(client.NODES).raise_for_status().json()["items"]]
    typer.echo(f"Its fake nodes: {', '.join(sorted(names))} ({nodes.SYSTEM_NODE} has no GPU).")


@app.command()
def down(
    name: Name = DEFAULT_LAB,
    keep: Annotated[bool, typer.Option("--keep", help="Keep its objects and stacks for a later up.")] = False,
) -> None:
    """Stop a lab and delete its state."""
    ran = control_plane.down(Layout(lab_folder(name)), keep=keep)
    stopped = f"stopped {', '.join(ran)}" if ran else "nothing ran"
    typer.echo(f"Lab {name} is down: {stopped}; its state is {'kept' if keep else 'deleted'}.")


@app.command(name="demo")
def show_demo(name: Name = DEFAULT_LAB) -> None:
    """Provision the local stack on a lab with two fake p5.48xlarge nodes, and show what it made."""
    up(name=name, node_specs=[demo.NODES], bare=True)
    layout = Layout(lab_folder(name))
    demo.provision(layout)
    demo.show(demo.read_back(layout), name)


@app.command(name="status")
def show_status(
    name: Name = DEFAULT_LAB,
    form: Annotated[ReportForm, typer.Option("--format", help="Form of the report.")] = ReportForm.TEXT,
) -> None:
    """Say what runs, with which versions, and what of it is a stand-in; exit 1 unless all runs."""
    found = status.look(Layout(lab_folder(name)))
    if found is None:
        raise _no_such_lab(name)
    typer.echo(report.as_text(found) if form is ReportForm.TEXT else json.dumps(report.as_data(found), indent=2))
    raise typer.Exit(0 if found.all_run else 1)


@app.command()
def env(
    name: Name = DEFAULT_LAB,
    form: Annotated[EnvironmentForm, typer.Option("--format", help="Form of the output.")] = EnvironmentForm.SHELL,
) -> None:
    """Print the variables with which pulumi and Kubernetes clients use the lab, for eval."""
    layout = Layout(lab_folder(name))
    if not any(found.part == parts.API_SERVER for found in processes.find(layout.folder)):
        raise _no_such_lab(name)
    variables = engine.environment(layout, os.environ.get("PATH", ""))
    text = engine.as_shell(variables) if form is EnvironmentForm.SHELL else json.dumps(variables, indent=2) + "\n"
    typer.echo(text, nl=False)


@app.command()
def seed(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="YAML: ARNs, and properties where they matter.")],
    name: Name = DEFAULT_LAB,
) -> None:
    """Make exist in the lab's AWS accounts what programs name and do not make, such as roles."""
    layout = Layout(lab_folder(name))
    if record.load(layout) is None:
        raise _no_such_lab(name)
    for arn in seed_accounts(file, layout.aws, ClusterAccess(layout.kubeconfig, layout.aws / "credential.json")):
        typer.echo(f"{arn} exists now.")


def main() -> None:
    """Run the command line."""
    run(app)


def run(command: Callable[[], object]) -> None:
    """Run a command; what people can act on is said without a traceback."""
    # By itself it would end Python on the spot, and with nobody to stop them compilers and half a lab would go on.
    signal.signal(signal.SIGTERM, _end)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        # An interrupt that reaches the end of Python unhandled ends it by the signal: no exit code, and no last words.
        signal.signal(signal.SIGINT, _end)
    try:
        command()
    except httpx.HTTPError as error:
        way_out = "See `python -m lab status`; `python -m lab down` and `up` start afresh."
        typer.echo(f"The lab's API server does not answer as it should.\n{way_out}\n{error}", err=True)
        raise SystemExit(1) from None
    except LabError as error:
        lines = [error.sentence, error.way_out, *([error.detail] if error.detail else [])]
        typer.echo("\n".join(lines), err=True)
        raise SystemExit(1) from None


def _end(number: int, _: FrameType | None) -> NoReturn:
    # The exit code by which shells tell that a signal ended a command.
    raise SystemExit(128 + number)


def _tools(*, karpenter: bool) -> dict[str, Obtained]:
    return obtain([*ALWAYS, *(["karpenter"] if karpenter else [])], reporter())


def _upstream_releases(lws_controller: Obtained | None) -> list[Release]:
    folder = os.environ.get("LWS_LAB_CRDS")
    versions = {name: pin.version for name, pin in PINS.items()}
    if lws_controller:
        versions["lws"] = lws_controller.version
    releases = chosen_releases(Path(folder), versions) if folder else []
    if lws_controller and not any(release.component == "lws" for release in releases):
        raise LabError(
            "The controller that LWS_LAB_CONTROLLER names cannot work without the upstream CRDs of LeaderWorkerSet.",
            f"Set LWS_LAB_CRDS to a folder with lws-{lws_controller.version}/*.yaml, or unset LWS_LAB_CONTROLLER.",
        )
    return releases


def _no_such_lab(name: str) -> LabError:
    return LabError(f"No lab called {name} runs.", f"Start it with `python -m lab up --name {name}`.")
