"""What keeps caches from being of use is said before anything is applied."""

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from pulumi_lws.caches.checks import cache_problems
from pulumi_lws.caches.settings import Caches
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.planning.validation import problems_of
from pulumi_lws.serving.entries import DeploymentSettings

Raw = dict[str, Any]

S3: Raw = {"kind": "s3", "uri": "s3://models/glm-5"}
POOLS: Raw = {
    "p5": {"instanceType": "p5.48xlarge", "nodes": 4, "static": True},
    "g6e": {"instanceType": "g6e.xlarge", "nodes": 4, "static": True},
    "dynamic": {"instanceType": "p5.48xlarge", "nodes": 4},
}
NODE: Raw = {"origin": S3, "sizeGb": 756, "pools": ["p5"], "path": "/mnt/k8s-disks/0/models/glm-5"}
COPY: Raw = {"origin": S3, "sizeGb": 756, "path": "models/glm-5"}
FSX: Raw = {
    "kind": "fsx-lustre",
    "fileSystem": "fs-0123456789abcdef0",
    "dnsName": "fs-0123456789abcdef0.fsx.us-east-2.amazonaws.com",
    "mountName": "fsx",
    "sizeGib": 4800,
}
FINISHED = ".pulumi-lws-finished"


def on_node(**fields: Any) -> Raw:
    return {"kind": "node", "path": "/mnt/k8s-disks/0/models/glm-5", "finishFile": FINISHED, **fields}


def on_volume(**fields: Any) -> Raw:
    return {"kind": "volume", "claim": "weights", "path": "/models/glm-5/", **fields}


def found(
    caches: Raw, source: Raw | None = None, pool: str = "p5", team: str | None = None, **cluster: Any
) -> list[Problem]:
    """Judge caches beside one deployment that reads from a source."""
    deployments: Mapping[str, Any] = {}
    if source is not None:
        raw: Raw = {"kind": "single-node-vllm", "model": "zai-org/GLM-5-FP8", "parallelism": {"tensor": 1}}
        raw |= {"pool": pool, "source": source, "team": team}
        deployments = {"glm-5": TypeAdapter(DeploymentSettings).validate_python(raw)}
    pools = {name: GpuPool.model_validate(pool) for name, pool in POOLS.items()}
    return cache_problems(Caches.model_validate(caches), pools, deployments, **cluster)


@pytest.mark.parametrize(
    ("caches", "source", "cluster"),
    [
        ({}, None, {}),
        ({"prePull": True, "prePullImages": ["registry.example.com/vllm:next"]}, None, {}),
        ({"prePull": ["p5", "dynamic"]}, None, {}),
        ({"nodeModels": {"glm-5": NODE}}, on_node(), {"mode": "karpenter", "image": "al2023@v20260901"}),
        ({"nodeModels": {"glm-5": NODE}}, on_node(path="/mnt//k8s-disks/0/models/glm-5/"), {"mode": "lab"}),
        ({"nodeModels": {"old": NODE | {"remove": True}}}, None, {}),
        ({"sharedVolumes": {"weights": FSX | {"copies": {"glm-5": COPY}}}}, on_volume(), {}),
        ({"sharedVolumes": {"weights": FSX}}, on_volume(path="filled/by/hand"), {}),
        # Somebody else's folders and claims are theirs to fill.
        ({}, on_node(finishFile="done"), {}),
        ({}, on_volume(), {}),
    ],
)
def test_caches_that_work_have_no_problem(caches: Raw, source: Raw | None, cluster: Raw) -> None:
    assert found(caches, source, **cluster) == []


def test_pools_that_do_not_exist_are_named_in_their_place() -> None:
    allowed, fix = "p5, g6e, dynamic", "Name a pool of this stack."
    caches = {"prePull": ["p5", "p6"], "nodeModels": {"glm-5": NODE | {"pools": ["p7", "p5"]}}}
    assert found(caches) == [
        Problem("caches.prePull[1]", "p6", allowed, fix),
        Problem("caches.nodeModels.glm-5.pools[0]", "p7", allowed, fix),
    ]


def test_further_images_need_a_pool_that_pulls() -> None:
    assert found({"prePullImages": ["registry.example.com/vllm:next"]}) == [
        Problem(
            "caches.prePullImages",
            "1 image",
            "none where no pool pulls images beforehand",
            "Set prePull to true or to names of pools, or remove prePullImages.",
        )
    ]


