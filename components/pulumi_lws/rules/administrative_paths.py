"""Rule: no route opens every path of an engine."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.around import grouped
from pulumi_lws.rules.engines_behind import BACKENDS, engine_behind
from pulumi_lws.rules.groups import items
from pulumi_lws.rules.reach import Reachable, namespace_of
from pulumi_lws.rules.rule import Context, Program, RegisteredObject, Rule, is_kind
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_FIX = "Route what clients ask for alone, such as the exact path /v1/chat/completions; InferenceGateway renders a list."
_ROUTE: Final = "gateway.networking.k8s.io/HTTPRoute"
_INGRESS: Final = "networking.k8s.io/Ingress"
_EVERYTHING: Final = frozenset({None, "", "/", "/*", "/.*", ".*", "/(.*)", UNKNOWN})
"""Paths that every other one begins with, or matches; one that is not known may be among them."""

_ONE_PATH: Final = "one path at most"


@dataclass(frozen=True)
class _Way:
    """A way from outside to a backend.

    Attributes:
        where: Where its path stands.
        path: The path.
        backend: Kind, namespace and name of what it leads to.
    """

    where: str
    path: Any
    backend: tuple[Any, Any, Any]


def _check(subject: RegisteredObject, context: Context) -> Iterable[Problem]:
    said = set()
    for way in _of_route(subject) if subject.kind == _ROUTE else _of_ingress(subject):
        behind = None if way.path not in _EVERYTHING or way.where in said else _behind(way, context)
        if behind is None:
            continue
        said.add(way.where)
        if way.path is UNKNOWN:
            yield unseen(way.where, "whether every path of an engine is open")
        else:
            yield Problem(way.where, f"every path of {behind.whose}", "the paths that clients ask for", _FIX)


def _of_ingress(ingress: RegisteredObject) -> Iterator[_Way]:
    namespace = namespace_of(ingress)

    def backend(manifest: Any) -> tuple[Any, Any, Any]:
        return "Service", namespace, value_at(manifest, "service", "name")

    default = value_at(ingress.properties, "spec", "defaultBackend")
    if default is not None:
        yield _Way("spec.defaultBackend", None, backend(default))
    for where, rule in items(value_at(ingress.properties, "spec", "rules"), "spec.rules"):
        for at, path in items(value_at(rule, "http", "paths"), f"{where}.http.paths"):
            yield _Way(f"{at}.path", _path(path, "path", "pathType"), backend(value_at(path, "backend")))


def _of_route(route: RegisteredObject) -> Iterator[_Way]:
    for where, rule in items(value_at(route.properties, "spec", "rules"), "spec.rules"):
        matches = list(items(value_at(rule, "matches"), f"{where}.matches")) or [(f"{where}.matches", None)]
        for _, reference in items(value_at(rule, "backendRefs"), ""):
            if value_at(reference, "weight") == 0 or _writes_path(rule) or _writes_path(reference):
                continue
            kind = value_at(reference, "kind", default="Service")
            namespace = value_at(reference, "namespace", default=namespace_of(route))
            for at, match in matches:
                path = _path(value_at(match, "path"), "value", "type")
                yield _Way(at, path, (kind, namespace, value_at(reference, "name")))


def _path(match: Any, field: str, kind: str) -> Any:
    """Return a path that others begin with; what is none matches nothing, and an exact one only itself."""
    path, how = value_at(match, field), value_at(match, kind)
    if how == "Exact" or not (path is None or path is UNKNOWN or isinstance(path, str)):
        return _ONE_PATH
    return UNKNOWN if how is UNKNOWN and path in _EVERYTHING else path


def _writes_path(holder: Any) -> bool:
    """Tell whether a filter writes one path in place of whatever was asked for."""
    filters = [one for _, one in items(value_at(holder, "filters"), "")]
    return any(value_at(one, "urlRewrite", "path", "type") == "ReplaceFullPath" for one in filters)


def _behind(way: _Way, context: Context) -> Reachable | None:
    kind, namespace, name = way.backend
    named = context.others.once(_backends).get(repr((kind, namespace, name)), ()) if name is not None else ()
    return next((behind for each in named if (behind := engine_behind(each, context.others))), None)


def _backends(program: Program) -> Mapping[str, list[RegisteredObject]]:
    """Return what routes lead to, by the ``repr`` of kind, namespace and name."""
    kinds = ((each.kind.partition("/")[2], each) for each in program)
    return grouped(
        (repr((kind, namespace_of(each), value_at(each.properties, "metadata", "name"))), each)
        for kind, each in kinds
        if kind in BACKENDS
    )


ADMINISTRATIVE_PATHS = Rule(
    name="administrative-paths",
    title="An Ingress or HTTPRoute opens the paths of an engine that clients ask for, not every one.",
    why=(
        "An API key guards only some paths of an engine, /v1 of vLLM among them. Whoever reaches the others pauses it,"
        " changes its weights or its scale, and reads its metrics (https://docs.vllm.ai/en/latest/usage/security.html)."
    ),
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=is_kind(_ROUTE, _INGRESS),
    check=_check,
    house=True,
    looks_around=True,
)
