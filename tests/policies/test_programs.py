"""The whole pack on whole programs: none of ours, and of strange shapes."""

from dataclasses import replace
from typing import Any

import pulumi
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from lab.rule_samples import samples
from pulumi_lws.rules.catalogue import RULES
from pulumi_lws.rules.levels import Preset
from pulumi_lws.rules.rule import RegisteredObject
from tests.policies.pack_run import Registered, outline, run_pack

STACK = "pulumi:pulumi:Stack"
LWS = "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet"

WEB_POD = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {
        "containers": [
            {
                "name": "web",
                "image": "nginx",
                "ports": [{"containerPort": 8080}],
                "readinessProbe": {"httpGet": {"path": "/", "port": 8080}},
                "resources": {"requests": {"cpu": "100m"}, "limits": {"memory": "128Mi"}},
            }
        ]
    },
}
ORDINARY = (
    Registered(STACK, "web-prod", {}),
    Registered("pulumi:providers:kubernetes", "cluster", {"enableServerSideApply": "true"}),
    Registered("pulumi:providers:aws", "default_7_51_1", {"region": "eu-west-1"}),
    Registered(
        "kubernetes:apps/v1:Deployment",
        "web",
        {
            "metadata": {"name": "web", "namespace": "web"},
            "spec": {"replicas": 3.0, "selector": {"matchLabels": {"app": "web"}}, "template": WEB_POD},
        },
    ),
    Registered(
        "kubernetes:core/v1:Service",
        "web",
        {
            "metadata": {"name": "web", "namespace": "web"},
            "spec": {"type": "LoadBalancer", "selector": {"app": "web"}, "ports": [{"port": 80.0}]},
        },
    ),
    Registered(
        "kubernetes:autoscaling/v2:HorizontalPodAutoscaler",
        "web",
        {
            "metadata": {"name": "web", "namespace": "web"},
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
                "maxReplicas": 10.0,
                "metrics": [
                    {
                        "type": "External",
                        "external": {"metric": {"name": "q"}, "target": {"type": "Value", "value": "5"}},
                    }
                ],
            },
        },
    ),
    Registered("kubernetes:helm.sh/v3:Release", "ingress", {"chart": "ingress-nginx", "namespace": "ingress"}),
    Registered("aws:s3/bucket:Bucket", "logs", {"bucket": "logs", "tags": {}}, provider="default_7_51_1"),
    Registered(
        "aws:rds/instance:Instance",
        "database",
        {
            "engine": "postgres",
            "instanceClass": "db.t4g.small",
            "password": UNKNOWN_STRING_VALUE,
            "allocatedStorage": 20.0,
        },
        provider="default_7_51_1",
    ),
    Registered("aws:ec2/vpc:Vpc", "network", {"cidrBlock": "10.0.0.0/16"}, provider="default_7_51_1"),
    Registered(
        "aws:ec2/securityGroup:SecurityGroup",
        "web",
        {"egress": [{"protocol": "-1", "fromPort": 0.0, "toPort": 0.0, "cidrBlocks": ["0.0.0.0/0"]}]},
        provider="default_7_51_1",
    ),
    Registered("aws:ssm/parameter:Parameter", "motto", {"type": "String", "value": "work"}, provider="default_7_51_1"),
    Registered("kubernetes:core/v1:Namespace", "web", {"metadata": {"name": "web"}}),
    Registered(
        "kubernetes:core/v1:ConfigMap",
        "web",
        {"metadata": {"name": "web", "namespace": "web"}, "data": {"host": UNKNOWN_STRING_VALUE, "motto": "work"}},
    ),
    Registered("random:index/randomPassword:RandomPassword", "password", {"length": 20.0}, provider="default_4_19_1"),
)


def test_an_ordinary_program_gets_not_one_violation() -> None:
    assert run_pack(*ORDINARY, preset=Preset.STRICT) == []


GROUP, CLUSTER = "aws:ec2/securityGroup:SecurityGroup", "aws:eks/cluster:Cluster"


def test_a_group_of_efa_is_told_by_what_is_made_from_it_before_ids_are_known() -> None:
    group = Registered(GROUP, "efa", {"ingress": UNKNOWN_STRING_VALUE, "egress": UNKNOWN_STRING_VALUE})
    of_group = {"securityGroupId": [group.urn], "referencedSecurityGroupId": [group.urn]}
    ids = dict.fromkeys(of_group, UNKNOWN_STRING_VALUE)
    rules = [
        Registered(
            f"aws:vpc/securityGroup{direction}Rule:SecurityGroup{direction}Rule",
            direction,
            {**ids, "ipProtocol": "-1"},
            made_from=of_group,
        )
        for direction in ("Ingress", "Egress")
    ]
    without = replace(group, properties={})
    assert run_pack(without, *rules) == []
    assert outline(run_pack(without, rules[0])) == {("efa-security-group", "mandatory", "efa")}
    # Its own rules are an output of others, so the preview can say nothing of them.
    assert outline(run_pack(group)) == {("values-not-seen", "advisory", "efa")}


def test_the_network_of_a_cluster_is_found_through_its_subnets() -> None:
    network, elsewhere = (Registered("aws:ec2/vpc:Vpc", name, {}) for name in ("network", "elsewhere"))
    subnet = Registered("aws:ec2/subnet:Subnet", "subnet", {}, made_from={"vpcId": [network.urn]})
    cluster = Registered(CLUSTER, "cluster", {}, made_from={"vpcConfig": [subnet.urn]})
    found = run_pack(network, elsewhere, subnet, cluster, preset=Preset.STRICT)
    assert outline(found) == {("protected", "mandatory", "network"), ("protected", "mandatory", "cluster")}
    both = (replace(each, protect=True) for each in (network, cluster))
    assert run_pack(*both, elsewhere, subnet, preset=Preset.STRICT) == []


