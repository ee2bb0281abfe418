from lab.cluster import report
from lab.cluster.record import Tool
from lab.cluster.status import PROVIDER_NOTE, LabStatus, PartStatus

RUNS = PartStatus("etcd", running=True, pid=7, port=2379)
DIED = PartStatus("kwok", running=False, port=80, log_end="first\nno such luck")
LAB = LabStatus(
    parts=(RUNS, DIED),
    tools={"etcd": Tool("3.6.16", "build")},
    upstream_crds={"leaderworkersets.leaderworkerset.x-k8s.io": "lws-0.10.0"},
    stand_in_crds=("nodepools.karpenter.sh",),
    written_statuses=("nodepools.karpenter.sh",),
    real_controllers={"lws-controller": "/programs/manager"},
    aws_providers={"aws": "7.51.1"},
)


def test_the_text_names_everything_that_is_not_the_real_thing() -> None:
    assert (
        report.as_text(LAB)
        == f"""\
PART  STATE         PROCESS  PORT
etcd  runs          7        2379
kwok  does not run           80

The log of kwok ends:
  first
  no such luck

TOOL  VERSION  FROM
etcd  3.6.16   build

CRDs with their upstream schema:
  leaderworkersets.leaderworkerset.x-k8s.io (lws-0.10.0)

CRDs that accept anything, because LWS_LAB_CRDS names no better ones:
  nodepools.karpenter.sh

Statuses that the lab writes for lack of a controller, never proof of readiness:
  nodepools.karpenter.sh

Real controllers, which write the statuses of their kinds themselves:
  lws-controller (/programs/manager)

Providers that stand in for AWS, without an account:
  aws 7.51.1

{PROVIDER_NOTE}"""
    )


def test_the_data_says_the_same() -> None:
    assert report.as_data(LAB) == {
        "all_run": False,
        "parts": (
            {"name": "etcd", "running": True, "pid": 7, "port": 2379, "log_end": ""},
            {"name": "kwok", "running": False, "pid": None, "port": 80, "log_end": "first\nno such luck"},
        ),
        "tools": {"etcd": {"version": "3.6.16", "origin": "build"}},
        "upstream_crds": {"leaderworkersets.leaderworkerset.x-k8s.io": "lws-0.10.0"},
        "stand_in_crds": ("nodepools.karpenter.sh",),
        "written_statuses": ("nodepools.karpenter.sh",),
        "real_controllers": {"lws-controller": "/programs/manager"},
        "aws_providers": {"aws": "7.51.1"},
        "provider_note": PROVIDER_NOTE,
    }


def test_strays_of_a_lab_whose_state_is_gone_are_not_a_running_lab() -> None:
    assert not LabStatus((RUNS,)).all_run
    assert LabStatus((RUNS,), tools=LAB.tools).all_run
