"""An API server with KubeRay's own schemas takes everything that is rendered for Ray."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from pulumi_lws.ray.settings import RayArgs
from tests.ray.ray_declarations import objects, pool_args, service_args, small_args

pytestmark = pytest.mark.lab

REDIS = {"redisAddress": "redis.models.svc:6379", "password": {"secret": "redis", "key": "password"}}


@pytest.mark.parametrize(
    "args",
    [
        service_args(
            faultTolerance=REDIS,
            tokenSecret="ray",
            gateway={"deployment": "edge", "namespace": "gateways", "maxReplicas": 4},
            head={"nodeSelector": {"team": "ml"}},
            imagePullSecret="registry",
        ),
        service_args(maxCopies=1, queue="ml", upgrade={"kind": "none"}),
        service_args(upgrade={"kind": "incremental", "gatewayClass": "envoy"}, wait="none"),
        service_args(source={"kind": "node", "path": "/models/llama", "finishFile": "finished"}),
        small_args(source={"kind": "hugging-face", "tokenSecret": "hub"}, compileCache={"kind": "claim", "claim": "c"}),
        pool_args(),
        pool_args(minWorkers=4, upgrade="none", network={"drivers": [{"namespace": "jobs"}]}),
    ],
    ids=["all", "queued", "incremental", "waiting", "hub", "pool", "driven-pool"],
)
def test_upstream_takes_it(taken: Callable[[Iterable[Mapping[str, Any]]], list[str]], args: RayArgs) -> None:
    assert taken(objects(args).manifests.values()) == []
