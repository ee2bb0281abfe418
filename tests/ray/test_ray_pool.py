"""A Ray cluster for programs of one's own."""

from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.ray.settings import ray_pool_use
from tests.ray.ray_declarations import (
    cluster_spec,
    environment,
    head_spec,
    objects,
    pool_args,
    service_args,
    worker_spec,
    workers,
)

DRIVERS = {"drivers": [{"namespace": "jobs", "podLabels": {"app": "submit"}}]}


def test_workers_come_and_go_between_their_bounds() -> None:
    args = pool_args(minWorkers=1)
    group = workers(args)
    assert (group["groupName"], group["minReplicas"], group["maxReplicas"]) == ("workers", 1, 4)
    # The autoscaler owns the number.
    assert "replicas" not in group
    assert cluster_spec(args)["autoscalerOptions"]["version"] == "v2"
    assert ray_pool_use(args, args.pools) == {"p5": 32}
    assert ray_pool_use(args, {}) == {}


def test_a_pool_of_one_size_leaves_nothing_to_the_autoscaler() -> None:
    args = pool_args(minWorkers=4)
    assert (workers(args)["replicas"], cluster_spec(args)["enableInTreeAutoscaling"]) == (4, False)
    assert labels.PULUMI_PATCH_FORCE not in objects(args).cluster["metadata"]["annotations"]


def test_pulumi_takes_the_list_of_workers_back_from_the_autoscaler() -> None:
    assert objects(pool_args()).cluster["metadata"]["annotations"] == {
        labels.PULUMI_WAIT_FOR: "jsonpath={.status.state}=ready",
        labels.PULUMI_PATCH_FORCE: "true",
        labels.PATCH_FORCE_REASON: "the autoscaler writes its wish into the list that Pulumi owns as a whole",
    }


def test_a_dashboard_that_nobody_may_use_listens_for_nobody() -> None:
    def host(**changes: Any) -> str:
        return str(cluster_spec(pool_args(**changes))["headGroupSpec"]["rayStartParams"]["dashboard-host"])

    assert host() == "127.0.0.1"
    assert host(network=None) == "127.0.0.1"
    assert host(network=DRIVERS) == "0.0.0.0"  # noqa: S104 - what is rendered


def test_only_drivers_reach_the_ports_that_drive_it() -> None:
    def ingress(**changes: Any) -> Any:
        return objects(pool_args(**changes)).before["network"]["spec"]["ingress"]

    own = {"from": [{"podSelector": {"matchLabels": {labels.DEPLOYMENT: "batch"}}}]}
    monitoring = {
        "from": [{"namespaceSelector": {"matchLabels": {labels.NAMESPACE_NAME: "monitoring"}}}],
        "ports": [{"protocol": "TCP", "port": 8080}],
    }
    assert ingress() == [own, monitoring]
    assert ingress(network=DRIVERS) == [
        own,
        monitoring,
        {
            "from": [
                {
                    "namespaceSelector": {"matchLabels": {labels.NAMESPACE_NAME: "jobs"}},
                    "podSelector": {"matchLabels": {"app": "submit"}},
                }
            ],
            "ports": [{"protocol": "TCP", "port": 8265}, {"protocol": "TCP", "port": 10001}],
        },
    ]


def test_its_programs_may_span_workers_from_the_second_on() -> None:
    assert environment(worker_spec(pool_args()))["FI_PROVIDER"] == "efa"
    assert "NCCL_SOCKET_IFNAME" not in environment(worker_spec(pool_args(maxWorkers=1)))


def test_a_worker_is_ready_without_ray_serve() -> None:
    (container,) = worker_spec(pool_args())["containers"]
    assert container["readinessProbe"]["httpGet"] == {"path": "/api/healthz", "port": 52365}


def test_a_pool_knows_nothing_of_models() -> None:
    assert set(environment(worker_spec(pool_args(maxWorkers=1)))) == {"VLLM_HOST_IP", "RAY_USAGE_STATS_ENABLED"}
    assert [volume["name"] for volume in worker_spec(pool_args())["volumes"]] == ["shared-memory"]


def test_head_and_token_are_those_of_a_service() -> None:
    ours, theirs = cluster_spec(pool_args()), cluster_spec(service_args())
    assert ours["authOptions"] == theirs["authOptions"]
    assert (
        head_spec(pool_args())["containers"][0]["resources"] == head_spec(service_args())["containers"][0]["resources"]
    )


def test_a_change_ends_what_runs_unless_told_otherwise() -> None:
    assert cluster_spec(pool_args())["upgradeStrategy"] == {"type": "Recreate"}
    assert cluster_spec(pool_args(upgrade="none"))["upgradeStrategy"] == {"type": "None"}


def test_its_address_is_that_of_the_dashboard() -> None:
    assert objects(pool_args()).url == "http://batch-head-svc.models.svc:8265"
