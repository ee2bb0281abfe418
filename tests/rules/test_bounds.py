"""Around each bound, generated manifests get the verdict that the arithmetic of LWS gives them."""

import contextlib
import copy
import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulumi_lws.planning.problems import Severity
from pulumi_lws.rules.catalogue import RULES
from pulumi_lws.rules.judging import registered
from pulumi_lws.rules.partition_keeps_surge import surge_that_stays
from pulumi_lws.rules.rule import Target
from pulumi_lws.rules.values import UNKNOWN

RULE = {rule.name: rule for rule in RULES}


def breaks(
    rule: str,
    spec: Mapping[str, Any],
    target: Target | None = None,
    values: Mapping[str, Any] | None = None,
    **metadata: Any,
) -> bool:
    """Whether a LeaderWorkerSet breaks a rule."""
    manifest = {
        "kind": "LeaderWorkerSet",
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "metadata": metadata,
        "spec": spec,
    }
    return bool(RULE[rule].problems(registered(manifest), target or Target(), values or {}))


def scaled(value: int | str, replicas: int, rounded: Any) -> int:
    """As ``GetScaledValueFromIntOrPercent`` of apimachinery computes it, in floating point."""
    return value if isinstance(value, int) else rounded(float(value[:-1]) * replicas / 100)


numbers = st.integers(0, 12)
percentages = st.integers(0, 100).map(lambda number: f"{number}%")
amounts = st.one_of(numbers, percentages, st.integers(0, 4).map(float))
replicas = st.one_of(st.integers(0, 120), st.sampled_from([999_999, 1_000_000]))


@given(replicas, amounts, amounts)
def test_a_rollout_moves_unless_both_amounts_come_to_nothing(replicas: int, unavailable: Any, surge: Any) -> None:
    spec = {
        "replicas": replicas,
        "rolloutStrategy": {"rollingUpdateConfiguration": {"maxUnavailable": unavailable, "maxSurge": surge}},
    }
    out = unavailable if isinstance(unavailable, float) else scaled(unavailable, replicas, math.floor)
    top = surge if isinstance(surge, float) else scaled(surge, replicas, math.ceil)
    assert breaks("rollout-moves", spec) == (out == 0 and top == 0 and replicas != 0)
    stuck = replicas > 0 and top > 0 and (out == 0 or replicas == 1)
    assert breaks("surge-only-rollout", spec, Target(lws=(0, 8))) == stuck


@given(st.integers(1, 20), st.integers(1, 22), st.sampled_from([None, "LeaderWorker", "LeaderExcluded"]))
def test_subgroups_divide_a_group_as_the_webhook_divides_it(size: int, part: int, type_: str | None) -> None:
    policy = {"subGroupSize": part} | ({"subGroupPolicyType": type_} if type_ else {})
    refused = (
        (size % part != 0 and (size - 1) % part != 0)
        or size < part
        or (type_ == "LeaderExcluded" and (size - 1) % part != 0)
    )
    spec = {"leaderWorkerTemplate": {"size": size, "subGroupPolicy": policy}}
    assert breaks("subgroups-divide", spec) == refused


near_bounds = st.one_of(st.integers(0, 3_000), st.integers(999_990, 1_000_010), st.sampled_from([2**30, 2**31 - 1]))


@given(near_bounds, st.one_of(st.integers(1, 3_000), st.just(2**31 - 1)), st.sampled_from([(0, 9), (0, 10)]))
def test_pods_and_groups_are_counted_as_the_server_counts_them(replicas: int, size: int, lws: tuple[int, int]) -> None:
    refused = replicas * size > 2**31 - 1 or (lws == (0, 10) and replicas > 1_000_000)
    spec = {"replicas": replicas, "leaderWorkerTemplate": {"size": size}}
    assert breaks("pod-count", spec, Target(lws=lws)) == refused


@given(st.integers(1, 60), st.integers(1, 1_200), st.integers(1, 4), st.integers(0, 1_200))
def test_a_name_fits_where_the_longest_label_has_63_characters(
    length: int, replicas: int, size: int, surge: int
) -> None:
    spec = {
        "replicas": replicas,
        "leaderWorkerTemplate": {"size": size},
        "rolloutStrategy": {"rollingUpdateConfiguration": {"maxSurge": surge}},
    }
    name, last = "a" * length, replicas + min(surge, replicas) - 1
    stateful_set = name if size == 1 else f"{name}-{last}"
    assert breaks("name-fits", spec, name=name) == (len(f"{stateful_set}-{'0' * 10}") > 63)
    queue = {"kueue.x-k8s.io/queue-name": "team-a"}
    too_long = len(f"leaderworkerset-{name}-{last}-abcde") > 63
    older = {"workloadIdentifierAnnotations": False}
    assert breaks("name-fits-kueue", spec, values=older, name=name, labels=queue) == too_long
    assert not breaks("name-fits-kueue", spec, name=name, labels=queue)


@given(st.integers(1, 30), st.integers(0, 40), amounts)
def test_a_partition_leaves_a_group_to_reach(replicas: int, partition: int, surge: Any) -> None:
    configuration = {"partition": partition, "maxSurge": surge}
    spec = {"replicas": replicas, "rolloutStrategy": {"rollingUpdateConfiguration": configuration}}
    assert breaks("partition-below-replicas", spec) == (partition > 0 and partition >= replicas)


