"""What happens to models of programs that have nothing of ours."""

from pathlib import Path
from typing import Any

import pytest

from pulumi_lws.facts.prices import PRICES
from pulumi_lws.nodes.capacity import CapacityBlock, OnDemand, Reservation, Spot
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.reporting.findings import findings
from pulumi_lws.reporting.reading import read_preview
from pulumi_lws.reporting.report import Report, report
from tests.reporting.events import DEPLOYMENT, LWS, deployment, groups, outcome, pod, resource_event, write

STARTS = {"startupProbe": {"periodSeconds": 10, "failureThreshold": 120}}


def starting(image: str) -> dict[str, Any]:
    template = pod(image=image)
    template["spec"]["containers"][0] |= STARTS
    return template


def of(folder: Path, *events: dict[str, Any], **options: Any) -> Report:
    return report(read_preview(write(folder, *events)), **options)


def said(found: Report) -> list[tuple[str, str, str]]:
    return [(str(each.level), each.text, each.why) for each in findings(found)]


def rolling(unavailable: Any, surge: Any) -> dict[str, Any]:
    configuration = {"maxUnavailable": unavailable, "maxSurge": surge}
    return {"rolloutStrategy": {"type": "RollingUpdate", "rollingUpdateConfiguration": configuration}}


IMAGE = "`image example.com/vllm:1 → example.com/vllm:2`"

ROLLOUTS: dict[str, tuple[dict[str, Any], str, str]] = {
    "by default one group at a time": ({}, "care", "restarts, 1 of 3 groups missing for up to 60 min"),
    "two at a time": (rolling(2, 0), "care", "restarts, 2 of 3 groups missing for up to 40 min"),
    "all at once": (rolling("100%", 0), "stop", "restarts and is down for up to 20 min"),
    "with surge": (rolling(0, 1), "care", "restarts with 1 group on top: none is missing, in up to 60 min"),
    "both": (rolling(1, 1), "care", "restarts, 1 of 3 groups missing for up to 40 min"),
}


@pytest.mark.parametrize("case", ROLLOUTS)
def test_a_rollout_says_what_is_missing_and_for_how_long(case: str, tmp_path: Path) -> None:
    strategy, level, text = ROLLOUTS[case]
    old, new = (groups(starting(f"example.com/vllm:{each}"), **strategy) for each in (1, 2))
    found = of(tmp_path, resource_event("update", LWS, "llm", old, new))
    assert said(found) == [(level, f"`llm` {text}", IMAGE)]


def test_groups_that_keep_the_old_template_are_not_counted(tmp_path: Path) -> None:
    strategy = {"rolloutStrategy": {"rollingUpdateConfiguration": {"partition": 2}}}
    old, new = (groups(starting(f"example.com/vllm:{each}"), **strategy) for each in (1, 2))
    found = of(tmp_path, resource_event("update", LWS, "llm", old, new))
    assert said(found) == [("care", "`llm` restarts, 1 of 3 groups missing for up to 20 min", IMAGE)]


def test_a_single_group_without_surge_is_down(tmp_path: Path) -> None:
    old, new = (groups(pod(image=f"example.com/vllm:{each}"), replicas=1) for each in (1, 2))
    found = of(tmp_path, resource_event("update", LWS, "llm", old, new))
    # Nothing tells how long a start takes.
    assert said(found) == [("stop", "`llm` restarts and is down until it has started", IMAGE)]


def test_what_makes_no_revision_restarts_nothing(tmp_path: Path) -> None:
    old, new = groups(pod()), groups(pod(), startupPolicy="LeaderReady", **rolling(0, 1))
    found = of(tmp_path, resource_event("update", LWS, "llm", old, new))
    assert said(found) == [("fine", "No model restarts; 1 other resource changes", "")]


