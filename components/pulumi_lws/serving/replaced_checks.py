"""Whether what users add takes the place of what deployments stand on: labels, volumes and mounts of ours.

What users add wins over ours where that is harmless, as with ``/dev/shm``. Here stands what it must not win over.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from pulumi_lws.facts import labels
from pulumi_lws.planning.problems import Problem
from pulumi_lws.serving import pods
from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.settings import ModelSettings

RESERVED_LABELS = (labels.OWN_PREFIX, labels.LWS_PREFIX, labels.DS_PREFIX, labels.LLM_D_PREFIX, labels.KUEUE_PREFIX)
"""Prefixes of labels by which Services, policies, budgets, routers, queues and controllers tell pods apart."""

_OF_SETTINGS: Mapping[str, str] = {"models": "source", "compiled": "compileCache"}
"""Where a declaration says what a volume of ours is, by the name of the volume."""


def label_problems(model: ModelSettings) -> Iterator[Problem]:
    """Return the labels that selectors follow; paths start at the deployment."""
    for key in model.labels:
        if key.startswith(RESERVED_LABELS):
            allowed = f"a key without {', '.join(RESERVED_LABELS)}: selectors follow those"
            yield Problem(f"labels.{key}", key, allowed, "Rename it.")


def replaced_problems(model: ModelSettings, roles: Sequence[Role]) -> Iterator[Problem]:
    """Return the volumes and mounts that would take the place of ours, all of which have the shape that the API wants.

    Paths start at the deployment.
    """
    ours = {volume["name"] for role in roles for volume in pods.own_volumes(role)} - {pods.SHARED_MEMORY}
    for index, volume in enumerate(model.volumes):
        if (name := volume["name"]) in ours:
            allowed = f"a name other than {', '.join(sorted(ours))}: pods do not start without those"
            yield Problem(f"volumes[{index}].name", name, allowed, _way_out(name))
    mounts = {mount["mountPath"]: mount for role in roles for mount in pods.own_mounts(role)}
    for index, mount in enumerate(model.volume_mounts):
        if over := next((own for own in mounts.values() if _hides(mount["mountPath"], own)), None):
            place, name = over["mountPath"], over["name"]
            allowed = f"a place that leaves {place} as it is: {name} is mounted there"
            yield Problem(f"volumeMounts[{index}].mountPath", mount["mountPath"], allowed, _way_out(name))


def _way_out(name: str) -> str:
    return f"Rename it, or say what you want by {_OF_SETTINGS[name]}." if name in _OF_SETTINGS else "Rename it."


def _hides(path: str, own: Mapping[str, Any]) -> bool:
    """Tell whether a mount at ``path`` takes the place of ours, hides it, or needs a folder to be made in it."""
    place, ours = PurePosixPath(path), PurePosixPath(own["mountPath"])
    if place == ours:
        return bool(own["name"] != pods.SHARED_MEMORY)
    return ours.is_relative_to(place) or (bool(own.get("readOnly")) and place.is_relative_to(ours))
