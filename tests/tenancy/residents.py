"""What runs for teams beside deployments of models, for tests."""

from typing import Any

from pulumi_lws.caches.shared_volumes import SharedVolumeArgs
from pulumi_lws.tenancy.workloads import TeamWorkload, of_copies, of_load_test, of_ray
from tests.load_tests.tested import glm, load_test
from tests.ray.ray_declarations import pool_args, service_args

_HUB = {"kind": "hugging-face", "model": "zai-org/GLM-5-FP8", "revision": "v1"}
_BUCKET = {"kind": "s3", "uri": "s3://weights/glm-5"}


def service(**changes: Any) -> TeamWorkload:
    """A model on Ray: two to four workers of a whole node."""
    return of_ray(service_args(**changes))


def pool(**changes: Any) -> TeamWorkload:
    """A Ray pool of up to four workers."""
    return of_ray(pool_args(**changes))


def copies(name: str = "weights", *, bucket: bool = False) -> TeamWorkload:
    """A shared volume with one copy from the hub, and one from a bucket if asked for."""
    origins = {"hub": _HUB, **({"bucket": _BUCKET} if bucket else {})}
    made = {key: {"origin": origin, "sizeGb": 800, "path": key} for key, origin in origins.items()}
    volume = {"kind": "claim", "copies": made}
    return of_copies(SharedVolumeArgs.model_validate({"name": name, "namespace": "search", "volume": volume}))


def smoke(name: str = "smoke", **changes: Any) -> TeamWorkload:
    """A load test of a deployment of GLM-5."""
    return of_load_test(name, load_test(**changes), glm())
