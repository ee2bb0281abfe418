"""Reading the spec of a LeaderWorkerSet, wherever it stands: an object of its own, or a role of a DisaggregatedSet.

A rule about groups is a function of one ``Groups``; ``about_groups`` makes it the check of both kinds. Its paths start
where the spec stands, missing fields mean what the server would fill in, values of the wrong type are not judged (the
server's schema refuses them), and what is not known yet stays ``UNKNOWN``.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pulumi_lws.planning.problems import Problem
from pulumi_lws.rules.rule import DISAGGREGATED_SET, LEADER_WORKER_SET, Check, Context, RegisteredObject, is_kind
from pulumi_lws.rules.values import UNKNOWN, Unknown, value_at, whole_number

HAS_GROUPS: Final = is_kind(LEADER_WORKER_SET, DISAGGREGATED_SET)
"""Whether a rule about groups has anything to say about an object."""

_PERCENTAGE = re.compile(r"[0-9]{1,9}%")

MaybeNumber = int | Unknown | None
"""A number; ``UNKNOWN`` before the update; None where a value of the wrong type stands."""


@dataclass(frozen=True)
class Template:
    """A pod template of a group.

    Attributes:
        manifest: The template.
        path: Where it stands.
        leads: Whether leaders are made from it.
        works: Whether workers are made from it.
    """

    manifest: Any
    path: str
    leads: bool
    works: bool

    def at(self, *fields: str, default: Any = None) -> Any:
        """Return a value of the pod spec."""
        return value_at(self.manifest, "spec", *fields, default=default)

    def path_to(self, *fields: str) -> str:
        """Return the path of a field of the pod spec."""
        return ".".join((self.path, "spec", *fields))

    def containers(self) -> Iterator[tuple[str, Any]]:
        """Yield the containers with their paths; native sidecars too, since a pod's readiness needs them as well."""
        for path, container in items(self.at("containers"), self.path_to("containers")):
            yield path, container
        for path, container in items(self.at("initContainers"), self.path_to("initContainers")):
            if value_at(container, "restartPolicy") == "Always":
                yield path, container


@dataclass(frozen=True)
class Rollout:
    """How many groups a rollout may touch at once.

    Attributes:
        unavailable: Groups that may be out, scaled to the replicas.
        surge: Groups on top, scaled to the replicas.
        partition: Groups with a smaller index keep the old template.
        written: ``maxUnavailable`` and ``maxSurge`` as they stand there.
    """

    unavailable: MaybeNumber
    surge: MaybeNumber
    partition: MaybeNumber
    written: tuple[Any, Any]


