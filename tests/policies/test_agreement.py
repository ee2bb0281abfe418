"""The pack and ``lws check`` say the same of the same objects."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from pulumi_lws.checking.judging import check
from pulumi_lws.rules.judging import registered
from pulumi_lws.rules.rule import Target
from tests.policies.pack_run import Registered, run_pack

SAMPLES = Path(__file__).parents[1] / "rules" / "samples"


def objects() -> list[Any]:
    """The objects of the samples that are wrong, or just at the bound, without those that no file can hold."""
    found = []
    for path in sorted(SAMPLES.rglob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        if path.name.startswith(("denied", "bound")) and "!unknown" not in text:
            sample = yaml.safe_load(text)
            together = [sample["subject"], *sample.get("others", ())]
            if all(each["type"].startswith("kubernetes:") for each in together):
                found.append(pytest.param(sample, together, id=str(path.relative_to(SAMPLES))))
    return found


def manifest_of(registered_object: dict[str, Any]) -> dict[str, Any]:
    _, version, kind = registered_object["type"].split(":")
    return {"apiVersion": version.removeprefix("core/"), "kind": kind, **registered_object["properties"]}


@pytest.mark.parametrize(("sample", "together"), objects())
def test_the_pack_and_the_check_find_the_same(sample: dict[str, Any], together: list[Any], tmp_path: Path) -> None:
    manifests = [manifest_of(each) for each in together]
    file = tmp_path / "objects.yaml"
    file.write_text(yaml.safe_dump_all(manifests))
    meant = {name: str(value) for name, value in sample.get("target", {}).items() if name != "gangs"}
    gangs = sample.get("target", {}).get("gangs", [])
    target = Target(**{name: two(value) for name, value in meant.items()}, gangs=frozenset(gangs))
    report = check([str(file)], target)
    assert not report.errors
    checked = {
        (problem.rule, str(problem), str(index))
        for index, each in enumerate(report.objects)
        for problem in each.problems
        if problem.rule != "schema"
    }
    resources = [
        Registered(registered(manifest).type, str(index), manifest) for index, manifest in enumerate(manifests)
    ]
    config = {"pack": {**{f"{name}Version": value for name, value in meant.items()}, "gangs": gangs}}
    found = {(each.policy, each.message, each.name) for each in run_pack(*resources, config=config)}
    assert found == checked


def two(version: str) -> tuple[int, int]:
    major, minor = version.split(".")
    return int(major), int(minor)
