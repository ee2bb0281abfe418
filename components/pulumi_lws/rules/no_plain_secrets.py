"""Rule: no token stands in the open."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.planning.secrets import is_token
from pulumi_lws.rules.groups import items, texts
from pulumi_lws.rules.pods import makes_pods, pods_of
from pulumi_lws.rules.rule import Context, RegisteredObject, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_FIX = "Put it into a Secret and take it from there: valueFrom.secretKeyRef. Then have the token replaced."
_NAMES = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "VLLM_API_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
_FOUND = "a token in the open"
_PLACEHOLDER = re.compile(
    r".*\$\(.*|\$\w+|\$?\{.*\}|<.*>|\*+|\.{3}"
    r"|(hf_|sk-)?(x{3,}|(your|change|replace|insert)[\w. -]*)|placeholder|todo",
    re.IGNORECASE | re.DOTALL,
)
"""What stands for a token that something else puts there: a variable, a mark of a template, words for the reader."""

_PARAMETER: Final = "aws:ssm/parameter:Parameter"
_FIELDS: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "kubernetes:core/v1:ConfigMap": (("data",), "no token: a ConfigMap is no Secret"),
    "kubernetes:helm.sh/v3:Release": (("values",), "the name of a Secret: Helm keeps values in each release"),
    _PARAMETER: (("value", "insecureValue"), "a token in a parameter of the type SecureString only"),
}
"""Fields in which texts are looked through, by type, and what is allowed there. Charts show nothing of their values to
policies; the objects that they render are resources, and are judged."""


def _check(subject: RegisteredObject, _context: Context) -> Iterable[Problem]:
    for pods in pods_of(subject):
        for path, container in pods.containers():
            for where, variable in items(value_at(container, "env"), f"{path}.env"):
                yield from _variable(where, variable)
            for field in ("command", "args"):
                for where, word in items(value_at(container, field), f"{path}.{field}"):
                    if is_token(word):
                        yield Problem(where, _FOUND, "no token in a command: every reader sees it", _FIX)
    fields, allowed = _FIELDS.get(subject.type, ((), ""))
    if subject.type != _PARAMETER or value_at(subject.properties, "type") != "SecureString":
        for field in fields:
            yield from _texts(field, field, value_at(subject.properties, field), allowed)


def _variable(where: str, variable: Any) -> Iterable[Problem]:
    name, value = value_at(variable, "name"), value_at(variable, "value")
    if value is UNKNOWN and name in _NAMES:
        yield unseen(f"{where}.value", "whether a token stands there in the open")
    elif _is_open(name, value):
        yield Problem(f"{where}.value", _FOUND, "a reference to a Secret", _FIX)


def _texts(where: str, key: Any, value: Any, allowed: str) -> Iterable[Problem]:
    """Look through everything below a value."""
    for name, part in texts(value).items():
        # A list of environment variables has the names beside the values.
        known_as = value_at(value, "name") if name == "value" else name
        yield from _texts(f"{where}.{name}", known_as, part, allowed)
    for path, part in items(value, where) if isinstance(value, list | tuple) else ():
        yield from _texts(path, key, part, allowed)
    if _is_open(key, value):
        yield Problem(where, _FOUND, allowed, _FIX)


def _is_open(name: Any, value: Any) -> bool:
    """Tell whether a value is a token: by its look, or by the name of the variable that has it."""
    is_named = name in _NAMES and isinstance(value, str) and bool(value.strip())
    return is_token(value) or (is_named and not _PLACEHOLDER.fullmatch(value.strip()))


NO_PLAIN_SECRETS = Rule(
    name="no-plain-secrets",
    title="Tokens are taken from Secrets, not written into pods, ConfigMaps, values of releases or plain parameters.",
    why=(
        "Whoever may read a pod or the state of the stack reads its environment and its command, and so do logs and"
        " previews in pull requests. A value that Pulumi encrypts counts, too: policies see it in the open, and the"
        " cluster shows it. For the same reason no policy can tell whether an output of a stack is encrypted."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=lambda subject: makes_pods(subject) or subject.type in _FIELDS,
    check=_check,
)
