"""What the API server would refuse of what users add is said before, at the place where they wrote it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulumi_lws.checking.schemas import POD_SPEC, schemas_for
from tests.serving.stacks import PACKED, broken, pods_of, said, stack

BROKEN = broken("additions")


@pytest.mark.parametrize("case", BROKEN)
def test_what_would_be_refused_is_said_first(case: str) -> None:
    assert BROKEN[case].answers() == BROKEN[case].said


@pytest.mark.parametrize("case", BROKEN)
def test_what_mends_it_passes(case: str) -> None:
    assert [line for line in BROKEN[case].answers_once_mended() if line.startswith("error")] == []


NAMES = st.sampled_from(["a", "b", "A", "engine", "routing-sidecar", "shared-memory", ""])
PLACES = st.sampled_from(["/a", "/b", "/dev/shm"])
LIMITS = {"limits": {"cpu": "1", "memory": "1Gi"}}


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[list[dict[str, Any]]]:
    return st.lists(st.fixed_dictionaries({}, optional=fields), max_size=3)


MOUNTS = some(name=NAMES, mountPath=PLACES, readOnly=st.sampled_from([True, "yes"]))
ADDED = st.fixed_dictionaries(
    {
        "volumes": some(name=NAMES, emptyDir=st.just({}), hostPath=st.just({"path": "/"})),
        "volumeMounts": MOUNTS,
        "sidecars": some(
            name=NAMES,
            image=st.just("beside:1"),
            resources=st.just(LIMITS),
            volumeMounts=MOUNTS,
            ports=some(containerPort=st.sampled_from([80, 0, "http"])),
        ),
    }
)


@given(ADDED)
def test_what_nothing_is_said_of_makes_a_pod(added: dict[str, Any]) -> None:
    settings = stack(PACKED, **added)
    if any(line.startswith("error") for line in said(settings)):
        return
    for pod in pods_of(settings):
        assert schemas_for((1, 35), in_custom=True).problems(pod.spec, POD_SPEC) == []
        containers = [*pod.spec["containers"], *pod.spec.get("initContainers", ())]
        volumes = [volume["name"] for volume in pod.spec["volumes"]]
        names = [container["name"] for container in containers]
        assert len(volumes) == len(set(volumes))
        assert len(names) == len(set(names))
        assert all(container["image"] for container in containers)
        for container in containers:
            mounts = container.get("volumeMounts", [])
            assert {mount["name"] for mount in mounts} <= set(volumes)
            assert len({mount["mountPath"] for mount in mounts}) == len(mounts)
