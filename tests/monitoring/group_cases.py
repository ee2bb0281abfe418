"""Cases of the alerts of groups."""

from tests.monitoring.case import Case, Firing, Silent
from tests.monitoring.series import Series, always, group, leader_worker_set, named, pod

GROUP = {
    "namespace": "team-a",
    "leader_worker_set": "chat",
    "group": "0",
    "group_key": "key-0",
    "deployment": "chat",
    "role": "serve",
}
SET = {name: GROUP[name] for name in ("namespace", "leader_worker_set", "deployment", "role")}

_PARTLY = {**pod(node="node-0-0"), **pod(worker=1, island="")}
"""A leader with a node, and a worker that may go anywhere and finds none."""
_HALF = {**pod(node="node-0-0"), **pod(worker=1)}
"""A leader with a node, and a worker that waits for one of the same island."""


def _leaders(count: int) -> Series:
    """Return that many leaders of one group, ten minutes each, and the last one until the end."""
    lives = [(10 * number, 10 * number + 10) for number in range(count - 1)] + [(10 * count - 10, 300)]
    return {
        series: values
        for number, (start, end) in enumerate(lives)
        for series, values in pod(node="node-0-0", uid=f"uid-{number}", start=start, end=end).items()
    }


def _deployment(ready: str) -> Series:
    own = {"namespace": "team-a", "deployment": "small"}
    return {
        named("kube_deployment_labels", **own, label_pulumi_lws_deployment="small"): always(1),
        named("kube_deployment_spec_replicas", **own): always(2),
        named("kube_deployment_status_replicas_ready", **own): ready,
    }


CASES: dict[str, Case] = {
    "LwsGroupNotReady": (
        Firing(
            {**group(ready=False), **leader_worker_set()},
            at=61,
            labels=GROUP,
            summary="team-a/chat group 0 is not ready.",
            description="For 60 minutes not all its pods have been ready, which is longer than a start may take.",
        ),
        Silent("it still starts", {**group(ready=False), **leader_worker_set()}, at=59),
        Silent("all its pods are ready", {**group(), **leader_worker_set()}, at=120),
        Silent("there is no group", leader_worker_set(), at=120),
    ),
    "LwsGroupRecreatedOften": (
        Firing(
            _leaders(4),
            at=40,
            labels=GROUP,
            summary="team-a/chat group 0 is made again and again.",
            description="4 leaders within an hour; 3 are allowed.",
        ),
        Silent("three were made", _leaders(3), at=40),
        Silent("four were made, the first ones long ago", _leaders(4), at=90),
    ),
    "LwsGroupPartlyPending": (
        Firing(
            _PARTLY,
            at=16,
            labels=GROUP,
            summary="team-a/chat group 0 holds GPUs while the rest of it has no node.",
            description="Only 1 of its pods have had a node for 15 minutes.",
        ),
        Silent("Karpenter makes the node", _PARTLY, at=14),
        Silent("it is half an island, which has an alert of its own", _HALF, at=60),
        Silent("the whole group waits", {**pod(), **pod(worker=1)}, at=60),
        Silent("all have nodes", group(ready=False), at=60),
    ),
    "LwsHalfIsland": (
        Firing(
            _HALF,
            at=15,
            labels=GROUP | {"island": "p5-0"},
            summary="team-a/chat group 0 is on half an island: p5-0.",
            description="Its leader holds a node, and 1 of its workers have waited for one for 15 minutes."
            " Nobody gets it out by itself.",
        ),
        Silent("Karpenter makes the node", _HALF, at=14),
        Silent("the worker may go anywhere", _PARTLY, at=60),
    ),
    "LwsRolloutStuck": (
        Firing(
            leader_worker_set(updating=1),
            at=91,
            labels=SET,
            summary="The rollout of team-a/chat does not move.",
            description="No further group has had the new revision for 90 minutes.",
        ),
        Silent("it has not taken long", leader_worker_set(updating=1), at=89),
        Silent("one more group has come", leader_worker_set(updating=1, updated="1x60 2x240"), at=120),
        Silent("nothing rolls", leader_worker_set(), at=120),
    ),
    "LwsAllLeadersDown": (
        Firing(
            leader_worker_set(ready="1x60 0x240"),
            at=67,
            labels={name: GROUP[name] for name in ("namespace", "deployment", "role")},
            summary="No copy of team-a/chat (serve) is ready.",
            description="It served within the last day, and for 5 minutes nothing has answered.",
        ),
        Firing(
            _deployment("2x60 0x240"),
            at=67,
            labels={"namespace": "team-a", "deployment": "small"},
            summary="No copy of team-a/small is ready.",
            description="It served within the last day, and for 5 minutes nothing has answered.",
        ),
        Silent("it comes back soon", leader_worker_set(ready="1x60 0x240"), at=65),
        Silent("it has never served", leader_worker_set(ready=always(0)), at=120),
        Silent("no copy is wanted", leader_worker_set(ready="1x60 0x240", replicas="1x60 0x240"), at=120),
        Silent("one of two serves", leader_worker_set(ready="2x60 1x240", replicas=always(2)), at=120),
    ),
}
