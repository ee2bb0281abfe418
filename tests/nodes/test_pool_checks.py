"""Wrong pools: each has its one problem, with the numbers and the way out."""

from typing import Any

import pytest

from pulumi_lws.cluster.eks import system_pool
from pulumi_lws.nodes.capacity_checks import reservation_problems
from pulumi_lws.nodes.checks import AUTO_NAMES, clashes, pool_problems
from pulumi_lws.nodes.cluster import Mode
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.planning.problems import Problem, Severity

Raw = dict[str, Any]

ZONES = ("us-east-2a", "us-east-2b")
IMAGE = "al2023@v20260901"
ISLANDS: Raw = {"instanceType": "p5.48xlarge", "islands": 3, "nodesPerIsland": 2, "zone": "us-east-2a"}
PLAIN: Raw = {"instanceType": "g6e.12xlarge", "nodes": 2, "zone": "us-east-2a"}
BLOCK: Raw = {"kind": "capacity-block", "id": "cr-0123456789abcdef0"}


def problems(raw: Raw, mode: Mode = "karpenter", **known: Any) -> list[Problem]:
    given = {"region": "us-east-2", "zones": ZONES, "image": IMAGE}
    return pool_problems("p5", GpuPool.model_validate(raw), mode, **given | known)


@pytest.mark.parametrize("mode", ["auto", "karpenter", "lab"])
@pytest.mark.parametrize(
    "raw",
    [
        ISLANDS,
        PLAIN,
        ISLANDS | {"capacity": BLOCK},
        ISLANDS | {"capacity": {"kind": "reservation"}},
        ISLANDS | {"capacity": {"kind": "on-demand", "spotOverflow": 1}, "role": "decode"},
        PLAIN | {"capacity": {"kind": "spot"}},
        PLAIN | {"efa": "none", "zone": None},
        {"instanceType": "g6e.12xlarge", "nodes": 4},
    ],
)
def test_a_sound_pool_has_no_problem(raw: Raw, mode: Mode) -> None:
    assert problems(raw, mode) == []


