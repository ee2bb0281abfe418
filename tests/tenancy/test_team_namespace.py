"""The component registers the objects of a team, the namespace first."""

from typing import Any

import pytest

from pulumi_lws.checking.schemas import schemas_for
from pulumi_lws.component import DeclarationError
from pulumi_lws.platform.checks import deployments_of
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.tenancy.component import TeamNamespace, TeamNamespaceArgs
from pulumi_lws.tenancy.manifests import team_objects
from pulumi_lws.tenancy.settings import Team
from pulumi_lws.tenancy.workloads import of_deployment
from pulumi_lws.testing.monitor import Registration, record
from tests.serving.stacks import stack

RAW: dict[str, Any] = {
    "editors": ["search-engineers"],
    "viewers": ["everybody", "auditors"],
    "serviceAccounts": ["reader"],
    "containerDefaults": {"milliCpus": 50, "memoryMib": 64},
}
DEPLOYMENTS = deployments_of(PlatformArgs.model_validate(stack("llama-3.3-70b", name="llama")))
WORKLOADS = tuple(map(of_deployment, DEPLOYMENTS.values()))


def registered(team: dict[str, Any], *, preview: bool = False) -> list[Registration]:
    def program() -> None:
        TeamNamespace("env-search", TeamNamespaceArgs("search", team, DEPLOYMENTS))

    return record(program, preview=preview)


@pytest.mark.parametrize("preview", [True, False])
def test_the_objects_are_registered_as_they_were_rendered(preview: bool) -> None:
    manifests = team_objects("search", Team.model_validate(RAW), WORKLOADS)
    found = registered(RAW, preview=preview)
    assert [one.type for one in found[:2]] == ["lws:index:TeamNamespace", "kubernetes:core/v1:Namespace"]
    assert {one.name: dict(one.inputs) for one in found[1:]} == {
        f"env-search-{key}": manifest for key, manifest in manifests.items()
    }


def test_what_exists_already_is_patched() -> None:
    def patched(team: dict[str, Any]) -> set[str]:
        return {one.name for one in registered(team) if one.type.endswith("Patch")}

    assert patched({}) == {"env-search-default-account"}
    assert patched({"adopt": True}) == {"env-search-default-account", "env-search-namespace"}


def test_a_team_whose_deployments_would_not_run_stops_the_program() -> None:
    with pytest.raises(DeclarationError, match="Team search has 1 problem"):
        registered({"quota": {"gpus": 1}})


def test_rights_defaults_and_accounts_are_as_declared() -> None:
    objects = team_objects("search", Team.model_validate(RAW | {"namespace": "search-prod"}))
    in_namespace = {key: one for key, one in objects.items() if key != "namespace"}
    assert {one["metadata"]["namespace"] for one in in_namespace.values()} == {"search-prod"}
    assert objects["namespace"]["metadata"]["name"] == "search-prod"
    assert objects["defaults"]["spec"]["limits"] == [
        {
            "type": "Container",
            "defaultRequest": {"cpu": "50m", "memory": "64Mi"},
            "default": {"memory": "64Mi"},
        }
    ]
    group = "rbac.authorization.k8s.io"
    bindings = {
        key: (objects[key]["roleRef"], [subject["name"] for subject in objects[key]["subjects"]])
        for key in ("edit", "view")
    }
    assert bindings == {
        "edit": ({"apiGroup": group, "kind": "ClusterRole", "name": "edit"}, ["search-engineers"]),
        "view": ({"apiGroup": group, "kind": "ClusterRole", "name": "view"}, ["everybody", "auditors"]),
    }
    accounts = {one["metadata"]["name"]: one for one in objects.values() if one["kind"] == "ServiceAccount"}
    assert {name: one["automountServiceAccountToken"] for name, one in accounts.items()} == {
        "default": False,
        "reader": False,
    }


def test_nothing_is_closed_where_the_network_is_left_alone() -> None:
    kinds = [one["kind"] for one in team_objects("search", Team(network=None)).values()]
    assert kinds == ["Namespace", "ResourceQuota", "LimitRange", "ServiceAccount"]


def test_every_object_has_the_shape_that_the_api_wants() -> None:
    schemas = schemas_for((1, 35))
    for manifest in team_objects("search", Team.model_validate(RAW), WORKLOADS).values():
        definition = schemas.definition_of(manifest["apiVersion"], manifest["kind"])
        assert definition
        assert schemas.problems(manifest, definition) == []
