"""Rule: Pulumi takes no field back by force, unless somebody wrote down why."""

from collections.abc import Iterable
from typing import Final

from pulumi_lws.facts import labels
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.rule import Context, RegisteredObject, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_PROVIDER: Final = "pulumi:providers:kubernetes"
_OF_PROVIDER: Final = "enablePatchForce"
_ANNOTATIONS: Final = ("metadata", "annotations")
_FIX = (
    "Remove it, and leave the field to its owner: leave it out or add it to ignore_changes. Where force is right,"
    f" annotate the object with {labels.PATCH_FORCE_REASON} and the reason."
)


def _check(subject: RegisteredObject, _context: Context) -> Iterable[Problem]:
    of_provider = subject.type == _PROVIDER
    path = (_OF_PROVIDER,) if of_provider else (*_ANNOTATIONS, labels.PULUMI_PATCH_FORCE)
    where = _OF_PROVIDER if of_provider else f"{'.'.join(_ANNOTATIONS)}['{labels.PULUMI_PATCH_FORCE}']"
    force = value_at(subject.properties, *path)
    if force is UNKNOWN:
        yield unseen(where, "whether fields are taken from others by force")
    # Properties of providers travel as text.
    elif str(force).lower() == "true":
        allowed = "nothing, or the annotation on the one object that needs it" if of_provider else "nothing"
        yield Problem(where, "true", allowed, _FIX)


PATCH_FORCE = Rule(
    name="patch-force",
    title="No field is taken from its owner by force, unless the reason is written down.",
    why=(
        "Server-side apply stops where somebody else owns a field: an autoscaler its replicas, an engineer at night a"
        " limit. With force each update takes the field back, and nobody is told. What the environment of a machine"
        " says (PULUMI_K8S_ENABLE_PATCH_FORCE) no policy sees."
    ),
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=lambda subject: subject.type == _PROVIDER or bool(subject.kind),
    check=_check,
    house=True,
)
