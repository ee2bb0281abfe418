"""Which service accounts of a platform read which weights."""

from collections.abc import Mapping

from pulumi_lws.caches.needs import s3_readers
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.serving.sources.settings import S3Source

DEFAULT_SERVICE_ACCOUNT = "default"
"""Service account of pods that name none; every namespace has it."""

Account = tuple[str | None, str]
"""A team, None for the platform's own namespace, and the name of a service account in its namespace."""


def readers(platform: PlatformArgs) -> Mapping[Account, tuple[str, ...]]:
    """Return the folders in S3 that each service account reads: those of deployments, and those that caches copy."""
    found: dict[Account, set[str]] = {}
    for deployment in platform.deployments.values():
        if isinstance(source := deployment.source, S3Source):
            account = deployment.team, source.service_account or DEFAULT_SERVICE_ACCOUNT
            found.setdefault(account, set()).add(source.uri)
    for entry in platform.ray.values():
        if entry.kind == "ray-service-vllm" and isinstance(source := entry.source, S3Source):
            account = entry.team, source.service_account or DEFAULT_SERVICE_ACCOUNT
            found.setdefault(account, set()).add(source.uri)
    for team, accounts in s3_readers(platform.caches).items():
        for name, folders in accounts.items():
            found.setdefault((team, name), set()).update(folders)
    in_order = sorted(found.items(), key=lambda entry: (entry[0][0] or "", entry[0][1]))
    return {account: tuple(sorted(folders)) for account, folders in in_order}
