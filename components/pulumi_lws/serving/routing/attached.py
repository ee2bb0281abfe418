"""What routing adds to the pods of a role: labels that the router reads, and the sidecar of pods that decode.

Roles of other deployments get nothing.
"""

import hashlib
import json
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.serving.roles import API_PORT, Role
from pulumi_lws.serving.routing import sidecar
from pulumi_lws.serving.settings import DisaggregatedVllmArgs

_ALIKE = {"model", "served_model_name", "engine", "source", "kv_cache_dtype", "transfer"}
"""Fields of a deployment that its roles must have alike at any time, beside the image."""


def serving_labels(role: Role) -> dict[str, str]:
    """Return the labels by which the router tells pods that answer requests apart."""
    if not isinstance(role.deployment, DisaggregatedVllmArgs):
        return {}
    return {labels.LLM_D_ROLE: role.name, labels.REVISION: revision(role)}


def serving_selector(args: DisaggregatedVllmArgs) -> dict[str, str]:
    """Return the labels of the pods of both roles that answer requests."""
    return {labels.DEPLOYMENT: args.name, labels.SERVES: "true"}


def revision(role: Role) -> str:
    """Return the hash of what two pods must have alike to share a request.

    It stands in the templates of both roles, so a change of any of it rolls both, while a change of one role's split,
    copies or pool leaves the other alone. What users add to either role counts too: it may set a block size or an
    attention backend.
    """
    args = role.deployment
    if not isinstance(args, DisaggregatedVllmArgs):
        return ""
    shared = args.model_dump(mode="json", include=_ALIKE)
    added = [
        settings.model_dump(mode="json", include={"extra_arguments", "environment", "secret_environment"})
        for settings in (args.prefill, args.decode)
    ]
    text = json.dumps([role.launch.image, shared, added], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def sidecars(role: Role) -> list[dict[str, Any]]:
    """Return the containers that go before the engine of a pod that answers requests."""
    args = role.deployment
    if not isinstance(args, DisaggregatedVllmArgs) or role.name != "decode":
        return []
    return [
        sidecar.container(
            image=args.sidecar_image or sidecar.default_image(),
            port=API_PORT,
            engine_port=role.launch.api_port,
            pool=f"{args.namespace}/{args.name}" if watches_pool(role) else None,
        )
    ]


def volumes(role: Role) -> list[dict[str, Any]]:
    """Return the volumes that ``sidecars`` mount."""
    return [sidecar.credentials()] if watches_pool(role) else []


def service_account(role: Role) -> str | None:
    """Return the ServiceAccount of a role's pods: the one that its weights need, or one for the sidecar."""
    return role.loading.service_account or (role.workload if watches_pool(role) else None)


def affinity(role: Role) -> dict[str, Any]:
    """Return the affinity of the pods of both roles to one zone, which EFA traffic does not leave.

    The first of them may stand in any zone, since it matches its own term.
    """
    if not isinstance(role.deployment, DisaggregatedVllmArgs) or not role.launch.has_efa:
        return {}
    term = {"topologyKey": labels.ZONE, "labelSelector": {"matchLabels": serving_selector(role.deployment)}}
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def watches_pool(role: Role) -> bool:
    """Tell whether the sidecars of a role must know which pods may compute prompts.

    A Gateway passes on the header that says it, a client's own as well. The Envoy of a standalone router takes it away.
    """
    args = role.deployment
    if not isinstance(args, DisaggregatedVllmArgs) or args.router is None:
        return False
    return role.name == "decode" and args.router.kind == "gateway"