WRONG: dict[str, tuple[Raw, Mode, str]] = {
    "no nodes": (
        PLAIN | {"nodes": 0},
        "karpenter",
        (
            "nodes: found a pool of 0 nodes; allowed: 1 node or more."
            " Set nodes, or islands and nodesPerIsland for groups over several nodes."
        ),
    ),
    "zone without subnets": (
        ISLANDS | {"zone": "us-east-2c"},
        "auto",
        "zone: found 'us-east-2c'; allowed: us-east-2a, us-east-2b. Name a zone in which the cluster has subnets.",
    ),
    "placement group without zone": (
        ISLANDS | {"zone": None},
        "karpenter",
        (
            "zone: found nothing; allowed: us-east-2a, us-east-2b. Add zone: a placement group lies in the zone of its"
            " first node, and further nodes may be tried in another."
        ),
    ),
    "capacity block without zone": (
        PLAIN | {"capacity": BLOCK, "zone": None},
        "karpenter",
        "zone: found nothing; allowed: us-east-2a, us-east-2b. Add zone: a capacity-block lies in one zone.",
    ),
    "EFA over zones": (
        ISLANDS | {"zone": None, "placementGroup": False},
        "karpenter",
        "zone: found nothing; allowed: us-east-2a, us-east-2b. Add zone: EFA does not leave a zone.",
    ),
    "spot islands as base": (
        ISLANDS | {"capacity": {"kind": "spot"}},
        "karpenter",
        (
            "capacity.kind: found 'spot', for all 3 islands; allowed: on-demand with spotOverflow, reservation,"
            " capacity-block. Use spot only for replicas beyond a base: kind on-demand, and spotOverflow for the"
            " islands beyond it."
        ),
    ),
    "no base under the overflow": (
        ISLANDS | {"capacity": {"kind": "on-demand", "spotOverflow": 3}},
        "karpenter",
        (
            "capacity.spotOverflow: found 3; allowed: 0 to 2: the pool has 3 islands, and its base is on demand."
            " Lower it, or raise islands."
        ),
    ),
    "overflow with the least weight": (
        PLAIN | {"capacity": {"kind": "on-demand", "spotOverflow": 1}, "weight": 1},
        "auto",
        (
            "weight: found 1, with a spot overflow; allowed: 2 to 100."
            " Raise it, or remove it: spot nodes need a lower weight than those on demand."
        ),
    ),
    "static with weight": (
        ISLANDS | {"static": True, "weight": 80},
        "karpenter",
        (
            "weight: found 80, on a static pool; allowed: nothing: static nodes are there before Karpenter could"
            " choose. Remove weight, or set static to false."
        ),
    ),
    "static with overflow": (
        ISLANDS | {"static": True, "capacity": {"kind": "on-demand", "spotOverflow": 1}},
        "karpenter",
        (
            "static: found true, with a spot overflow of 1; allowed: false. Remove static or spotOverflow: static spot"
            " nodes would be bought whether a replica needs them or not."
        ),
    ),
    "end of a reservation that exists": (
        ISLANDS | {"capacity": {"kind": "reservation", "id": "cr-0abc", "ends": "2026-12-31T11:30:00Z"}},
        "karpenter",
        (
            "capacity.ends: found '2026-12-31T11:30:00Z'; allowed: nothing: the reservation exists, and ends when it"
            " says. Remove it, or remove id to have a reservation made with the pool."
        ),
    ),
    "EFA on a type without it": (
        {"instanceType": "g6e.2xlarge", "nodes": 1, "zone": "us-east-2a", "efa": "dynamic"},
        "karpenter",
        (
            "efa: found 'dynamic'; allowed: none: g6e.2xlarge has 0 EFA interfaces."
            " Remove efa, or choose an instance type with EFA."
        ),
    ),
    "static nodes that no pod asks EFA of": (
        ISLANDS | {"static": True, "efa": "dynamic"},
        "karpenter",
        (
            "efa: found 'dynamic'; allowed: explicit, none: static nodes are made for no pod, so none asks for EFA."
            " Set efa to explicit."
        ),
    ),
    "label of a reserved domain": (
        PLAIN | {"labels": {"karpenter.k8s.aws/instance-gpu-count": "4"}},
        "auto",
        (
            "labels.karpenter.k8s.aws/instance-gpu-count: found a label that is not yours to set; allowed: labels"
            " outside kubernetes.io, k8s.io, karpenter.sh, karpenter.k8s.aws, eks.amazonaws.com and other than those"
            " of this library. Use a domain of your own, such as example.com/team."
        ),
    ),
    "taint that is there already": (
        PLAIN | {"taints": [{"key": "nvidia.com/gpu"}]},
        "karpenter",
        "taints[0].key: found 'nvidia.com/gpu'; allowed: a key that the pool has no taint of already. Remove it.",
    ),
    "nodes taken away while a leader starts": (
        ISLANDS | {"disruption": {"consolidateAfterMinutes": 30}},
        "karpenter",
        (
            "disruption.consolidateAfterMinutes: found 30; allowed: 90 or more: the start budget of a deployment on"
            " this pool. Raise it, or remove it: a group's second node is empty while the leader starts, and would be"
            " taken away."
        ),
    ),
    "a life longer than Auto Mode gives": (
        ISLANDS | {"disruption": {"expireAfterHours": 504}},
        "auto",
        (
            "disruption.expireAfterHours: found 504; allowed: 480 or less: a node of Auto Mode lives 21 days (504"
            " hours), its drain counted in. Lower it, or remove it."
        ),
    ),
    "a drain longer than Auto Mode gives": (
        ISLANDS | {"disruption": {"terminationGraceHours": 504}},
        "auto",
        (
            "disruption.terminationGraceHours: found 504; allowed: 503 or less: a node of Auto Mode lives 21 days (504"
            " hours), its drain counted in. Lower it, or remove it."
        ),
    ),
    "image on Auto Mode": (
        ISLANDS | {"image": "bottlerocket@1.50.0"},
        "auto",
        (
            "image: found 'bottlerocket@1.50.0'; allowed: nothing: Auto Mode chooses and renews its image itself."
            " Remove it, or use the compute mode karpenter."
        ),
    ),
    "image that moves": (
        ISLANDS | {"image": "al2023@latest"},
        "karpenter",
        (
            "image: found 'al2023@latest'; allowed: a release, such as al2023@v20260901."
            " Pin a release: with latest, every new image makes all nodes drift."
        ),
    ),
    "hugepages without EFA": (
        {"instanceType": "g6e.2xlarge", "nodes": 1, "hugepages": True},
        "karpenter",
        (
            "hugepages: found true; allowed: false: images set them aside only where there is EFA, and g6e.2xlarge has"
            " 0 EFA interfaces. Remove it."
        ),
    ),
    "hugepages on dynamic Auto Mode": (
        ISLANDS | {"hugepages": True},
        "auto",
        (
            "hugepages: found true; allowed: false, or true on static nodes: Auto Mode knows no hugepages and would"
            " make no node for such a pod. Remove it, or set static to true."
        ),
    ),
    "metadata hops on Auto Mode": (
        ISLANDS | {"metadataHopLimit": 2},
        "auto",
        (
            "metadataHopLimit: found 2; allowed: 1: Auto Mode sets the metadata options itself."
            " Remove it, and give pods a role by EKS Pod Identity."
        ),
    ),
    "tag that Karpenter sets": (
        ISLANDS | {"tags": {"karpenter.sh/nodepool": "p5"}},
        "karpenter",
        (
            "tags.karpenter.sh/nodepool: found a tag that is not yours to set; allowed: tags that do not start with"
            " aws:, eks:eks-cluster-name, kubernetes.io/cluster, karpenter.sh/, karpenter.k8s.aws/, eks.amazonaws.com/."
            " Use a name of your own."
        ),
    ),
    "Auto field on a Karpenter class": (
        ISLANDS | {"nodeClass": {"ephemeralStorage": {"size": "200Gi"}}},
        "karpenter",
        (
            "nodeClass.ephemeralStorage: found a field of a NodeClass of Auto Mode; allowed: fields of an EC2NodeClass"
            " of Karpenter. Remove it, or change the compute mode."
        ),
    ),
    "Karpenter field on an Auto class": (
        ISLANDS | {"nodeClass": {"userData": "x"}},
        "auto",
        (
            "nodeClass.userData: found a field of an EC2NodeClass of Karpenter; allowed: fields of a NodeClass of Auto"
            " Mode. Remove it, or change the compute mode."
        ),
    ),
    "field that the pool sets": (
        ISLANDS | {"nodeClass": {"instanceStorePolicy": "RAID0"}},
        "karpenter",
        (
            "nodeClass.instanceStorePolicy: found 'RAID0'; allowed: fields that the pool does not set itself."
            " Remove it, and use the pool's own settings."
        ),
    ),
    "more operations than a volume of that size has": (
        PLAIN | {"rootVolume": {"sizeGib": 20, "iops": 12_000}},
        "karpenter",
        (
            "rootVolume.iops: found 12000, on 20 GiB; allowed: 10000 or less: gp3 gives 500 for each GiB."
            " Lower it, or raise sizeGib."
        ),
    ),
    "volume with a key of another region": (
        PLAIN | {"rootVolume": {"kmsKey": "arn:aws:kms:us-west-2:123456789012:key/1"}},
        "auto",
        (
            "rootVolume.kmsKey: found 'arn:aws:kms:us-west-2:123456789012:key/1'; allowed: a key of us-east-2."
            " Name a key of that region."
        ),
    ),
    "value that Auto Mode does not have": (
        ISLANDS | {"nodeClass": {"snatPolicy": "random"}},
        "auto",
        (
            'nodeClass.snatPolicy: found \'random\'; allowed: "random" is not one of "Random" or "Disabled".'
            " Write it as the user guide of EKS has it."
        ),
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_pool_has_its_one_problem(case: str) -> None:
    raw, mode, message = WRONG[case]
    assert [str(problem) for problem in problems(raw, mode, start_budget_minutes=90)] == [message]


WARNED: dict[str, tuple[Raw, Mode, str]] = {
    "islands without EFA": (
        ISLANDS | {"efa": "none"},
        "karpenter",
        (
            "efa: found 'none', with groups over 2 nodes; allowed: dynamic or explicit on a type with EFA; p5.48xlarge"
            " has 32 EFA interfaces. Use EFA, or expect several times less throughput: the nodes of a group will talk"
            " over TCP."
        ),
    ),
    "explicit EFA on dynamic Auto Mode": (
        ISLANDS | {"efa": "explicit"},
        "auto",
        (
            "efa: found 'explicit'; allowed: dynamic, or explicit with static: true. Prefer one of the two: Auto Mode"
            " is reported not to make such nodes where there are none yet."
        ),
    ),
    "nodes that expire": (
        ISLANDS | {"disruption": {"expireAfterHours": 720}},
        "karpenter",
        (
            "disruption.expireAfterHours: found 720; allowed: nothing: nodes that never expire."
            " Remove it, and replace nodes by a rollout: an expired node is drained with the model on it."
        ),
    ),
    "field that nobody knows": (
        ISLANDS | {"nodeClass": {"futureField": 1}},
        "auto",
        (
            "nodeClass.futureField: found a field that a NodeClass of Auto Mode is not known to have; allowed:"
            " advancedSecurity, capacityReservationSelectorTerms, certificateBundles, instanceProfile, networkPolicy,"
            " networkPolicyEventLogs, podSecurityGroupSelectorTerms, podSubnetSelectorTerms, snatPolicy."
            " Check its spelling: it is passed on as it is."
        ),
    ),
}


@pytest.mark.parametrize("case", WARNED)
def test_a_risky_pool_has_its_one_warning(case: str) -> None:
    raw, mode, message = WARNED[case]
    found = problems(raw, mode)
    assert [(str(problem), problem.severity) for problem in found] == [(message, Severity.WARNING)]


def test_a_name_leaves_room_for_the_islands() -> None:
    pool = GpuPool.model_validate(ISLANDS | {"islands": 11})
    (problem,) = pool_problems("a" * 61, pool, "lab")
    assert str(problem) == (
        f"found a pool whose NodePool {'a' * 61}-10 has 64 characters; allowed: 63 characters with what is added to the"
        " pool's name. Shorten the pool's name by 1."
    )


def test_a_pool_without_an_image_says_so() -> None:
    assert [str(problem) for problem in problems(ISLANDS, image="")] == [
        "image: found nothing; allowed: an alias such as al2023@v20260901. Add image here, or one for the cluster."
    ]


def test_node_pools_of_two_pools_never_share_a_name() -> None:
    pools = {"p5": GpuPool.model_validate(ISLANDS), "p5-1": GpuPool.model_validate(PLAIN)}
    assert [str(problem) for problem in clashes(pools)] == [
        (
            "p5-1: found a pool whose NodePool is p5-1; allowed: a name that no NodePool of the pool p5 has."
            " Rename one of the two pools."
        )
    ]


def test_pools_that_share_a_reservation_share_its_instances() -> None:
    reserved = ISLANDS | {"capacity": {"kind": "reservation", "id": "cr-0abc", "instances": 8}}
    pools = {"one": GpuPool.model_validate(reserved), "two": GpuPool.model_validate(reserved | {"islands": 1})}
    assert list(reservation_problems(pools)) == []
    pools["three"] = pools["two"].model_copy(update={"islands": 2})
    assert [str(problem) for problem in reservation_problems(pools)] == [
        (
            "one.capacity.instances: found 8, for the 12 nodes of one, two, three; allowed: 12 or more: nodes beyond it"
            " never come, and groups wait for them. Enlarge the reservation, or lower islands or nodes."
        )
    ]


def test_the_names_that_our_own_nodes_have_on_auto_mode_are_no_pools() -> None:
    assert system_pool.NAME in AUTO_NAMES
