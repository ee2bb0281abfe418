"""``lws check``: existing manifests against the schemas of the API server and the rules of this library."""

from enum import StrEnum
from typing import Annotated

import typer

from pulumi_lws.rules.levels import Preset


class Format(StrEnum):
    """Forms of the report."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"


class FailOn(StrEnum):
    """The least severity that makes the command fail."""

    ERROR = "error"
    WARNING = "warning"


def check(
    *,
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...", help="Files, folders (*.yaml, *.yml, *.json below them), - for standard input."
        ),
    ],
    form: Annotated[Format, typer.Option("--format", help="Form of the report.")] = Format.TEXT,
    fail_on: Annotated[FailOn, typer.Option(help="Least severity that makes the command fail.")] = FailOn.ERROR,
    lws_version: Annotated[
        str | None, typer.Option(metavar="VERSION", help="Version of LWS in the cluster. Default: the newest known.")
    ] = None,
    kubernetes_version: Annotated[
        str | None, typer.Option(metavar="VERSION", help="Version of the cluster. Default: the newest tested.")
    ] = None,
    gangs: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="NAMES", help="What schedules whole groups there: kueue, volcano, kai."),
    ] = None,
    preset: Annotated[
        Preset, typer.Option(help="Which breaches of rules are errors: none, the grave ones, or all.")
    ] = Preset.STANDARD,
    config: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Levels, settings and exemptions: a file of --policy-pack-config."),
    ] = None,
) -> None:
    """Judge existing manifests: what the API server would refuse, and what it would take and you would regret.

    Exit code 0: nothing as bad as --fail-on; 1: some problem is; 2: something could not be read.
    """
    # Loaded here, so that help and completion are quick.
    from pulumi_lws.checking.configuration import ConfigurationError, read_configuration  # noqa: PLC0415
    from pulumi_lws.checking.judging import RULES_OF_FILES  # noqa: PLC0415
    from pulumi_lws.checking.judging import check as check_paths  # noqa: PLC0415
    from pulumi_lws.cli.output import write  # noqa: PLC0415
    from pulumi_lws.cli.stream import deliver  # noqa: PLC0415
    from pulumi_lws.cli.target import target_of  # noqa: PLC0415
    from pulumi_lws.planning.problems import Severity  # noqa: PLC0415

    try:
        configured = read_configuration(config, preset, RULES_OF_FILES)
    except ConfigurationError as error:
        raise typer.BadParameter(str(error), param_hint="--config") from None
    target = target_of(lws_version, kubernetes_version, gangs or [], configured.scope.target)
    report = check_paths(paths, target, configured.rules, configured.scope)
    deliver(lambda stream: write(report, form, stream))
    raise typer.Exit(report.exit_code(Severity(fail_on)))
