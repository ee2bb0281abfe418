"""Images are on the nodes before a pod asks for them, and nothing that serves pays for it."""

from typing import Any

import pytest

from pulumi_lws.caches.images import images_of_pool, pre_pull_args, pull_secrets
from pulumi_lws.caches.pre_pull import MEMORY_MIB, MILLI_CPUS, ImagePrePullArgs, pre_pull_objects
from pulumi_lws.caches.settings import Caches
from pulumi_lws.facts.instances import INSTANCE_TYPES, InstanceType
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.serving.placement import RESERVED_MEMORY_MIB, VISIBLE_MEMORY_PERMILLE, pod_resources
from pulumi_lws.serving.settings import DisaggregatedVllmArgs, MultiNodeVllmArgs, SingleNodeVllmArgs
from pulumi_lws.tenancy.pod_security import violations

POOLS = {
    "islands": {"instanceType": "p5.48xlarge", "islands": 2, "nodesPerIsland": 2, "static": True},
    "p5": {"instanceType": "p5.48xlarge", "nodes": 4, "role": "inference"},
}
MODEL = {"model": "openai/gpt-oss-120b", "namespace": "models", "pools": POOLS}
GROUPS = MultiNodeVllmArgs.model_validate(
    MODEL
    | {
        "name": "groups",
        "pool": "islands",
        "parallelism": {"tensor": 8, "pipeline": 2},
        "image": "registry.example.com/vllm:0.26.0",
        "imagePullSecret": "registry",
        "sidecars": [{"name": "logs", "image": "registry.example.com/logs:1.0"}],
    }
)
SINGLE = SingleNodeVllmArgs.model_validate(
    MODEL | {"name": "single", "pool": "p5", "parallelism": {"tensor": 2}, "image": "registry.example.com/vllm:0.26.0"}
)
APART = DisaggregatedVllmArgs.model_validate(
    MODEL
    | {
        "name": "apart",
        "image": "registry.example.com/vllm:0.27.0",
        "sidecarImage": "registry.example.com/sidecar:1",
        "prefill": {"pool": "islands", "parallelism": {"tensor": 2}},
        "decode": {"pool": "p5", "parallelism": {"tensor": 2}},
    }
)


def objects(**fields: Any) -> dict[str, Any]:
    given = {"namespace": "models", "pools": POOLS, "images": {"p5": ["registry.example.com/vllm:0.26.0"]}}
    return pre_pull_objects(ImagePrePullArgs.model_validate(given | fields))


def test_a_pool_needs_the_images_of_all_pods_on_it_and_of_no_router() -> None:
    assert images_of_pool({"groups": GROUPS, "single": SINGLE, "apart": APART}) == {
        "islands": (
            "registry.example.com/vllm:0.26.0",
            "registry.example.com/logs:1.0",
            "registry.example.com/vllm:0.27.0",
        ),
        "p5": (
            "registry.example.com/vllm:0.26.0",
            "registry.example.com/vllm:0.27.0",
            "registry.example.com/sidecar:1",
        ),
    }


def test_the_secrets_of_their_registries_come_along_once() -> None:
    assert pull_secrets({"groups": GROUPS, "again": GROUPS, "single": SINGLE}) == ("registry",)


@pytest.mark.parametrize(("chosen", "pools"), [(True, ["islands", "p5"]), (False, []), (("p5",), ["p5"])])
def test_all_pools_pull_or_those_that_are_named(chosen: bool | tuple[str, ...], pools: list[str]) -> None:
    caches = Caches(pre_pull=chosen, pre_pull_images=("registry.example.com/vllm:next",))
    pools_of_stack = {name: GpuPool.model_validate(pool) for name, pool in POOLS.items()}
    args = pre_pull_args(caches, pools_of_stack, {"single": SINGLE}, "models")
    extra = "registry.example.com/vllm:next"
    every = {"islands": (extra,), "p5": ("registry.example.com/vllm:0.26.0", extra)}
    assert args.images == {name: every[name] for name in pools}