def test_a_node_that_comes_with_its_pod_has_no_weights_beforehand() -> None:
    assert found({"nodeModels": {"glm-5": NODE | {"pools": ["dynamic"]}}}) == [
        Problem(
            "caches.nodeModels.glm-5.pools[0]",
            "dynamic, whose nodes come with their pods",
            "static pools: a new node would first copy and then read",
            "Set pools.dynamic.static to true, or let the deployment stream (source.kind s3).",
        )
    ]


@pytest.mark.parametrize(
    ("cluster", "path", "store", "note"),
    [
        ({"mode": "karpenter", "image": "al2023@v20260901"}, "/var/glm-5/", "/mnt/k8s-disks/0", ""),
        ({"mode": "karpenter", "image": "al2023@v20260901"}, "/mnt/k8s-disks/01/glm-5", "/mnt/k8s-disks/0", ""),
        ({"mode": "karpenter", "image": "bottlerocket@1.50.0"}, NODE["path"], "/mnt/.ephemeral", ""),
        (
            {"mode": "auto"},
            NODE["path"],
            "/mnt/.ephemeral",
            " (that of Bottlerocket, which Auto Mode is made from; not tried there)",
        ),
    ],
)
def test_a_folder_beside_the_instance_store_is_a_warning(cluster: Raw, path: str, store: str, note: str) -> None:
    caches = {"nodeModels": {"glm-5": NODE | {"path": path}}}
    assert found(caches, **cluster) == [
        Problem(
            "caches.nodeModels.glm-5.path",
            path,
            f"a folder below {store}, where the nodes of p5 mount their instance store; elsewhere it lies on the root"
            f" volume{note}",
            f"Set it to {store}/models/glm-5.",
            Severity.WARNING,
        )
    ]
    mended = {"nodeModels": {"glm-5": NODE | {"path": f"{store}/models/glm-5"}}}
    assert found(mended, **cluster) == []


@pytest.mark.parametrize(("path", "outer"), [("/mnt/a", "/mnt/a/"), ("/mnt/a/b", "/mnt/a")])
def test_two_models_have_a_folder_each(path: str, outer: str) -> None:
    fix = "Give each model and revision a path of its own."
    nodes = {"nodeModels": {"one": NODE | {"path": outer}, "two": NODE | {"path": path}}}
    assert found(nodes) == [Problem("caches.nodeModels.two.path", path, f"a folder of its own: one has {outer}", fix)]
    copies = {"one": COPY | {"path": outer[1:]}, "two": COPY | {"path": path[1:]}}
    assert found({"sharedVolumes": {"weights": FSX | {"copies": copies}}}) == [
        Problem(
            "caches.sharedVolumes.weights.copies.two.path", path[1:], f"a folder of its own: one has {outer[1:]}", fix
        )
    ]
    assert found({"nodeModels": {"one": NODE | {"path": "/mnt/a"}, "two": NODE | {"path": "/mnt/ab"}}}) == []


@pytest.mark.parametrize("size", [225, 226])
def test_the_disks_of_a_node_hold_its_models_with_a_tenth_to_spare(size: int) -> None:
    models = {
        "small": NODE | {"pools": ["g6e", "p5"], "sizeGb": 25, "path": "/mnt/small"},
        "large": NODE | {"pools": ["g6e"], "sizeGb": size - 25, "path": "/mnt/large"},
    }
    problem = Problem(
        "caches.nodeModels",
        "226 GB on each node of g6e: small, large",
        "at most 225 GB: 90 % of the 250 GB instance store of g6e.xlarge",
        "Take g6e out of the pools of some, or let some deployments stream (source.kind s3).",
    )
    assert found({"nodeModels": models}) == ([problem] if size > 225 else [])


def test_a_file_system_of_lustre_holds_its_copies() -> None:
    copies = {"glm-5": COPY}
    assert found({"sharedVolumes": {"weights": FSX | {"copies": copies, "sizeGib": 704}}}) == [
        Problem(
            "caches.sharedVolumes.weights.sizeGib",
            "704",
            "at least 705 GiB for copies of 756 GB",
            "Grow the file system to 705 GiB, or copy less.",
        )
    ]
    assert found({"sharedVolumes": {"weights": FSX | {"copies": copies, "sizeGib": 705}}}) == []


