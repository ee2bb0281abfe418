"""Declarations of things on Ray for tests, each sound until something is changed."""

from typing import Any

from pulumi_lws.ray.checks import check
from pulumi_lws.ray.deciding import decide
from pulumi_lws.ray.manifests import RayObjects, render
from pulumi_lws.ray.settings import RayArgs, RayClusterPoolArgs, RayServiceVllmArgs

Raw = dict[str, Any]


def pools(**changes: Any) -> Raw:
    return {"p5": {"instanceType": "p5.48xlarge", "nodes": 6, "zone": "us-east-2a", **changes}}


def service(**changes: Any) -> Raw:
    """A model over two nodes, with one or two copies."""
    return {
        "name": "llama",
        "namespace": "models",
        "model": "meta-llama/Llama-3.1-405B-Instruct",
        "pool": "p5",
        "parallelism": {"tensor": 8, "pipeline": 2},
        "maxCopies": 2,
        "maxModelLen": 16384,
        "source": {"kind": "node", "path": "/models/llama"},
        "pools": pools(),
        **changes,
    }


def small(**changes: Any) -> Raw:
    """A model of which two copies share a node."""
    split = {"model": "meta-llama/Llama-3.3-70B-Instruct", "parallelism": {"tensor": 4}, "maxCopies": 3}
    return service(**{**split, **changes})


def pool(**changes: Any) -> Raw:
    return {
        "name": "batch",
        "namespace": "models",
        "pool": "p5",
        "maxWorkers": 4,
        "pools": pools(),
        **changes,
    }


def service_args(**changes: Any) -> RayServiceVllmArgs:
    return RayServiceVllmArgs.model_validate(service(**changes))


def small_args(**changes: Any) -> RayServiceVllmArgs:
    return RayServiceVllmArgs.model_validate(small(**changes))


def pool_args(**changes: Any) -> RayClusterPoolArgs:
    return RayClusterPoolArgs.model_validate(pool(**changes))


def objects(args: RayArgs) -> RayObjects:
    return render(decide(args))


def cluster_spec(args: RayArgs) -> Raw:
    """The spec of the RayCluster."""
    spec: Raw = objects(args).cluster["spec"]
    inner: Raw = spec.get("rayClusterConfig", spec)
    return inner


def workers(args: RayArgs) -> Raw:
    """The one group of workers."""
    (group,) = cluster_spec(args)["workerGroupSpecs"]
    return dict(group)


def worker_spec(args: RayArgs) -> Raw:
    spec: Raw = workers(args)["template"]["spec"]
    return spec


def head_spec(args: RayArgs) -> Raw:
    spec: Raw = cluster_spec(args)["headGroupSpec"]["template"]["spec"]
    return spec


def environment(spec: Raw) -> Raw:
    return {entry["name"]: entry.get("value", entry.get("valueFrom")) for entry in spec["containers"][0]["env"]}


def said(args: RayArgs) -> list[str]:
    """Every problem in words, with its severity before it."""
    return [f"{problem.severity}: {problem}" for problem in check(args)]
