"""Rule: Kubernetes objects are applied by the server."""

from collections.abc import Iterable
from typing import Any

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.rule import Context, RegisteredObject, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_PROVIDER = "pulumi:providers:kubernetes"
_PATH = "enableServerSideApply"
_FIX = "Make one explicit kubernetes.Provider with enable_server_side_apply=True and pass it to every object."

_EKS_CLUSTER = "eks:index:Cluster"
"""Component of pulumi-eks. The provider that it makes for itself sets no switch, which means on, and takes none."""

_COMPONENTS = {"helm.sh/Chart", "yaml/ConfigGroup", "yaml/ConfigFile", "kustomize/Directory"}
"""Components of the package. They have no provider themselves; the objects below them do, and are judged."""


def _applies(subject: RegisteredObject) -> bool:
    if subject.type == _PROVIDER:
        return not _is_default(subject.name)
    return subject.type.startswith("kubernetes:") and subject.kind not in _COMPONENTS


def _is_default(provider_name: str) -> bool:
    """Tell whether the engine made a provider by itself: it calls that one ``default_4_34_2``."""
    return provider_name == "default" or provider_name.startswith("default_")


def _check(subject: RegisteredObject, _context: Context) -> Iterable[Problem]:
    if subject.type == _PROVIDER:
        is_silent = _EKS_CLUSTER in subject.parent_types and _PATH not in subject.properties
        yield from () if is_silent else _check_switch(value_at(subject.properties, _PATH))
    elif not subject.provider_name or _is_default(subject.provider_name):
        yield Problem(
            "provider",
            "the default provider, which takes its cluster and its settings from the machine it runs on",
            "an explicit provider",
            _FIX,
        )


def _check_switch(switch: Any) -> Iterable[Problem]:
    if switch is UNKNOWN:
        yield unseen(_PATH, "whether objects are applied by the server")
    # Provider properties travel as text. Absent means on, unless the environment of the machine says otherwise.
    elif str(switch).lower() != "true":
        yield Problem(_PATH, "nothing" if switch is None else str(switch).lower(), "true", _FIX)


SERVER_SIDE_APPLY = Rule(
    name="server-side-apply",
    title="Kubernetes objects are applied by the server, through an explicit provider.",
    why=(
        "Client-side apply cannot hold the LeaderWorkerSet CRDs (metadata.annotations: Too long,"
        " https://github.com/kubernetes-sigs/lws/issues/366) and fights controllers and autoscalers over fields."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=_applies,
    check=_check,
    house=True,
    of_programs=True,
)
