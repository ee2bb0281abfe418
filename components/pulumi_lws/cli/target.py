"""Options that say which cluster objects are meant for."""

from collections.abc import Sequence

import typer
from pydantic import TypeAdapter, ValidationError

from pulumi_lws.declarations import VersionText
from pulumi_lws.rules.rule import Target, Version, major_and_minor

GANGS = ("kueue", "volcano", "kai")
"""Schedulers of whole groups that rules know."""


def target_of(lws_version: str | None, kubernetes_version: str | None, gangs: Sequence[str], default: Target) -> Target:
    """Return the cluster that options name; each list of schedulers may hold several, with commas between.

    Args:
        lws_version: Version of LWS.
        kubernetes_version: Version of the cluster.
        gangs: Schedulers of whole groups.
        default: What counts where an option is not given.

    Raises:
        typer.BadParameter: An option is no version, or no scheduler that we know.
    """
    names = {name.strip() for part in gangs for name in part.split(",") if name.strip()}
    if unknown := sorted(names - set(GANGS)):
        raise typer.BadParameter(f"{', '.join(unknown)}: choose from {', '.join(GANGS)}", param_hint="--with")
    return Target(
        lws=_version("--lws-version", lws_version) if lws_version else default.lws,
        kubernetes=_version("--kubernetes-version", kubernetes_version) if kubernetes_version else default.kubernetes,
        gangs=frozenset(names) or default.gangs,
    )


def _version(option: str, text: str) -> Version:
    # A cluster says v1.35.4-eks-3025e55 of itself.
    plain = text.partition("-")[0].partition("+")[0]
    try:
        return major_and_minor(TypeAdapter(VersionText).validate_python(plain))
    except (ValidationError, ValueError):
        raise typer.BadParameter(f"{text}: write a version such as 0.10 or 1.35.4", param_hint=option) from None
