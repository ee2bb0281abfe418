"""Where weights and compiled kernels come from."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from pulumi_lws.checking.schemas import POD_SPEC, schemas_for
from pulumi_lws.facts.instances import INSTANCE_TYPES
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.planning.validation import problems_of
from pulumi_lws.serving.sources.checks import loading_problems
from pulumi_lws.serving.sources.compiling import Storage, cache_identity, compile_cache
from pulumi_lws.serving.sources.loading import EngineKind, Loading, loading
from pulumi_lws.serving.sources.settings import CompileCache, Source

GLM = "zai-org/GLM-5-FP8"
BYTES = 756 * 10**9
P5 = INSTANCE_TYPES["p5.48xlarge"]
OFFLINE = {"name": "HF_HUB_OFFLINE", "value": "1"}
STREAM = ("--load-format", "runai_streamer", "--model-loader-extra-config", '{"concurrency":16}')
READ_ONLY = {"name": "models", "mountPath": "/models", "readOnly": True}


def source(kind: str = "hugging-face", **fields: Any) -> Source:
    parsed: Source = TypeAdapter(Source).validate_python({"kind": kind, **fields})
    return parsed


SOURCES = {
    "hub": source(),
    "gated hub": source(tokenSecret="hub", revision="abc123", path=None),
    "s3": source("s3", uri="s3://models/glm-5", region="us-west-2", serviceAccount="reader", concurrency=32),
    "volume": source("volume", claim="fsx", path="/glm/5/", stream=True),
    "node": source("node", path="/mnt/k8s-disks/0/models/glm-5"),
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "hub",
            Loading(
                GLM,
                environment=({"name": "HF_HOME", "value": "/hub"},),
                volumes=(
                    {
                        "name": "models",
                        "hostPath": {"path": "/mnt/k8s-disks/0/pulumi-lws/hub", "type": "DirectoryOrCreate"},
                    },
                ),
                mounts=({"name": "models", "mountPath": "/hub"},),
            ),
        ),
        (
            "gated hub",
            Loading(
                GLM,
                arguments=("--revision", "abc123"),
                environment=(
                    {"name": "HF_HOME", "value": "/hub"},
                    {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "HF_TOKEN"}}},
                ),
                volumes=({"name": "models", "emptyDir": {}},),
                mounts=({"name": "models", "mountPath": "/hub"},),
            ),
        ),
        (
            "s3",
            Loading(
                "s3://models/glm-5",
                arguments=(*STREAM[:-1], '{"concurrency":32}'),
                environment=(
                    {"name": "AWS_REGION", "value": "us-west-2"},
                    {"name": "AWS_DEFAULT_REGION", "value": "us-west-2"},
                ),
                service_account="reader",
            ),
        ),
        (
            "volume",
            Loading(
                "/models/glm/5",
                arguments=STREAM,
                environment=(OFFLINE,),
                volumes=({"name": "models", "persistentVolumeClaim": {"claimName": "fsx", "readOnly": True}},),
                mounts=(READ_ONLY,),
            ),
        ),
        (
            "node",
            Loading(
                "/models",
                environment=(OFFLINE,),
                volumes=(
                    {"name": "models", "hostPath": {"path": "/mnt/k8s-disks/0/models/glm-5", "type": "Directory"}},
                ),
                mounts=(READ_ONLY,),
            ),
        ),
    ],
)
def test_a_source_says_what_the_engine_loads_and_what_it_sees(name: str, expected: Loading) -> None:
    assert loading(SOURCES[name], GLM, "vllm") == expected
    assert loading(SOURCES[name], GLM, "sglang") == expected


@pytest.mark.parametrize("name", SOURCES)
def test_a_custom_engine_gets_everything_but_arguments(name: str) -> None:
    ours, custom = loading(SOURCES[name], GLM, "vllm"), loading(SOURCES[name], GLM, "custom")
    assert (custom.arguments, custom.model, custom.environment) == ((), ours.model, ours.environment)
    assert (custom.volumes, custom.mounts) == (ours.volumes, ours.mounts)


def test_a_model_of_the_image_is_neither_fetched_nor_asked_for() -> None:
    assert loading(source(), "/opt/model", "vllm") == Loading("/opt/model", environment=(OFFLINE,))
    assert loading_problems(source(), "/opt/model", "vllm", nodes=4, weight_bytes=BYTES, instance=P5) == []


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("kind", ["node", "claim", "none"])
def test_a_pod_with_a_source_and_a_cache_is_one_that_the_server_takes(name: str, kind: str) -> None:
    weights = loading(SOURCES[name], GLM, "vllm")
    claim = {"claim": "cache"} if kind == "claim" else {}
    cache = compile_cache(CompileCache.model_validate({"kind": kind, **claim}), "abc")
    mounts, volumes = [*weights.mounts, *cache.mounts], [*weights.volumes, *cache.volumes]
    container = {"name": "engine", "env": [*weights.environment, *cache.environment], "volumeMounts": mounts}
    assert schemas_for((1, 35)).problems({"containers": [container], "volumes": volumes}, POD_SPEC) == []
    assert [mount["name"] for mount in mounts] == [volume["name"] for volume in volumes]
    assert len({mount["mountPath"] for mount in mounts}) == len(mounts)


def problems(name: str, engine: EngineKind = "vllm", nodes: int = 1, weight_bytes: int | None = BYTES) -> list[Problem]:
    return loading_problems(SOURCES[name], GLM, engine, nodes=nodes, weight_bytes=weight_bytes, instance=P5)


def test_several_nodes_that_download_from_the_hub_are_told_what_it_costs() -> None:
    assert problems("hub", nodes=1) == []
    assert problems("hub", nodes=4) == [
        Problem(
            "source",
            "a download of 756 GB, 13 min at 1 GB/s, by each of 4 nodes",
            "one reader: the hub takes 3000 requests for files in 5 minutes from one address, 5000 with a token",
            "Copy the weights once, and set source to s3, volume or node.",
            Severity.WARNING,
        )
    ]
    assert [problem.found for problem in problems("hub", nodes=2, weight_bytes=None)] == [
        "a download of the whole model by each of 2 nodes"
    ]


@pytest.mark.parametrize("name", ["s3", "volume", "node"])
def test_any_other_source_is_read_by_as_many_nodes_as_you_like(name: str) -> None:
    assert problems(name, nodes=100) == []


def test_a_download_that_the_disks_do_not_hold_is_refused() -> None:
    assert problems("hub", weight_bytes=P5.local_storage_gb * 10**9) == []
    assert problems("hub", weight_bytes=P5.local_storage_gb * 10**9 + 1) == [
        Problem(
            "source",
            "a download of 30721 GB",
            "30720 GB, the instance store of p5.48xlarge",
            "Set source to s3, which streams into the GPUs, or to a volume.",
        )
    ]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("hub", []),
        ("gated hub", [("source.revision", "'abc123'")]),
        ("s3", [("source.uri", "'s3://models/glm-5'")]),
        ("volume", [("source.stream", "true")]),
        ("node", []),
    ],
)
def test_what_a_custom_engine_does_not_learn_is_said(name: str, told: list[tuple[str, str]]) -> None:
    found = problems(name, "custom")
    assert [(problem.path, problem.found) for problem in found] == told
    assert {problem.severity for problem in found} <= {Severity.WARNING}


def test_kernels_are_kept_in_a_folder_of_the_node() -> None:
    found = compile_cache(CompileCache(path="/mnt/k8s-disks/0/cache/"), "abc")
    path = {"path": "/mnt/k8s-disks/0/cache/abc", "type": "DirectoryOrCreate"}
    assert found.volumes == ({"name": "compiled", "hostPath": path},)
    assert found.mounts == ({"name": "compiled", "mountPath": "/compiled"},)
    assert {entry["name"]: entry["value"] for entry in found.environment} == {
        "VLLM_CACHE_ROOT": "/compiled/vllm",
        "TORCHINDUCTOR_CACHE_DIR": "/compiled/inductor",
        "TRITON_CACHE_DIR": "/compiled/triton",
        "DG_JIT_CACHE_DIR": "/compiled/deep-gemm",
        "SGLANG_DG_CACHE_DIR": "/compiled/deep-gemm",
        "FLASHINFER_WORKSPACE_BASE": "/compiled/flashinfer",
        "TILELANG_CACHE_DIR": "/compiled/tilelang",
    }


def test_kernels_are_kept_on_a_claim_or_lost() -> None:
    found = compile_cache(CompileCache(kind="claim", claim="cache"), "abc")
    assert found.volumes == ({"name": "compiled", "persistentVolumeClaim": {"claimName": "cache"}},)
    assert found.mounts == ({"name": "compiled", "mountPath": "/compiled", "subPath": "abc"},)
    assert compile_cache(CompileCache(kind="none"), "abc") == Storage()


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        (
            {"kind": "claim"},
            Problem("claim", "nothing", "the name of a claim", "Set claim, or kind to node."),
        ),
        (
            {"claim": "cache"},
            Problem("claim", "cache", "nothing: the kind is node", "Set kind to claim, or remove claim."),
        ),
    ],
)
def test_a_claim_is_named_where_it_is_used_and_nowhere_else(fields: dict[str, str], problem: Problem) -> None:
    with pytest.raises(ValidationError) as refused:
        CompileCache.model_validate(fields)
    assert problems_of(refused.value, CompileCache) == [problem]


@given(st.lists(st.tuples(st.text(), st.text()), unique=True, min_size=2))
def test_different_images_or_models_never_share_kernels(pairs: list[tuple[str, str]]) -> None:
    names = [cache_identity(*pair) for pair in pairs if "\n" not in "".join(pair)]
    assert len(set(names)) == len(names)
    assert all(name.isalnum() for name in names)