@pytest.mark.parametrize(
    ("replicas", "partition", "surge", "unavailable", "kept"),
    [
        (4, 1, 1, 1, 0),  # the one old group is the one that may be out
        (4, 1, 1, 0, 1),
        (4, 2, 1, 4, 1),  # more old groups than surge groups: none is given back
        (4, 2, 2, 1, 1),
        (2, 9, 5, 0, 2),  # no more surge groups than replicas
    ],
)
def test_surge_groups_stay_while_old_groups_do(
    replicas: int, partition: int, surge: int, unavailable: int, kept: int
) -> None:
    assert surge_that_stays(replicas, partition, surge, unavailable) == kept


@given(st.integers(20, 40), st.integers(0, 6), amounts)
def test_groups_roll_together_from_kubernetes_1_35(minor: int, replicas: int, unavailable: Any) -> None:
    configuration = {"maxUnavailable": unavailable}
    spec = {"replicas": replicas, "rolloutStrategy": {"rollingUpdateConfiguration": configuration}}
    out = unavailable if isinstance(unavailable, float) else scaled(unavailable, replicas, math.floor)
    assert breaks("rolls-one-at-a-time", spec, Target(kubernetes=(1, minor))) == (minor < 35 and out > 1)


WHOLE: dict[str, Any] = {
    "apiVersion": "leaderworkerset.x-k8s.io/v1",
    "kind": "LeaderWorkerSet",
    "metadata": {
        "name": "a" * 60,
        "namespace": "models",
        "labels": {"kueue.x-k8s.io/queue-name": "team-a"},
        "annotations": {
            "leaderworkerset.sigs.k8s.io/exclusive-topology": "pulumi-lws/island",
            "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology": "pulumi-lws/island",
            "leaderworkerset.sigs.k8s.io/experimental-recreate-group-after-start": "true",
        },
    },
    "spec": {
        "replicas": 4,
        "startupPolicy": "LeaderReady",
        "networkConfig": {"subdomainPolicy": "UniquePerReplica"},
        "rolloutStrategy": {"rollingUpdateConfiguration": {"maxUnavailable": "10%", "maxSurge": 2, "partition": 2}},
        "leaderWorkerTemplate": {
            "size": 4,
            "restartPolicy": "Default",
            "subGroupPolicy": {"subGroupPolicyType": "LeaderExcluded", "subGroupSize": 2},
            "volumeClaimTemplates": [{"metadata": {"name": "cache", "labels": {"a": "b"}}, "spec": {"selector": {}}}],
            "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete", "whenScaled": "Keep"},
            "workerTemplate": {
                "metadata": {
                    "labels": {"leaderworkerset.sigs.k8s.io/name": "x"},
                    "annotations": {"kueue.x-k8s.io/podset-required-topology": "x"},
                },
                "spec": {
                    "hostNetwork": True,
                    "dnsPolicy": "ClusterFirst",
                    "dnsConfig": {"nameservers": []},
                    "restartPolicy": "Never",
                    "schedulerName": "volcano",
                    "initContainers": [{"name": "sidecar", "restartPolicy": "Always"}],
                    "containers": [
                        {
                            "name": "engine",
                            "command": ["vllm", "serve", "m", "--nnodes", "2", "--headless"],
                            "args": ["--tensor-parallel-size=8"],
                            "env": [{"name": "LWS_GROUP_SIZE", "value": "2"}],
                            "ports": [{"name": "http", "containerPort": 8000}],
                            "resources": {"limits": {"nvidia.com/gpu": "8"}},
                            "readinessProbe": {"httpGet": {"path": "/health", "port": "http"}},
                            "volumeMounts": [{"name": "cache", "mountPath": "/cache"}],
                        }
                    ],
                },
            },
        },
    },
}


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a manifest below its top."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, child in children for place in [(*path, key), *places(child, (*path, key))]]


junk = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.just(UNKNOWN)),
    lambda children: st.one_of(
        st.lists(children, max_size=3), st.dictionaries(st.text(max_size=8), children, max_size=3)
    ),
    max_leaves=6,
)


@given(st.lists(st.tuples(st.sampled_from(places(WHOLE)), junk), min_size=1, max_size=4), st.integers(6, 10))
def test_no_shape_stops_a_rule(replaced: list[tuple[tuple[Any, ...], Any]], minor: int) -> None:
    manifest = copy.deepcopy(WHOLE)
    for path, value in replaced:
        # The place may be gone by what was put above it.
        with contextlib.suppress(KeyError, IndexError, TypeError):
            parent = manifest
            for part in path[:-1]:
                parent = parent[part]
            parent[path[-1]] = value
    subject = registered(manifest)
    service = registered({"apiVersion": "v1", "kind": "Service", "metadata": manifest["metadata"]})
    for rule in RULES:
        for problem in rule.problems(subject, Target(lws=(0, minor), kubernetes=(1, 26)), others=[subject, service]):
            assert problem.severity in Severity
            assert "Unknown" not in str(problem)
        rule.problems(service, Target(), others=[subject, service])
