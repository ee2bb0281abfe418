"""Rule: no token stands in the open in a pod."""

from collections.abc import Iterable
from typing import Any

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.planning.secrets import is_token
from pulumi_lws.rules.groups import items
from pulumi_lws.rules.pods import makes_pods, pods_of
from pulumi_lws.rules.rule import Context, RegisteredObject, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_FIX = "Put it into a Secret and take it from there: valueFrom.secretKeyRef. Then have the token replaced."
_NAMES = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "VLLM_API_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")


def _check(subject: RegisteredObject, _context: Context) -> Iterable[Problem]:
    for pods in pods_of(subject):
        for path, container in pods.containers():
            for where, variable in items(value_at(container, "env"), f"{path}.env"):
                yield from _variable(where, variable)
            for field in ("command", "args"):
                for where, word in items(value_at(container, field), f"{path}.{field}"):
                    if is_token(word):
                        yield Problem(where, "a token in the open", "no token in a command: every reader sees it", _FIX)


def _variable(where: str, variable: Any) -> Iterable[Problem]:
    name, value = value_at(variable, "name"), value_at(variable, "value")
    if value is UNKNOWN and name in _NAMES:
        yield unseen(f"{where}.value", "whether a token stands there in the open")
    elif is_token(value) or (name in _NAMES and isinstance(value, str) and value and "$(" not in value):
        yield Problem(f"{where}.value", "a token in the open", "a reference to a Secret", _FIX)


NO_PLAIN_SECRETS = Rule(
    name="no-plain-secrets",
    title="Tokens are taken from Secrets, not written into pods.",
    why=(
        "Whoever may read a pod or the state of the stack reads its environment and its command, and so do logs and"
        " previews in pull requests."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=makes_pods,
    check=_check,
)
