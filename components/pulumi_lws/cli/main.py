"""The command ``lws``: a registry of its commands, which load what they need when they run."""

from typing import Annotated

import typer

from pulumi_lws.cli.check import check
from pulumi_lws.cli.ci import ci
from pulumi_lws.cli.plan import plan
from pulumi_lws.cli.policies import policies
from pulumi_lws.cli.report import report
from pulumi_lws.cli.schema import schema

app = typer.Typer(
    name="lws", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
)
app.command()(plan)
app.command()(check)
app.command()(report)
app.command()(schema)
app.command()(policies)
app.add_typer(ci, name="ci")


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib import metadata  # noqa: PLC0415 - takes as long as all the rest of this module

        typer.echo(metadata.version("pulumi-lws"))
        raise typer.Exit


@app.callback()
def lws(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Plan and check deployments of LeaderWorkerSets before they reach a cluster."""
