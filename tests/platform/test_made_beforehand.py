"""What a stack file needs before anything else runs is made by it: namespaces of gateways, and service accounts."""

from typing import Any

import pytest

from pulumi_lws.platform.checks import read
from pulumi_lws.platform.component import Platform
from pulumi_lws.testing.monitor import Registration, record
from tests.serving.stacks import stack

Raw = dict[str, Any]
EXISTING = {"kind": "existing", "name": "lab", "context": "pulumi-lws-lab"}
FOLDER = "/mnt/k8s-disks/0/models/llama"


def platform(**parts: Any) -> Raw:
    pools = {"p5": {"nodes": 8, "static": True}}
    return stack("llama-3.3-70b", name="chat", surge=0, pools=pools) | {"cluster": EXISTING} | parts


def gateway(namespace: str, **fields: Any) -> Raw:
    return {
        "namespace": namespace,
        "hosts": [{"hostname": f"{namespace}.example.com", "certificate": "llm"}],
        "authentication": {"kind": "api-keys", "secrets": ["keys"]},
        "routes": {"chat": {"deployment": "chat"}},
        **fields,
    }


def copied(account: str, **fields: Any) -> Raw:
    origin = {"kind": "s3", "uri": "s3://weights/llama"}
    return {"origin": origin, "sizeGb": 150, "serviceAccount": account, **fields}


def made(raw: Raw, kind: str) -> list[tuple[str | None, str]]:
    def program() -> None:
        Platform("env", raw)

    assert read(raw)[1] == []
    found: list[Registration] = [each for each in record(program) if each.type == f"kubernetes:core/v1:{kind}"]
    return [(one.inputs["metadata"].get("namespace"), one.inputs["metadata"]["name"]) for one in found]


@pytest.mark.usefixtures("kubeconfig")
def test_the_namespace_of_gateways_is_made_once_unless_something_else_makes_it() -> None:
    gateways = {
        "door": gateway("edge"),
        "second": gateway("edge", hosts=[{"hostname": "second.example.com", "certificate": "llm"}]),
        "ours": gateway("models"),
        "teams": gateway("ads"),
        "add-ons": gateway("envoy-gateway-system"),
        "there": gateway("doors", namespaceExists=True),
        "kubernetes": gateway("default"),
    }
    raw = platform(gateways=gateways, teams={"ads": {}}, addOns={"envoyGateway": {}})
    assert sorted(name for _, name in made(raw, "Namespace")) == ["ads", "edge", "envoy-gateway-system", "models"]


@pytest.mark.usefixtures("kubeconfig")
def test_a_service_account_that_copies_name_is_made_where_they_run_unless_somebody_else_makes_it() -> None:
    caches = {
        "nodeModels": {
            "llama": copied("weights-reader", pools=["p5"], path=FOLDER),
            "old": copied("remover", pools=["p5"], path=f"{FOLDER}-old", remove=True),
        },
        "sharedVolumes": {
            "weights": {"kind": "claim", "copies": {"llama": copied("default", path="llama")}},
            "for-ads": {"kind": "claim", "team": "ads", "copies": {"llama": copied("reader", path="llama")}},
            "listed": {"kind": "claim", "team": "news", "copies": {"llama": copied("reader", path="llama")}},
            "adopted": {"kind": "claim", "team": "search", "copies": {"llama": copied("reader", path="llama")}},
        },
    }
    teams = {"ads": {}, "news": {"serviceAccounts": ["reader"]}, "search": {"adopt": True}}
    # The team makes what it lists itself.
    assert sorted(made(platform(caches=caches, teams=teams), "ServiceAccount")) == [
        ("ads", "reader"),
        ("models", "remover"),
        ("models", "weights-reader"),
        ("news", "reader"),
    ]


@pytest.mark.usefixtures("kubeconfig")
def test_a_service_account_of_a_source_is_made() -> None:
    raw = platform()
    raw["deployments"]["chat"]["source"] = {"kind": "s3", "uri": "s3://weights/llama", "serviceAccount": "reader"}
    assert made(raw, "ServiceAccount") == [("models", "reader")]
