"""Weights on nodes and on shared volumes: the objects that keep them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pulumi_lws.caches.needs import csi_add_ons, s3_readers
from pulumi_lws.caches.node_models import NodeModelArgs, node_model_objects
from pulumi_lws.caches.settings import Caches, VolumeCopy
from pulumi_lws.caches.shared_volumes import SharedVolumeArgs, copy_jobs, copy_minutes, volume_objects
from pulumi_lws.facts.versions import PINS

Raw = dict[str, Any]

S3: Raw = {"kind": "s3", "uri": "s3://models/glm-5", "region": "us-west-2"}
POOLS: Raw = {"p5": {"instanceType": "p5.48xlarge", "nodes": 4, "static": True}}
NODE: Raw = {
    "name": "glm-5",
    "namespace": "models",
    "origin": S3,
    "sizeGb": 756,
    "serviceAccount": "reader",
    "pools": ["p5"],
    "allPools": POOLS,
    "path": "/mnt/k8s-disks/0/models/glm-5",
}
FSX: Raw = {
    "kind": "fsx-lustre",
    "fileSystem": "fs-0123456789abcdef0",
    "dnsName": "fs-0123456789abcdef0.fsx.us-east-2.amazonaws.com",
    "mountName": "lxwqtb4v",
    "sizeGib": 4800,
}
EFS: Raw = {"kind": "efs", "fileSystem": "fs-0123456789abcdef0"}
COPY: Raw = {"origin": S3, "sizeGb": 756, "path": "models/glm-5"}


def volume_args(volume: Raw, **fields: Any) -> SharedVolumeArgs:
    return SharedVolumeArgs.model_validate({"name": "weights", "namespace": "models", "volume": volume | fields})


def test_a_model_is_copied_onto_each_node_of_its_pools_before_anything_else_runs() -> None:
    (daemon_set,) = node_model_objects(NodeModelArgs.model_validate(NODE)).values()
    selector = {"pulumi-lws/cache": "weights", "pulumi-lws/cached": "glm-5", "pulumi-lws/pool": "p5"}
    spec = daemon_set["spec"]["template"]["spec"]
    (copy,), (hold,) = spec.pop("initContainers"), spec.pop("containers")
    assert (daemon_set["metadata"]["name"], daemon_set["spec"]["selector"]) == (
        "glm-5-on-p5",
        {"matchLabels": selector},
    )
    assert spec == {
        "enableServiceLinks": False,
        "automountServiceAccountToken": False,
        "nodeSelector": {"pulumi-lws/pool": "p5"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "securityContext": {"runAsUser": 0, "seccompProfile": {"type": "RuntimeDefault"}},
        "serviceAccountName": "reader",
        "terminationGracePeriodSeconds": 1,
        "volumes": [
            {
                "name": "weights",
                "hostPath": {"path": "/mnt/k8s-disks/0/models/glm-5", "type": "DirectoryOrCreate"},
            },
            {"name": "scratch", "emptyDir": {}},
        ],
    }
    del copy["command"], copy["securityContext"]
    assert copy == {
        "name": "copy",
        "image": f"public.ecr.aws/aws-cli/aws-cli:{PINS['aws-cli'].version}",
        "env": [
            {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"},
            {"name": "FOLDER", "value": "/weights"},
            {"name": "ORIGIN", "value": "s3://models/glm-5"},
            {"name": "KILOBYTES", "value": "738280872"},
            {"name": "LEAST_KILOBYTES", "value": "663573879"},
            {"name": "HOME", "value": "/scratch"},
            {"name": "URI", "value": "s3://models/glm-5"},
            {"name": "AWS_REGION", "value": "us-west-2"},
        ],
        "resources": {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "12Gi"}},
        "volumeMounts": [
            {"name": "weights", "mountPath": "/weights"},
            {"name": "scratch", "mountPath": "/scratch"},
        ],
    }
    assert hold["command"] == ["sleep", "infinity"]


def test_a_model_to_be_removed_is_emptied_in_the_same_place() -> None:
    (daemon_set,) = node_model_objects(NodeModelArgs.model_validate(NODE | {"remove": True})).values()
    (remove,) = daemon_set["spec"]["template"]["spec"]["initContainers"]
    assert (remove["name"], remove["env"][1]) == ("remove", {"name": "FOLDER", "value": "/weights"})


def test_a_component_knows_the_pools_that_it_copies_to() -> None:
    with pytest.raises(ValidationError) as caught:
        NodeModelArgs.model_validate(NODE | {"pools": ["p6"]})
    (error,) = caught.value.errors()
    assert error["ctx"] == {"allowed": "p5", "fix": "Name pools of allPools.", "field": "pools", "found": "p6"}


def test_a_file_system_of_lustre_is_one_volume_under_one_claim() -> None:
    shared = {"accessModes": ["ReadWriteMany"], "storageClassName": "", "volumeMode": "Filesystem"}
    labels = {"pulumi-lws/cache": "weights", "pulumi-lws/cached": "weights"}
    assert volume_objects(volume_args(FSX)) == {
        "volume": {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": "models-weights", "labels": labels},
            "spec": {
                **shared,
                "capacity": {"storage": "4800Gi"},
                "persistentVolumeReclaimPolicy": "Retain",
                "claimRef": {
                    "apiVersion": "v1",
                    "kind": "PersistentVolumeClaim",
                    "namespace": "models",
                    "name": "weights",
                },
                "mountOptions": ["flock"],
                "csi": {
                    "driver": "fsx.csi.aws.com",
                    "volumeHandle": "fs-0123456789abcdef0",
                    "volumeAttributes": {
                        "dnsname": "fs-0123456789abcdef0.fsx.us-east-2.amazonaws.com",
                        "mountname": "lxwqtb4v",
                    },
                },
            },
        },
        "claim": {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "weights", "namespace": "models", "labels": labels},
            "spec": {
                **shared,
                "volumeName": "models-weights",
                "resources": {"requests": {"storage": "4800Gi"}},
            },
        },
    }


@pytest.mark.parametrize(
    ("fields", "handle"),
    [({}, "fs-0123456789abcdef0"), ({"accessPoint": "fsap-0123456789"}, "fs-0123456789abcdef0::fsap-0123456789")],
)
def test_a_file_system_of_efs_is_mounted_whole_or_by_an_access_point(fields: Raw, handle: str) -> None:
    spec = volume_objects(volume_args(EFS, **fields))["volume"]["spec"]
    assert (spec["csi"], "mountOptions" in spec) == ({"driver": "efs.csi.aws.com", "volumeHandle": handle}, False)


def test_a_claim_that_exists_is_only_copied_onto() -> None:
    args = volume_args({"kind": "claim"}, copies={"glm-5": COPY})
    assert (volume_objects(args), list(copy_jobs(args))) == ({}, ["glm-5"])


def test_a_job_copies_once_in_bounded_time_and_gives_up_on_what_never_mends() -> None:
    (job,) = copy_jobs(volume_args(FSX, copies={"glm-5": COPY | {"nodeSelector": {"size": "large"}}})).values()
    assert job["metadata"]["name"].startswith("copy-glm-5-")
    spec = job["spec"]
    pod = spec.pop("template")["spec"]
    assert spec == {
        "backoffLimit": 6,
        "activeDeadlineSeconds": 111 * 60,
        "podFailurePolicy": {
            "rules": [
                {"action": "FailJob", "onExitCodes": {"containerName": "copy", "operator": "In", "values": [64]}},
                {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
            ]
        },
    }
    (copy,) = pod.pop("containers")
    assert pod == {
        "enableServiceLinks": False,
        "automountServiceAccountToken": False,
        "restartPolicy": "Never",
        "securityContext": {"runAsUser": 0, "seccompProfile": {"type": "RuntimeDefault"}},
        "nodeSelector": {"size": "large"},
        "volumes": [
            {"name": "volume", "persistentVolumeClaim": {"claimName": "weights"}},
            {"name": "scratch", "emptyDir": {}},
        ],
    }
    assert (copy["env"][1], copy["volumeMounts"][0]) == (
        {"name": "FOLDER", "value": "/volume/models/glm-5"},
        {"name": "volume", "mountPath": "/volume"},
    )


def name_of(name: str, **fields: Any) -> str:
    (job,) = copy_jobs(volume_args(FSX, copies={name: COPY | fields})).values()
    return str(job["metadata"]["name"])


def test_a_job_has_another_name_only_where_it_does_something_else() -> None:
    same, again = name_of("glm-5"), name_of("glm-5")
    others = {
        name_of("glm-5", path="models/other"),
        name_of("glm-5", sizeGb=757),
        name_of("glm-5", image="i.example/a:1"),
    }
    assert (same == again, len(others | {same})) == (True, 4)


@given(st.from_regex(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?", fullmatch=True))
def test_the_pods_of_a_job_have_names_that_labels_take(name: str) -> None:
    assert len(name_of(name)) <= 63 - len("-abcde")


@given(st.integers(1, 100_000))
def test_a_larger_copy_never_has_less_time(size: int) -> None:
    def minutes(size_gb: int) -> int:
        return copy_minutes(VolumeCopy.model_validate(COPY | {"sizeGb": size_gb}))

    assert minutes(size) <= minutes(min(size + 1, 100_000))


def test_caches_say_which_drivers_and_which_readers_they_need() -> None:
    node = {key: value for key, value in NODE.items() if key not in {"name", "namespace", "allPools"}}
    caches = Caches.model_validate(
        {
            "nodeModels": {"glm-5": node, "old": node | {"remove": True, "serviceAccount": "past"}},
            "sharedVolumes": {
                "weights": FSX | {"copies": {"glm-5": COPY}},
                "team": EFS | {"team": "search", "copies": {"glm-5": COPY}},
                "own": {"kind": "claim"},
            },
        }
    )
    assert csi_add_ons(caches) == ("aws-fsx-csi-driver", "aws-efs-csi-driver")
    assert all(f"eks-{name}" in PINS for name in csi_add_ons(caches))
    assert s3_readers(caches) == {
        None: {"reader": ("s3://models/glm-5",), "default": ("s3://models/glm-5",)},
        "search": {"default": ("s3://models/glm-5",)},
    }
