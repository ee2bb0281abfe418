"""Shared volumes that many nodes read, and the Jobs that copy weights onto them."""

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import Field

from pulumi_lws.caches.copying import NEVER_MENDED, SCRATCH, Place, copying, pod_fields
from pulumi_lws.caches.settings import EfsVolume, FsxVolume, Volume, VolumeCopy
from pulumi_lws.declarations import Declaration, DnsLabel, NamespaceName
from pulumi_lws.facts import bandwidths, labels

_ROOT: Final = "/volume"

_RETRIES: Final = 6

_RESOURCES: Final[Mapping[str, Any]] = {
    "requests": {"cpu": "2", "memory": "8Gi"},
    "limits": {"memory": "8Gi"},
}

_EFS_SIZE: Final = "1Gi"
"""Kubernetes wants a size; EFS has none."""


class SharedVolumeArgs(Declaration):
    """Arguments of the component ``SharedModelVolume``."""

    name: DnsLabel
    """Name of the claim."""
    namespace: NamespaceName
    """Its namespace."""
    volume: Annotated[Volume, Field(discriminator="kind")]
    """The volume."""


def volume_objects(args: SharedVolumeArgs) -> dict[str, dict[str, Any]]:
    """Render the PersistentVolume and its claim; none where the claim exists."""
    volume = args.volume
    if not isinstance(volume, FsxVolume | EfsVolume):
        return {}
    # One volume for those who write and those who read: two of one file system on a node keep pods from starting.
    # https://github.com/kubernetes-sigs/azurefile-csi-driver/issues/2367. Pods that serve mount the claim read-only.
    name = f"{args.namespace}-{args.name}"
    size = f"{volume.size_gib}Gi" if isinstance(volume, FsxVolume) else _EFS_SIZE
    shared = {
        "accessModes": ["ReadWriteMany"],
        # Not the default class, which would make a volume of its own.
        "storageClassName": "",
        "volumeMode": "Filesystem",
    }
    persistent_volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "labels": _labels(args)},
        "spec": {
            **shared,
            "capacity": {"storage": size},
            # The file system is yours, and stays.
            "persistentVolumeReclaimPolicy": "Retain",
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "namespace": args.namespace,
                "name": args.name,
            },
            **({"mountOptions": list(volume.mount_options)} if volume.mount_options else {}),
            "csi": _csi(volume),
        },
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": args.name, "namespace": args.namespace, "labels": _labels(args)},
        "spec": {**shared, "volumeName": name, "resources": {"requests": {"storage": size}}},
    }
    return {"volume": persistent_volume, "claim": claim}


def copy_jobs(args: SharedVolumeArgs) -> dict[str, dict[str, Any]]:
    """Render the Job of each copy; a Job cannot change, so its name follows from what it does."""
    return {name: _job(args, name, copy) for name, copy in args.volume.copies.items()}


def copy_minutes(copy: VolumeCopy) -> int:
    """Return how long a Job may take, in minutes: for a node to boot, and for a copy at the pace of a small one."""
    return int(-(-(bandwidths.NODE_BOOT.minutes + bandwidths.COPY.minutes(copy.size_gb)) // 1))


def _labels(args: SharedVolumeArgs) -> dict[str, str]:
    return {labels.CACHE: "weights", labels.CACHED: args.name}


def _csi(volume: FsxVolume | EfsVolume) -> dict[str, Any]:
    if isinstance(volume, FsxVolume):
        attributes = {"dnsname": volume.dns_name, "mountname": volume.mount_name}
        return {"driver": "fsx.csi.aws.com", "volumeHandle": volume.file_system, "volumeAttributes": attributes}
    point = f"::{volume.access_point}" if volume.access_point else ""
    return {"driver": "efs.csi.aws.com", "volumeHandle": f"{volume.file_system}{point}"}


def _job(args: SharedVolumeArgs, name: str, copy: VolumeCopy) -> dict[str, Any]:
    folder = "/".join([_ROOT, *filter(None, copy.path.split("/"))])
    place = Place(folder, {"name": "volume", "mountPath": _ROOT}, _RESOURCES)
    spec = {
        "backoffLimit": _RETRIES,
        "activeDeadlineSeconds": copy_minutes(copy) * 60,
        "podFailurePolicy": {
            "rules": [
                {
                    "action": "FailJob",
                    "onExitCodes": {"containerName": "copy", "operator": "In", "values": [NEVER_MENDED]},
                },
                {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
            ]
        },
        "template": {
            "metadata": {"labels": _labels(args), "annotations": {labels.DO_NOT_DISRUPT: "true"}},
            "spec": {
                "enableServiceLinks": False,
                "automountServiceAccountToken": False,
                "restartPolicy": "Never",
                **pod_fields(copy),
                **({"nodeSelector": dict(copy.node_selector)} if copy.node_selector else {}),
                "containers": [copying(copy, place)],
                "volumes": [
                    {"name": "volume", "persistentVolumeClaim": {"claimName": args.name}},
                    dict(SCRATCH),
                ],
            },
        },
    }
    content = hashlib.sha256(json.dumps([args.name, spec], sort_keys=True).encode()).hexdigest()[:8]
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        # Names of pods, which are labels too, are longer by six.
        "metadata": {
            "name": f"copy-{name[:43].rstrip('-')}-{content}",
            "namespace": args.namespace,
            "labels": _labels(args),
        },
        "spec": spec,
    }
