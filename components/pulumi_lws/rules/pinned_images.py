"""Rule: images are pinned, and come from registries that the team allows."""

import re
from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.exemptions import matches
from pulumi_lws.rules.pods import Pods, about_accelerated_pods, makes_pods
from pulumi_lws.rules.rule import Context, Parameter, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_FIX = "Name the image with a tag that stays, better with its digest (@sha256:…), from a registry of yours."
_MOVING = ("latest", "nightly")
_DIGEST = re.compile(r"@sha256:[0-9a-f]{64}$")


def _check(pods: Pods, context: Context) -> Iterable[Problem]:
    for path, container in pods.containers():
        image = value_at(container, "image")
        where = f"{path}.image"
        if container is UNKNOWN or image is UNKNOWN:
            yield unseen(where, "whether the image is pinned")
        elif isinstance(image, str) and image:
            if not _is_pinned(image):
                yield Problem(
                    where, image, f"an image with a tag other than {' and '.join(_MOVING)}, or with a digest", _FIX
                )
            allowed = [str(one) for one in context.values["registries"]]
            if allowed and not matches(allowed, _repository(image)):
                yield Problem(where, image, f"an image of {', '.join(allowed)}", _FIX)


def _is_pinned(image: str) -> bool:
    if _DIGEST.search(image):
        return True
    tag = image.rpartition("/")[2].partition(":")[2]
    return tag not in ("", *_MOVING)


def _repository(image: str) -> str:
    """Return the image with its registry, where none is written that of Docker, whose own images are in a folder."""
    first, _, rest = image.partition("/")
    if not rest:
        return f"docker.io/library/{image}"
    return image if "." in first or ":" in first or first == "localhost" else f"docker.io/{image}"


PINNED_IMAGES = Rule(
    name="pinned-images",
    title="The images of pods with accelerators are pinned by tag or digest, and come from an allowed registry.",
    why=(
        "A moving tag gives leader and workers different engines when one of them is replaced, which then refuse each"
        " other or hang, and a rollback finds the old image gone."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=makes_pods,
    check=about_accelerated_pods(_check),
    parameters={
        "registries": Parameter(
            {
                "type": "array",
                "items": {"type": "string", "minLength": 1},
                "description": "Images that are allowed, with * for any text, such as registry.example.com/*. Empty:"
                " all.",
            },
            [],
        )
    },
    house=True,
)
