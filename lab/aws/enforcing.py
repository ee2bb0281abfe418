"""Judges calls as AWS would, with the rules of `lab.aws.kinds`; pure."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lab.aws.checking import Finding
from lab.aws.kinds import KINDS
from lab.aws.kinds.kind import Kind, Reference, RefusedError, Request
from lab.aws.state import Account, Object
from lab.aws.wire import UNKNOWN, at, is_known

_MOST_TAGS = 50
_TAG_KEY, _TAG_VALUE = 128, 256


def form_problems(kind: Kind | None, values: Mapping[str, Any]) -> Iterator[Finding]:
    """What the real provider refuses before it calls AWS: wrong forms, and properties that exclude each other."""
    yield from _tag_problems(values.get("tags", {}))
    if kind is None:
        return
    for path, form in kind.forms.items():
        for value in _known(values, path):
            if problem := form.problem(value):
                yield Finding(path, f"{path} {problem}")
    for group, least in (*((group, 1) for group in kind.one_of), *((group, 0) for group in kind.at_most_one_of)):
        given = [name for name in group if name in values]
        if len(given) > 1:
            yield Finding(given[1], f"{' and '.join(given)} exclude each other.")
        elif len(given) < least:
            yield Finding(group[0], f"one of {', '.join(group)} must be set.")


def refuse_wrong(kind: Kind, type_: str, request: Request) -> None:
    """Refuse what AWS refuses to make or change.

    Raises:
        RefusedError: With AWS's words.
    """
    refuse_missing(kind, request.values, request.account)
    if other := _twin(kind, type_, request):
        raise RefusedError(kind.taken.format_map(_Blank(other.outputs)))
    if kind.check:
        kind.check(request)


def refuse_missing(kind: Kind, values: Mapping[str, Any], account: Account) -> None:
    """Refuse what names something that does not exist.

    Raises:
        RefusedError: With AWS's words.
    """
    for reference in kind.references:
        for value in at(values, reference.path):
            if _is_meant(account, reference, value) and not _named(account, reference, value):
                raise RefusedError(f"{KINDS[reference.to].missing.format(value=value)} ({reference.path})")


def refuse_deletion(kind: Kind | None, gone: Object, account: Account) -> None:
    """Refuse to delete what something else still needs.

    Raises:
        RefusedError: With AWS's words, and what needs it.
    """
    if kind is None:
        return
    if kind.check_delete:
        kind.check_delete(gone)
    own = {one.id for one in account.objects if one.owner == gone.id} | {gone.id}
    for other in account.objects:
        for reference in KINDS[other.type].references if other.type in KINDS else ():
            named = (one for value in at(other.outputs, reference.path) if (one := _named(account, reference, value)))
            if reference.blocks and other.id not in own and any(one.id in own for one in named):
                needed_by = f"{KINDS[other.type].called} {other.id}"
                raise RefusedError(f"{kind.blocked.format(id=gone.id)} (needed by {needed_by})")


class _Blank(dict[str, Any]):
    def __missing__(self, key: str) -> str:
        return ""


def _tag_problems(tags: Any) -> Iterator[Finding]:
    """Limits of tags: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Tags.html#tag-restrictions."""
    if not isinstance(tags, Mapping):
        return
    if len(tags) > _MOST_TAGS:
        yield Finding("tags", f"tags must be at most {_MOST_TAGS}, but there are {len(tags)}.")
    for key, value in tags.items():
        if key.lower().startswith("aws:"):
            yield Finding(f"tags.{key}", f"tags must not begin with aws:, which AWS keeps for itself, as {key} does.")
        if len(key) > _TAG_KEY or (isinstance(value, str) and value != UNKNOWN and len(value) > _TAG_VALUE):
            yield Finding(f"tags.{key}", f"tags have at most {_TAG_KEY} characters in keys and {_TAG_VALUE} in values.")


def _known(values: Any, path: str) -> Iterable[Any]:
    """The known plain values at a dotted path, of any type; lists on the way are entered."""
    if isinstance(values, list):
        for item in values:
            yield from _known(item, path)
    elif not path:
        if is_known(values):
            yield values
    elif isinstance(values, Mapping):
        head, _, rest = path.partition(".")
        if head in values:
            yield from _known(values[head], rest)


def _is_meant(account: Account, reference: Reference, value: str) -> bool:
    # What stands in another account, or belongs to AWS, is beyond this one.
    arn = re.match(r"arn:[^:]*:[^:]*:[^:]*:([^:]*):", value)
    return re.match(reference.only, value) is not None and (arn is None or arn[1] in ("", account.number))


def _named(account: Account, reference: Reference, value: str) -> Object | None:
    return next((one for one in account.of(reference.to) if value in map(one.value, reference.by)), None)


def _twin(kind: Kind, type_: str, request: Request) -> Object | None:
    wanted = {name: request.values.get(name) for name in kind.unique}
    if not is_known(wanted) or all(value is None for value in wanted.values()):
        return None
    for other in request.account.of(type_):
        if other is request.before or (kind.regional and other.outputs.get("region") not in (None, request.region)):
            continue
        if all(other.outputs.get(name) == value for name, value in wanted.items()):
            return other
    return None
