"""What deployments keep on nodes lies on the instance store, which is mounted where the operating system has it."""

from typing import Any

import pytest

from pulumi_lws.platform.checks import deployments_of, ray_of, read
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.serving.sources.settings import HuggingFaceSource
from tests.conftest import platform_of

Raw = dict[str, Any]

AL2023, BOTTLEROCKET = "/mnt/k8s-disks/0", "/mnt/.ephemeral"
SYSTEMS = [("auto", None, BOTTLEROCKET), ("karpenter", "bottlerocket@1.50.0", BOTTLEROCKET)]
SYSTEMS += [("karpenter", "al2023@v20260901", AL2023)]


def stack(mode: str, image: str | None = None) -> Raw:
    """Return an environment whose models come from the hub, on nodes of one kind."""
    raw = platform_of("dev" if mode == "auto" else "staging")
    if image:
        raw["cluster"]["compute"]["image"] = image
    for deployment in raw["deployments"].values():
        deployment["source"] = {"kind": "hugging-face"}
    return raw


def folders(raw: Raw) -> set[tuple[str | None, str]]:
    """Return the folders of the hub and of compiled kernels."""
    platform = PlatformArgs.model_validate(raw)
    found = set()
    for args in (*deployments_of(platform).values(), *ray_of(platform).values()):
        source = getattr(args, "source", None)
        assert isinstance(source, HuggingFaceSource)
        found.add((source.path, args.compile_cache.path))  # type: ignore[union-attr]  # what has a source has it
    return found


def warnings(raw: Raw) -> list[tuple[str, str, str]]:
    return [
        (problem.path, problem.found, problem.allowed.split(",")[0])
        for problem in read(raw)[1]
        if "instance store" in problem.allowed
    ]


@pytest.mark.parametrize(("mode", "image", "mount"), SYSTEMS)
def test_folders_that_nobody_declared_lie_on_the_instance_store(mode: str, image: str | None, mount: str) -> None:
    raw = stack(mode, image)
    pool = next(iter(raw["pools"]))
    raw["ray"] = {"chat": {"kind": "ray-service-vllm", "pool": pool, "model": "Qwen/Qwen3-32B"}}
    raw["ray"]["chat"] |= {"parallelism": {"tensor": 8}}
    assert folders(raw) == {(f"{mount}/pulumi-lws/hub", f"{mount}/pulumi-lws/cache")}
    assert warnings(raw) == []


def test_what_is_declared_stays() -> None:
    raw = stack("auto")
    for deployment in raw["deployments"].values():
        deployment["source"]["path"] = None
        deployment["compileCache"] = {"path": f"{BOTTLEROCKET}/mine"}
    assert folders(raw) == {(None, f"{BOTTLEROCKET}/mine")}
    assert warnings(raw) == []


@pytest.mark.parametrize(("mode", "image", "mount"), SYSTEMS)
def test_a_declared_folder_beside_the_instance_store_is_a_warning(mode: str, image: str | None, mount: str) -> None:
    raw = stack(mode, image)
    wrong = AL2023 if mount == BOTTLEROCKET else BOTTLEROCKET
    deployment = raw["deployments"]["gpt-oss"]
    deployment |= {"compileCache": {"path": f"{wrong}/kernels"}, "source": {"kind": "node", "path": f"{wrong}/oss"}}
    below = f"a folder below {mount}"
    assert warnings(raw) == [
        ("deployments.gpt-oss.source.path", f"{wrong}/oss", below),
        ("deployments.gpt-oss.compileCache.path", f"{wrong}/kernels", below),
    ]


def test_pools_of_different_systems_cannot_both_have_the_place() -> None:
    raw = stack("karpenter", "al2023@v20260901")
    raw["deployments"] = {"gpt-oss": raw["deployments"]["gpt-oss"]}
    first = raw["deployments"]["gpt-oss"]["prefill"]["pool"]
    raw["pools"]["other"] = {**raw["pools"][first], "image": "bottlerocket@1.50.0"}
    raw["deployments"]["gpt-oss"]["decode"]["pool"] = "other"
    assert [(path, allowed) for path, _, allowed in warnings(raw)] == [
        ("deployments.gpt-oss.source.path", f"a folder below {BOTTLEROCKET}"),
        ("deployments.gpt-oss.compileCache.path", f"a folder below {BOTTLEROCKET}"),
    ]


def test_a_cluster_that_is_only_reached_has_folders_of_its_own(local_platform: Raw) -> None:
    local_platform["deployments"]["glm-5"]["source"] = {"kind": "node", "path": "/anywhere"}
    assert warnings(local_platform) == []
