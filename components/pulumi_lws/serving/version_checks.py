"""Whether the cluster knows what a deployment is rendered to, said of the versions that were declared.

What users write into pods themselves is judged by the schemas of their version, see ``raw_checks``.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pulumi_lws.planning.problems import Problem
from pulumi_lws.rules.rule import major_and_minor
from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.routing import attached
from pulumi_lws.serving.settings import DeploymentArgs

Version = tuple[int, int]
"""Major and minor version."""


@dataclass(frozen=True)
class Need:
    """Something that older versions do not have, or do wrong.

    Attributes:
        of: What has the versions.
        since: First version that will do.
        what: What it is for, in words.
        used_by: Whether a role needs it.
        instead: What to declare on an older version; empty where nothing does without.
    """

    of: Literal["lws", "kubernetes"]
    since: Version
    what: str
    used_by: Callable[[Role], bool]
    instead: str = ""


NEEDS: tuple[Need, ...] = (
    # An older one also finishes no rollout while old groups are unready. https://github.com/kubernetes-sigs/lws/issues/732
    Need("lws", (0, 8), "groups that are made anew under their name", lambda role: not role.is_deployment),
    # https://github.com/kubernetes-sigs/lws/issues/776
    Need(
        "lws",
        (0, 9),
        "rollouts that only add copies",
        lambda role: not role.is_deployment and role.surge > 0,
        "set surge to 0",
    ),
    # Kinds and fields stand in ``facts/features.py``; the names of its groups, which autoscalers read, are new as well.
    Need(
        "lws",
        (0, 10),
        "the roles of a DisaggregatedSet",
        lambda role: role.is_scaled_by_role,
        "set backend to leader-worker-sets",
    ),
    Need("kubernetes", (1, 27), "budgets that let pods go which do not serve", lambda _: True),
    Need(
        "kubernetes", (1, 29), "a routing sidecar that outlives its engine", lambda role: bool(attached.sidecars(role))
    ),
    Need("kubernetes", (1, 30), "pods that go on for some seconds after they were told to stop", lambda _: True),
    Need(
        "kubernetes",
        (1, 31),
        "groups that share no island with those of other namespaces",
        lambda role: role.is_on_islands,
    ),
)
"""The one table of what needs which version. Kubernetes counts from where a field is served without a feature gate:
``unhealthyPodEvictionPolicy``, init containers that keep running, ``preStop.sleep`` and ``mismatchLabelKeys``."""

_NAMES = {"lws": ("lwsVersion", "LWS"), "kubernetes": ("kubernetesVersion", "Kubernetes")}


def version_problems(args: DeploymentArgs, roles: Sequence[Role]) -> Iterator[Problem]:
    """Return what the declared versions lack; paths start at the deployment."""
    for of, declared in (("lws", args.lws_version), ("kubernetes", args.kubernetes_version)):
        ours = major_and_minor(declared)
        missing = [
            need for need in NEEDS if need.of == of and ours < need.since and any(need.used_by(role) for role in roles)
        ]
        if missing:
            yield _problem(of, declared, missing)


def _problem(of: str, declared: str, missing: Sequence[Need]) -> Problem:
    path, name = _NAMES[of]
    newest = _text(max(need.since for need in missing))
    why = ", ".join(f"{need.what} ({_text(need.since)})" for need in missing)
    ways = [f"Upgrade {name} to {newest} or later"]
    if all(need.instead for need in missing):
        ways += [need.instead for need in missing]
    return Problem(path, declared, f"{newest} or later: this deployment has {why}", f"{', or '.join(ways)}.")


def _text(version: Version) -> str:
    return ".".join(map(str, version))