def test_whole_numbers_of_either_spelling_are_the_same(tmp_path: Path) -> None:
    old, new = groups(pod()), groups(pod())
    new["spec"]["leaderWorkerTemplate"]["size"] = 2.0
    found = of(tmp_path, resource_event("update", LWS, "llm", old, new))
    assert outcome(found).models[0].fate == "unchanged"


def test_a_replacement_takes_every_group_down(tmp_path: Path) -> None:
    old, new = groups(starting("example.com/vllm:1")), groups(starting("example.com/vllm:1"))
    ops = ("delete-replaced", "replace", "create-replacement")
    found = of(tmp_path, *(resource_event(op, LWS, "llm", old, new) for op in ops))
    assert said(found) == [("stop", "`llm` is deleted and made anew: down for up to 20 min", "")]
    assert found.counts() == {"replace": 1}


def test_one_role_of_a_disaggregated_set_restarts_all(tmp_path: Path) -> None:
    kind = "kubernetes:disaggregatedset.x-k8s.io/v1:DisaggregatedSet"

    def roles(image: str) -> dict[str, Any]:
        spec = {name: groups(starting(f"example.com/vllm:{each}"))["spec"] for name, each in (("p", image), ("d", 1))}
        return {
            "metadata": {"name": "set", "namespace": "models"},
            "spec": {"roles": [{"name": name, "spec": one} for name, one in spec.items()]},
        }

    found = of(tmp_path, resource_event("update", kind, "set", roles("1"), roles("2")))
    assert [(level, text) for level, text, _ in said(found)] == [
        ("care", "`set (p)` restarts with 1 group on top: none is missing, in up to 60 min"),
        ("care", "`set (d)` restarts with 1 group on top: none is missing, in up to 60 min"),
    ]


DEPLOYMENTS: dict[str, tuple[dict[str, Any], str]] = {
    "by default": ({}, "`web` restarts, 1 of 4 pods missing"),
    "recreate": ({"strategy": {"type": "Recreate"}}, "`web` restarts and is down until it has started"),
    "surge": (
        {"strategy": {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 2}}},
        "`web` restarts with 2 pods on top: none is missing",
    ),
}


@pytest.mark.parametrize("case", DEPLOYMENTS)
def test_a_deployment_with_gpus_rolls_like_one(case: str, tmp_path: Path) -> None:
    strategy, text = DEPLOYMENTS[case]
    old, new = (deployment(pod(1, f"example.com/vllm:{each}"), **strategy) for each in (1, 2))
    assert said(of(tmp_path, resource_event("update", DEPLOYMENT, "web", old, new)))[0][1] == text


def test_a_deployment_without_gpus_is_no_model(tmp_path: Path) -> None:
    old, new = (deployment(pod(0, f"example.com/web:{each}")) for each in (1, 2))
    found = of(tmp_path, resource_event("update", DEPLOYMENT, "web", old, new))
    assert said(found) == [("fine", "No model restarts; 1 other resource changes", "")]


def test_an_autoscaler_owns_the_copies(tmp_path: Path) -> None:
    spec = {"scaleTargetRef": {"name": "llm"}, "minReplicas": 2, "maxReplicas": 6}
    scaler = {"metadata": {"name": "llm", "namespace": "models"}, "spec": spec}
    owned = groups(pod(), replicas=None)
    found = of(
        tmp_path,
        resource_event("create", LWS, "llm", None, owned),
        resource_event("create", "kubernetes:autoscaling/v2:HorizontalPodAutoscaler", "llm", None, scaler),
    )
    assert (outcome(found).after.gpus, outcome(found).after.most_gpus) == (32, 96)


def node_pool(**spec: Any) -> dict[str, Any]:
    requirements = [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["p5.48xlarge"]}]
    return {"metadata": {"name": "gpus"}, "spec": {"template": {"spec": {"requirements": requirements}}, **spec}}


NODE_POOL = "kubernetes:karpenter.sh/v1:NodePool"


