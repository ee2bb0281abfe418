"""How an engine gets its weights: what it is told, and what of the node or of a volume its container sees."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from pulumi_lws.planning.times import Way
from pulumi_lws.serving.sources.settings import HuggingFaceSource, NodeSource, S3Source, Source, VolumeSource

EngineKind = Literal["vllm", "sglang", "custom"]
"""Kind of an engine, as its settings have it."""

MODELS = "/models"
"""Where the container sees a folder that holds the weights."""

_HUB = "/hub"
"""Where the container keeps what it downloads from the hub."""

_REGION = ("AWS_REGION", "AWS_DEFAULT_REGION")
"""botocore, which lists the bucket, reads only the second; other clients read only the first."""

_VOLUME = "models"
_OFFLINE = {"name": "HF_HUB_OFFLINE", "value": "1"}
"""With the weights at hand, nothing is to be asked of the hub: a name misspelt would be a download."""


@dataclass(frozen=True)
class Loading:
    """What the pods of a role need for their weights.

    Attributes:
        model: What the engine is told to load.
        arguments: Arguments of the engine.
        environment: Entries of a container's ``env``.
        volumes: Volumes of the pod.
        mounts: Mounts of the engine's container.
        service_account: Service account that the pods run as; None for the namespace's own.
        finish_file: File that is there once the weights are whole; None where nothing is to be waited for.
    """

    model: str
    arguments: tuple[str, ...] = ()
    environment: tuple[Mapping[str, Any], ...] = ()
    volumes: tuple[Mapping[str, Any], ...] = ()
    mounts: tuple[Mapping[str, Any], ...] = ()
    service_account: str | None = None
    finish_file: str | None = None


def loading(source: Source, model: str, engine: EngineKind) -> Loading:
    """Return what pods need to load ``model`` from its source.

    Args:
        source: Where the weights come from.
        model: A Hugging Face id, or a path inside the container; with a source of another kind only a name.
        engine: Kind of the engine. A custom one gets no arguments: its commands are the user's.
    """
    found = _found(source, model)
    return replace(found, arguments=()) if engine == "custom" else found


def wait_for_weights_command(finish_file: str, seconds: int) -> list[str]:
    """Return what waits until the weights are whole; it fails where they are not in time."""
    script = (
        f'left={seconds}; until [ -e "$0" ]; do [ $left -gt 0 ] || {{ echo "no $0 in {seconds} s" >&2; exit 1; }};'
        " left=$((left - 1)); sleep 1; done"
    )
    return ["/bin/sh", "-c", script, finish_file]


def is_in_image(source: Source, model: str) -> bool:
    """Tell whether the image brings the weights: the model is a path, and nothing else provides it."""
    return isinstance(source, HuggingFaceSource) and model.startswith("/")


def way_of(source: Source, model: str) -> Way:
    """Return how the weights get from their source to the GPUs."""
    match source:
        case _ if is_in_image(source, model):
            return "local-disk"
        case HuggingFaceSource():
            return "download"
        case S3Source():
            return "s3-stream"
        case VolumeSource():
            return "shared-volume-stream" if source.stream else "shared-volume"
        case NodeSource():
            return "local-disk"


def _found(source: Source, model: str) -> Loading:
    match source:
        case _ if is_in_image(source, model):
            return Loading(model, environment=(_OFFLINE,))
        case HuggingFaceSource():
            return _from_hub(source, model)
        case S3Source():
            # No HF_HUB_OFFLINE here: vLLM would then look for a folder of that name.
            return Loading(
                source.uri,
                arguments=_streaming(source.concurrency),
                environment=tuple({"name": name, "value": source.region} for name in _REGION) if source.region else (),
                service_account=source.service_account,
            )
        case VolumeSource():
            claim = {"persistentVolumeClaim": {"claimName": source.claim, "readOnly": True}}
            path = "/".join([MODELS, *filter(None, source.path.split("/"))])
            return _from_folder(path, claim, _streaming() if source.stream else ())
        case NodeSource():
            found = _from_folder(MODELS, {"hostPath": {"path": source.path, "type": "Directory"}})
            return replace(found, finish_file=f"{MODELS}/{source.finish_file}" if source.finish_file else None)


def _from_hub(source: HuggingFaceSource, model: str) -> Loading:
    keep = {"hostPath": {"path": source.path, "type": "DirectoryOrCreate"}} if source.path else {"emptyDir": {}}
    environment: list[Mapping[str, Any]] = [{"name": "HF_HOME", "value": _HUB}]
    if source.token_secret:
        reference = {"name": source.token_secret, "key": "HF_TOKEN"}
        environment.append({"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": reference}})
    return Loading(
        model,
        arguments=("--revision", source.revision) if source.revision else (),
        environment=tuple(environment),
        volumes=({"name": _VOLUME, **keep},),
        mounts=({"name": _VOLUME, "mountPath": _HUB},),
    )


def _from_folder(path: str, folder: Mapping[str, Any], arguments: tuple[str, ...] = ()) -> Loading:
    return Loading(
        path,
        arguments=arguments,
        environment=(_OFFLINE,),
        volumes=({"name": _VOLUME, **folder},),
        mounts=({"name": _VOLUME, "mountPath": MODELS, "readOnly": True},),
    )


def _streaming(concurrency: int = 16) -> tuple[str, ...]:
    """Return the arguments of the Run:ai streamer, which vLLM and SGLang call alike."""
    settings = json.dumps({"concurrency": concurrency}, separators=(",", ":"))
    return ("--load-format", "runai_streamer", "--model-loader-extra-config", settings)
