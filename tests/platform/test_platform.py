"""A stack file: read whole, judged whole, registered whole."""

from pathlib import Path
from typing import Any

import pytest

from pulumi_lws.component import DeclarationError
from pulumi_lws.facts.instances import INSTANCE_TYPES
from pulumi_lws.platform.checks import read, roles_by_path
from pulumi_lws.platform.component import Platform
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.serving.entries import MultiNodeVllmEntry
from pulumi_lws.testing.monitor import record

Raw = dict[str, Any]


def messages(raw: object) -> list[str]:
    return [str(problem) for problem in read(raw)[1]]


def test_the_local_stack_has_no_problem(local_platform: Raw) -> None:
    platform, problems = read(local_platform)
    assert problems == []
    assert platform == PlatformArgs.model_validate(local_platform)


def test_mistakes_of_every_kind_are_shown_at_once(local_platform: Raw) -> None:
    good = local_platform["deployments"]["glm-5"]
    local_platform["pools"]["p6"] = {"instanceType": "p6.48xlarge"}
    local_platform["deployments"] = {
        "misspelt": good | {"replica": 1},
        "unreadable-pool": good | {"pool": "p6"},
        "no-pool": good | {"pool": "p7"},
        "does-not-divide": good | {"parallelism": {"tensor": 6, "pipeline": 2}},
    }
    del local_platform["cluster"]["context"]
    assert messages(local_platform) == [
        "cluster.context: found nothing; allowed: Context of the kubeconfig. Add context.",
        (
            f"pools.p6.instanceType: found 'p6.48xlarge'; allowed: {', '.join(INSTANCE_TYPES)}."
            " Choose an instance type of the catalogue."
        ),
        (
            "deployments.misspelt.replica: found an unknown field with the value 1; allowed:"
            f" {', '.join(field.alias or name for name, field in MultiNodeVllmEntry.model_fields.items())}."
            " Write replicas instead."
        ),
        "deployments.no-pool.pool: found p7; allowed: p5. Name a pool of this stack, or declare it under pools.",
        (
            "deployments.does-not-divide.parallelism.tensor: found 6: the 8 GPUs of one p5.48xlarge are not divisible"
            " by it, and 64 attention heads are not divisible by it; allowed: 1, 2, 4, 8. Write 4 or 8."
        ),
    ]


def test_deployments_that_share_a_pool_need_an_island_for_each_group(local_platform: Raw) -> None:
    local_platform["deployments"]["other"] = local_platform["deployments"]["glm-5"]
    assert messages(local_platform) == [
        (
            "deployments.other.replicas: found 1; allowed: a pool with room: p5 has no island of 2 nodes left for it."
            " Raise pools.p5.islands to 2, or name another pool."
        )
    ]


def test_a_deployment_rolls_over_a_spare_island_only_where_no_other_deployment_takes_it(local_platform: Raw) -> None:
    def surges() -> dict[str, int]:
        return {path: role.surge for path, role in roles_by_path(PlatformArgs.model_validate(local_platform)).items()}

    local_platform["pools"]["p5"]["islands"] = 2
    assert surges() == {"deployments.glm-5": 1}
    local_platform["deployments"]["other"] = local_platform["deployments"]["glm-5"]
    assert surges() == {"deployments.glm-5": 0, "deployments.other": 0}


def test_a_deployment_is_not_called_like_what_another_one_makes(local_platform: Raw) -> None:
    local_platform["pools"]["p5"]["islands"] = 2
    local_platform["deployments"]["glm-5-api"] = local_platform["deployments"]["glm-5"]
    assert messages(local_platform) == [
        (
            "deployments.glm-5-api: found a Service glm-5-api; allowed: objects of its own: glm-5 has Service"
            " glm-5-api, too. Rename glm-5-api or glm-5."
        )
    ]


def test_a_name_too_long_is_found_before_the_api_server_finds_it(local_platform: Raw) -> None:
    name = "g" * 51
    local_platform["deployments"] = {name: local_platform["deployments"]["glm-5"]}
    [message] = messages(local_platform)
    assert message.startswith(f"deployments.{name}.metadata.name: found {name}, of 51 characters; allowed: at most 50")


@pytest.mark.parametrize(
    "raw",
    [
        None,
        3,
        "x",
        [],
        {},
        {"pools": [1]},
        {"deployments": {"a": None}},
        {"deployments": {"a": {"pool": ["x"]}}, "pools": {"p": 7}},
        {"deployments": {1: {"pool": "p"}}, "pools": {2: {"instanceType": "p5.48xlarge"}}},
        {"cluster": {"kind": ["existing"]}, "pools": None},
    ],
)
def test_a_strange_shape_is_answered_with_problems(raw: object) -> None:
    platform, problems = read(raw)
    assert platform is None
    assert problems


