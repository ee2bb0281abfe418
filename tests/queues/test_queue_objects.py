"""Queues become the objects that Kueue knows, each after what it names."""

from typing import Any

import yaml

from pulumi_lws.queues.manager import configuration, manager_values
from pulumi_lws.queues.manifests import queue_objects
from tests.queues.fleets import GROUPS, deployments, pools, queue, queues

NAMESPACE = "kubernetes.io/metadata.name"
ACTIVE = {"pulumi.com/waitFor": "condition=Active"}

SEARCH = queue(
    cohort="research",
    namespaces=["models", "search"],
    pools={"p5": {"gpus": 32, "borrowingGpus": 16, "lendingGpus": 0}},
    preemption={"reclaimWithinCohort": "Any"},
    weight=0.5,
)
BOTH = queues(
    {"search": SEARCH, "batch": queue("p5", "small", localQueue="idle", strategy="StrictFIFO", stop="Hold")},
    cohorts={"research": {"parent": "all", "weight": 2}, "all": {}},
    priorities={"urgent": {"value": 1000, "description": "What users wait for."}, "night": {"value": -5}},
    manager={"fairSharing": {}},
)


def objects(declared: Any = BOTH, **changes: Any) -> dict[str, dict[str, Any]]:
    return queue_objects(declared, pools(**changes))


def test_every_object_comes_after_what_it_names() -> None:
    assert [(key, manifest["kind"]) for key, manifest in objects().items()] == [
        ("flavor-p5", "ResourceFlavor"),
        ("flavor-small", "ResourceFlavor"),
        ("priority-urgent", "WorkloadPriorityClass"),
        ("priority-night", "WorkloadPriorityClass"),
        ("cohort-research", "Cohort"),
        ("cohort-all", "Cohort"),
        ("queue-search", "ClusterQueue"),
        ("queue-batch", "ClusterQueue"),
        ("local-models.search", "LocalQueue"),
        ("local-search.search", "LocalQueue"),
        ("local-models.idle", "LocalQueue"),
    ]


