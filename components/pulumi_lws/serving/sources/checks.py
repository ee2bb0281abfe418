"""What is to be known of a source of weights before it is used."""

from pulumi_lws.facts.instances import InstanceType
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.serving.sources.loading import EngineKind, is_in_image
from pulumi_lws.serving.sources.settings import HuggingFaceSource, S3Source, Source, VolumeSource

_GB = 10**9


def loading_problems(
    source: Source, model: str, engine: EngineKind, *, nodes: int, weight_bytes: int | None, instance: InstanceType
) -> list[Problem]:
    """Return what is wrong with a source, or dear; paths start at the settings of the deployment.

    Args:
        source: Where the weights come from.
        model: What the settings call the model.
        engine: Kind of the engine.
        nodes: Nodes that the deployment runs on at most.
        weight_bytes: Bytes of all weights; None where they are not known.
        instance: What the nodes are.
    """
    untold = _untold(source) if engine == "custom" else []
    if not isinstance(source, HuggingFaceSource) or is_in_image(source, model):
        return untold
    return [*untold, *_room(weight_bytes, instance), *_downloads(nodes, weight_bytes)]


def _untold(source: Source) -> list[Problem]:
    """Say what a custom engine does not learn, since its commands are the user's own."""
    match source:
        case HuggingFaceSource(revision=str() as revision):
            path, found = "source.revision", repr(revision)
        case S3Source(uri=uri):
            path, found = "source.uri", repr(uri)
        case VolumeSource(stream=True):
            path, found = "source.stream", "true"
        case _:
            return []
    return [
        Problem(
            path,
            found,
            "what the commands of a custom engine say themselves: it gets no arguments of ours",
            "Make sure that leaderCommand and workerCommand say so too.",
            Severity.WARNING,
        )
    ]


def _room(weight_bytes: int | None, instance: InstanceType) -> list[Problem]:
    if weight_bytes is None or weight_bytes <= instance.local_storage_gb * _GB:
        return []
    store = f"{instance.local_storage_gb} GB, the instance store of {instance.name}"
    fix = "Set source to s3, which streams into the GPUs, or to a volume."
    return [Problem("source", f"a download of {_gigabytes(weight_bytes)}", store, fix)]


def _downloads(nodes: int, weight_bytes: int | None) -> list[Problem]:
    if nodes < 2:
        return []
    size = "the whole model"
    if weight_bytes is not None:
        minutes = max(round(weight_bytes / _GB / 60), 1)
        size = f"{_gigabytes(weight_bytes)}, {minutes} min at 1 GB/s,"
    return [
        Problem(
            "source",
            f"a download of {size} by each of {nodes} nodes",
            "one reader: the hub takes 3000 requests for files in 5 minutes from one address, 5000 with a token",
            "Copy the weights once, and set source to s3, volume or node.",
            Severity.WARNING,
        )
    ]


def _gigabytes(count: int) -> str:
    return f"{-(-count // _GB)} GB"
