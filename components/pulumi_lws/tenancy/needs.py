"""Which level of the Pod Security Standards the deployments of a team need, and which of their settings say so."""

from collections.abc import Iterable, Iterator

from pulumi_lws.serving.pods import ENGINE_CONTAINER
from pulumi_lws.serving.settings import DeploymentArgs
from pulumi_lws.tenancy.demand import pods_of
from pulumi_lws.tenancy.pod_security import LEVELS, Violation, strictest, violations
from pulumi_lws.tenancy.settings import Level

_OF_VOLUMES = {"models": "source.path", "compiled": "compileCache.path"}
"""Settings that volumes of ours come from."""

_OF_CONTAINERS = {ENGINE_CONTAINER: "privileges"}
"""Settings that decide what containers of ours may do."""


def level_of(deployments: Iterable[DeploymentArgs]) -> Level:
    """Return the strictest level that all pods of these deployments keep."""
    return strictest([found for args in deployments for found in _violations(args)])


def reason(deployments: Iterable[DeploymentArgs]) -> str:
    """Say why pods of these deployments need the level that they need; empty where they keep the strictest."""
    deployments = tuple(deployments)
    level = level_of(deployments)
    if level == LEVELS[-1]:
        return ""
    parts = [f"{args.name}: {', '.join(said)}" for args in deployments if (said := _fields_beyond(args, level))]
    return f"{level}, because of {'; '.join(parts)}"


def _fields_beyond(args: DeploymentArgs, level: Level) -> list[str]:
    """Return the settings of a deployment that no stricter level than this allows, each with what it does."""
    found = [one for one in _violations(args) if LEVELS.index(one.level) <= LEVELS.index(level)]
    return list(dict.fromkeys(f"{_field(one, args)} ({one.what})" for one in found))


def _violations(args: DeploymentArgs) -> Iterator[Violation]:
    for pods in pods_of(args):
        yield from violations(pods.spec)


def _field(violation: Violation, args: DeploymentArgs) -> str:
    """Return the setting that a violation comes from; the name of the container where it is of ours alone."""
    name = violation.name
    if violation.part == "pod":
        return "hostNetwork"
    added, field, own = {
        "volume": (args.volumes, "volumes", _OF_VOLUMES),
        "container": (args.sidecars, "sidecars", _OF_CONTAINERS),
    }[violation.part]
    index = next((index for index, one in enumerate(added) if one["name"] == name), None)
    return own.get(name, name) if index is None else f"{field}[{index}]"
