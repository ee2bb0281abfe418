"""The whole local stack, from a cluster with nothing on it to one with nothing left on it."""

import base64
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lab.cluster.crds import Definitions, chosen_releases
from lab.cluster.kinds import KINDS
from lab.end_states import differences, objects
from lab.folders import PROJECT
from pulumi_lws.addons.catalogue import ADD_ONS
from pulumi_lws.facts.versions import PINS
from tests.lab.engine.played_controllers import CONTROLLED, FINALIZER, one_round, playing

pytestmark = pytest.mark.lab

UP = ("up", "--yes", "--skip-preview")
DESTROY = ("destroy", "--yes", "--skip-preview")
POLICIES = ("--policy-pack", str(PROJECT / "policies"))
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GPU_NODES = {"p5-0-0", "p5-0-1"}
PROGRESS = re.compile(r"^ \+  kubernetes:(?P<type>\S+) (?P<name>\S+) (?P<what>creating|created)\b", re.MULTILINE)
COMES_AND_GOES = {"events", "leases"}


def standing(lab: Any) -> set[str]:
    """Everything that the API server has, but what it notes about what it has."""
    found = set()
    with lab.api() as api:
        groups = api.get("/apis").raise_for_status().json()["groups"]
        for version in ["/api/v1", *(f"/apis/{group['preferredVersion']['groupVersion']}" for group in groups)]:
            for resource in api.get(version).raise_for_status().json()["resources"]:
                if "list" in resource["verbs"] and resource["name"] not in COMES_AND_GOES:
                    items = api.get(f"{version}/{resource['name']}").raise_for_status().json()["items"]
                    names = [(item["metadata"].get("namespace", ""), item["metadata"]["name"]) for item in items]
                    found |= {f"{resource['name']} {namespace}/{name}" for namespace, name in names}
    return found


def too_early(printed: str) -> tuple[set[str], list[str]]:
    """Kinds of add-ons among what an update made, and what it made before their definition and controllers stood."""
    made: dict[str, int] = {}
    began: list[tuple[int, str, str]] = []
    for number, line in enumerate(PROGRESS.finditer(printed)):
        if line["what"] == "created":
            made[line["name"].rpartition(":")[2]] = number
        else:
            began.append((number, line["type"], line["name"]))
    kinds, wrong = set(), []
    for number, token, name in began:
        for kind in KINDS:
            if token != f"{kind.group}/{kind.version}:{kind.kind}":
                continue
            [facts] = [facts for facts in ADD_ONS.values() if kind.name in facts.crds]
            controllers = [f"{facts.namespace}/{controller.partition('/')[2]}" for controller in facts.controllers]
            kinds.add(kind.kind)
            wrong += [
                f"{name} before {needed}"
                for needed in (kind.name, *controllers)
                if made.get(needed, len(printed)) > number
            ]
    return kinds, wrong


def nodes_of(lab: Any, namespace: str, daemon_set: str) -> set[str]:
    pods = lab.objects(f"/api/v1/namespaces/{namespace}/pods")
    owned = [pod for pod in pods if any(o["name"] == daemon_set for o in pod["metadata"].get("ownerReferences", []))]
    return {pod["spec"]["nodeName"] for pod in owned if pod["status"]["phase"] == "Running"}


def generations(lab: Any) -> dict[str, int]:
    """How often each controller and DaemonSet was changed."""
    items = [item for kind in ("deployments", "daemonsets") for item in lab.objects(f"/apis/apps/v1/{kind}")]
    return {f"{i['metadata']['namespace']}/{i['metadata']['name']}": i["metadata"]["generation"] for i in items}


def only_add_ons(project: Any, **add_ons: Any) -> None:
    """Declare a platform of nothing but add-ons."""
    platform = project.settings()
    common = {"charts": platform["addOns"]["charts"]}
    project.declare({"cluster": platform["cluster"], "addOns": common | add_ons})


def test_it_comes_up_in_order_and_goes_without_a_trace(
    bare_lab: Any, whole_stack: Any, wait_until: Callable[[Callable[[], bool]], None]
) -> None:
    before = standing(bare_lab)
    with playing(bare_lab) as held:
        printed = whole_stack.succeeds(*UP, *POLICIES)
        kinds, wrong = too_early(printed)
        assert wrong == []
        assert "LeaderWorkerSet" in kinds
        wait_until(lambda: {one.partition("/")[0] for one in held} >= kinds & {kind.kind for kind, _ in CONTROLLED})
        whole_stack.succeeds(*UP, *POLICIES, "--expect-no-changes")
        whole_stack.succeeds("refresh", "--yes", "--skip-preview", "--expect-no-changes")
        whole_stack.succeeds(*DESTROY)
    assert whole_stack.state() == {}
    # The garbage collector may still be at what it deletes behind its owners.
    wait_until(lambda: standing(bare_lab) == before)


