from pathlib import Path

import pytest
import yaml

from lab.cluster import crds
from lab.cluster.crds import Definitions, Release
from lab.cluster.kinds import KINDS
from lab.errors import LabError

LWS = next(kind for kind in KINDS if kind.kind == "LeaderWorkerSet")


def _write(folder: Path, plural: str, group: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    definition = {"kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.{group}"}}
    (folder / f"{group}_{plural}.yaml").write_text(yaml.safe_dump(definition))


def _sources(definitions: Definitions) -> dict[str, str]:
    return {one["metadata"]["name"]: one["metadata"]["annotations"][crds.SOURCE] for one in definitions.read()}


def test_the_pinned_release_is_chosen_else_the_newest(tmp_path: Path) -> None:
    for name in ("lws-0.9.0", "lws-0.10.0", "lws-0.11.0", "kueue-0.9.2", "kueue-0.19.2", "notes"):
        (tmp_path / name).mkdir()
    chosen = crds.chosen_releases(tmp_path, {"lws": "0.10.0", "kueue": "7.0.0"})
    assert chosen == [
        Release("kueue", "0.19.2", tmp_path / "kueue-0.19.2"),
        Release("lws", "0.10.0", tmp_path / "lws-0.10.0"),
    ]


def test_a_missing_folder_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(LabError) as refused:
        crds.chosen_releases(tmp_path / "absent", {})
    assert refused.value.sentence == f"LWS_LAB_CRDS names {tmp_path / 'absent'}, which is no folder."


def test_upstream_definitions_replace_stand_ins_and_others_stay_out(tmp_path: Path) -> None:
    _write(tmp_path, "leaderworkersets", "leaderworkerset.x-k8s.io")
    _write(tmp_path, "workloads", "kueue.x-k8s.io")
    sources = _sources(Definitions((Release("lws", "0.10.0", tmp_path),)))
    assert sources == {kind.name: "stand-in" for kind in KINDS} | {
        "leaderworkersets.leaderworkerset.x-k8s.io": "lws-0.10.0"
    }


def test_a_whole_release_brings_kinds_that_the_table_does_not_have(tmp_path: Path) -> None:
    _write(tmp_path, "capacitybuffers", "autoscaling.x-k8s.io")
    sources = _sources(Definitions((Release("karpenter", "1.14.1", tmp_path, whole=True),)))
    assert sources["capacitybuffers.autoscaling.x-k8s.io"] == "karpenter-1.14.1"


def test_a_file_that_is_no_yaml_is_named(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("a: [")
    with pytest.raises(LabError) as refused:
        Definitions((Release("lws", "1.0", tmp_path),)).read()
    assert refused.value.sentence == f"{tmp_path / 'broken.yaml'} is not YAML."


def test_a_stand_in_accepts_anything_and_has_the_subresources_of_the_real_one() -> None:
    definition = crds.stand_in(LWS)
    (version,) = definition["spec"]["versions"]
    assert version["schema"] == {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    assert version["subresources"] == {
        "status": {},
        "scale": {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.hpaPodSelector",
        },
    }
    assert crds.served(definition) == {("leaderworkerset.x-k8s.io", "v1", "leaderworkersets")}


def test_the_table_has_every_kind_once() -> None:
    names = [kind.name for kind in KINDS]
    assert sorted(names) == sorted(set(names))


def test_the_table_agrees_with_upstream(upstream: Definitions) -> None:
    table = {kind.name: kind for kind in KINDS}
    upstream_ones = [one for one in upstream.read() if one["metadata"]["annotations"][crds.SOURCE] != crds.STAND_IN]
    assert len(upstream_ones) > 20
    for definition in upstream_ones:
        kind = table[definition["metadata"]["name"]]
        versions = {version["name"]: version for version in definition["spec"]["versions"]}
        scale = versions[kind.version].get("subresources", {}).get("scale", {})
        found = (
            definition["spec"]["names"]["kind"],
            definition["spec"]["scope"],
            versions[kind.version]["storage"],
            kind.status is None or "status" in versions[kind.version]["subresources"],
            scale.get("labelSelectorPath", ""),
        )
        wanted = (kind.kind, "Namespaced" if kind.namespaced else "Cluster", True, True, kind.replicas_selector)
        assert found == wanted, kind.name
