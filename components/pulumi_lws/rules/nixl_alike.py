"""Rule: the roles of a DisaggregatedSet that hand caches to one another run the same engine and model."""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.engine_starts import Start, nixl_starts
from pulumi_lws.rules.roles import roles_of
from pulumi_lws.rules.rule import DISAGGREGATED_SET, Context, RegisteredObject, Rule, is_kind
from pulumi_lws.rules.values import UNKNOWN, Unknown, unseen, value_at

_FIX = "Give all roles the same image, model and format of caches, and change them together."


def _check(subject: RegisteredObject, _context: Context) -> Iterable[Problem]:
    first: Mapping[str, Any] = {}
    for role in roles_of(subject):
        for path, container in role.groups.templates()[0].containers():
            starts = nixl_starts(path, container)
            if isinstance(starts, Unknown) or (starts and value_at(container, "image") is UNKNOWN):
                yield unseen(path, "whether roles can read one another's caches")
                return
            for start in starts:
                own = {"image": value_at(container, "image"), **_formats(start)}
                for name in own.keys() & first.keys() if start.is_whole else ():
                    if own[name] != first[name]:
                        where = f"{path}.image" if name == "image" else start.path
                        allowed = f"{first[name]}, as in the first role that hands caches over"
                        yield Problem(where, f"{name} {own[name]}", allowed, _FIX)
                first = first or (own if start.is_whole else {})


def _formats(start: Start) -> Mapping[str, Any]:
    """Return what both sides of a cache must have alike."""
    (line,) = start.command.lines
    model = start.command.option("--model") or next((two for one, two in pairwise(line) if one == "serve"), None)
    cache = start.command.option("--kv-cache-dtype") or "auto"
    return {"--kv-cache-dtype": cache, **({"model": model} if model and not model.startswith(("-", "$")) else {})}


NIXL_ALIKE = Rule(
    name="nixl-alike",
    title="Roles that hand caches over by NIXL have the same image, model and format of caches.",
    why=(
        "vLLM compares versions, model and format when two engines first meet, and refuses what differs: each request"
        " fails, or is computed twice (https://docs.vllm.ai/en/latest/features/nixl_connector_compatibility.html)."
    ),
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=is_kind(DISAGGREGATED_SET),
    check=_check,
)
