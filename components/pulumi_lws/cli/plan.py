"""``lws plan``: what a stack file or a deployment would put where, before anything is applied."""

from enum import StrEnum
from typing import Annotated

import typer


class Format(StrEnum):
    """Forms of a plan."""

    TEXT = "text"
    JSON = "json"
    SVG = "svg"


def plan(
    *,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A stack file, or the file of one deployment with its pools; - for standard input."
        ),
    ],
    form: Annotated[Format, typer.Option("--format", help="Form of the plan.")] = Format.TEXT,
    names: Annotated[
        list[str] | None, typer.Option("--name", metavar="NAME", help="Deployments to show. Default: all.")
    ] = None,
) -> None:
    """Show groups on nodes, memory, headroom, quota and start times of a stack, before anything is applied.

    Needs no cluster, no account and no passphrase. Exit code 0: it fits; 1: some problem is an error; 2: the file
    cannot be read.
    """
    # Loaded here, so that help and completion are quick.
    from datetime import date  # noqa: PLC0415

    from pulumi_lws.cli.drawing import draw  # noqa: PLC0415
    from pulumi_lws.cli.stream import deliver  # noqa: PLC0415
    from pulumi_lws.platform.files import UnreadableFileError, read_file  # noqa: PLC0415

    try:
        declared = read_file(file)
    except UnreadableFileError as error:
        typer.echo(f"unreadable {error}", err=True)
        raise typer.Exit(2) from None
    shown = frozenset(names or ())
    if unknown := sorted(shown - declared.deployments):
        there = ", ".join(sorted(declared.deployments)) or "none is declared"
        raise typer.BadParameter(f"{', '.join(unknown)}: choose from {there}", param_hint="--name")
    # The day is that of whoever reads the plan.
    found = declared.plan(date.today())  # noqa: DTZ011
    if shown:
        found = found.only(shown)
    deliver(lambda stream: draw(found, form, stream))
    raise typer.Exit(0 if found.is_applicable else 1)