def test_nodes_and_cost_follow_from_foreign_pools(tmp_path: Path) -> None:
    pool = node_pool(limits={"nvidia.com/gpu": "64"})
    found = of(
        tmp_path,
        resource_event("create", LWS, "llm", None, groups(pod())),
        resource_event("create", DEPLOYMENT, "web", None, deployment(pod(2))),
        resource_event("create", NODE_POOL, "gpus", None, pool),
    )
    # Three groups of two whole nodes, four pods that share one.
    assert (outcome(found).after.nodes, outcome(found).after.most_nodes, round(outcome(found).after.dollars, 2)) == (
        7,
        8,
        385.28,
    )


def test_static_pools_and_node_groups_cost_what_is_there(tmp_path: Path) -> None:
    group = {"instanceTypes": ["g6e.xlarge"], "scalingConfig": {"desiredSize": 3, "minSize": 1, "maxSize": 5}}
    found = of(
        tmp_path,
        resource_event("same", NODE_POOL, "gpus", node_pool(replicas=2), node_pool(replicas=2)),
        resource_event("create", "aws:eks/nodeGroup:NodeGroup", "g", None, group),
    )
    assert (outcome(found).before.nodes, outcome(found).after.nodes) == (2, 5)
    assert round(outcome(found).after.dollars - outcome(found).before.dollars, 3) == 3 * 1.861


STATIC: dict[str, dict[str, Any]] = {
    "told": {"static": True},
    "reserved": {"capacity": {"kind": "reservation"}},
    "a block": {"capacity": {"kind": "capacity-block"}},
}


def on_pool(op: str, replicas: tuple[int | None, int | None], **pool: Any) -> list[dict[str, Any]]:
    """Return a deployment on four islands of a pool outside the stack, with its groups before and after."""
    pools = {"pools": {"gpus": {"instanceType": "p5.48xlarge", "islands": 4, "nodesPerIsland": 2, **pool}}}
    template = pod(nodeSelector={"pulumi-lws/pool": "gpus"})
    own, objects = (
        [None if count is None else made(count) for count in replicas]
        for made in (lambda _: pools, lambda count: groups(template, replicas=count))
    )
    return [resource_event(op, "lws:index:MultiNodeVllm", "llm", *own), resource_event(op, LWS, "llm", *objects)]


@pytest.mark.parametrize("case", STATIC)
@pytest.mark.parametrize(("op", "replicas"), [("update", (2, 4)), ("create", (None, 2)), ("delete", (2, None))])
def test_all_nodes_of_a_static_pool_outside_the_stack_run_before_and_after(
    case: str, op: str, replicas: tuple[int | None, int | None], tmp_path: Path
) -> None:
    found = outcome(of(tmp_path, *on_pool(op, replicas, **STATIC[case])))
    assert [(each.nodes, round(each.dollars, 2)) for each in (found.before, found.after)] == [(8, 440.32)] * 2


CAPACITIES = [OnDemand(), Spot(), Reservation(), CapacityBlock(id="cr-0123456789abcdef0")]


@pytest.mark.parametrize("capacity", CAPACITIES, ids=lambda capacity: capacity.kind)
@pytest.mark.parametrize("static", [None, True, False])
def test_a_pool_outside_the_stack_is_static_where_it_would_be_inside(
    capacity: Any, static: bool | None, tmp_path: Path
) -> None:
    pool = GpuPool(instance_type="p5.48xlarge", nodes=8, capacity=capacity, static=static)
    inputs = {"pools": {"gpus": pool.model_dump(by_alias=True, exclude_none=True)}}
    found = outcome(of(tmp_path, resource_event("same", "lws:index:MultiNodeVllm", "llm", inputs, inputs)))
    assert found.after.nodes == (8 if pool.is_static else 0)


@pytest.mark.parametrize("pool", [{}, {"capacity": {"kind": "reservation"}, "static": False}])
def test_nodes_of_other_pools_outside_the_stack_run_where_they_are_used(pool: dict[str, Any], tmp_path: Path) -> None:
    found = outcome(of(tmp_path, *on_pool("update", (2, 4), **pool)))
    assert (found.before.nodes, found.after.nodes) == (4, 8)


