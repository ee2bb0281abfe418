"""What users add to pods and that would break them: beyond the pod's share, or in the place of what is ours."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulumi_lws.serving.placement import amount
from tests.serving.stacks import PACKED, all_pods, manifests_of, pods_of, said, stack


def beside(**limits: Any) -> dict[str, Any]:
    named = {name.replace("_", "-"): quantity for name, quantity in limits.items()}
    limits = {"cpu": "1", "memory": "1Gi", **named}
    return {"name": "beside", "image": "example.com/beside:1.0", "resources": {"limits": limits}}


def answers(example: str = "llama-3.3-70b", **changes: Any) -> list[str]:
    return [line.split(": ", 2)[0] + ": " + line.split(".", 2)[2] for line in said(stack(example, **changes))]


def test_limits_alone_are_enough() -> None:
    assert answers(sidecars=[beside()]) == []
    (pod,) = pods_of(stack("llama-3.3-70b", sidecars=[beside(cpu="2")]))
    (alone,) = pods_of(stack("llama-3.3-70b"))
    taken, whole = (int(found.engine["resources"]["limits"]["cpu"]) for found in (pod, alone))
    assert taken == whole - 2


@pytest.mark.parametrize(
    ("one", "other"), [(1, "1"), ("1000m", 1.0), ("1024Mi", "1Gi"), ("1e9", "1G"), ("0.5Gi", "512Mi")]
)
def test_one_quantity_may_be_written_in_two_ways(one: Any, other: Any) -> None:
    resources = {"requests": {"memory": one}, "limits": {"cpu": 1, "memory": other}}
    assert answers(sidecars=[{**beside(), "resources": resources}]) == []


def test_requests_unlike_limits_are_refused() -> None:
    resources = {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"cpu": "1"}}
    assert answers(sidecars=[{**beside(), "resources": resources}]) == [
        (
            "error: sidecars[0].resources: found no limit of memory, requests.cpu unlike limits.cpu; allowed: limits"
            " of cpu"
            " and memory, and no other requests: they are taken from the engine's share of the node. Set limits, and"
            " leave"
            " requests out."
        )
    ]


@pytest.mark.parametrize(
    ("limits", "found", "left"),
    [
        ({"cpu": "90"}, "90 cpu", "89"),
        ({"memory": "1Ti"}, "1024Gi memory", "920Gi"),
        ({"nvidia.com/gpu": "1"}, "1 nvidia.com/gpu", "0"),
        ({"vpc.amazonaws.com/efa": "4"}, "4 vpc.amazonaws.com/efa", "0"),
        ({"hugepages-2Mi": "1Gi"}, "1Gi hugepages-2Mi", "0Gi"),
        ({"hugepages-1Gi": "1Gi"}, "1Gi hugepages-1Gi", "0Gi"),
        ({"ephemeral-storage": "100Ti"}, "102400Gi ephemeral-storage", "12874.6Gi"),
    ],
)
def test_what_is_more_than_the_pod_has_is_answered_with_what_is_left(
    limits: dict[str, Any], found: str, left: str
) -> None:
    fix = "Remove it." if left.startswith("0") else "Lower the limits."
    assert answers(sidecars=[beside(**limits)]) == [
        (
            f"error: sidecars: found limits of {found} together; allowed: {left} or less: that is left beside the"
            " engine in"
            f" a pod with 4 of the 8 GPUs of a p5.48xlarge. {fix}"
        )
    ]


def test_containers_count_together_and_in_the_smallest_pod() -> None:
    two = [beside(cpu="30"), {**beside(cpu="30"), "name": "another"}]
    assert answers(sidecars=two) == []
    assert answers(PACKED, sidecars=two) == [
        (
            "error: sidecars: found limits of 60 cpu together; allowed: 44 or less: that is left beside the engine in"
            " a pod"
            " with 2 of the 8 GPUs of a p5.48xlarge. Lower the limits."
        )
    ]


@given(st.integers(0, 10**9), st.sampled_from(["", "m", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "E-2"]))
def test_a_quantity_is_its_number_times_its_unit(number: int, unit: str) -> None:
    factors = {
        "": 1,
        "m": 1e-3,
        "k": 1e3,
        "M": 1e6,
        "G": 1e9,
        "Ki": 2**10,
        "Mi": 2**20,
        "Gi": 2**30,
        "e3": 1e3,
        "E-2": 1e-2,
    }
    read = amount(f"{number}{unit}")
    assert read is not None
    assert abs(float(read) - number * factors[unit]) <= 1e-9 * max(number * factors[unit], 1)


@pytest.mark.parametrize("text", ["", "-1", "1 Gi", "²", "one", None, True, "1e999", "Gi"])
def test_what_is_no_quantity_is_none(text: Any) -> None:
    assert amount(text) is None


NODE = {"kind": "node", "path": "/mnt/glm"}


@pytest.mark.parametrize(
    ("name", "way_out"),
    [
        ("pulumi-lws", "Rename it."),
        ("models", "Rename it, or say what you want by source."),
        ("compiled", "Rename it, or say what you want by compileCache."),
    ],
)
def test_no_volume_takes_the_place_of_ours(name: str, way_out: str) -> None:
    assert answers("glm-5", volumes=[{"name": name, "emptyDir": {}}], source=NODE) == [
        (
            f"error: volumes[0].name: found {name}; allowed: a name other than compiled, models, pulumi-lws: pods do"
            " not"
            f" start without those. {way_out}"
        )
    ]


def test_shared_memory_may_be_the_user_s() -> None:
    own = {"name": "shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}
    settings = stack("glm-5", volumes=[own])
    assert said(settings) == []
    assert all(own in pod.spec["volumes"] for pod in pods_of(settings))
    mine = {"name": "mine", "emptyDir": {"medium": "Memory"}}
    mount = {"name": "mine", "mountPath": "/dev/shm"}
    assert said(stack("glm-5", volumes=[mine], volumeMounts=[mount])) == []


@pytest.mark.parametrize(
    ("path", "place", "name"),
    [
        ("/etc/pulumi-lws", "/etc/pulumi-lws", "pulumi-lws"),
        ("/etc/pulumi-lws/", "/etc/pulumi-lws", "pulumi-lws"),
        ("/etc", "/etc/pulumi-lws", "pulumi-lws"),
        ("/etc/pulumi-lws/own", "/etc/pulumi-lws", "pulumi-lws"),
        ("/models", "/models", "models"),
        ("/compiled", "/compiled", "compiled"),
        ("/dev", "/dev/shm", "shared-memory"),
    ],
)
def test_no_mount_takes_the_place_of_ours_or_hides_it(path: str, place: str, name: str) -> None:
    volumes, mounts = [{"name": "mine", "emptyDir": {}}], [{"name": "mine", "mountPath": path}]
    (line,) = answers("glm-5", volumes=volumes, volumeMounts=mounts, source=NODE)
    assert line.startswith(
        f"error: volumeMounts[0].mountPath: found {path}; allowed: a place that leaves {place} as it is: {name} is"
        " mounted there. Rename it"
    )


@pytest.mark.parametrize("path", ["/etc/pulumi-lwsx", "/compiled/mine", "/mnt/models", "/var/data"])
def test_a_mount_beside_ours_is_taken(path: str) -> None:
    volumes, mounts = [{"name": "mine", "emptyDir": {}}], [{"name": "mine", "mountPath": path}]
    assert answers("glm-5", volumes=volumes, volumeMounts=mounts) == []


@pytest.mark.parametrize(
    "key",
    [
        "pulumi-lws/serves",
        "pulumi-lws/router",
        "leaderworkerset.sigs.k8s.io/worker-index",
        "disaggregatedset.x-k8s.io/name",
        "llm-d.ai/role",
        "kueue.x-k8s.io/queue-name",
    ],
)
def test_no_label_of_the_user_is_one_that_selectors_follow(key: str) -> None:
    assert answers("glm-5", labels={key: "x"}) == [
        (
            f"error: labels.{key}: found {key}; allowed: a key without pulumi-lws/, leaderworkerset.sigs.k8s.io/,"
            " disaggregatedset.x-k8s.io/, llm-d.ai/, kueue.x-k8s.io/: selectors follow those. Rename it."
        )
    ]


def test_no_pod_of_an_engine_is_taken_for_the_router() -> None:
    settings = stack(PACKED, labels={"app.kubernetes.io/name": "gpt-oss-router", "app": "gpt-oss-router"})
    assert said(settings) == []
    (router,) = [
        found
        for found in manifests_of(settings)
        if found["metadata"]["name"] == "gpt-oss-router" and found["kind"] == "Deployment"
    ]
    selector = router["spec"]["selector"]["matchLabels"]
    assert all(not selector.items() <= pod.labels.items() for pod in pods_of(settings))


def test_only_pods_that_serve_are_called_so() -> None:
    assert all_pods(lambda pod: ("pulumi-lws/serves" in pod.labels) == pod.serves)