def cpu_groups(**metadata: Any) -> Registered:
    """A group of four web servers, as small as a first try with LeaderWorkerSets is."""
    template = {"size": 4.0, "workerTemplate": WEB_POD}
    spec = {"replicas": 3.0, "leaderWorkerTemplate": template}
    return Registered(LWS, "sample", {"metadata": {"name": "sample", "namespace": "default", **metadata}, "spec": spec})


def test_a_first_try_without_gpus_passes_in_advisory_and_is_told_little() -> None:
    assert outline(run_pack(cpu_groups(), preset=Preset.ADVISORY)) == {
        ("leader-ready", "advisory", "sample"),
        ("exclusive-topology", "advisory", "sample"),
        ("restarts-while-starting", "advisory", "sample"),
    }


def test_the_choices_of_this_library_can_be_declined_by_annotation() -> None:
    declined = {f"pulumi-lws/exempt.{rule.name}": "our own choice" for rule in RULES if rule.house}
    assert outline(run_pack(cpu_groups(annotations=declined))) == {("restarts-while-starting", "advisory", "sample")}


def test_the_configuration_of_the_pack_counts_for_every_policy() -> None:
    service = Registered(
        "kubernetes:core/v1:Service",
        "service",
        {"metadata": {"name": "sample", "namespace": "default"}, "spec": {"clusterIP": "None"}},
    )
    everything = {"rules": ["*"], "resources": ["*"], "reason": "a lab"}
    assert ("shadowing-service", "mandatory", "service") in outline(run_pack(cpu_groups(), service))
    for config in ({"exemptions": [everything]}, {"excludeNamespaces": ["def*"]}, {"includeNamespaces": ["models"]}):
        assert run_pack(cpu_groups(), service, config={"pack": config}) == []


def test_the_cluster_that_the_configuration_names_is_the_one_that_is_meant() -> None:
    groups = cpu_groups()
    groups.properties["spec"]["rolloutStrategy"] = {
        "rollingUpdateConfiguration": {"maxSurge": 1.0, "maxUnavailable": 0.0}
    }
    older = run_pack(groups, config={"pack": {"lwsVersion": "0.8"}})
    assert outline(older) - outline(run_pack(groups)) == {("surge-only-rollout", "mandatory", "sample")}


def test_what_the_configuration_cannot_mean_is_said_once() -> None:
    exemption = {"rules": ["leader-redy"], "resources": ["*"], "reason": "a lab"}
    found = run_pack(*ORDINARY, config={"pack": {"exemptions": [exemption]}})
    assert outline(found) == {("pack", "advisory", "web-prod")}
    assert {each.message for each in found} == {
        "exemptions[0].rules: there is no rule leader-redy. Write leader-ready."
    }


TYPES = sorted({each.type for sample in samples() for each in sample.together} | {STACK, "kubernetes:x", ""})
"""What rules look at, as their samples show, and what none does."""

FIELDS = (
    "metadata", "name", "namespace", "annotations", "labels", "spec", "leaderWorkerTemplate", "leaderTemplate", "size",
    "workerTemplate", "containers", "initContainers", "env", "command", "args", "readinessProbe", "livenessProbe",
    "startupPolicy", "replicas", "rolloutStrategy", "rollingUpdateConfiguration", "maxSurge", "partition", "roles",
    "scaling", "mode", "placementPolicy", "slices", "scaleTargetRef", "kind", "apiVersion", "metrics", "networkConfig",
    "pulumi-lws/exempt.leader-ready", "pulumi-lws/exempt.", "subGroupPolicy", "volumeClaimTemplates", "clusterIP",
    "leaderworkerset.sigs.k8s.io/exclusive-topology", "enableServerSideApply", "value", "valueFrom",
)  # fmt: skip
LEAVES = (
    st.none() | st.booleans() | st.floats() | st.text(max_size=8)
    | st.sampled_from(["LeaderReady", "100%", "External", "Value", "vllm", "2026-02-31 x", UNKNOWN_STRING_VALUE])
)  # fmt: skip
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner), max_leaves=20
)
SHAPES = st.dictionaries(st.sampled_from(["metadata", "spec", *FIELDS]), VALUES, max_size=4)


def test_every_rule_is_fuzzed() -> None:
    looked_at = {rule.name for rule in RULES for each in TYPES if rule.applies_to(RegisteredObject(each, {}))}
    assert {rule.name for rule in RULES} - looked_at == set()


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(shapes=st.lists(st.tuples(st.sampled_from(TYPES), SHAPES), min_size=1, max_size=3))
def test_a_strange_shape_never_stops_the_pack_and_no_rule_fails_on_it(
    shapes: list[tuple[str, dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    failures: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", failures.append)
    run_pack(*(Registered(kind, str(number), shape) for number, (kind, shape) in enumerate(shapes)))
    assert failures == []


def test_a_resource_that_is_judged_again_is_read_again() -> None:
    """Within one operation a resource may come twice, such as before and after a replacement."""
    wrong = {
        "metadata": {"name": "llm"},
        "spec": {"startupPolicy": "LeaderCreated", "leaderWorkerTemplate": {"size": 2}},
    }
    right = {"metadata": {"name": "llm"}, "spec": {"startupPolicy": "LeaderReady", "leaderWorkerTemplate": {"size": 2}}}
    first, second = Registered(LWS, "llm", wrong), Registered(LWS, "llm", right)
    found = [each.policy for each in run_pack(first, second)]
    assert found.count("leader-ready") == 1
    assert [each.policy for each in run_pack(second, first)].count("leader-ready") == 1
