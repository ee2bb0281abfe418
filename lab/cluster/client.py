"""A small client of the lab's API server: just what bringing up and describing a lab needs.

The official client takes a second to import and to discover the API, which is a good part of the time that ``up`` may
take.
"""

import ssl
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import httpx

from lab.cluster import certificates
from lab.cluster.certificates import Identity
from lab.cluster.layout import Layout
from lab.cluster.ports import LOOPBACK
from lab.errors import LabError

Resource = tuple[str, str, str]
"""Group, version and plural."""

_MANAGER = "pulumi-lws-lab"
_CONCURRENCY = 4
_PATIENCE_SECONDS = 60
_DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_NAMES_ONLY = "application/json;g=meta.k8s.io;v=v1;as=PartialObjectMetadataList"

NODES = "/api/v1/nodes"
CUSTOM_RESOURCE_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
ROLE_BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
NODE_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
MUTATING_WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
VALIDATING_WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


def trust(layout: Layout, identity: Identity | None = None) -> ssl.SSLContext:
    """TLS settings that accept only servers that the lab's authority signed, as ``identity`` where one is given."""
    context = ssl.create_default_context(cafile=layout.certificate(certificates.CLUSTER_AUTHORITY))
    if identity:
        context.load_cert_chain(layout.certificate(identity.name), layout.key(identity.name))
    return context


def connect(layout: Layout, port: int, identity: Identity = certificates.ADMIN) -> httpx.Client:
    """Connection of ``identity`` to the API server; the caller closes it."""
    return httpx.Client(
        base_url=f"https://{LOOPBACK}:{port}",
        transport=PatientTransport(verify=trust(layout, identity), trust_env=False),
        timeout=30,
        trust_env=False,
    )


class PatientTransport(httpx.HTTPTransport):
    """Reads again what the API server cannot show just now.

    While it sets up a kind whose definition was just made, it answers 429 to whoever reads objects of it.
    https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go
    """

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a request."""
        for _ in _moments() if request.method == "GET" else ():
            answer = super().handle_request(request)
            if answer.status_code != httpx.codes.TOO_MANY_REQUESTS:
                return answer
            answer.close()
        return super().handle_request(request)


def apply(client: httpx.Client, collection: str, documents: Iterable[Mapping[str, Any]]) -> None:
    """Bring cluster-wide objects into the given state by server-side apply, several at a time.

    Raises:
        LabError: The API server refuses one.
    """

    def apply_one(document: Mapping[str, Any]) -> None:
        name = document["metadata"]["name"]
        answer = client.patch(
            f"{collection}/{name}",
            params={"fieldManager": _MANAGER, "force": "true"},
            headers={"Content-Type": "application/apply-patch+yaml"},
            json=document,
        )
        if answer.is_error:
            raise LabError(
                f"The lab's API server refuses {document['kind']} {name}.",
                "Repair the object; run `down` and `up` again if the lab itself made it.",
                answer.text,
            )

    with ThreadPoolExecutor(_CONCURRENCY) as pool:
        list(pool.map(apply_one, documents))


def delete(client: httpx.Client, path: str) -> None:
    """Delete an object or all objects of a collection, where there are any."""
    answer = client.delete(path)
    if answer.status_code != httpx.codes.NOT_FOUND:
        answer.raise_for_status()


def wait_until_served(client: httpx.Client, wanted: Iterable[Resource]) -> None:
    """Wait until the API server serves custom resources.

    Raises:
        LabError: Some are not served in time.
    """
    missing = set(wanted)
    for _ in _moments():
        missing -= _served(client)
        if not missing:
            return
    names = ", ".join(sorted(f"{plural}.{group}/{version}" for group, version, plural in missing))
    raise _too_late(f"does not serve {names}", "kube-apiserver")


def wait_until_pods_can_be_made(client: httpx.Client) -> None:
    """Wait until the controllers have made the service account without which the API server refuses every pod.

    Raises:
        LabError: They have not in time.
    """
    for _ in _moments():
        if client.get("/api/v1/namespaces/default/serviceaccounts/default").is_success:
            return
    raise _too_late("has no service account for pods", "kube-controller-manager")


def annotations(client: httpx.Client, collection: str) -> dict[str, dict[str, str]]:
    """Annotations of each object of a collection by its name, without loading the objects."""
    items = client.get(collection, headers={"Accept": _NAMES_ONLY}).raise_for_status().json()["items"]
    return {item["metadata"]["name"]: item["metadata"].get("annotations", {}) for item in items}


def _moments() -> Iterator[None]:
    """Moments to look again, until patience ends."""
    end = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < end:
        yield
        time.sleep(0.1)


def _too_late(lacks: str, part: str) -> LabError:
    return LabError(
        f"After {_PATIENCE_SECONDS} seconds the lab's API server {lacks}.",
        f"Look into the log of {part}; `down` and `up` start afresh.",
    )


def _served(client: httpx.Client) -> set[Resource]:
    with suppress(httpx.HTTPError):
        groups = client.get("/apis", headers={"Accept": _DISCOVERY}).raise_for_status().json()["items"]
        return {
            (group["metadata"]["name"], version["version"], resource["resource"])
            for group in groups
            for version in group["versions"]
            for resource in version["resources"]
        }
    return set()