@pytest.mark.parametrize(("given", "shown"), [({"finishFile": None}, "nothing"), ({"finishFile": "done"}, "'done'")])
def test_whoever_reads_a_folder_that_is_filled_waits_until_it_is_whole(given: Raw, shown: str) -> None:
    assert found({"nodeModels": {"glm-5": NODE}}, on_node(**given)) == [
        Problem(
            "deployments.glm-5.source.finishFile",
            shown,
            f"{FINISHED}: until that is there {NODE['path']} holds only a part of the weights",
            f"Set it to {FINISHED}.",
        )
    ]


def test_nobody_waits_for_a_folder_that_is_never_filled() -> None:
    caches = {"nodeModels": {"glm-5": NODE}}
    assert found(caches, on_node(path="/mnt/k8s-disks/0/models/glm-6")) == [
        Problem(
            "deployments.glm-5.source.path",
            "/mnt/k8s-disks/0/models/glm-6",
            f"the path of a model under caches.nodeModels: {NODE['path']} (glm-5)",
            "Name one of them: nothing else writes this finishFile.",
        )
    ]
    assert found(caches, on_node(), pool="g6e") == [
        Problem(
            "caches.nodeModels.glm-5.pools",
            "p5",
            "the pools of glm-5, whose pods on g6e would wait for ever",
            "Add g6e.",
        )
    ]
    assert found({"nodeModels": {"glm-5": NODE | {"remove": True}}}, on_node()) == [
        Problem(
            "caches.nodeModels.glm-5.remove",
            "true",
            "false, as long as glm-5 reads the folder",
            "Give glm-5 another source first.",
        )
    ]


def test_a_folder_of_a_volume_that_nothing_copies_is_a_warning() -> None:
    caches = {"sharedVolumes": {"weights": FSX | {"copies": {"glm-5": COPY}}}}
    assert found(caches, on_volume(path="models/glm-6")) == [
        Problem(
            "deployments.glm-5.source.path",
            "'models/glm-6'",
            "a folder that is copied onto the volume: models/glm-5 (glm-5)",
            "Set it to one of them, unless you fill the folder by other means.",
            Severity.WARNING,
        )
    ]


def test_a_claim_is_in_the_namespace_of_those_who_mount_it() -> None:
    caches = {"sharedVolumes": {"weights": FSX | {"team": "search"}}}
    assert found(caches, on_volume(), team="search") == []
    assert found(caches, on_volume()) == [
        Problem(
            "deployments.glm-5.source.claim",
            "weights, in the namespace of team search",
            "a claim in the namespace of the platform: pods mount no other",
            "Add a volume of the same file system with that team to caches.sharedVolumes, under another name.",
        )
    ]


@pytest.mark.parametrize(
    ("caches", "path"),
    [
        ({"prePull": "p5"}, "prePull"),
        ({"prePull": ["p5", 5]}, "prePull"),
        ({"prePullImages": ["vllm:latest"]}, "prePullImages[0]"),
        ({"nodeModels": {"a": NODE | {"pools": []}}}, "nodeModels.a.pools"),
        ({"nodeModels": {"a": NODE | {"path": "models"}}}, "nodeModels.a.path"),
        (
            {"nodeModels": {"a": NODE | {"origin": {"kind": "hugging-face", "model": "a/b"}}}},
            "nodeModels.a.origin.revision",
        ),
        ({"nodeModels": {"a": NODE | {"origin": {"kind": "s3", "uri": "s3://bucket"}}}}, "nodeModels.a.origin.uri"),
        ({"sharedVolumes": {"a": FSX | {"fileSystem": "vol-1"}}}, "sharedVolumes.a.fileSystem"),
        ({"sharedVolumes": {"a": FSX | {"copies": {"b": COPY | {"path": "/./"}}}}}, "sharedVolumes.a.copies.b.path"),
    ],
)
def test_a_declaration_that_cannot_be_meant_is_refused_where_it_stands(caches: Raw, path: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Caches.model_validate(caches)
    assert [problem.path for problem in problems_of(caught.value, Caches)] == [path]
