"""``lws report``: what a change does to running models, GPUs and money, for whoever reviews it."""

from enum import StrEnum
from typing import Annotated

import typer


class Format(StrEnum):
    """Forms of the report."""

    MD = "md"
    JSON = "json"


def report(
    *,
    file: Annotated[
        str,
        typer.Argument(metavar="PREVIEW", help="What `pulumi preview --json` printed; - for standard input."),
    ] = "-",
    base: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The preview of the base. Default: compare with what runs."),
    ] = None,
    policies: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Events of a preview that tell what policies found, where PREVIEW does not."),
    ] = None,
    price_file: Annotated[
        str | None, typer.Option("--prices", metavar="FILE", help="YAML: dollars per hour by instance type.")
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option("--price", metavar="TYPE=DOLLARS", help="Dollars per hour of a type, such as p5.48xlarge=39.8."),
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="Form of the report.")] = Format.MD,
    longest: Annotated[
        int, typer.Option("--max-length", min=1000, metavar="CHARACTERS", help="Longest Markdown that the forge takes.")
    ] = 65536,
) -> None:
    """Say what a change does: which models restart, GPUs, nodes and cost before and after, policies and problems.

    Needs no cluster, no account and no passphrase, and shows no secret. Exit code 0: it can be applied; 1: the preview
    failed, or a mandatory policy does not hold; 2: something cannot be read.
    """
    # Loaded here, so that help and completion are quick.
    from pulumi_lws.cli.stream import deliver  # noqa: PLC0415
    from pulumi_lws.reporting.formats import json, md  # noqa: PLC0415
    from pulumi_lws.reporting.pricing import WrongPriceError, prices  # noqa: PLC0415
    from pulumi_lws.reporting.reading import UnreadablePreviewError, read_policies, read_preview  # noqa: PLC0415
    from pulumi_lws.reporting.report import OtherStackError, with_policies  # noqa: PLC0415
    from pulumi_lws.reporting.report import report as report_on  # noqa: PLC0415

    if [file, base, policies].count("-") > 1:
        raise typer.BadParameter("standard input can be read only once", param_hint="-")
    try:
        found = report_on(read_preview(file), read_preview(base) if base else None, prices(price_file, given or ()))
        if policies:
            found = with_policies(found, *read_policies(policies))
    except (UnreadablePreviewError, OtherStackError, WrongPriceError) as error:
        typer.echo(f"unreadable {error}", err=True)
        raise typer.Exit(2) from None
    text = json.render(found) if form is Format.JSON else md.render(found, longest)
    deliver(lambda stream: print(text, end="", file=stream))
    raise typer.Exit(0 if found.can_be_applied else 1)
