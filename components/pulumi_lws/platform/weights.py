"""Which service accounts of a platform read which weights."""

from collections.abc import Mapping

from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.serving.sources.settings import S3Source

DEFAULT_SERVICE_ACCOUNT = "default"
"""Service account of pods that name none; every namespace has it."""


def readers(platform: PlatformArgs) -> Mapping[str, tuple[str, ...]]:
    """Return the folders in S3 that each service account reads, by its name."""
    found: dict[str, set[str]] = {}
    for deployment in platform.deployments.values():
        if isinstance(source := deployment.source, S3Source):
            found.setdefault(source.service_account or DEFAULT_SERVICE_ACCOUNT, set()).add(source.uri)
    return {account: tuple(sorted(folders)) for account, folders in sorted(found.items())}