def test_pods_that_do_not_fit_their_pool_are_said(tmp_path: Path) -> None:
    found = of(
        tmp_path,
        resource_event("same", NODE_POOL, "gpus", None, node_pool(limits={"nodes": "4"})),
        resource_event("create", LWS, "llm", None, groups(pod())),
    )
    assert said(found)[0] == ("stop", "Pool `gpus` needs 6 nodes and may have 4: some pods stay pending", "")


def test_what_has_no_pool_or_no_price_is_said_and_not_guessed(tmp_path: Path) -> None:
    found = of(tmp_path, resource_event("create", LWS, "llm", None, groups(pod())))
    assert (outcome(found).after.nodes, outcome(found).after.homeless) == (0, ("llm",))
    without = {name: price for name, price in PRICES.items() if name != "p5.48xlarge"}
    pool = resource_event("same", NODE_POOL, "gpus", None, node_pool(replicas=2))
    found = of(tmp_path, pool, prices=without)
    assert (outcome(found).after.dollars, outcome(found).after.most_dollars, outcome(found).after.unpriced) == (
        0,
        None,
        ("p5.48xlarge",),
    )


def test_the_loss_of_what_others_depend_on_comes_first(tmp_path: Path) -> None:
    metadata = {"metadata": {"name": "leaderworkersets.leaderworkerset.x-k8s.io"}}
    crd = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
    found = of(
        tmp_path,
        *(resource_event("delete", NODE_POOL, f"p-{n}", {"metadata": {"name": f"p-{n}"}}) for n in range(6)),
        resource_event("delete", crd, "crd", metadata),
        resource_event("delete", "aws:eks/cluster:Cluster", "c", {"name": "inference"}),
    )
    assert [(level, text) for level, text, _ in said(found)] == [
        ("stop", "The cluster `inference` is deleted: everything on it stops"),
        (
            "stop",
            (
                "The CRD `leaderworkersets.leaderworkerset.x-k8s.io` is deleted:"
                " every object of its kind is deleted with it"
            ),
        ),
        (
            "stop",
            "6 node pools are deleted: their nodes are drained and terminated (`p-0`, `p-1`, `p-2`, `p-3` and 2 more)",
        ),
    ]


def test_an_upgrade_that_takes_the_crd_with_it_is_said(tmp_path: Path) -> None:
    old, new = ({"chart": "oci://registry.k8s.io/lws/charts/lws", "version": each} for each in ("0.7.0", "v0.9.0"))
    found = of(tmp_path, resource_event("update", "kubernetes:helm.sh/v4:Chart", "lws", old, new))
    level, text, _ = said(found)[0]
    assert level == "stop"
    assert text.startswith("Upgrading the chart to 0.8 deletes the CRD, and every LeaderWorkerSet with it")
    assert ("care", "LWS goes from 0.7.0 to 0.9.0", "") in said(found)


@pytest.mark.parametrize("broken", [None, [], "text", 7, {"roles": "x"}, {"leaderWorkerTemplate": [1]}])
def test_a_foreign_shape_never_crashes_a_report(broken: Any, tmp_path: Path) -> None:
    kinds = [LWS, DEPLOYMENT, NODE_POOL, "aws:eks/nodeGroup:NodeGroup", "kubernetes:helm.sh/v4:Chart"]
    kinds += ["kubernetes:disaggregatedset.x-k8s.io/v1:DisaggregatedSet", "lws:index:MultiNodeVllm"]
    for shape in (
        {"spec": broken},
        {"spec": {"template": broken, "roles": broken, "limits": broken}},
        {"pools": broken},
    ):
        events = [resource_event("update", kind, "x", shape, groups(pod())) for kind in kinds]
        assert findings(of(tmp_path, *events))