def test_a_flavor_has_the_label_of_its_pool_and_what_tolerates_its_taints() -> None:
    flavor = objects(p5={"role": "prefill", "taints": [{"key": "team", "value": "search"}]})["flavor-p5"]
    assert flavor == {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ResourceFlavor",
        "metadata": {"name": "p5"},
        "spec": {
            "nodeLabels": {"pulumi-lws/pool": "p5"},
            "tolerations": [
                {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
                {"key": "pulumi-lws/role", "operator": "Equal", "value": "prefill", "effect": "NoSchedule"},
                {"key": "team", "operator": "Equal", "value": "search", "effect": "NoSchedule"},
            ],
        },
    }


def test_a_cluster_queue_counts_everything_that_pods_on_its_pools_request() -> None:
    assert objects()["queue-search"] == {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": "search", "annotations": ACTIVE},
        "spec": {
            "resourceGroups": [
                {
                    "coveredResources": [
                        "nvidia.com/gpu",
                        "vpc.amazonaws.com/efa",
                        "cpu",
                        "memory",
                        "ephemeral-storage",
                    ],
                    "flavors": [
                        {
                            "name": "p5",
                            "resources": [
                                {
                                    "name": "nvidia.com/gpu",
                                    "nominalQuota": "32",
                                    "borrowingLimit": "16",
                                    "lendingLimit": "0",
                                },
                                {
                                    "name": "vpc.amazonaws.com/efa",
                                    "nominalQuota": "128",
                                    "borrowingLimit": "64",
                                    "lendingLimit": "0",
                                },
                                {
                                    "name": "cpu",
                                    "nominalQuota": "721920m",
                                    "borrowingLimit": "360960m",
                                    "lendingLimit": "0",
                                },
                                {
                                    "name": "memory",
                                    "nominalQuota": "7549744Mi",
                                    "borrowingLimit": "3774872Mi",
                                    "lendingLimit": "0",
                                },
                                {
                                    "name": "ephemeral-storage",
                                    "nominalQuota": "105468748Mi",
                                    "borrowingLimit": "52734374Mi",
                                    "lendingLimit": "0",
                                },
                            ],
                        }
                    ],
                }
            ],
            "cohortName": "research",
            "queueingStrategy": "BestEffortFIFO",
            "namespaceSelector": {
                "matchExpressions": [{"key": NAMESPACE, "operator": "In", "values": ["models", "search"]}]
            },
            "preemption": {
                "withinClusterQueue": "Never",
                "reclaimWithinCohort": "Any",
                "borrowWithinCohort": {"policy": "Never"},
            },
            "stopPolicy": "None",
            "fairSharing": {"weight": "0.5"},
        },
    }


def test_a_pool_without_a_resource_of_another_one_has_none_of_it() -> None:
    (group,) = objects()["queue-batch"]["spec"]["resourceGroups"]
    quotas = {
        flavor["name"]: {resource["name"]: resource["nominalQuota"] for resource in flavor["resources"]}
        for flavor in group["flavors"]
    }
    assert {name: list(resources) for name, resources in quotas.items()} == dict.fromkeys(
        ("p5", "small"), group["coveredResources"]
    )
    assert quotas["small"]["vpc.amazonaws.com/efa"] == "0"
    assert {name: resources["nvidia.com/gpu"] for name, resources in quotas.items()} == {"p5": "16", "small": "4"}


def test_no_update_waits_for_a_queue_that_is_stopped() -> None:
    found = objects()
    assert found["local-models.search"]["metadata"] == {
        "name": "search",
        "namespace": "models",
        "annotations": ACTIVE,
    }
    assert found["local-models.idle"] == {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "LocalQueue",
        "metadata": {"name": "idle", "namespace": "models"},
        "spec": {"clusterQueue": "batch"},
    }
    assert "annotations" not in found["queue-batch"]["metadata"]


def test_cohorts_and_priorities_are_as_declared() -> None:
    found = objects()
    assert found["cohort-research"]["spec"] == {"parentName": "all", "fairSharing": {"weight": "2"}}
    assert found["cohort-all"]["spec"] == {}
    assert found["priority-urgent"] == {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": "urgent"},
        "value": 1000,
        "description": "What users wait for.",
    }
    assert "description" not in found["priority-night"]


def test_a_flavor_with_a_topology_has_another_name_whenever_it_would_have_to_change() -> None:
    declared = queues({"search": queue("static")}, topologyAware=["static"])
    found = objects(declared)
    assert found["topology"] == {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Topology",
        "metadata": {"name": "pulumi-lws-islands"},
        "spec": {"levels": [{"nodeLabel": "pulumi-lws/island"}, {"nodeLabel": "kubernetes.io/hostname"}]},
    }
    names = []
    for made in (found, objects(declared, static={"role": "serve"})):
        (flavor,) = (manifest for manifest in made.values() if manifest["kind"] == "ResourceFlavor")
        assert flavor["spec"]["topologyName"] == "pulumi-lws-islands"
        (group,) = made["queue-search"]["spec"]["resourceGroups"]
        assert [used["name"] for used in group["flavors"]] == [flavor["metadata"]["name"]]
        names.append(flavor["metadata"]["name"])
    assert len(set(names)) == 2


def test_kueue_waits_longer_than_the_slowest_deployment_in_a_queue_starts() -> None:
    joined = deployments(
        slow=GROUPS | {"startBudgetMinutes": 90}, other=GROUPS | {"startBudgetMinutes": 120, "queue": None}
    )
    values = manager_values(BOTH, joined.values())
    found = yaml.safe_load(values["managerConfig"]["controllerManagerConfigYaml"])
    assert values == {"managerConfig": {"controllerManagerConfigYaml": yaml.safe_dump(found, sort_keys=False)}}
    assert found == configuration(BOTH, 90)
    assert found["waitForPodsReady"] == {
        "timeout": "99m",
        "recoveryTimeout": "99m",
        "blockAdmission": False,
        "requeuingStrategy": {"timestamp": "Eviction", "backoffBaseSeconds": 60, "backoffMaxSeconds": 3600},
    }


def test_kueue_holds_pods_in_namespaces_with_queues_alone() -> None:
    declared = BOTH.model_copy(
        update={"manager": BOTH.manager.model_copy(update={"namespaces": ("jobs",), "fair_sharing": None})}
    )
    found = configuration(declared, 60)
    assert found["managedJobsNamespaceSelector"] == {
        "matchExpressions": [{"key": NAMESPACE, "operator": "In", "values": ["jobs", "models", "search"]}]
    }
    assert found["manageJobsWithoutQueueName"] is False
    assert "fairSharing" not in found
    assert configuration(BOTH, 60)["fairSharing"] == {
        "preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]
    }


def test_kueue_manages_everything_that_deployments_consist_of() -> None:
    frameworks = configuration(BOTH, 60)["integrations"]["frameworks"]
    assert {"leaderworkerset.x-k8s.io/leaderworkerset", "deployment", "statefulset", "pod"} <= {*frameworks}


def test_declared_times_and_limits_of_requeuing_reach_kueue() -> None:
    ready = {"timeoutMinutes": 70, "recoveryTimeoutMinutes": 80, "requeuing": {"backoffLimit": 0}}
    found = configuration(queues(manager={"waitForPodsReady": ready}), 60)["waitForPodsReady"]
    assert (found["timeout"], found["recoveryTimeout"]) == ("70m", "80m")
    assert found["requeuingStrategy"]["backoffLimitCount"] == 0
