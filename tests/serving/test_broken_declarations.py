"""Declarations at and beyond the bounds of what makes sense: each kind is answered, and none ends in a traceback."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from pulumi_lws.declarations import NamespaceName, ObjectName, VersionText, Word, whole_number
from pulumi_lws.facts.models import MODELS
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.planning.parallelism import Parallelism
from pulumi_lws.planning.validation import problems_of
from pulumi_lws.serving.names import ModelName, PinnedImage
from pulumi_lws.serving.scaling.manifests import Reporters, autoscaler, leader_pods
from pulumi_lws.serving.scaling.settings import Autoscaling, HttpAddress
from pulumi_lws.serving.settings import RoleSettings
from pulumi_lws.serving.sources.settings import AbsolutePath, FolderPath, Revision
from pulumi_lws.workloads.scale_targets import leader_worker_set
from tests.serving.disaggregations import roles
from tests.serving.stacks import PACKED, manifests_of, pods_of, said, stack

DIGEST = "@sha256:" + "a" * 64


def takes(kind: Any, value: Any) -> bool:
    try:
        TypeAdapter(kind).validate_python(value)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize(
    "image",
    [
        "vllm/vllm-openai:v0.26.0",
        "registry.example.com:5000/team/vllm:1",
        "Registry.Example.com/vllm:1",
        "vllm:1",
        f"vllm{DIGEST}",
        f"registry.example.com/vllm:latest{DIGEST}",
        "a/b__c/d--e.f:A_b-1.0",
    ],
)
def test_an_image_is_a_whole_reference(image: str) -> None:
    assert takes(PinnedImage, image)


@pytest.mark.parametrize(
    "image",
    [
        "",
        "vllm",
        "vllm:latest",
        "registry:5000/vllm",
        "vllm:1\n",
        " vllm:1",
        "vllm :1",
        "Vllm:1",
        "a//b:1",
        "https://example.com/vllm:1",
        "-vllm:1",
        "example.com/:1",
        "vllm:²",
        "vllm:" + "a" * 129,
        "vllm@sha256:abc",
        f"vllm{DIGEST}\n",
        "vllm:1\0",
        "a" * 501 + ":1",
    ],
)
def test_what_no_runtime_pulls_is_no_image(image: str) -> None:
    assert not takes(PinnedImage, image)


@pytest.mark.parametrize("name", ["", "-model", "--port", "a b", "a\n", "a\0b", " a"])
def test_a_model_is_no_flag_and_no_nothing(name: str) -> None:
    assert not takes(ModelName, name)
    assert said(stack("llama-3.3-70b", servedModelName=name)) == [
        (
            f"error: deployments.llama-70b.servedModelName: found {name!r}; allowed: a name without blanks that does"
            " not"
            " start with '-', which engines take for a flag. Write the id that the hub has, or a path."
        )
    ]


@pytest.mark.parametrize(("kind", "longest"), [(NamespaceName, 63), (ObjectName, 253)])
def test_a_name_may_start_with_a_digit_where_kubernetes_takes_one(kind: Any, longest: int) -> None:
    assert all(takes(kind, name) for name in ("1st-team", "a", "0", "a" * longest))
    assert not any(takes(kind, name) for name in ("", "-a", "a-", "A", "a_b", "a\n", "²", "a" * (longest + 1), "a b"))


def test_a_secret_may_have_a_dot_and_a_namespace_may_not() -> None:
    assert takes(ObjectName, "hub.token.1")
    assert not any(takes(ObjectName, name) for name in ("a..b", ".a", "a.", "a.-b"))
    assert not takes(NamespaceName, "a.b")


def test_right_names_are_taken_wherever_kubernetes_takes_them() -> None:
    settings = stack(
        "llama-3.3-70b",
        source={"kind": "hugging-face", "tokenSecret": "0hub.token"},
        compileCache={"kind": "claim", "claim": "1.cache"},
        imagePullSecret="2.pull",
        secretEnvironment={"HF_ENDPOINT": {"secret": "3.hub", "key": "address"}},
        network={"clients": [{"namespace": "4th-team"}]},
    )
    settings["namespace"] = "5-models"
    assert said(settings) == []


@pytest.mark.parametrize("path", ["/mnt/disk 0/models", "/mnt/модели", "/a..b/c", "/"])
def test_a_path_may_have_blanks(path: str) -> None:
    assert takes(AbsolutePath, path)
    assert said(stack("llama-3.3-70b", source={"kind": "node", "path": path})) == []


@pytest.mark.parametrize("path", ["/mnt/../etc", "/..", "/a\nb", "/a\0b", "/" + "a" * 4096])
def test_a_path_stays_where_it_is_said_to_be(path: str) -> None:
    assert not takes(AbsolutePath, path)
    assert not takes(FolderPath, path[1:] if path.startswith("/.") else path)
    assert not takes(AbsolutePath, "models")


@pytest.mark.parametrize("revision", ["main", "v1.0", "refs/pr/1", "a" * 40])
def test_a_revision_is_no_flag(revision: str) -> None:
    assert takes(Revision, revision)
    assert not any(takes(Revision, wrong + revision) for wrong in ("-", " ", "\0"))


def test_no_word_has_a_character_at_which_programs_end_it() -> None:
    assert not takes(Word, "a\0b")
    allowed = "text without a NUL character, at which programs end a word. Remove it."
    assert said(stack("llama-3.3-70b", extraArguments=["--seed=1\0"], environment={"A": "b\0"})) == [
        f"error: deployments.llama-70b.{path}: found a NUL character; allowed: {allowed}"
        for path in ("extraArguments[0]", "environment.A")
    ]


@pytest.mark.parametrize("command", [[], [""], ["serve", ""], ["serve\0"]])
def test_a_command_has_words(command: list[str]) -> None:
    own = {"kind": "custom", "leaderCommand": command}
    (line,) = said(stack("llama-3.3-70b", engine=own, image="example.com/own:1.0"))
    assert line.startswith("error: deployments.llama-70b.engine.leaderCommand")


def test_the_leader_of_an_engine_waits_on_a_port_of_its_own() -> None:
    own = {
        "kind": "custom",
        "leaderCommand": ["serve"],
        "workerCommand": ["join"],
        "apiPort": 9000,
        "rendezvousPort": 9000,
    }
    lines = said(stack("glm-5", engine=own, image="example.com/own:1.0"))
    assert [line for line in lines if line.startswith("error")] == [
        (
            "error: deployments.glm-5.engine.rendezvousPort: found 9000; allowed: a port other than apiPort, which"
            " answers only once the workers are there. Choose another port for one of them."
        )
    ]


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (RoleSettings, {"replicas": 80_001}),
        (Autoscaling, {"maxReplicas": 80_001}),
        (Autoscaling, {"maxReplicas": 0}),
        (Autoscaling, {"waitingRequests": float("inf")}),
        (Autoscaling, {"waitingRequests": float("nan")}),
        (Autoscaling, {"kvCacheUsage": float("nan")}),
        (Autoscaling, {"waitingRequests": 1_000_001}),
        (RoleSettings, {"gpuMemoryUtilization": float("nan")}),
        (Parallelism, {"tensor": 1025}),
        (Parallelism, {"pipeline": 1025}),
        (Parallelism, {"data": 1025}),
        (GpuPool, {"nodes": 10_001}),
        (GpuPool, {"islands": 10_001}),
        (GpuPool, {"nodesPerIsland": 10_001}),
        (GpuPool, {"islands": 101, "nodesPerIsland": 100}),
        (GpuPool, {"disruption": {"expireAfterHours": 87_601}}),
        (GpuPool, {"disruption": {"terminationGraceHours": 87_601}}),
        (GpuPool, {"disruption": {"consolidateAfterMinutes": 525_601}}),
    ],
)
def test_a_number_beyond_what_makes_sense_is_refused_in_words(kind: Any, fields: dict[str, Any]) -> None:
    needed: dict[Any, dict[str, Any]] = {
        RoleSettings: {"pool": "p5", "parallelism": {}},
        Autoscaling: {"maxReplicas": 2},
        GpuPool: {"instanceType": "p5.48xlarge"},
        Parallelism: {},
    }
    with pytest.raises(ValidationError) as raised:
        kind.model_validate({**needed[kind], **fields})
    (problem,) = problems_of(raised.value, kind)
    assert problem.allowed
    assert problem.fix


def test_the_largest_split_is_judged_without_counting_ports_that_are_not_there() -> None:
    largest = {"pool": "islands", "parallelism": {"tensor": 1024, "data": 1024, "expert": True}}
    lines = said(stack("glm-5-disaggregated", prefill=largest, decode=largest))
    assert all(line.startswith("error: ") for line in lines)


@pytest.mark.parametrize("text", ["²", "-1", "", "1.0", " 1", "\uff11", "1" * 19])
def test_a_whole_number_is_made_of_digits_that_can_be_read(text: str) -> None:
    assert whole_number(text) is None


@pytest.mark.parametrize("version", ["9" * 5000 + ".0", "0.\u0661\u0660", "0.\u00b2", "0.10\n", "1"])
def test_a_version_is_made_of_numbers_that_can_be_read(version: str) -> None:
    assert not takes(VersionText, version)
    assert takes(VersionText, "v1.35.4")


@given(st.integers(0, 10**18 - 1))
def test_a_whole_number_is_read_as_it_is_written(number: int) -> None:
    assert whole_number(str(number)) == number


def test_digits_that_python_cannot_read_are_no_numbers_of_a_declaration() -> None:
    assert said(stack(PACKED, prefill={"environment": {"VLLM_HTTP_TIMEOUT_KEEP_ALIVE": "²"}}))[0].startswith(
        "error: deployments.gpt-oss.prefill.environment.VLLM_HTTP_TIMEOUT_KEEP_ALIVE: found ²; allowed: more than 90"
    )
    for size in ("²", "\uff11\uff16"):
        words = ["--block-size", size]
        assert said(stack(PACKED, prefill={"extraArguments": words}, decode={"extraArguments": words})) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"denseLayers": 81},
        {"slidingWindowLayers": 81},
        {"recurrentLayers": 81},
        {"recurrentLayers": 41, "slidingWindowLayers": 40},
        {"experts": 8, "expertsPerToken": 9},
        {"expertsPerToken": 1},
        {"kvHeads": 65},
        {"activeParameters": 10**12},
    ],
)
def test_no_part_of_a_model_is_more_than_the_whole(wrong: dict[str, Any]) -> None:
    own = MODELS["meta-llama/Llama-3.3-70B-Instruct"].model_dump(by_alias=True)
    (line,) = said(stack("llama-3.3-70b", architecture={**own, **wrong}))
    field = list(wrong)[-1]
    assert line.startswith(
        f"error: deployments.llama-70b.architecture.{field}: found {wrong[field]}; allowed: at most "
    )
    assert said(stack("llama-3.3-70b", architecture=own)) == []


@pytest.mark.parametrize(
    "address",
    ["http://prometheus:9090", "https://thanos.example.com/prometheus", "http://[::1]:9090", "http://10.0.0.1"],
)
def test_prometheus_has_an_address(address: str) -> None:
    assert takes(HttpAddress, address)


@pytest.mark.parametrize(
    "address",
    ["", "prometheus:9090", "ftp://prometheus", "http://", "http://a b", "http://a:99999", "http://[::1", "http://a\n"],
)
def test_what_is_no_address_of_http_is_refused(address: str) -> None:
    assert not takes(HttpAddress, address)


def test_a_password_in_an_address_is_refused_and_not_shown() -> None:
    scaled = {"maxReplicas": 2, "prometheus": "http://me:hunter2@prometheus:9090"}
    (line,) = said(stack("llama-3.3-70b", autoscaling=scaled))
    assert line.startswith(
        "error: deployments.llama-70b.autoscaling.prometheus: found an address with a password; allowed: an address"
        " without a password"
    )
    assert "hunter2" not in line


@pytest.mark.parametrize(
    ("threshold", "written"),
    [(5, "5"), (0.001, "0.001"), (1_000_000, "1000000"), (123456.789, "123456.789"), (10, "10")],
)
def test_a_threshold_stands_as_it_was_declared(threshold: float, written: str) -> None:
    settings = Autoscaling(max_replicas=2, waiting_requests=threshold, kv_cache_usage=None)
    rendered = autoscaler(
        "glm",
        "models",
        leader_worker_set("glm"),
        settings,
        reporters=Reporters("vllm", leader_pods("glm")),
        start_budget_minutes=60,
    )
    (trigger,) = rendered["spec"]["triggers"]
    assert trigger["metadata"]["threshold"] == written


@pytest.mark.parametrize("name", ["STOP_TOKEN", "EOS_TOKEN", "VLLM_MAX_TOKEN", "stop_token", "IMAGE_TOKEN"])
def test_a_token_of_a_text_is_no_secret(name: str) -> None:
    assert said(stack("llama-3.3-70b", environment={name: "<eos>"})) == []


@pytest.mark.parametrize("name", ["HF_TOKEN", "TOKEN", "HUB_STOP_API_KEY", "NONSTOP_TOKEN"])
def test_a_token_that_opens_something_is_a_secret(name: str) -> None:
    (line,) = said(stack("llama-3.3-70b", environment={name: "abc"}))
    assert line.startswith(f"error: deployments.llama-70b.environment.{name}: found a value in plain text")


@pytest.mark.parametrize("name", ["LWS_LEADER_ADDRESS", "LWS_GROUP_SIZE", "LWS_WORKER_INDEX", "LWS_ANYTHING"])
def test_variables_of_lws_stay_its_own(name: str) -> None:
    reference = {"secret": "a", "key": "b"}
    for settings in (
        stack("glm-5", environment={name: "x"}),
        stack("glm-5", secretEnvironment={name: reference}),
    ):
        (line,) = said(settings)
        assert line.endswith("allowed: a variable that LWS does not set. Remove it.")


def test_the_address_of_a_pod_stays_ours() -> None:
    for value in ("$(POD_IP)", "10.0.0.1"):
        assert said(stack("glm-5", environment={"POD_IP": value})) == [
            (
                f"error: deployments.glm-5.environment.POD_IP: found {value}; allowed: a variable that is not ours:"
                " this"
                " one holds the address of each pod. Remove it, or rename it."
            )
        ]


def test_both_roles_have_a_zone_or_none_has() -> None:
    pools: dict[str, Any] = {
        "with": {"instanceType": "p5.48xlarge", "nodes": 1, "zone": "us-east-2a"},
        "without": {"instanceType": "p5.48xlarge", "nodes": 1},
    }
    apart: dict[str, Any] = {
        "pools": pools,
        "prefill": {"pool": "with", "replicas": 1},
        "decode": {"pool": "without", "replicas": 1},
    }
    assert said(stack(PACKED, **apart)) == [
        (
            "error: deployments.gpt-oss.decode.pool: found without, in any zone; allowed: a pool in us-east-2a, where"
            " with of prefill is: EFA does not leave a zone, and the first pod of both would choose it. Set"
            " pools.without.zone to us-east-2a."
        )
    ]
    pools["without"]["zone"] = "us-east-2a"
    assert said(stack(PACKED, **apart)) == []
    assert roles()[0].pool.zone is None


def test_a_gateway_of_another_namespace_reaches_the_pods_and_the_router() -> None:
    router = {"kind": "gateway", "gateway": "public", "gatewayNamespace": "gateways"}
    gateway = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "gateways"}}}
    policies = {
        found["metadata"]["name"]: [peer for rule in found["spec"]["ingress"] for peer in rule["from"]]
        for found in manifests_of(stack(PACKED, router=router))
        if found["kind"] == "NetworkPolicy"
    }
    assert {name: gateway in peers for name, peers in policies.items()} == {
        "gpt-oss-prefill": False,
        "gpt-oss-decode": True,
        "gpt-oss-router": True,
    }


def test_a_copy_goes_on_top_only_where_a_node_has_room_for_it() -> None:
    def surges(nodes: int, replicas: int) -> list[int]:
        settings = stack(
            "llama-3.3-70b",
            model="openai/gpt-oss-120b",
            parallelism={"pipeline": 3},
            replicas=replicas,
            pools={"p5": {"nodes": nodes}},
        )
        assert [line for line in said(settings) if line.startswith("error")] == []
        return [pod.role.surge for pod in pods_of(settings)]

    # Two pods of three GPUs to a node of eight: sixteen GPUs hold four, and not five.
    assert surges(2, 3) == [1]
    assert surges(2, 4) == [0]
