"""The API server keeps teams to what their objects say: quota, defaults and level of pods."""

import secrets
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import httpx
import pytest

from pulumi_lws.facts import labels
from pulumi_lws.platform.checks import deployments_of
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.tenancy.manifests import hard_limits, team_objects
from pulumi_lws.tenancy.pod_security import LEVELS
from pulumi_lws.tenancy.settings import ContainerDefaults, Team
from pulumi_lws.tenancy.workloads import Pods, TeamWorkload, of_deployment
from tests.serving.stacks import PACKED, stack
from tests.tenancy.pod_samples import SAMPLES
from tests.tenancy.residents import copies, service, smoke

pytestmark = pytest.mark.lab

Eventually = Callable[[Callable[[], Any], Any], None]

_COLLECTIONS = {
    "ResourceQuota": "api/v1/namespaces/{}/resourcequotas",
    "LimitRange": "api/v1/namespaces/{}/limitranges",
    "NetworkPolicy": "apis/networking.k8s.io/v1/namespaces/{}/networkpolicies",
    "RoleBinding": "apis/rbac.authorization.k8s.io/v1/namespaces/{}/rolebindings",
    "ServiceAccount": "api/v1/namespaces/{}/serviceaccounts",
}


@pytest.fixture
def team_of(api: httpx.Client, eventually: Eventually) -> Iterator[Callable[..., str]]:
    """Makes the objects of a team; gives its namespace once the quota counts."""
    made = []

    def make(team: Team, workloads: tuple[TeamWorkload, ...] = ()) -> str:
        name = f"team-{secrets.token_hex(3)}"
        objects = team_objects(name, team, workloads)
        api.post("/api/v1/namespaces", json=objects.pop("namespace")).raise_for_status()
        made.append(name)
        for manifest in objects.values():
            place = f"/{_COLLECTIONS[manifest['kind']].format(name)}/{manifest['metadata']['name']}"
            # As the provider does: the default account exists already, or soon.
            parameters = {"fieldManager": "tests", "fieldValidation": "Strict"}
            headers = {"Content-Type": "application/apply-patch+yaml"}
            api.patch(place, json=manifest, params=parameters, headers=headers).raise_for_status()
        quota = f"/api/v1/namespaces/{name}/resourcequotas/team"
        eventually(lambda: api.get(quota).json().get("status", {}).get("hard"), hard_limits(team.quota, workloads))
        return name

    yield make
    for name in made:
        api.delete(f"/api/v1/namespaces/{name}")


def post(api: httpx.Client, namespace: str, spec: Mapping[str, Any], **parameters: str) -> httpx.Response:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "pod-"}, "spec": dict(spec)}
    return api.post(f"/api/v1/namespaces/{namespace}/pods", json=pod, params=parameters)


def test_the_quota_holds_every_pod_of_a_rollout_and_none_more(api: httpx.Client, team_of: Callable[..., str]) -> None:
    router = {"kind": "gateway", "gateway": "public"}
    (args,) = deployments_of(PlatformArgs.model_validate(stack(PACKED, router=router))).values()
    own = (of_deployment(args), service(), copies(bucket=True), smoke())
    namespace = team_of(Team(), own)
    every = [pods for workload in own for pods in workload.pods]
    for account in {pods.spec.get("serviceAccountName", "default") for pods in every} - {"default"}:
        metadata = {"name": account}
        accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
        api.post(accounts, json={"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    answers = [post(api, namespace, pods.spec) for pods in every for _ in range(_count(pods))]
    assert [answer.json()["message"] for answer in answers if not answer.is_success] == []
    status = api.get(f"/api/v1/namespaces/{namespace}/resourcequotas/team").json()["status"]
    assert status["used"] == status["hard"]
    more = post(api, namespace, every[0].spec)
    assert more.status_code == 403
    assert "exceeded quota: team" in more.json()["message"]
    expose = {"type": "LoadBalancer", "ports": [{"port": 80}]}
    balanced = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "open"}, "spec": expose}
    opened = api.post(f"/api/v1/namespaces/{namespace}/services", json=balanced)
    assert "exceeded quota: team" in opened.json()["message"]


def _count(pods: Pods) -> int:
    return pods.serving + pods.rolling


def test_a_container_that_asks_for_nothing_gets_the_defaults(api: httpx.Client, team_of: Callable[..., str]) -> None:
    raw = {"quota": {"cpus": 1, "memoryGib": 1}, "podSecurity": "privileged"}
    defaults = ContainerDefaults(milli_cpus=50, memory_mib=64)
    namespace = team_of(Team.model_validate(raw).model_copy(update={"container_defaults": defaults}))
    made = post(api, namespace, {"containers": [{"name": "main", "image": "example.com/main:1"}]}).json()
    assert made["spec"]["containers"][0]["resources"] == {
        "requests": {"cpu": "50m", "memory": "64Mi"},
        "limits": {"memory": "64Mi"},
    }


@pytest.mark.parametrize("sample", SAMPLES)
def test_admission_judges_a_pod_as_we_do(api: httpx.Client, sample: str) -> None:
    level, spec = SAMPLES[sample]
    for other in LEVELS:
        namespace = f"level-{other}"
        metadata = {"name": namespace, "labels": {f"{labels.POD_SECURITY_PREFIX}enforce": other}}
        api.post("/api/v1/namespaces", json={"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
        account = f"/api/v1/namespaces/{namespace}/serviceaccounts"
        api.post(account, json={"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}})
        answer = post(api, namespace, spec, dryRun="All")
        allowed = LEVELS.index(other) <= LEVELS.index(level)
        assert answer.is_success == allowed, answer.json()["message"]
        assert allowed or "violates PodSecurity" in answer.json()["message"]