@dataclass(frozen=True)
class Groups:
    """A LeaderWorkerSetSpec with the metadata that its LeaderWorkerSet has.

    Attributes:
        spec: The spec.
        path: Where it stands: ``spec``, or ``spec.roles[1].spec``.
        metadata: Metadata of the LeaderWorkerSet, or of the role.
        metadata_path: Where that stands.
        refused: Whether the webhook of LeaderWorkerSets sees it when the object is applied. Of a role it sees only what
            the controller makes later, which then never appears.
        default_rollout: ``maxUnavailable`` and ``maxSurge`` where no ``rollingUpdateConfiguration`` is given.
    """

    spec: Any
    path: str
    metadata: Any
    metadata_path: str
    refused: bool = True
    default_rollout: tuple[int, int] = (1, 0)

    def at(self, *fields: str, default: Any = None) -> Any:
        """Return a value of the spec."""
        return value_at(self.spec, *fields, default=default)

    def template_at(self, *fields: str, default: Any = None) -> Any:
        """Return a value of ``leaderWorkerTemplate``."""
        return self.at("leaderWorkerTemplate", *fields, default=default)

    def path_to(self, *fields: str) -> str:
        """Return the path of a field of the spec."""
        return ".".join((self.path, *fields))

    def template_path(self, *fields: str) -> str:
        """Return the path of a field of ``leaderWorkerTemplate``."""
        return self.path_to("leaderWorkerTemplate", *fields)

    def label(self, key: str) -> Any:
        """Return a label of the LeaderWorkerSet."""
        return value_at(self.metadata, "labels", key)

    def annotation(self, key: str) -> Any:
        """Return an annotation of the LeaderWorkerSet."""
        return value_at(self.metadata, "annotations", key)

    def annotation_path(self, key: str) -> str:
        """Return the path of an annotation of the LeaderWorkerSet."""
        return f"{self.metadata_path}.annotations['{key}']"

    @property
    def size(self) -> int | Unknown:
        """Pods of one group, the leader among them."""
        return whole_number(self.template_at("size"), default=1)

    @property
    def replicas(self) -> int | Unknown:
        """Number of groups."""
        return whole_number(self.at("replicas"), default=1)

    @property
    def rollout(self) -> Rollout:
        """How many groups a rollout may touch at once."""
        configuration = self.at("rolloutStrategy", "rollingUpdateConfiguration")
        # The server fills in 1 and 0 wherever the object is given at all.
        defaults = self.default_rollout if configuration is None else (1, 0)
        unavailable = value_at(configuration, "maxUnavailable", default=defaults[0])
        surge = value_at(configuration, "maxSurge", default=defaults[1])
        return Rollout(
            unavailable=scaled(unavailable, self.replicas, up=False),
            surge=scaled(surge, self.replicas, up=True),
            partition=whole_number(value_at(configuration, "partition"), default=0),
            written=(_whole(unavailable), _whole(surge)),
        )

    def templates(self) -> list[Template]:
        """Return the pod templates that pods are made from. Without a leader template leaders are made as workers."""
        leader, worker = self.template_at("leaderTemplate"), self.template_at("workerTemplate")
        leader_path, worker_path = self.template_path("leaderTemplate"), self.template_path("workerTemplate")
        if leader is None or self.template_at() is UNKNOWN:
            return [Template(worker, worker_path, leads=True, works=self.size != 1)]
        first = Template(leader, leader_path, leads=True, works=False)
        return [first] if self.size == 1 else [first, Template(worker, worker_path, leads=False, works=True)]


def groups_of(subject: RegisteredObject) -> list[Groups]:
    """Return the groups that an object declares: those of a LeaderWorkerSet, or those of each role."""
    manifest = subject.properties
    if subject.kind == DISAGGREGATED_SET:
        return [
            Groups(
                spec=value_at(role, "spec"),
                path=f"{path}.spec",
                metadata=value_at(role, "metadata"),
                metadata_path=f"{path}.metadata",
                refused=False,
                default_rollout=(0, 1),
            )
            for path, role in items(value_at(manifest, "spec", "roles"), "spec.roles")
        ]
    return [Groups(value_at(manifest, "spec"), "spec", value_at(manifest, "metadata"), "metadata")]


def about_groups(check: Callable[[Groups, Context], Iterable[Problem]]) -> Check:
    """Return a check of objects that holds each of their groups to ``check``."""

    def check_object(subject: RegisteredObject, context: Context) -> Iterable[Problem]:
        for groups in groups_of(subject):
            yield from check(groups, context)

    return check_object


def items(values: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the items of a list with their paths; one ``UNKNOWN`` where the list is not known yet."""
    if values is UNKNOWN:
        yield path, UNKNOWN
    elif isinstance(values, list | tuple):
        for index, value in enumerate(values):
            yield f"{path}[{index}]", value


def texts(values: Any) -> Mapping[str, Any]:
    """Return labels or annotations as a mapping; empty where something else stands."""
    return values if isinstance(values, Mapping) else {}


def _whole(value: Any) -> Any:
    """Write 2.0 as 2: the engine sends whole numbers as floats."""
    return whole_number(value, default=0) if isinstance(value, float) else value


def scaled(value: Any, replicas: int | Unknown, *, up: bool) -> MaybeNumber:
    """Return a number of groups for a number or a percentage of ``replicas``, rounded up or down as LWS does."""
    if isinstance(value, Unknown):
        return value
    if isinstance(value, str):
        if not _PERCENTAGE.fullmatch(value):
            return None
        if isinstance(replicas, Unknown):
            return replicas
        hundredths = int(value[:-1]) * replicas
        return -(-hundredths // 100) if up else hundredths // 100
    number = whole_number(value, default=-1)
    return number if isinstance(number, Unknown) or number >= 0 else None
