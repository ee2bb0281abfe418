"""What rules that look around do grows with the objects of a program, not with their square."""

import sys
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from pulumi_lws.rules.catalogue import RULES
from pulumi_lws.rules.judging import registered
from pulumi_lws.rules.rule import Program, RegisteredObject, Rule, Target

LWS = "leaderworkerset.x-k8s.io/v1"
ENGINE = {
    "containers": [
        {"name": "engine", "command": ["vllm", "serve", "m"], "resources": {"limits": {"nvidia.com/gpu": 8}}},
    ]
}
INTERFACE = {"interfaceType": "efa", "securityGroups": ["sg"]}


def kubernetes(version: str, kind: str, name: str, spec: Mapping[str, Any], **metadata: Any) -> RegisteredObject:
    found = {"name": name, "namespace": "models", **metadata}
    return registered({"apiVersion": version, "kind": kind, "metadata": found, "spec": spec})


def groups(pod: Mapping[str, Any]) -> dict[str, Any]:
    return {"replicas": 2, "leaderWorkerTemplate": {"size": 2, "workerTemplate": {"spec": pod}}}


def served(name: str, kind: str, labels: Mapping[str, str]) -> Iterator[RegisteredObject]:
    """What stands around a deployment of one name."""
    target = {"kind": kind, "name": name}
    backend = {"service": {"name": name, "port": {"number": 8000}}}
    yield kubernetes("v1", "Service", name, {"type": "LoadBalancer", "selector": labels})
    yield kubernetes(
        "policy/v1", "PodDisruptionBudget", name, {"maxUnavailable": 1, "selector": {"matchLabels": labels}}
    )
    yield kubernetes("networking.k8s.io/v1", "Ingress", name, {"defaultBackend": backend})
    yield kubernetes("autoscaling/v2", "HorizontalPodAutoscaler", name, {"scaleTargetRef": target})


def apart(number: int) -> Iterator[RegisteredObject]:
    """What a team of its own has, on nodes of its own."""
    team = f"team-{number}"
    key = {"leaderworkerset.sigs.k8s.io/exclusive-topology": "pulumi-lws/island"}
    yield registered({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": team}})
    yield kubernetes("v1", "ResourceQuota", team, {"hard": {"requests.nvidia.com/gpu": 8}}, namespace=team)
    yield kubernetes("v1", "Service", "vllm", {}, namespace=team)
    pod = {**ENGINE, "nodeSelector": {"pool": team}}
    yield kubernetes(LWS, "LeaderWorkerSet", team, groups(pod), namespace=team, annotations=key)


def together(number: int) -> Iterator[RegisteredObject]:
    """What stands in one namespace with others of its kind."""
    name, leads = f"m-{number}", {"leaderworkerset.sigs.k8s.io/worker-index": "0"}
    template = {"metadata": {"labels": {"app": name}}, "spec": ENGINE}
    yield kubernetes("apps/v1", "Deployment", name, {"replicas": 2, "template": template})
    yield from served(name, "Deployment", {"app": name})
    yield kubernetes(LWS, "LeaderWorkerSet", f"{name}-set", groups(ENGINE))
    yield from served(f"{name}-api", "LeaderWorkerSet", {"leaderworkerset.sigs.k8s.io/name": f"{name}-set", **leads})
    roles = [{"name": "decode", "spec": groups(ENGINE)}]
    yield kubernetes("disaggregatedset.x-k8s.io/v1", "DisaggregatedSet", f"{name}-roles", {"roles": roles})


def cloud(number: int) -> Iterator[RegisteredObject]:
    """What AWS has for a cluster."""
    group, vpc = (f"urn:pulumi:a::b::aws:ec2/{kind}::{number}" for kind in ("securityGroup:SecurityGroup", "vpc:Vpc"))
    form = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
    yield RegisteredObject("aws:ec2/vpc:Vpc", {}, urn=vpc)
    yield RegisteredObject("aws:eks/cluster:Cluster", {}, urn=f"{vpc}-c", made_from={"vpcConfig": [vpc]})
    yield RegisteredObject("aws:ec2/securityGroup:SecurityGroup", {}, urn=group)
    yield RegisteredObject(form, {"ipProtocol": "-1"}, made_from={"securityGroupId": [group]})
    yield RegisteredObject(
        "aws:ec2/launchTemplate:LaunchTemplate",
        {"networkInterfaces": [INTERFACE]},
        made_from={"networkInterfaces": [group]},
    )


def calls(rule: Rule, size: int) -> int:
    """Calls of functions while a rule judges every object of a program."""
    program = Program(each for number in range(size) for make in (apart, together, cloud) for each in make(number))
    count = 0

    def heed(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(heed)
    try:
        for subject in program:
            rule.problems(subject, Target(), others=program)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.looks_around], ids=lambda rule: rule.name)
def test_twice_the_objects_are_twice_the_work(rule: Rule) -> None:
    assert calls(rule, 40) < 2.2 * calls(rule, 20)
