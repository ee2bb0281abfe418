"""The whole local stack, from a cluster with nothing on it to one with nothing left on it."""

import base64
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from lab.cluster.crds import Definitions
from lab.cluster.kinds import KINDS
from lab.end_states import items
from lab.folders import PROJECT
from pulumi_lws.addons.catalogue import ADD_ONS
from tests.lab.engine.played_controllers import CONTROLLED, playing

pytestmark = pytest.mark.lab

UP = ("up", "--yes", "--skip-preview")
DESTROY = ("destroy", "--yes", "--skip-preview")
POLICIES = ("--policy-pack", str(PROJECT / "tests" / "lab" / "strict"))
SECRET = "/api/v1/namespaces/monitoring/secrets/grafana-admin"
GPU_NODES = {"p5-0-0", "p5-0-1"}
PROGRESS = re.compile(r"^ \+  kubernetes:(?P<type>\S+) (?P<name>\S+) (?P<what>creating|created)\b", re.MULTILINE)
COMES_AND_GOES = {"events", "leases"}

WaitUntil = Callable[[Callable[[], bool]], None]


@dataclass(frozen=True)
class Life:
    """The whole stack, up.

    Attributes:
        stack: Its project.
        before: Everything that the API server had before it.
        printed: What its first update said.
        held: Objects that controllers hold back from going.
    """

    stack: Any
    before: set[str]
    printed: str
    held: set[str]


@pytest.fixture(scope="module")
def life(bare_lab: Any, whole_stack_with: Any) -> Iterator[Life]:
    """The whole stack through its life: the tests below stand in the order in which they happen."""
    before = standing(bare_lab)
    with playing(bare_lab) as held, whole_stack_with(Definitions()) as stack:
        yield Life(stack, before, stack.succeeds(*UP, *POLICIES), held)


def standing(lab: Any) -> set[str]:
    """Everything that the API server has, but what it notes about what it has."""
    found = set()
    with lab.api() as api:
        groups = api.get("/apis").raise_for_status().json()["groups"]
        for version in ["/api/v1", *(f"/apis/{group['preferredVersion']['groupVersion']}" for group in groups)]:
            for resource in items(api, version):
                if "list" in resource["verbs"] and resource["name"] not in COMES_AND_GOES:
                    listed = [item["metadata"] for item in items(api, f"{version}/{resource['name']}")]
                    found |= {f"{resource['name']} {one.get('namespace', '')}/{one['name']}" for one in listed}
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


def runs_on_gpu_nodes(lab: Any, namespace: str, daemon_set: str) -> bool:
    return nodes_of(lab, namespace, daemon_set) >= GPU_NODES


def generations(lab: Any) -> dict[str, int]:
    """How often each controller and DaemonSet was changed."""
    found = [*lab.objects("/apis/apps/v1/deployments"), *lab.objects("/apis/apps/v1/daemonsets")]
    return {f"{o['metadata']['namespace']}/{o['metadata']['name']}": o["metadata"]["generation"] for o in found}


def test_everything_of_an_add_on_comes_after_its_definition_and_its_controllers(life: Life) -> None:
    kinds, wrong = too_early(life.printed)
    assert wrong == []
    assert "LeaderWorkerSet" in kinds


def test_a_second_update_changes_nothing_whatever_controllers_have_done(life: Life, wait_until: WaitUntil) -> None:
    kinds = too_early(life.printed)[0] & {kind.kind for kind, _ in CONTROLLED}
    wait_until(lambda: {name.partition("/")[0] for name in life.held} >= kinds)
    life.stack.succeeds(*UP, *POLICIES, "--expect-no-changes")
    life.stack.succeeds("refresh", "--yes", "--skip-preview", "--expect-no-changes")


def test_plugins_of_devices_run_on_every_node_with_gpus(bare_lab: Any, life: Life, wait_until: WaitUntil) -> None:
    assert life.before
    for namespace, daemon_set in (
        ("kube-system", "nvidia-device-plugin"),
        ("monitoring", "dcgm-exporter"),
        ("kube-system", "aws-efa-k8s-device-plugin"),
    ):
        wait_until(partial(runs_on_gpu_nodes, bare_lab, namespace, daemon_set))
    assert nodes_of(bare_lab, "kube-system", "nvidia-device-plugin") == GPU_NODES


def test_values_of_an_add_on_roll_that_one_alone(bare_lab: Any, life: Life) -> None:
    before = generations(bare_lab)
    platform = life.stack.settings()
    platform["addOns"]["keda"]["values"] = {"tolerations": [{"operator": "Exists"}]}
    life.stack.declare(platform)
    life.stack.succeeds(*UP)
    after = generations(bare_lab)
    assert {name for name in before | after if before.get(name) != after.get(name)} == {
        f"keda/{controller.partition('/')[2]}" for controller in ADD_ONS["keda"].controllers
    }


def test_a_password_stays_and_is_never_said(bare_lab: Any, life: Life) -> None:
    encoded = bare_lab.get(SECRET)["data"]["admin-password"]
    said = life.printed + life.stack.succeeds("preview", "--diff", "--show-sames") + life.stack.succeeds(*UP)
    assert bare_lab.get(SECRET)["data"]["admin-password"] == encoded
    known = life.stack.succeeds("stack", "export")
    assert "grafana-admin" in known
    for password in (encoded, base64.b64decode(encoded).decode()):
        assert len(password) >= 32
        assert password not in said + known


def test_nothing_is_left_of_it_and_nothing_hangs(bare_lab: Any, life: Life, wait_until: WaitUntil) -> None:
    life.stack.succeeds(*DESTROY)
    assert life.stack.state() == {}
    # What goes with its owner goes a little later.
    wait_until(lambda: standing(bare_lab) == life.before)
