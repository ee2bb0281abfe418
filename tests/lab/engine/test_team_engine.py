"""A team on the real engine and API server: what exists already is changed and stays, the rest comes and goes."""

import json
from typing import Any

import pytest

pytestmark = pytest.mark.lab

PROGRAM = """
import json
from pathlib import Path

import pulumi
import pulumi_kubernetes
from pulumi_lws.tenancy.component import TeamNamespace, TeamNamespaceArgs

provider = pulumi_kubernetes.Provider("lab", context="pulumi-lws-lab", enable_server_side_apply=True)
args = TeamNamespaceArgs("search", json.loads(Path("team.json").read_text()))
TeamNamespace("env-search", args, pulumi.ResourceOptions(providers=[provider]))
"""
UP = ("up", "--yes", "--skip-preview")
LEVEL = "pod-security.kubernetes.io/enforce"


@pytest.mark.parametrize("adopt", [False, True])
def test_a_team_comes_changes_and_goes(adopt: bool, lab: Any, project: Any) -> None:
    name = f"search-{str(adopt).lower()}"
    one = project(PROGRAM)

    def declare(**team: Any) -> None:
        team |= {"namespace": name, "adopt": adopt, "editors": ["search-engineers"], "serviceAccounts": ["reader"]}
        (one.folder / "team.json").write_text(json.dumps(team))

    def labels() -> dict[str, str]:
        found = [space["metadata"] for space in lab.objects("/api/v1/namespaces") if space["metadata"]["name"] == name]
        return dict(found[0].get("labels", {})) if found else {}

    if adopt:
        with lab.api() as api:
            api.post("/api/v1/namespaces", json={"metadata": {"name": name, "labels": {"owner": "else"}}})
    declare(quota={"gpus": 8, "cpus": 100, "memoryGib": 2048})
    one.succeeds("preview")
    one.succeeds(*UP)
    one.succeeds("preview", "--expect-no-changes")
    one.succeeds("refresh", "--yes", "--skip-preview", "--expect-no-changes")
    assert labels()[LEVEL] == "restricted"
    account = lab.get(f"/api/v1/namespaces/{name}/serviceaccounts/default")
    assert account["automountServiceAccountToken"] is False
    assert len(lab.objects(f"/apis/networking.k8s.io/v1/namespaces/{name}/networkpolicies")) == 2
    declare(quota={"gpus": 16}, podSecurity="baseline", network=None)
    one.succeeds(*UP)
    assert labels()[LEVEL] == "baseline"
    hard = lab.get(f"/api/v1/namespaces/{name}/resourcequotas/team")["spec"]["hard"]
    assert hard["requests.nvidia.com/gpu"] == "16"
    assert lab.objects(f"/apis/networking.k8s.io/v1/namespaces/{name}/networkpolicies") == []
    one.succeeds("destroy", "--yes", "--skip-preview")
    if not adopt:
        assert labels() == {}
        return
    assert labels() == {"owner": "else", "kubernetes.io/metadata.name": name}
    assert lab.objects(f"/api/v1/namespaces/{name}/resourcequotas") == []
    account = lab.get(f"/api/v1/namespaces/{name}/serviceaccounts/default")
    assert "automountServiceAccountToken" not in account
