"""The component registers what the pure functions say, each object after those that it names."""

from typing import Any

import pulumi
import pytest

from pulumi_lws.component import DeclarationError
from pulumi_lws.queues.component import KueueQueues
from pulumi_lws.queues.manifests import queue_objects
from pulumi_lws.queues.settings import queues_args
from pulumi_lws.testing.monitor import Registration, record
from tests.queues.fleets import POOLS, pools, queue, queues

DECLARED = queues(
    {"search": queue("p5", "static", cohort="all")},
    cohorts={"all": {}},
    topologyAware=["static"],
    priorities={"urgent": {"value": 10}},
)


def registered(args: Any, *, preview: bool = False) -> list[Registration]:
    def program() -> None:
        unknown = pulumi.Output.from_input(pulumi.UNKNOWN) if preview else "cluster-id"
        before = pulumi.ComponentResource("tests:index:Kueue", "kueue", {"cluster": unknown})
        KueueQueues("env-queues", args, pulumi.ResourceOptions(depends_on=[before]))

    return record(program, preview=preview)


@pytest.mark.parametrize("preview", [True, False])
def test_the_component_is_its_objects(preview: bool) -> None:
    found = registered(queues_args(DECLARED, pools()), preview=preview)
    assert {one.name: dict(one.inputs) for one in found if one.type.startswith("kubernetes:")} == {
        f"env-queues-{key}": manifest for key, manifest in queue_objects(DECLARED, pools()).items()
    }
    kinds = [one.type.rpartition(":")[2] for one in found if one.type.startswith("kubernetes:")]
    assert kinds == [
        "Topology",
        "ResourceFlavor",
        "ResourceFlavor",
        "WorkloadPriorityClass",
        "Cohort",
        "ClusterQueue",
        "LocalQueue",
    ]


def test_a_mapping_will_do() -> None:
    raw = {"clusterQueues": {"search": queue("p5")}, "pools": POOLS}
    (component,) = (one for one in registered(raw) if one.type == "lws:index:KueueQueues")
    assert component.inputs["clusterQueues"]["search"]["namespaces"] == ["models"]


def test_wrong_queues_stop_the_program_before_it_registers_anything() -> None:
    with pytest.raises(DeclarationError) as caught:
        registered({"clusterQueues": {"search": queue("p6", cohort="none")}, "pools": POOLS})
    assert str(caught.value).splitlines()[0] == "KueueQueues env-queues has 2 problems:"
