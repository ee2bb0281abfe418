"""Typed helpers for pod specs."""

import json
from pathlib import Path
from typing import Any

import pulumi
import pytest
from pydantic import BaseModel, ValidationError

from pulumi_lws.checking.judging import check
from pulumi_lws.planning.validation import problems_of
from pulumi_lws.rules.rule import Target
from pulumi_lws.workloads import pods
from pulumi_lws.workloads.manifests import leader_worker_set
from pulumi_lws.workloads.pods import (
    Container,
    ContainerPort,
    EnvironmentVariable,
    PodSpec,
    Resources,
    VolumeMount,
)
from pulumi_lws.workloads.settings import LeaderWorkerSetArgs, LeaderWorkerSetSpec, LeaderWorkerTemplate, PodTemplate

TYPED = PodSpec(
    containers=(
        Container(
            name="engine",
            image="example.com/engine:1",
            command=("serve",),
            env=(
                EnvironmentVariable(name="MODE", value="fast"),
                EnvironmentVariable(name="HF_TOKEN", value_from={"secretKeyRef": {"name": "hf", "key": "HF_TOKEN"}}),
            ),
            ports=(ContainerPort(container_port=8000, name="http"),),
            resources=Resources(limits={"nvidia.com/gpu": 8, "memory": "1800Gi"}),
            volume_mounts=(VolumeMount(name="shm", mount_path="/dev/shm"),),
        ),
    ),
    volumes=({"name": "shm", "emptyDir": {"medium": "Memory"}},),
    enable_service_links=False,
    termination_grace_period_seconds=150,
)

MAPPING = {
    "containers": [
        {
            "name": "engine",
            "image": "example.com/engine:1",
            "command": ["serve"],
            "env": [
                {"name": "MODE", "value": "fast"},
                {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "HF_TOKEN"}}},
            ],
            "ports": [{"containerPort": 8000, "name": "http"}],
            "resources": {"limits": {"nvidia.com/gpu": 8, "memory": "1800Gi"}},
            "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],
        }
    ],
    "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}],
    "enableServiceLinks": False,
    "terminationGracePeriodSeconds": 150,
}


def rendered(spec: Any) -> dict[str, Any]:
    template = LeaderWorkerTemplate(size=2, worker_template=PodTemplate(spec=spec))
    args = LeaderWorkerSetArgs(
        name="llm", namespace="models", spec=LeaderWorkerSetSpec(leader_worker_template=template)
    )
    return leader_worker_set(args)


def test_a_typed_spec_means_what_the_same_mapping_means() -> None:
    assert json.loads(json.dumps(rendered(TYPED))) == rendered(MAPPING)


def test_what_is_rendered_from_a_typed_spec_holds_to_the_schema(tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    file.write_text(json.dumps(rendered(TYPED)))
    [judged] = check([str(file)], Target()).objects
    assert [problem for problem in judged.problems if problem.refused] == []


def test_a_misspelt_field_of_a_typed_spec_is_answered_with_the_right_one() -> None:
    with pytest.raises(ValidationError) as raised:
        PodSpec.model_validate({"containers": [{"name": "a", "image": "b:1", "imag": "c"}]})
    [problem] = problems_of(raised.value, PodSpec)
    assert (problem.path, problem.fix) == ("containers[0].imag", "Write image instead.")


def test_a_port_has_its_bounds() -> None:
    for port in (1, 65_535):
        assert ContainerPort(container_port=port).container_port == port
    for port in (0, 65_536):
        with pytest.raises(ValidationError):
            ContainerPort(container_port=port)


def test_the_value_of_a_variable_may_be_an_output() -> None:
    later = pulumi.Output.from_input("later")
    container = Container(name="a", image="b:1", env=(EnvironmentVariable(name="X", value=later),))
    template = PodTemplate(spec=PodSpec(containers=(container,)))
    assert template.spec["containers"][0]["env"][0]["value"] is later


@pytest.mark.parametrize(
    "model", [value for value in vars(pods).values() if isinstance(value, type) and issubclass(value, BaseModel)]
)
def test_every_field_of_a_helper_is_documented(model: type[BaseModel]) -> None:
    assert [name for name, field in model.model_fields.items() if not field.description] == []
