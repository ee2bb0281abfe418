"""Which service accounts of a platform read which weights."""

from collections.abc import Iterable, Iterator, Mapping

from pulumi_lws.caches.needs import accounts_of, s3_readers
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.ray.entries import RayServiceVllmEntry
from pulumi_lws.serving.sources.settings import S3Source

DEFAULT_SERVICE_ACCOUNT = "default"
"""Service account of pods that name none; every namespace has it."""

Account = tuple[str | None, str]
"""A team, None for the platform's own namespace, and the name of a service account in its namespace."""


def readers(platform: PlatformArgs) -> Mapping[Account, tuple[str, ...]]:
    """Return the folders in S3 that each service account reads: those of deployments, and those that caches copy."""
    found: dict[Account, set[str]] = {}
    for team, source in _sources(platform):
        found.setdefault((team, source.service_account or DEFAULT_SERVICE_ACCOUNT), set()).add(source.uri)
    for team, accounts in s3_readers(platform.caches).items():
        for name, folders in accounts.items():
            found.setdefault((team, name), set()).update(folders)
    return {account: tuple(sorted(found[account])) for account in _in_order(found)}


def accounts_to_make(platform: PlatformArgs) -> list[Account]:
    """Return the service accounts that weights name and nothing else makes: without one there are no pods.

    A team makes those that it lists. In a namespace that existed before they may be there.
    """
    named = {
        *((team, source.service_account or DEFAULT_SERVICE_ACCOUNT) for team, source in _sources(platform)),
        *accounts_of(platform.caches),
    }
    return _in_order(account for account in named if not _is_there(platform, *account))


def _in_order(accounts: Iterable[Account]) -> list[Account]:
    return sorted(accounts, key=lambda account: (account[0] or "", account[1]))


def _is_there(platform: PlatformArgs, team: str | None, name: str) -> bool:
    owner = platform.teams.get(team) if team is not None else None
    return name == DEFAULT_SERVICE_ACCOUNT or (owner is not None and (owner.adopt or name in owner.service_accounts))


def _sources(platform: PlatformArgs) -> Iterator[tuple[str | None, S3Source]]:
    for deployment in platform.deployments.values():
        if isinstance(deployment.source, S3Source):
            yield deployment.team, deployment.source
    for entry in platform.ray.values():
        if isinstance(entry, RayServiceVllmEntry) and isinstance(entry.source, S3Source):
            yield entry.team, entry.source