@pytest.mark.usefixtures("kubeconfig")
@pytest.mark.parametrize("preview", [True, False])
def test_the_local_stack_registers_its_objects(local_platform: Raw, preview: bool) -> None:
    registrations = record(lambda: void(Platform("platform", local_platform)), preview=preview)
    assert sorted((r.type, r.name) for r in registrations) == [
        ("kubernetes:core/v1:ConfigMap", "platform-glm-5-probe"),
        ("kubernetes:core/v1:Namespace", "platform-namespace"),
        ("kubernetes:core/v1:Service", "platform-glm-5-api"),
        ("kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet", "platform-glm-5-groups"),
        ("kubernetes:networking.k8s.io/v1:NetworkPolicy", "platform-glm-5-network"),
        ("kubernetes:policy/v1:PodDisruptionBudget", "platform-glm-5-budget"),
        ("lws:index:LeaderWorkerSet", "platform-glm-5-groups"),
        ("lws:index:MultiNodeVllm", "platform-glm-5"),
        ("lws:index:Platform", "platform"),
        ("pulumi:providers:kubernetes", "platform-kubernetes"),
    ]
    explicit = [r for r in registrations if r.type.startswith("kubernetes:")]
    assert all("platform-kubernetes" in r.provider for r in explicit)


@pytest.mark.usefixtures("kubeconfig")
def test_the_provider_applies_by_server_and_is_identified_by_the_clusters_name(local_platform: Raw) -> None:
    provider = next(
        r for r in record(lambda: void(Platform("platform", local_platform))) if r.type == "pulumi:providers:kubernetes"
    )
    assert provider.inputs["enableServerSideApply"] == "true"
    assert provider.inputs["clusterIdentifier"] == "pulumi-lws-lab"
    assert provider.inputs["context"] == "pulumi-lws-lab"
    assert "enablePatchForce" not in provider.inputs


def test_a_missing_kubeconfig_stops_the_program(local_platform: Raw, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "missing"))
    local_platform["deployments"]["glm-5"]["replicas"] = 2
    with pytest.raises(DeclarationError) as raised:
        record(lambda: void(Platform("platform", local_platform)))
    assert str(raised.value) == (
        "Platform platform has 2 problems:\n"
        f"  - cluster.kubeconfig: found no context in {tmp_path}/missing (No such file or directory);"
        " allowed: a kubeconfig file that can be read. Set KUBECONFIG, or cluster.kubeconfig in the stack file.\n"
        "  - deployments.glm-5.replicas: found 2; allowed: at most 1: p5 has 1 island, each for one group."
        " Lower replicas, or raise pools.p5.islands."
    )


def test_a_stack_file_with_three_mistakes_stops_the_program_with_three_problems(local_platform: Raw) -> None:
    local_platform["pools"]["p5"]["islands"] = -1
    local_platform["deployments"]["glm-5"] |= {"replicas": "two", "maxModelLen": 0}
    with pytest.raises(DeclarationError) as raised:
        record(lambda: void(Platform("platform", local_platform)))
    assert str(raised.value) == (
        "Platform platform has 3 problems:\n"
        "  - pools.p5.islands: found -1; allowed: 0 or more. Change islands.\n"
        "  - deployments.glm-5.replicas: found 'two'; allowed: a whole number. Change replicas.\n"
        "  - deployments.glm-5.maxModelLen: found 0; allowed: 1 or more. Change maxModelLen."
    )


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (None, "found nothing; allowed: {}. Choose one of them for kind."),
        ("vllm", "found vllm; allowed: {}. Choose one of them for kind."),
        ("multinode", "found multinode; allowed: {}. Write multi-node-vllm instead."),
    ],
)
def test_an_unknown_kind_is_answered_with_those_there_are(local_platform: Raw, kind: str | None, message: str) -> None:
    local_platform["deployments"]["glm-5"]["kind"] = kind
    if kind is None:
        del local_platform["deployments"]["glm-5"]["kind"]
    kinds = "multi-node-vllm, single-node-vllm, disaggregated-vllm"
    assert messages(local_platform) == [f"deployments.glm-5.kind: {message.format(kinds)}"]


def test_a_misspelt_kind_hides_no_other_mistake_of_its_entry(local_platform: Raw) -> None:
    local_platform["deployments"]["glm-5"] |= {"kind": "multi-node", "replicas": "two", "source": {"kind": "s-3"}}
    assert messages(local_platform) == [
        (
            "deployments.glm-5.kind: found multi-node; allowed: multi-node-vllm, single-node-vllm, disaggregated-vllm."
            " Write multi-node-vllm instead."
        ),
        "deployments.glm-5.replicas: found 'two'; allowed: a whole number. Change replicas.",
        ("deployments.glm-5.source.kind: found s-3; allowed: hugging-face, s3, volume, node. Write s3 instead."),
        "deployments.glm-5.source.uri: found nothing; allowed: Address of the folder, s3://bucket/folder. Add uri.",
    ]


def void(_: object) -> None:
    """Drop a value: a program returns nothing."""
