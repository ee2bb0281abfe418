"""What vLLM cannot do of a launch, and why."""

from collections.abc import Iterator

from pulumi_lws.facts.vllm_flags import Version, flag_table
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.serving.engines.engine import Launch
from pulumi_lws.serving.engines.settings import VllmEngine
from pulumi_lws.serving.engines.vllm_arguments import argument_problems
from pulumi_lws.serving.engines.vllm_modes import Mode, mode_of, version_in

_OLDEST_SAFE: Version = (0, 9, 0)
_RAY_GONE: Version = (0, 19, 0)

_EVERYWHERE = "allgather_reducescatter"
_ALL_TO_ALL = (
    _EVERYWHERE,
    "deepep_high_throughput",
    "deepep_low_latency",
    "deepep_v2",
    "flashinfer_nvlink_one_sided",
    "flashinfer_nvlink_two_sided",
    "moonep",
    "mori_high_throughput",
    "mori_low_latency",
    "nixl_ep",
)


def vllm_problems(settings: VllmEngine, launch: Launch) -> list[Problem]:
    """Return what vLLM cannot do of a launch. Paths start at the role's settings, or with ``engine`` or ``image``."""
    version, mode = version_in(settings, launch.image), mode_of(settings, launch)
    return [
        *_version(settings, launch, version, mode),
        *_ray(settings, launch, version),
        *_data_parallel(launch, mode),
        *_experts(settings, launch, version),
        *argument_problems(launch, version or flag_table().versions[-1]),
    ]


def _version(settings: VllmEngine, launch: Launch, version: Version | None, mode: Mode) -> Iterator[Problem]:
    if version is None:
        fix = "Set engine.version to the version of vLLM in the image."
        yield Problem("engine.version", f"none, and none in the tag of {launch.image}", "a version such as 0.26.0", fix)
        return
    path = "image" if settings.version is None else "engine.version"
    if version < _OLDEST_SAFE:
        allowed = "0.9.0 or newer: older ones run code that peers and clients send (CVE-2025-32444, CVE-2025-47277)"
        yield Problem(path, f"vLLM {shown(version)}", allowed, "Use a newer image.")
    elif mode is Mode.NODES and not flag_table().has("--nnodes", version):
        fix = "Use a newer image, or set engine.backend to ray with an image that has Ray."
        yield Problem(path, f"vLLM {shown(version)}", "0.12.0 or newer, to span pods without Ray", fix)


def _ray(settings: VllmEngine, launch: Launch, version: Version | None) -> Iterator[Problem]:
    if settings.backend != "ray" or launch.shape.size == 1:
        return
    if launch.parallelism.data > 1:
        allowed = f"mp, with parallelism.data {launch.parallelism.data}: pods start their own data-parallel ranks"
        yield Problem("engine.backend", "ray", allowed, "Remove engine.backend.")
    elif version is not None and version >= _RAY_GONE:
        yield Problem(
            "engine.backend",
            f"ray, with vLLM {shown(version)}",
            "mp, or an image that you put Ray into: those of vLLM have none since 0.19",
            "Remove engine.backend, or make sure that the image has Ray.",
            Severity.WARNING,
        )


def _data_parallel(launch: Launch, mode: Mode) -> Iterator[Problem]:
    split, gpus = launch.parallelism, launch.shape.gpus_per_pod
    if mode not in (Mode.HYBRID, Mode.EXTERNAL):
        return
    if split.world > gpus:
        yield Problem(
            "parallelism.data",
            f"{split.data} ranks of {split.world} GPUs each, over pods of {gpus}",
            f"ranks that lie in one pod: tensor times pipeline of at most {gpus}, or data 1",
            f"Lower tensor or pipeline to a product of {gpus}, or set data to 1 and multiply replicas by {split.data}.",
        )
    elif mode is Mode.EXTERNAL and launch.is_mixture_of_experts is False:
        yield Problem(
            "parallelism.data",
            f"{split.data}, for a model without experts",
            "1: vLLM refuses such ranks in pods of their own",
            f"Set data to 1 and multiply replicas by {split.data}.",
        )


def _experts(settings: VllmEngine, launch: Launch, version: Version | None) -> Iterator[Problem]:
    if launch.parallelism.expert and launch.is_mixture_of_experts is False:
        yield Problem("parallelism.expert", "true", "false: the model has no experts", "Remove it.")
    chosen, path = settings.all_to_all, "engine.allToAll"
    if chosen is None:
        return
    if version is not None and not flag_table().has("--all2all-backend", version):
        allowed = "none: the flag came with vLLM 0.12.0"
        yield Problem(path, f"{chosen}, with vLLM {shown(version)}", allowed, "Use a newer image, or remove it.")
    elif chosen not in _ALL_TO_ALL:
        removed = " (pplx and naive are gone; vLLM would silently take this one)" if chosen in {"pplx", "naive"} else ""
        yield Problem(path, chosen, ", ".join(_ALL_TO_ALL), f"Write {_EVERYWHERE}{removed}.")
    elif _needs_kernels(settings, launch):
        yield Problem(
            path,
            f"{chosen}, over EFA",
            f"{_EVERYWHERE}: DeepEP needs InfiniBand, unless the image has UCCL-EP or DeepEP-V2",
            "Remove it, or set engine.imageHasExpertKernelsForEfa to true if the image has them.",
        )


def _needs_kernels(settings: VllmEngine, launch: Launch) -> bool:
    deep = (settings.all_to_all or "").startswith("deepep_")
    return deep and launch.has_efa and launch.shape.size > 1 and not settings.image_has_expert_kernels_for_efa


def shown(version: Version) -> str:
    """Write a version as people do."""
    return ".".join(map(str, version))