def test_a_daemon_set_runs_a_program_that_does_nothing_in_each_image() -> None:
    taken = {"cpu": "20m", "memory": "32Mi"}
    common = {
        "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}],
        "resources": {"requests": taken, "limits": taken},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [{"name": "tool", "mountPath": "/tool", "readOnly": True}],
    }
    selector = {"pulumi-lws/cache": "images", "pulumi-lws/pool": "p5"}
    assert objects(pullSecrets=["registry"], toolImage="registry.example.com/busybox:1") == {
        "priority": {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "models-image-pre-pull"},
            "value": -1,
            "preemptionPolicy": "Never",
            "description": "Pulls images beforehand: any pod that serves goes first.",
        },
        "p5": {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {
                "name": "pre-pull-p5",
                "namespace": "models",
                "labels": selector,
                "annotations": {"pulumi.com/skipAwait": "true"},
            },
            "spec": {
                "selector": {"matchLabels": selector},
                "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "100%"}},
                "template": {
                    "metadata": {"labels": selector},
                    "spec": {
                        "enableServiceLinks": False,
                        "automountServiceAccountToken": False,
                        "nodeSelector": {"pulumi-lws/pool": "p5"},
                        "tolerations": [
                            {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
                            {
                                "key": "pulumi-lws/role",
                                "operator": "Equal",
                                "value": "inference",
                                "effect": "NoSchedule",
                            },
                        ],
                        "priorityClassName": "models-image-pre-pull",
                        "terminationGracePeriodSeconds": 1,
                        "securityContext": {
                            "runAsNonRoot": True,
                            "runAsUser": 65534,
                            "runAsGroup": 65534,
                            "seccompProfile": {"type": "RuntimeDefault"},
                        },
                        "initContainers": [
                            {
                                "name": "tool",
                                "image": "registry.example.com/busybox:1",
                                "command": ["cp", "/bin/busybox", "/tool/true"],
                                **common,
                                "volumeMounts": [{"name": "tool", "mountPath": "/tool"}],
                            },
                            {
                                "name": "image-0",
                                "image": "registry.example.com/vllm:0.26.0",
                                "command": ["/tool/true"],
                                **common,
                            },
                        ],
                        "containers": [
                            {
                                "name": "hold",
                                "image": "registry.example.com/busybox:1",
                                "command": ["sleep", "2147483647"],
                                **common,
                            }
                        ],
                        "volumes": [{"name": "tool", "emptyDir": {}}],
                        "imagePullSecrets": [{"name": "registry"}],
                    },
                },
            },
        },
    }


def test_the_pods_keep_the_strictest_level_of_pod_security() -> None:
    assert violations(objects()["p5"]["spec"]["template"]["spec"]) == []


def test_a_pool_without_images_gets_nothing() -> None:
    assert list(objects(images={"p5": [], "islands": ["registry.example.com/vllm:0.26.0"]})) == ["priority", "islands"]
    assert objects(images={"p5": []}) == {}


_KUBELET_MILLI_CPUS = 600
"""What nodeadm keeps for the kubelet at most, as ``RESERVED_MILLI_CPUS`` counts it."""


@pytest.mark.parametrize("instance", INSTANCE_TYPES.values(), ids=lambda instance: instance.name)
def test_it_fits_beside_the_pods_that_take_a_whole_node(instance: InstanceType) -> None:
    whole = pod_resources(instance, instance.gpus)
    cpus = instance.vcpus * 1000 - int(whole["cpu"]) * 1000 - _KUBELET_MILLI_CPUS
    # The kubelet keeps 1.5 GiB of the reserve.
    visible = instance.memory_mib * VISIBLE_MEMORY_PERMILLE // 1000
    memory = visible - int(whole["memory"].removesuffix("Gi")) * 1024 - 1536
    assert RESERVED_MEMORY_MIB > 1536
    # With half of it for the DaemonSets that every node has.
    assert (cpus >= 2 * MILLI_CPUS + 400, memory >= 2 * MEMORY_MIB + 1024) == (True, True)
