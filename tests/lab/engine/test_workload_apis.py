"""The upstream APIs of each version take what the models render, store it as it is, and refuse what we call refused."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.folders import PROJECT
from pulumi_lws.rules.judging import judge
from pulumi_lws.workloads.disaggregated_set import DisaggregatedSetArgs
from pulumi_lws.workloads.manifests import disaggregated_set, leader_worker_set
from pulumi_lws.workloads.settings import LeaderWorkerSetArgs

pytestmark = pytest.mark.lab

SAMPLES = sorted((PROJECT / "tests" / "workloads" / "samples").glob("*.yaml"))


@dataclass(frozen=True)
class Served:
    """A lab that serves the APIs of one version of LWS."""

    lab: Any
    version: str

    def apply(self, manifest: dict[str, Any], *, dry: bool = False) -> Any:
        """Apply an object by the server, which must know every field of it; give the answer."""
        query = {"fieldManager": "test", "fieldValidation": "Strict"} | ({"dryRun": "All"} if dry else {})
        headers = {"Content-Type": "application/apply-patch+yaml"}
        with self.lab.api() as api:
            return api.patch(path_of(manifest), params=query, json=manifest, headers=headers)

    def delete(self, manifest: dict[str, Any]) -> None:
        with self.lab.api() as api:
            api.delete(path_of(manifest)).raise_for_status()


def path_of(manifest: dict[str, Any]) -> str:
    plural = f"{manifest['kind'].lower()}s"
    return f"/apis/{manifest['apiVersion']}/namespaces/default/{plural}/{manifest['metadata']['name']}"


@pytest.fixture(scope="module", params=["0.9.0", "0.10.0"])
def served(request: Any, another_lab: Any, tmp_path_factory: Any) -> Iterator[Served]:
    folder = Path(os.environ.get("LWS_LAB_CRDS", "")) / f"lws-{request.param}"
    if not os.environ.get("LWS_LAB_CRDS") or not folder.is_dir():
        pytest.skip(f"LWS_LAB_CRDS names no folder with lws-{request.param}, so there is no upstream API to ask")
    only = tmp_path_factory.mktemp("crds")
    (only / folder.name).symlink_to(folder)
    with another_lab(LWS_LAB_CRDS=str(only), LWS_LAB_CONTROLLER="") as lab:
        yield Served(lab, request.param)


def rendered(sample: dict[str, Any], version: str) -> tuple[dict[str, Any], bool]:
    """Render a sample for a version of LWS, and tell whether we call it refused."""
    declared = {**sample["metadata"], "namespace": "default", "spec": sample["spec"], "lwsVersion": version}
    if sample["kind"] == "DisaggregatedSet":
        roles = DisaggregatedSetArgs.model_validate(declared)
        manifest = disaggregated_set(roles)
        return manifest, any(problem.refused for problem in judge(manifest, roles.target))
    groups = LeaderWorkerSetArgs.model_validate(declared | {"wait": "none"})
    manifest = leader_worker_set(groups)
    return manifest, any(problem.refused for problem in judge(manifest, groups.target))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_and_what_is_rendered_from_it_get_our_verdict_and_are_stored_as_rendered(
    path: Path, served: Served
) -> None:
    sample = yaml.safe_load(path.read_text())
    manifest, refused = rendered(sample, served.version)
    as_it_stands, answer = served.apply(sample, dry=True), served.apply(manifest)
    assert [as_it_stands.is_success, answer.is_success] == [not refused, not refused], answer.text
    if not refused:
        stored = answer.json()
        assert stored["spec"] == manifest["spec"]
        assert manifest["metadata"].items() <= stored["metadata"].items()
        served.delete(manifest)


@pytest.mark.parametrize(("replicas", "accepted"), [((0, 0), True), ((1, 2), True), ((0, 2), False), ((2, 0), False)])
def test_the_server_takes_replicas_of_all_roles_or_of_none_as_we_do(
    replicas: tuple[int, int], accepted: bool, served: Served
) -> None:
    [sample] = [yaml.safe_load(path.read_text()) for path in SAMPLES if path.stem == "three-roles"]
    for role, number in zip(sample["spec"]["roles"], replicas, strict=False):
        role["spec"]["replicas"] = number
    del sample["spec"]["roles"][2]
    _, refused = rendered(sample, served.version)
    assert (served.apply(sample, dry=True).is_success, refused) == (accepted, not accepted)
