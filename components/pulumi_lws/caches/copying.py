"""The container that copies weights into a folder: whole or not at all, and never over something else.

The folder tells what it is by two files. The first is written before the copy and says where it comes from; the second,
written last, says that all of it is there. Whoever reads the folder waits for the second.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pulumi_lws.caches.settings import Copy, Origin, S3Origin
from pulumi_lws.facts.versions import PINS

FINISH_FILE: Final = ".pulumi-lws-finished"
"""File of a folder of weights that is written last."""

NEVER_MENDED: Final = 64
"""Exit code where trying again is of no use: the folder is something else, or there is no room."""

_HOME: Final = "/scratch"

_SCRIPT: Final = f"""\
set -eu
origin_file="$FOLDER/.pulumi-lws-origin"
finish_file="$FOLDER/{FINISH_FILE}"
give_up() {{ echo "$1" >&2; exit {NEVER_MENDED}; }}
kilobytes() {{ du -sk --apparent-size "$FOLDER" | cut -f1; }}
mkdir -p "$FOLDER"
if [ -e "$origin_file" ]; then
  there=$(cat "$origin_file")
  [ "$there" = "$ORIGIN" ] || give_up "$FOLDER is of $there, not of $ORIGIN: give it a path of its own"
elif [ -n "$(ls -A "$FOLDER")" ]; then
  give_up "$FOLDER is not empty, and not ours: give $ORIGIN a path of its own"
fi
if [ -e "$finish_file" ]; then echo "$ORIGIN is there"; exit 0; fi
free=$(df -Pk "$FOLDER" | tail -n 1 | tr -s ' ' | cut -d ' ' -f 4)
[ $(($(kilobytes) + free)) -ge "$KILOBYTES" ] || give_up "$ORIGIN has $KILOBYTES KB, $FOLDER has room for $free more"
printf '%s\\n' "$ORIGIN" > "$origin_file.new"
mv "$origin_file.new" "$origin_file"
echo "copying $ORIGIN"
copy
size=$(kilobytes)
[ "$size" -ge "$LEAST_KILOBYTES" ] || {{ echo "only $size of $KILOBYTES KB came" >&2; exit 1; }}
sync
printf '%s\\n' "$ORIGIN" > "$finish_file.new"
mv "$finish_file.new" "$finish_file"
echo "$ORIGIN is there, $size KB"
"""

# What came before a restart is not copied again. Partial files have other names and go once the rest is there.
_FROM_S3: Final = """\
copy() {
  aws configure set default.s3.preferred_transfer_client crt
  aws s3 sync "$URI" "$FOLDER" --exclude '.pulumi-lws-*' --delete --only-show-errors
  missing=$(aws s3 sync "$URI" "$FOLDER" --exclude '.pulumi-lws-*' --size-only --dryrun)
  [ -z "$missing" ] || { echo "not all of it came: $missing" >&2; exit 1; }
}
"""

# Weights in the formats of their makers double some repositories; engines do not read them. Of several patterns clients
# before huggingface_hub 1.0 heed only the last.
_FROM_HUB: Final = """\
copy() {
  hf download "$MODEL" --revision "$REVISION" --local-dir "$FOLDER" --exclude 'metal/*' --exclude 'original/*'
  rm -rf "$FOLDER/.cache"
}
"""

# What tells that the folder is ours goes last, so that a removal that was cut short goes on.
_REMOVE: Final = f"""\
set -eu
origin_file="$FOLDER/.pulumi-lws-origin"
[ -e "$origin_file" ] || {{ echo "$FOLDER holds nothing of ours"; exit 0; }}
rm -f "$FOLDER/{FINISH_FILE}"
find "$FOLDER" -mindepth 1 ! -path "$origin_file" -delete
rm "$origin_file"
echo "$FOLDER is empty"
"""

_KB_PER_GB: Final = 10**9 // 1024

_NO_GPUS: Final[Mapping[str, str]] = {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}
"""Images of CUDA ask for every GPU, and for a driver to match; what copies needs neither."""

_CONFINED: Final[Mapping[str, Any]] = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
}

SCRATCH: Final[Mapping[str, Any]] = {"name": "scratch", "emptyDir": {}}
"""Volume for settings and temporary files of what copies."""


def text_of(origin: Origin) -> str:
    """Return what a folder is told to be of."""
    return origin.uri if isinstance(origin, S3Origin) else f"{origin.model}@{origin.revision}"


def image_of(copy: Copy) -> str:
    """Return the image that copies."""
    pin = PINS["aws-cli" if isinstance(copy.origin, S3Origin) else "vllm"]
    return copy.image or f"{pin.source}:{pin.version}"


@dataclass(frozen=True)
class Place:
    """Where a container copies to.

    Attributes:
        folder: The folder, as the container sees it.
        mount: Mount of the volume that holds it.
        resources: What the container takes of its node.
    """

    folder: str
    mount: Mapping[str, Any]
    resources: Mapping[str, Any]


def copying(copy: Copy, place: Place) -> dict[str, Any]:
    """Render the container that fills a folder."""
    origin = copy.origin
    environment = {
        "ORIGIN": text_of(origin),
        "KILOBYTES": str(copy.size_gb * _KB_PER_GB),
        # The size is rounded up, and a listing may count what is not copied.
        "LEAST_KILOBYTES": str((copy.size_gb - 1) * _KB_PER_GB * 9 // 10),
        "HOME": _HOME,
    }
    secret = []
    if isinstance(origin, S3Origin):
        environment |= {"URI": origin.uri, **({"AWS_REGION": origin.region} if origin.region else {})}
        script = _FROM_S3
    else:
        environment |= {"MODEL": origin.model, "REVISION": origin.revision}
        script = _FROM_HUB
        if origin.token_secret:
            reference = {"name": origin.token_secret, "key": "HF_TOKEN"}
            secret = [{"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": reference}}]
    container = _container("copy", copy, script + _SCRIPT, environment, place)
    return {**container, "env": [*container["env"], *secret]}


def removing(copy: Copy, place: Place) -> dict[str, Any]:
    """Render the container that empties a folder which ``copying`` filled."""
    return _container("remove", copy, _REMOVE, {}, place)


def holding(copy: Copy) -> dict[str, Any]:
    """Render the container that does nothing, with the image that is there already."""
    return {
        "name": "hold",
        "image": image_of(copy),
        "command": ["sleep", "infinity"],
        "env": [dict(_NO_GPUS)],
        "resources": {kind: {"cpu": "20m", "memory": "32Mi"} for kind in ("requests", "limits")},
        "securityContext": dict(_CONFINED),
    }


def pod_fields(copy: Copy) -> dict[str, Any]:
    """Return what the pod of such containers needs beside its volume."""
    return {
        # Folders of nodes and roots of volumes belong to root; beyond that it may do nothing.
        "securityContext": {"runAsUser": 0, "seccompProfile": {"type": "RuntimeDefault"}},
        **({"serviceAccountName": copy.service_account} if copy.service_account else {}),
    }


def _container(name: str, copy: Copy, script: str, environment: Mapping[str, str], place: Place) -> dict[str, Any]:
    variables = {"FOLDER": place.folder, **environment}
    return {
        "name": name,
        "image": image_of(copy),
        "command": ["/bin/sh", "-c", script],
        "env": [dict(_NO_GPUS), *({"name": key, "value": value} for key, value in variables.items())],
        "resources": dict(place.resources),
        "securityContext": dict(_CONFINED),
        "volumeMounts": [dict(place.mount), {"name": "scratch", "mountPath": _HOME}],
    }
