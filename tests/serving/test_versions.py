"""What older versions of LWS and Kubernetes lack is said of the declared version, never of rendered objects."""

import copy
from itertools import product
from typing import Any

import pytest

from pulumi_lws.platform.checks import read
from pulumi_lws.serving.version_checks import NEEDS
from tests.serving.stacks import every_stack

LWS = ("0.5", "0.6", "0.7", "0.8", "0.9", "0.10")
KUBERNETES = ("1.24", "1.26", "1.27", "1.28", "1.29", "1.30", "1.31", "1.35")
PATHS = {"lwsVersion", "kubernetesVersion"}


def errors(settings: dict[str, Any], lws: str, kubernetes: str) -> dict[str, str]:
    """What is allowed by the path of each error, without the name of the deployment."""
    changed = copy.deepcopy(settings)
    for deployment in changed["deployments"].values():
        deployment |= {"lwsVersion": lws, "kubernetesVersion": kubernetes}
    return {p.path.split(".", 2)[2]: p.allowed for p in read(changed)[1] if p.severity == "error"}


@pytest.mark.parametrize("name", every_stack())
def test_a_version_is_all_that_is_wrong_and_the_one_that_is_named_will_do(name: str) -> None:
    settings = every_stack()[name]
    for lws, kubernetes in [(LWS[0], KUBERNETES[0]), *product(LWS, KUBERNETES[-1:]), *product(LWS[-1:], KUBERNETES)]:
        found = errors(settings, lws, kubernetes)
        assert found.keys() <= PATHS
        named = {path: allowed.partition(" or later")[0] for path, allowed in found.items()}
        assert errors(settings, named.get("lwsVersion", lws), named.get("kubernetesVersion", kubernetes)) == {}


def test_every_need_is_some_deployment_s() -> None:
    said = " ".join(
        allowed for settings in every_stack().values() for allowed in errors(settings, "0.5", "1.24").values()
    )
    # A surge that nobody asked for is left out on an older LWS.
    assert [need.what for need in NEEDS if need.what not in said] == ["rollouts that only add copies"]
