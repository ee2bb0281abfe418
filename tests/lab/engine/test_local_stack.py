"""The local stack through its whole life, on the real engine and a real API server."""

from typing import Any

import pytest

from lab.folders import PROJECT

pytestmark = pytest.mark.lab

POLICIES = ("--policy-pack", str(PROJECT / "tests" / "lab" / "strict"))
GROUPS = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/models/leaderworkersets"


def names(items: list[dict[str, Any]]) -> set[str]:
    return {item["metadata"]["name"] for item in items} - {"kube-root-ca.crt"}


def test_up_update_and_destroy(lab: Any, local_stack: Any) -> None:
    up = local_stack.succeeds("up", "--yes", "--skip-preview", *POLICIES)
    assert "+ 11 created" in up
    assert "error" not in up
    [groups] = lab.objects(GROUPS)
    managers = {entry["manager"] for entry in groups["metadata"]["managedFields"] if "subresource" not in entry}
    assert all(manager.startswith("pulumi-kubernetes") for manager in managers)
    assert names(lab.objects("/api/v1/namespaces/models/services")) == {"glm-5-api"}

    local_stack.succeeds("preview", "--expect-no-changes", *POLICIES)
    local_stack.succeeds("refresh", "--yes", "--skip-preview", "--expect-no-changes")

    platform = local_stack.settings()
    platform["deployments"]["glm-5"]["startBudgetMinutes"] = 90
    local_stack.declare(platform)
    updated = local_stack.succeeds("up", "--yes", "--skip-preview", *POLICIES)
    # The LeaderWorkerSet and the three components around it.
    assert "~ 4 updated" in updated
    assert "replaced" not in updated
    [after] = lab.objects(GROUPS)
    assert after["metadata"]["uid"] == groups["metadata"]["uid"]
    command = after["spec"]["leaderWorkerTemplate"]["leaderTemplate"]["spec"]["containers"][0]["command"]
    assert command[command.index("--distributed-timeout-seconds") + 1] == "5400"

    local_stack.succeeds("destroy", "--yes", "--skip-preview")
    assert lab.objects(GROUPS) == []
    assert "models" not in names(lab.objects("/api/v1/namespaces"))
    assert local_stack.state() == {}


def test_three_mistakes_are_three_problems_without_a_traceback(local_stack: Any) -> None:
    platform = local_stack.settings()
    platform["pools"]["p5"]["instanceType"] = "p5.48xl"
    platform["deployments"]["glm-5"]["parallelism"] = {"tensr": 8}
    platform["deployments"]["glm-5"]["replicas"] = "two"
    local_stack.declare(platform)
    printed = local_stack.fails("preview")
    assert printed.count("has 3 problems:") == printed.count("error: Platform platform has")
    for line in (
        "- pools.p5.instanceType: found 'p5.48xl'; allowed: p4d.24xlarge,",
        (
            "- deployments.glm-5.parallelism.tensr: found an unknown field with the value 8;"
            " allowed: tensor, pipeline, data, expert. Write tensor instead."
        ),
        "- deployments.glm-5.replicas: found 'two'; allowed: a whole number. Change replicas.",
    ):
        assert line in printed


def test_a_secret_in_the_stack_file_is_refused_before_it_stands_anywhere_in_plain(local_stack: Any) -> None:
    place = "pulumi-lws:platform.deployments.glm-5.environment.GREETING"
    local_stack.succeeds("config", "set", "--path", "--secret", place, "hunter2")
    printed = local_stack.fails("preview")
    assert "hunter2" not in printed
    assert "pulumi-lws:platform: found a secret (secure:); allowed: a value in plain text" in printed
    assert local_stack.state() == {}


def test_the_kubeconfig_is_a_secret_in_the_state(local_stack: Any) -> None:
    local_stack.succeeds("up", "--yes", "--skip-preview")
    exported = local_stack.succeeds("stack", "export")
    assert "client-key-data" not in exported


def test_a_changed_address_of_the_same_cluster_replaces_nothing(lab: Any, local_stack: Any, tmp_path: Any) -> None:
    local_stack.succeeds("up", "--yes", "--skip-preview")
    text = lab.layout.kubeconfig.read_text()
    moved = tmp_path / "kubeconfig"
    moved.write_text(text.replace("https://127.0.0.1", "https://localhost"))
    printed = local_stack.pulumi("preview", KUBECONFIG=str(moved))
    assert printed.returncode == 0, printed.stdout
    assert "replace" not in printed.stdout
