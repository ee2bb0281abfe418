"""Cases of LeaderWorkerSets that are known to be refused, or accepted and regretted, each with our verdict.

What needs the state before an update is judged by nobody here: changed subgroups and claims, and the size or subdomain
of a running group. Whether nodes carry a topology key is not for a manifest to say.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import ValidationError

from pulumi_lws.planning.problems import Severity
from pulumi_lws.rules.catalogue import RULES
from pulumi_lws.rules.judging import judge, registered
from pulumi_lws.rules.rule import Target
from pulumi_lws.workloads.manifests import leader_worker_set
from pulumi_lws.workloads.settings import LeaderWorkerSetArgs

MODEL = "refused by the model"
REFUSED = "refused by a rule"
ERROR, WARNING = Severity.ERROR, Severity.WARNING

TOPOLOGY = {"exclusiveTopology": "pulumi-lws/island"}
HTTP = {"readinessProbe": {"httpGet": {"path": "/health", "port": 8000}}}
TWO_NODES = {
    "name": "engine",
    "image": "i:1",
    "command": ["vllm", "serve", "m", "--nnodes", "$(LWS_GROUP_SIZE)", "--master-addr", "$(LWS_LEADER_ADDRESS)"],
}
HEADLESS = {
    **TWO_NODES,
    "command": ["sh", "-c", "vllm serve m --nnodes 2 $([ $LWS_WORKER_INDEX != 0 ] && echo --headless)"],
}


def pod(container: Mapping[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "engine", "image": "i:1", **(container or {})}], **spec}}


def rollout(**configuration: Any) -> dict[str, Any]:
    return {"rolloutStrategy": {"rollingUpdateConfiguration": configuration}}


@dataclass(frozen=True)
class Case:
    """A declaration that differs from a harmless one, and what becomes of it."""

    verdict: object
    fields: Mapping[str, Any] = field(default_factory=dict)
    spec: Mapping[str, Any] = field(default_factory=dict)
    template: Mapping[str, Any] = field(default_factory=dict)
    target: Target = field(default_factory=Target)

    @property
    def declaration(self) -> dict[str, Any]:
        template = {"size": 2, "restartPolicy": "RecreateGroupAfterStart", "workerTemplate": pod(), **self.template}
        spec = {"leaderWorkerTemplate": template, **self.spec}
        return {"name": "llm", "namespace": "models", **self.fields, "spec": spec}


def refused(rule: str) -> list[tuple[str, object]]:
    return [(rule, REFUSED)]


def regretted(severity: Severity, rule: str) -> list[tuple[str, object]]:
    return [(rule, severity)]


SUB = "subgroups-divide"
CASES: dict[str, Case] = {
    "a harmless one": Case([]),
    "1 a name that starts with a digit": Case(MODEL, {"name": "70b-vllm"}),
    "1 a name with a dot": Case(MODEL, {"name": "vllm.prod"}),
    "2 a name of 55 characters": Case(regretted(ERROR, "name-fits"), {"name": "a" * 55}),
    "3 a size of 0": Case(MODEL, template={"size": 0}),
    "4 a percentage that rounds down to nothing": Case(
        refused("rollout-moves"), spec={"replicas": 4, **rollout(maxUnavailable="10%", maxSurge=0)}
    ),
    "4 a surge that rounds up": Case([], spec={"replicas": 4, **rollout(maxUnavailable=0, maxSurge="10%")}),
    "4 a surge alone before LWS 0.9": Case(
        regretted(ERROR, "surge-only-rollout"),
        spec={"replicas": 4, **rollout(maxUnavailable=0, maxSurge="10%")},
        template={"restartPolicy": "RecreateGroupOnPodRestart"},
        target=Target(lws=(0, 8)),
    ),
    "4 nothing may move, of nothing": Case([], spec={"replicas": 0, **rollout(maxUnavailable=0, maxSurge=0)}),
    "5 a surge over 100%": Case(MODEL, spec=rollout(maxSurge="150%")),
    "5 a surge in words": Case(MODEL, spec=rollout(maxSurge="five")),
    "5 a negative percentage": Case(MODEL, spec=rollout(maxSurge="-5%")),
    "5 a negative surge": Case(MODEL, spec=rollout(maxSurge=-1)),
    "6 a negative partition": Case(MODEL, spec=rollout(partition=-1)),
    "6 a partition beyond the replicas": Case(
        regretted(WARNING, "partition-below-replicas"), spec={"replicas": 2, **rollout(partition=9)}
    ),
    "7 subgroups that do not divide": Case(refused(SUB), template={"size": 8, "subGroupPolicy": {"subGroupSize": 3}}),
    "7 subgroups larger than the group": Case(
        refused(SUB), template={"size": 4, "subGroupPolicy": {"subGroupSize": 5}}
    ),
    "8 workers that do not divide": Case(
        refused(SUB),
        template={"size": 4, "subGroupPolicy": {"subGroupPolicyType": "LeaderExcluded", "subGroupSize": 2}},
    ),
    "8 workers that divide": Case(
        [], template={"size": 5, "subGroupPolicy": {"subGroupPolicyType": "LeaderExcluded", "subGroupSize": 2}}
    ),
    "9 a subgroup policy without a size": Case(MODEL, template={"subGroupPolicy": {}}),
    "9 a subgroup size of 0": Case(MODEL, template={"subGroupPolicy": {"subGroupSize": 0}}),
    "10 a topology of subgroups without any": Case(
        refused("subgroup-topology"), {"subgroupExclusiveTopology": "pulumi-lws/island"}
    ),
    "12 an unknown restart policy": Case(MODEL, template={"restartPolicy": "Always"}),
    "12 an unknown startup policy": Case(MODEL, spec={"startupPolicy": "LeaderStarted"}),
    "12 an unknown strategy": Case(MODEL, spec={"rolloutStrategy": {"type": "Recreate"}}),
    "12 an unknown subdomain policy": Case(MODEL, spec={"networkConfig": {"subdomainPolicy": "PerGroup"}}),
    "13 too many pods": Case(refused("pod-count"), spec={"replicas": 1_000_000}, template={"size": 3000}),
    "13 too many groups": Case(refused("pod-count"), spec={"replicas": 1_000_001}),
    "13 as many groups before LWS 0.10": Case([], spec={"replicas": 1_000_001}, target=Target(lws=(0, 9))),
    "14 a leader that waits for workers that wait for it": Case(
        regretted(ERROR, "leader-ready-deadlock"),
        spec={"startupPolicy": "LeaderReady"},
        template={"leaderTemplate": pod({**TWO_NODES, **HTTP})},
    ),
    "14 a leader that serves alone": Case(
        [],
        spec={"startupPolicy": "LeaderReady"},
        template={"leaderTemplate": pod({"command": ["vllm", "serve", "m", "-tp", "8"], **HTTP})},
    ),
    "15 Volcano waits for workers that do not exist yet": Case(
        regretted(ERROR, "volcano-topology"), TOPOLOGY, template={"workerTemplate": pod(schedulerName="volcano")}
    ),
    "15 Volcano waits for the leader alone": Case(
        [],
        TOPOLOGY,
        spec={"startupPolicy": "LeaderReady"},
        template={"workerTemplate": pod(schedulerName="volcano")},
    ),
    "16 headless workers with the probe of their leader": Case(
        regretted(ERROR, "headless-probes"), template={"workerTemplate": pod({**HEADLESS, **HTTP})}
    ),
    "18 pods that do not restart": Case(
        regretted(ERROR, "pods-restart"), template={"workerTemplate": pod(restartPolicy="OnFailure")}
    ),
    "20 the network of the host without the DNS of the cluster": Case(
        regretted(ERROR, "leader-address"), template={"workerTemplate": pod(hostNetwork=True)}
    ),
    "22 claims that go with every restart": Case(
        regretted(ERROR, "claims-kept"),
        template={
            "workerTemplate": pod({"volumeMounts": [{"name": "cache", "mountPath": "/cache"}]}),
            "volumeClaimTemplates": [{"metadata": {"name": "cache"}}],
            "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"},
        },
    ),
    "23 a restart policy that is stored otherwise": Case(
        [("lone-restarts", WARNING), ("restart-policy-drift", WARNING)], template={"restartPolicy": "Default"}
    ),
    "a name of 40 characters in a queue": Case(
        [], {"name": "a" * 40, "labels": {"kueue.x-k8s.io/queue-name": "team-a"}}
    ),
    "workers on Kubernetes 1.26": Case(
        [("needs-newer-kubernetes", ERROR)],
        target=Target(kubernetes=(1, 26)),
    ),
    "several groups at once on Kubernetes 1.34": Case(
        regretted(WARNING, "rolls-one-at-a-time"),
        spec={"replicas": 4, **rollout(maxUnavailable=2)},
        target=Target(kubernetes=(1, 34)),
    ),
    "groups that are recreated while they start": Case(
        regretted(WARNING, "restarts-while-starting"), template={"restartPolicy": "RecreateGroupOnPodRestart"}
    ),
    "a policy of LWS 0.9 on LWS 0.8": Case(refused("needs-newer-lws"), target=Target(lws=(0, 8))),
}


def verdict(case: Case) -> object:
    try:
        manifest = leader_worker_set(LeaderWorkerSetArgs.model_validate(case.declaration))
    except ValidationError:
        return MODEL
    problems = judge(manifest, case.target)
    return [(problem.rule, REFUSED if problem.refused else problem.severity) for problem in problems]


@pytest.mark.parametrize("name", CASES)
def test_verdict(name: str) -> None:
    assert verdict(CASES[name]) == CASES[name].verdict


def test_19_a_service_named_like_the_groups() -> None:
    service = registered({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "llm", "namespace": "models"}})
    groups = registered(leader_worker_set(LeaderWorkerSetArgs.model_validate(Case([]).declaration)))
    found = [
        problem
        for rule in RULES
        for problem in rule.problems(service, Target(), others=[service, groups])
        if problem.rule != "server-side-apply"
    ]
    assert [(problem.rule, problem.severity) for problem in found] == [("shadowing-service", ERROR)]
