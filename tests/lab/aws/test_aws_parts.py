"""The parts of the stand-in that need neither an engine nor an account."""

import base64
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml
from google.protobuf import struct_pb2

from lab.aws import install, tables, wire
from lab.aws.cluster_access import ClusterAccess
from lab.aws.kinds import KINDS
from lab.aws.policy_documents import document
from lab.aws.state import AccountFile, Object


def test_the_plugins_stand_where_the_engine_looks_for_the_versions_of_the_sdks(tmp_path: Path) -> None:
    install.install(tmp_path, tmp_path / "an account", tmp_path / "kubeconfig", Path(sys.executable))
    versions = install.versions()
    assert set(versions) == {"aws", "eks"}
    for package, version in versions.items():
        plugin = tmp_path / "plugins" / f"resource-{package}-v{version}" / f"pulumi-resource-{package}"
        assert plugin.stat().st_mode & 0o777 == 0o755
        assert f" {package} '{tmp_path / 'an account'}' " in plugin.read_text()


def test_without_the_sdks_no_plugins_are_placed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "PACKAGES", ("aws", "missing"))
    install.install(tmp_path, tmp_path, tmp_path, Path(sys.executable))
    assert install.versions() == {}
    assert list(tmp_path.iterdir()) == []


def test_every_kind_has_its_table_and_names_only_what_stands_in_it() -> None:
    for token, kind in KINDS.items():
        table = tables.table(token)
        named = {
            *(path.partition(".")[0] for path in (*kind.replaces, *kind.replaces_if, *kind.forms)),
            *(reference.path.partition(".")[0] for reference in kind.references),
            *kind.defaults,
            *(name for group in (*kind.one_of, *kind.at_most_one_of) for name in group),
        }
        assert named - set(table["inputs"]) == set(), token
        assert {*kind.outputs, *kind.unique, *kind.bumped} - set(table["outputs"]) == set(), token
        for reference in kind.references:
            assert {*reference.by} - {"id", *tables.table(reference.to)["outputs"]} == set(), token


def test_changes_of_several_processes_are_all_kept(tmp_path: Path) -> None:
    account = AccountFile(tmp_path)

    def add(number: int) -> None:
        with account.changed() as changed:
            changed.add(Object("kind", str(number)))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(add, range(40)))
    assert sorted(int(one.id) for one in account.read().objects) == list(range(40))
    with account.changed() as changed:
        for one in changed.objects:
            changed.remove(one)
    assert not account.path.exists()


def test_what_the_engine_sends_becomes_plain_values() -> None:
    signature = "4dabf18193072939515e22adb298388d"
    sent = struct_pb2.Struct()
    sent.update(
        {
            "count": 2,
            "ratio": 0.5,
            "absent": None,
            "secret": {signature: "1b47061264138c4ac30d75fd1eb44270", "value": {"a": [1]}},
            "later": "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
            "role": {signature: "5cf8f73096256a8f31e491e813e4eb8e", "urn": "urn:x", "id": "node"},
        }
    )
    plain = {"count": 2, "ratio": 0.5, "secret": {"a": [1]}, "later": wire.UNKNOWN, "role": "node"}
    assert wire.received(sent) == plain
    assert isinstance(wire.received(sent)["count"], int)


def test_a_kubeconfig_holds_no_secret(tmp_path: Path) -> None:
    encoded = base64.b64encode(b"-----BEGIN").decode()
    cluster = {"server": "https://127.0.0.1:6443", "certificate-authority-data": encoded}
    user = {"client-certificate-data": encoded, "client-key-data": base64.b64encode(b"the key").decode()}
    (tmp_path / "kubeconfig").write_text(
        yaml.safe_dump({"clusters": [{"cluster": cluster}], "users": [{"user": user}]})
    )
    access = ClusterAccess(tmp_path / "kubeconfig", tmp_path / "credential.json")
    written = access.kubeconfig_of("llm")
    assert written["clusters"][0]["cluster"] == cluster
    assert "key" not in json.dumps(written["users"])
    credential = json.loads(access.credential.read_text())
    assert credential["status"] == {"clientCertificateData": "-----BEGIN", "clientKeyData": "the key"}
    assert access.credential.stat().st_mode & 0o777 == 0o600
    nowhere = ClusterAccess(tmp_path / "none", tmp_path / "none.json")
    assert nowhere.kubeconfig_of("llm")["clusters"][0]["cluster"] == {"server": "https://127.0.0.1:1"}


def test_policy_documents_are_merged_by_sid() -> None:
    base = json.dumps({"Statement": [{"Sid": "A", "Effect": "Allow", "Action": "s3:*", "Resource": "*"}]})
    asked = {
        "sourcePolicyDocuments": [base],
        "statements": [
            {
                "sid": "A",
                "actions": ["ec2:RunInstances", "ec2:CreateFleet"],
                "resources": ["*"],
                "conditions": [{"test": "StringEquals", "variable": "aws:RequestTag/a", "values": ["b"]}],
            }
        ],
    }
    merged = {
        "Sid": "A",
        "Effect": "Allow",
        "Action": ["ec2:RunInstances", "ec2:CreateFleet"],
        "Resource": "*",
        "Condition": {"StringEquals": {"aws:RequestTag/a": "b"}},
    }
    assert document(asked) == {"Version": "2012-10-17", "Statement": [merged]}
