"""A deployment of another kind under the same name: what stays is updated in place, whatever it was before.

The real engine shows it in ``tests/lab/engine/test_changing_kinds.py``; here every pair is looked at.
"""

from collections.abc import Mapping
from itertools import permutations
from typing import Any

import pytest

from pulumi_lws.platform.checks import deployments_of, read
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.serving.component import KINDS, _type_of
from pulumi_lws.serving.render import render
from tests.serving.shapes import NAME, SHAPES, platform

CLUSTER = {"kind": "existing", "name": "any", "context": "any"}


def objects(shape: str) -> Mapping[tuple[str, str], tuple[str, Any]]:
    """Suffix of the Pulumi name and selector of each object, by its kind and name."""
    settings = platform(shape) | {"cluster": CLUSTER}
    assert [problem for problem in read(settings)[1] if problem.severity == "error"] == []
    manifests = render(deployments_of(PlatformArgs.model_validate(settings))[NAME]).manifests
    return {
        (manifest["kind"], manifest["metadata"]["name"]): (suffix, manifest.get("spec", {}).get("selector"))
        for suffix, manifest in manifests.items()
    }


@pytest.mark.parametrize("shape", SHAPES)
def test_every_object_has_a_name_of_its_own(shape: str) -> None:
    suffixes = [suffix for suffix, _ in objects(shape).values()]
    assert len(suffixes) == len(set(suffixes))


@pytest.mark.parametrize(("before", "after"), tuple(permutations(SHAPES, 2)))
def test_an_object_that_exists_is_the_same_resource_afterwards(before: str, after: str) -> None:
    old, new = objects(before), objects(after)
    assert {which: old[which][0] for which in old.keys() & new.keys()} == {
        which: new[which][0] for which in old.keys() & new.keys()
    }
    # The API server refuses another selector of a Deployment.
    deployments = [which for which in old.keys() & new.keys() if which[0] == "Deployment"]
    assert [old[which][1] for which in deployments] == [new[which][1] for which in deployments]


def test_pods_of_groups_that_serve_answer_until_those_of_a_deployment_do() -> None:
    (_, chosen), (_, groups_chosen) = (objects(shape)["Service", f"{NAME}-api"] for shape in ("single", "groups"))
    assert chosen == groups_chosen == {"pulumi-lws/deployment": NAME, "pulumi-lws/serves": "true"}


def test_every_kind_knows_the_types_of_the_others() -> None:
    assert {_type_of(kind) for kind in KINDS.values()} == {
        "lws:index:MultiNodeVllm",
        "lws:index:SingleNodeVllm",
        "lws:index:DisaggregatedVllm",
    }
