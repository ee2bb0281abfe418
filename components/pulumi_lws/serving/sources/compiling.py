"""Where compiled kernels are kept: compiling them again takes minutes at each start."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pulumi_lws.serving.sources.settings import CompileCache

_FOLDER: Final = "/compiled"
_VOLUME: Final = "compiled"

_CACHES: Final[Mapping[str, str]] = {
    "VLLM_CACHE_ROOT": "vllm",
    "TORCHINDUCTOR_CACHE_DIR": "inductor",
    "TRITON_CACHE_DIR": "triton",
    "DG_JIT_CACHE_DIR": "deep-gemm",
    # SGLang sets DG_JIT_CACHE_DIR itself, from this one.
    "SGLANG_DG_CACHE_DIR": "deep-gemm",
    "FLASHINFER_WORKSPACE_BASE": "flashinfer",
    "TILELANG_CACHE_DIR": "tilelang",
}
"""Folder of each compiler, by the variable that names it."""


@dataclass(frozen=True)
class Storage:
    """What a container needs to keep files.

    Attributes:
        environment: Entries of the container's ``env``.
        volumes: Volumes of the pod.
        mounts: Mounts of the container.
    """

    environment: tuple[Mapping[str, Any], ...] = ()
    volumes: tuple[Mapping[str, Any], ...] = ()
    mounts: tuple[Mapping[str, Any], ...] = ()


def compile_cache(cache: CompileCache, identity: str) -> Storage:
    """Return the storage of compiled kernels.

    Pods may use it at the same time: compilers put whole files in place, vLLM since
    https://github.com/vllm-project/vllm/pull/27616.

    Args:
        cache: What was declared.
        identity: Folder below it, so that only pods with the same kernels share them; see ``cache_identity``.
    """
    if cache.kind == "none":
        return Storage()
    volume: Mapping[str, Any]
    mount: Mapping[str, Any] = {"name": _VOLUME, "mountPath": _FOLDER}
    if cache.kind == "node":
        path = f"{cache.path.rstrip('/')}/{identity}"
        volume = {"name": _VOLUME, "hostPath": {"path": path, "type": "DirectoryOrCreate"}}
    else:
        volume = {"name": _VOLUME, "persistentVolumeClaim": {"claimName": cache.claim}}
        mount = {**mount, "subPath": identity}
    environment = tuple({"name": name, "value": f"{_FOLDER}/{folder}"} for name, folder in _CACHES.items())
    return Storage(environment, (volume,), (mount,))


def cache_identity(image: str, *parts: str) -> str:
    """Return the name of a folder for what compiled kernels follow from: the image, and say GPU and model."""
    return hashlib.sha256("\n".join((image, *parts)).encode()).hexdigest()[:16]
