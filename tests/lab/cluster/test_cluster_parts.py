import json
from pathlib import Path
from typing import Any

import pytest

from lab.cluster import access, parts, record
from lab.cluster.kinds import KINDS
from lab.cluster.layout import Layout
from lab.cluster.parts import Part
from lab.cluster.record import Record, Tool

LAYOUT = Layout(Path("/labs/one"))
PROGRAMS = (*parts.ALWAYS[:5], *parts.ON_DEMAND)


def _record(**changes: Any) -> Record:
    settings: dict[str, Any] = {
        "ports": {name: 10_000 + index for index, name in enumerate(parts.PORTS)},
        "karpenter": True,
        "lws_controller": True,
        "binaries": {name: f"/programs/{name}" for name in PROGRAMS},
        "tools": {"etcd": Tool("3.6.16", "build")},
        "crds": ["lws-0.10.0"],
    }
    return Record(**{**settings, **changes})


def _parts(**changes: Any) -> dict[str, Part]:
    return {part.name: part for part in parts.all_parts(LAYOUT, _record(**changes))}


def test_parts_start_in_the_order_in_which_they_need_each_other() -> None:
    assert tuple(_parts()) == parts.START_ORDER
    assert tuple(_parts(karpenter=False)) == (*parts.ALWAYS, "lws-controller")
    assert tuple(_parts(lws_controller=False)) == (*parts.ALWAYS, "karpenter")


def test_no_part_skips_the_check_of_certificates_or_listens_beyond_loopback() -> None:
    for part in _parts().values():
        words = " ".join(part.command)
        assert "insecure" not in words
        assert "http://" not in words


def test_the_database_and_the_api_server_check_their_clients() -> None:
    assert {"--client-cert-auth", "--peer-client-cert-auth"} <= set(_parts()["etcd"].command)
    assert {
        "--authorization-mode=RBAC",
        "--client-ca-file=/labs/one/pki/ca.crt",
        "--bind-address=127.0.0.1",
    } <= set(_parts()["kube-apiserver"].command)


def test_the_status_writer_leaves_kinds_to_a_real_controller() -> None:
    def left(**changes: Any) -> list[str]:
        command = _parts(**changes)["statuses"].command
        return [word.removeprefix("--leave=") for word in command if word.startswith("--leave")]

    assert left(lws_controller=False) == [
        "nodepools.karpenter.sh",
        "ec2nodeclasses.karpenter.k8s.aws",
        "kwoknodeclasses.karpenter.kwok.sh",
    ]
    assert left(karpenter=False) == ["leaderworkersets.leaderworkerset.x-k8s.io"]
    assert left(karpenter=False, lws_controller=False) == []


def test_a_part_says_where_it_is_healthy() -> None:
    assert {name: part.health_url for name, part in _parts().items() if part.health} == {
        "kube-apiserver": "https://127.0.0.1:10000/readyz",
        "kube-controller-manager": "https://127.0.0.1:10003/healthz",
        "kube-scheduler": "https://127.0.0.1:10004/healthz",
        "kwok": "http://127.0.0.1:10005/healthz",
        "karpenter": "http://127.0.0.1:10006/readyz",
        "lws-controller": "https://127.0.0.1:10008/validate-disaggregatedset-x-k8s-io-v1-disaggregatedset",
    }


def test_the_status_writer_may_do_nothing_but_read_and_write_statuses_of_known_kinds() -> None:
    (role,) = [role for role in access.roles() if role["metadata"]["name"] == "pulumi-lws-lab:statuses"]
    groups = sorted({kind.group for kind in KINDS})
    assert role["rules"] == [
        {"apiGroups": groups, "resources": ["*"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": groups, "resources": ["*/status"], "verbs": ["patch"]},
    ]


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    assert record.load(layout) is None
    record.save(layout, _record(complete=True))
    assert record.load(layout) == _record(complete=True)
    assert [path.name for path in tmp_path.iterdir()] == ["lab.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", json.dumps({"ports": {}, "tools": {}})])
def test_a_record_that_cannot_be_read_counts_as_none(tmp_path: Path, text: str) -> None:
    layout = Layout(tmp_path)
    layout.record.write_text(text)
    assert record.load(layout) is None
