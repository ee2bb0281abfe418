"""Whether what users add as the Kubernetes API has it makes a pod: volumes, mounts and sidecars.

The published schemas that ``lws check`` uses judge each of them in its place; what they do not know, such as whether a
mount names a volume, is judged here. A pod takes 0.02 ms, and who adds nothing does not load the schemas (50 ms).
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from pulumi_lws.planning.problems import Problem, errors_of
from pulumi_lws.rules.rule import major_and_minor
from pulumi_lws.serving import pods
from pulumi_lws.serving.replaced_checks import label_problems, replaced_problems
from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.settings import ModelSettings
from pulumi_lws.serving.sidecar_checks import sidecar_problems

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_NAME_FORM = "at most 63 lower-case letters, digits and '-', starting and ending with a letter or digit"

_PARTS: Mapping[str, str] = {
    "volumes": "io.k8s.api.core.v1.Volume",
    "volume_mounts": "io.k8s.api.core.v1.VolumeMount",
    "sidecars": "io.k8s.api.core.v1.Container",
}
"""What users add, each with its definition in the schemas of Kubernetes."""


def raw_problems(model: ModelSettings, roles: Sequence[Role]) -> list[Problem]:
    """Return what the API server would refuse of it; paths start at the deployment."""
    problems = [*label_problems(model), *_by_schema(model)]
    if errors_of(problems) or not any(getattr(model, field) for field in _PARTS):
        return problems
    return [
        *problems,
        *_volumes(model),
        *_mounts(model, roles),
        *replaced_problems(model, roles),
        *_sidecars(model, roles),
        *sidecar_problems(model, roles),
    ]


def _by_schema(model: ModelSettings) -> Iterator[Problem]:
    added = [(field, index, part) for field in _PARTS for index, part in enumerate(getattr(model, field))]
    if not added:
        return
    # Takes as long as half of all other checks together.
    from pulumi_lws.checking.schemas import schemas_for  # noqa: PLC0415

    schemas = schemas_for(major_and_minor(model.kubernetes_version), in_custom=True)
    for field, index, part in added:
        alias = type(model).model_fields[field].alias
        yield from schemas.problems(part, _PARTS[field], f"{alias}[{index}]")


def _volumes(model: ModelSettings) -> Iterator[Problem]:
    names = Counter(volume["name"] for volume in model.volumes)
    for index, volume in enumerate(model.volumes):
        name, path = volume["name"], f"volumes[{index}]"
        yield from _named(f"{path}.name", name, names)
        sources = [key for key in volume if key != "name"]
        if len(sources) > 1:
            yield Problem(path, " and ".join(sources), "one of them", "Make a volume of each.")


def _mounts(model: ModelSettings, roles: Sequence[Role]) -> Iterator[Problem]:
    """Judge mounts of volumes that are not there, or of two at one place."""
    there = [volume["name"] for role in roles for volume in pods.volumes_of(role)]
    lists = [("volumeMounts", model.volume_mounts)]
    lists += [
        (f"sidecars[{index}].volumeMounts", container.get("volumeMounts") or ())
        for index, container in enumerate(model.sidecars)
    ]
    for path, mounts in lists:
        places = Counter(mount["mountPath"] for mount in mounts)
        for index, mount in enumerate(mounts):
            if mount["name"] not in there:
                yield Problem(
                    f"{path}[{index}].name",
                    mount["name"],
                    ", ".join(dict.fromkeys(there)),
                    "Add a volume of that name to volumes, or name one of them.",
                )
            if places[mount["mountPath"]] > 1:
                allowed = "one mount at each place"
                yield Problem(f"{path}[{index}].mountPath", mount["mountPath"], allowed, "Choose another place.")


def _sidecars(model: ModelSettings, roles: Sequence[Role]) -> Iterator[Problem]:
    """Judge the user's own containers: their names and images."""
    ours = [name for role in roles for name in pods.containers_of(role)] or [pods.ENGINE_CONTAINER]
    names = Counter(container["name"] for container in model.sidecars)
    for index, container in enumerate(model.sidecars):
        path, name = f"sidecars[{index}]", container["name"]
        if name in ours:
            yield Problem(f"{path}.name", name, f"a name other than {', '.join(dict.fromkeys(ours))}", "Rename it.")
        else:
            yield from _named(f"{path}.name", name, names)
        if not container.get("image"):
            yield Problem(f"{path}.image", "nothing", "an image, pinned by tag or digest", "Add image.")


def _named(path: str, name: str, names: Counter[str]) -> Iterator[Problem]:
    if not _NAME.fullmatch(name):
        yield Problem(path, repr(name), _NAME_FORM, "Rename it.")
    elif names[name] > 1:
        yield Problem(path, f"{name}, {names[name]} times", "a name of its own for each", "Rename all but one.")