def test_what_is_held_back_stays_once_its_controller_is_gone(bare_lab: Any, whole_stack: Any) -> None:
    """The test above can fail: had the controller gone first, its objects would hang."""
    only_add_ons(whole_stack, keepCrds=False, lws={})
    whole_stack.succeeds(*UP)
    [(kind, facts)] = [(kind, facts) for kind, facts in CONTROLLED if kind.kind == "LeaderWorkerSet"]
    collection = f"/apis/{kind.group}/{kind.version}/namespaces/default/{kind.plural}"
    manifest = {
        "apiVersion": f"{kind.group}/{kind.version}",
        "kind": kind.kind,
        "metadata": {"name": "one"},
        "spec": {},
    }
    with bare_lab.api() as api:
        api.post(collection, json=manifest).raise_for_status()
        assert one_round(api, kind, facts) == {"LeaderWorkerSet/one"}
        api.delete(f"/apis/apps/v1/namespaces/{facts.namespace}/deployments/lws-controller-manager").raise_for_status()
        api.delete(f"{collection}/one").raise_for_status()
        one_round(api, kind, facts)
        [left] = bare_lab.objects(collection)
        assert left["metadata"]["finalizers"] == [FINALIZER]
        api.patch(
            f"{collection}/one",
            json={"metadata": {"finalizers": None}},
            headers={"Content-Type": "application/merge-patch+json"},
        ).raise_for_status()


def test_a_change_of_one_add_on_rolls_that_one_and_a_password_stays(
    bare_lab: Any, whole_stack: Any, wait_until: Callable[[Callable[[], bool]], None]
) -> None:
    said = whole_stack.succeeds(*UP)
    secret = "/api/v1/namespaces/monitoring/secrets/grafana-admin"
    encoded = bare_lab.get(secret)["data"]["admin-password"]
    before = generations(bare_lab)

    platform = whole_stack.settings()
    platform["addOns"]["keda"]["values"] = {"tolerations": [{"operator": "Exists"}]}
    whole_stack.declare(platform)
    said += whole_stack.succeeds("preview", "--diff") + whole_stack.succeeds(*UP)
    after = generations(bare_lab)
    assert {name for name in before | after if before.get(name) != after.get(name)} == {
        f"keda/{controller.partition('/')[2]}" for controller in ADD_ONS["keda"].controllers
    }

    assert bare_lab.get(secret)["data"]["admin-password"] == encoded
    known = whole_stack.succeeds("stack", "export")
    assert "grafana-admin" in known
    for password in (encoded, base64.b64decode(encoded).decode()):
        assert len(password) >= 32
        assert password not in said + known

    def land(namespace: str, daemon_set: str) -> bool:
        return nodes_of(bare_lab, namespace, daemon_set) >= GPU_NODES

    wait_until(lambda: land("kube-system", "nvidia-device-plugin"))
    wait_until(lambda: land("kube-system", "aws-efa-k8s-device-plugin"))
    wait_until(lambda: land("monitoring", "dcgm-exporter"))
    assert nodes_of(bare_lab, "kube-system", "nvidia-device-plugin") == GPU_NODES


def test_an_upgrade_that_breaks_what_runs_needs_a_word(whole_stack: Any) -> None:
    only_add_ons(whole_stack, keepCrds=False, lws={"version": "0.7.0"})
    whole_stack.succeeds(*UP)
    only_add_ons(whole_stack, keepCrds=False, lws={"version": "0.10.0"})
    for command in (("preview",), UP):
        said = " ".join(whole_stack.fails(*command).split())
        assert "version: found 0.10.0 while 0.7.0 runs" in said
        assert "helm.sh/resource-policy=keep" in said
        assert "Then set confirmUpgradeTo: 0.10.0." in said
    only_add_ons(whole_stack, keepCrds=False, lws={"version": "0.10.0", "confirmUpgradeTo": "0.10.0"})
    whole_stack.succeeds("preview")
    whole_stack.succeeds(*UP)
    only_add_ons(whole_stack, keepCrds=False, lws={"version": "0.10.0"})
    whole_stack.succeeds("preview")


def test_definitions_stay_with_their_objects_unless_they_are_to_go(bare_lab: Any, whole_stack: Any) -> None:
    def definitions() -> set[str]:
        names = {one["metadata"]["name"] for one in bare_lab.objects(CRDS)}
        return names & set(ADD_ONS["lws"].crds)

    brought = {kind.name for kind in KINDS} & set(ADD_ONS["lws"].crds)
    only_add_ons(whole_stack, lws={})
    whole_stack.succeeds(*UP)
    whole_stack.succeeds(*DESTROY)
    assert definitions() == brought
    only_add_ons(whole_stack, lws={}, keepCrds=False)
    whole_stack.succeeds(*UP)
    whole_stack.succeeds(*DESTROY)
    assert definitions() == set()


def test_it_comes_up_with_the_definitions_of_upstream(bare_lab: Any, make_whole_stack: Any) -> None:
    folder = os.environ.get("LWS_LAB_CRDS")
    if not folder:
        pytest.skip("LWS_LAB_CRDS names no folder with upstream CRDs")
    releases = chosen_releases(Path(folder), {name: pin.version for name, pin in PINS.items()})
    one = make_whole_stack(Definitions(tuple(releases)))
    one.succeeds(*UP, *POLICIES)
    one.succeeds("preview", "--expect-no-changes", *POLICIES)
    kind = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    with bare_lab.api() as api:
        stored = objects(api, [kind])
    one.succeeds("refresh", "--yes", "--skip-preview", "--expect-no-changes")
    with bare_lab.api() as api:
        assert differences(stored, objects(api, [kind])) == []
    sources = {key: one["metadata"]["annotations"]["pulumi-lws/crd-source"] for key, one in stored.items()}
    assert sources["CustomResourceDefinition leaderworkersets.leaderworkerset.x-k8s.io"] == "lws-0.10.0"
    one.succeeds(*DESTROY)
