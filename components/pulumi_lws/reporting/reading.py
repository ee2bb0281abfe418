"""Reading a preview: the digest of ``pulumi preview --json``, or the events of its streaming form."""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pulumi_lws.checking.formats.wording import file_name, visible
from pulumi_lws.checking.report import STANDARD_INPUT
from pulumi_lws.planning.secrets import without_tokens
from pulumi_lws.reporting.preview import Diagnostic, Operation, PolicyResult, Preview, Resource, Step
from pulumi_lws.reporting.values import Values

_OPERATIONS: Mapping[str, Operation] = {
    "same": Operation.SAME,
    "read": Operation.SAME,
    "refresh": Operation.SAME,
    "create": Operation.CREATE,
    "import": Operation.CREATE,
    "update": Operation.UPDATE,
    "delete": Operation.DELETE,
    "replace": Operation.REPLACE,
    "create-replacement": Operation.REPLACE,
    "delete-replaced": Operation.REPLACE,
    "import-replacement": Operation.REPLACE,
    "read-replacement": Operation.REPLACE,
}
"""What the engine's step operations come to. Others forget something that is gone already."""

_COLOUR = re.compile(r"<\{%.*?%\}>|\x1b\[[0-9;]*m")
_GENERAL = "preview failed"
"""What the engine adds to every other reason."""


class UnreadablePreviewError(Exception):
    """A file is missing, or is no preview; the text names the file, the reason and the way out."""


def read_preview(file: str) -> Preview:
    """Read a preview from a file, or from standard input (``-``).

    Raises:
        UnreadablePreviewError: There is nothing to report.
    """
    values = Values()
    documents = list(_documents(file, _text_of(file)))
    if len(documents) == 1 and "steps" in documents[0]:
        preview = _digest(documents[0], values)
    elif any("resourcePreEvent" in each or "summaryEvent" in each for each in documents):
        preview = _events(file, documents, values)
    else:
        raise _unreadable(file, _what_else(documents[0]))
    if not preview.steps and not preview.diagnostics and not preview.failed:
        raise _unreadable(file, "it is a preview without a single step; is the stack empty?")
    return preview


def read_policies(file: str) -> tuple[tuple[PolicyResult, ...], tuple[str, ...]]:
    """Read what policies found, and which packs ran, from the events of a preview.

    Raises:
        UnreadablePreviewError: The file has no events.
    """
    documents = list(_documents(file, _text_of(file)))
    if not any(key.endswith("Event") for each in documents for key in each):
        raise _unreadable(file, "it has no events of the engine, which alone tell what policies found")
    return _policies(documents, Values()), _packs(documents)


def _text_of(file: str) -> str:
    try:
        if file != STANDARD_INPUT:
            content = Path(file).read_bytes()
        elif sys.stdin is None or sys.stdin.isatty():
            raise _unreadable(file, "nothing comes in; pipe `pulumi preview --json` into it, or name a file")
        else:
            content = sys.stdin.buffer.read()
        # PowerShell writes UTF-16.
        text = content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except OSError as error:
        raise _unreadable(file, error.strerror or "it cannot be read") from None
    except UnicodeDecodeError:
        raise _unreadable(file, "it is no text") from None
    if not text.strip():
        raise _unreadable(file, "it is empty; did `pulumi preview --json` fail?")
    return text


def _documents(file: str, text: str) -> Iterator[Mapping[str, Any]]:
    """Yield the JSON objects of a text: one, or one on each line. Lines around them are other output."""
    decoder = json.JSONDecoder()
    start = 0 if text.lstrip().startswith("{") else text.find("\n{") + 1
    if start == 0 and not text.lstrip().startswith("{"):
        raise _unreadable(file, _what_text(text))
    position = text.index("{", start)
    while position >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except ValueError:
            line = text.count("\n", 0, position) + 1
            raise _unreadable(file, f"the JSON that starts on line {line} is cut off or broken") from None
        except RecursionError:
            raise _unreadable(file, "it is nested too deeply") from None
        yield value
        following = text.find("\n{", end)
        position = following + 1 if following >= 0 else -1


def _digest(document: Mapping[str, Any], values: Values) -> Preview:
    raw = [
        (str(step.get("op")), str(step.get("urn", "")), step.get("oldState"), step.get("newState"))
        for step in _mappings(document.get("steps"))
    ]
    steps = _steps(raw, values)
    diagnostics = _diagnostics(_mappings(document.get("diagnostics")), values)
    summary = document.get("changeSummary")
    same = summary.get("same", 0) if isinstance(summary, Mapping) else 0
    there = sum(step.operation is Operation.SAME for step in steps)
    failed = any(each.get("severity") == "error" for each in _mappings(document.get("diagnostics")))
    return Preview(
        steps=steps,
        policies=None,
        packs=(),
        diagnostics=diagnostics,
        failed=failed,
        saw_all=not failed,
        missing=max(0, same - there) if isinstance(same, int) else 0,
    )


def _events(file: str, documents: list[Mapping[str, Any]], values: Values) -> Preview:
    summaries = [each["summaryEvent"] for each in documents if isinstance(each.get("summaryEvent"), Mapping)]
    if summaries and summaries[-1].get("isPreview") is False:
        raise _unreadable(file, "it is an update, not a preview: `pulumi preview --json` shows what would be done")
    metadata = (
        event.get("metadata")
        for each in documents
        for name, event in each.items()
        if name == "resourcePreEvent" and isinstance(event, Mapping)
    )
    raw = [
        (str(one.get("op")), str(one.get("urn", "")), one.get("old"), one.get("new"))
        for one in metadata
        if isinstance(one, Mapping)
    ]
    steps = _steps(raw, values)
    complaints = [each["diagnosticEvent"] for each in documents if isinstance(each.get("diagnosticEvent"), Mapping)]
    diagnostics, policies = _diagnostics(complaints, values), _policies(documents, values)
    errors = any(each.get("severity") == "error" for each in complaints)
    failed = errors or any(each.get("result") == "failed" for each in summaries) or not summaries
    # A mandatory policy lets the engine go on to the end of the preview; every other failure stops it.
    only_policies = any(each.mandatory for each in policies) and not any(each.is_error for each in diagnostics)
    return Preview(
        steps=steps,
        policies=policies,
        packs=_packs(documents),
        diagnostics=diagnostics,
        failed=failed,
        saw_all=bool(summaries) and (only_policies or not failed),
    )


def _steps(raw: Iterable[tuple[str, str, Any, Any]], values: Values) -> tuple[Step, ...]:
    """Bring the steps of each resource together: a replacement has several."""
    operations: dict[str, set[Operation]] = {}
    states: dict[str, list[Resource | None]] = {}
    for name, urn, old, new in raw:
        operation = _OPERATIONS.get(name)
        if operation is None or not urn:
            continue
        operations.setdefault(urn, set()).add(operation)
        known = states.setdefault(urn, [None, None])
        for index, state in enumerate((old, None if operation is Operation.DELETE else new)):
            if isinstance(state, Mapping):
                known[index] = _resource(urn, state, values)
    return tuple(
        _step(operations[urn], old, new) for urn, (old, new) in states.items() if old is not None or new is not None
    )


def _step(operations: set[Operation], old: Resource | None, new: Resource | None) -> Step:
    if Operation.REPLACE in operations or {Operation.CREATE, Operation.DELETE} <= operations:
        return Step(Operation.REPLACE, old, new)
    # What an earlier update left to delete may go beside any other step.
    (operation, *_) = [each for each in Operation if each in operations - {Operation.DELETE}] or [Operation.DELETE]
    if operation is Operation.SAME:
        return Step(operation, old or new, new or old)
    return Step(operation, old, new)


def _resource(urn: str, state: Mapping[str, Any], values: Values) -> Resource:
    inputs = values.plain(state.get("inputs") or {})
    return Resource(
        urn=urn,
        type=str(state.get("type") or ""),
        parent=str(state.get("parent") or ""),
        inputs=inputs if isinstance(inputs, Mapping) else {},
    )


def _policies(documents: Iterable[Mapping[str, Any]], values: Values) -> tuple[PolicyResult, ...]:
    events = [each["policyEvent"] for each in documents if isinstance(each.get("policyEvent"), Mapping)]
    results = (
        PolicyResult(
            policy=str(event.get("policyName", "")),
            pack=str(event.get("policyPackName", "")),
            mandatory=event.get("enforcementLevel") == "mandatory",
            urn=str(event.get("resourceUrn") or ""),
            # The engine puts the policy's description on lines before the message.
            message=_clean(str(event.get("message", "")), values).rpartition("\n")[2],
        )
        for event in events
    )
    return tuple(sorted(dict.fromkeys(results), key=lambda result: (not result.mandatory, result.policy, result.urn)))


def _packs(documents: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    found = [
        event.get("PolicyPacks") or event.get("policyPacks")
        for each in documents
        if isinstance(event := each.get("summaryEvent"), Mapping)
    ]
    # The key of a local pack is its name, a mark and its folder.
    return tuple(
        sorted({str(name).partition("|")[0] for packs in found if isinstance(packs, Mapping) for name in packs})
    )


def _diagnostics(events: Iterable[Mapping[str, Any]], values: Values) -> tuple[Diagnostic, ...]:
    found: dict[Diagnostic, None] = {}
    for event in events:
        severity = event.get("severity")
        message = _clean(str(event.get("message", "")), values).removeprefix(f"{severity}: ")
        if severity in ("error", "warning") and message and message != _GENERAL:
            found[Diagnostic(severity == "error", str(event.get("urn") or ""), message)] = None
    return tuple(sorted(found, key=lambda each: not each.is_error))


def _clean(message: str, values: Values) -> str:
    return without_tokens(values.without_secrets(_COLOUR.sub("", message))).strip()


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _what_text(text: str) -> str:
    first = visible(without_tokens(_COLOUR.sub("", text.strip().splitlines()[0])))[:200]
    if first.startswith("error:"):
        return f"pulumi failed before it had a preview: {first}"
    if "Previewing" in text:
        return "it is the preview as text; run `pulumi preview --json`"
    return f"it is no JSON: it starts with {first!r}. Give what `pulumi preview --json` prints"


def _what_else(document: Mapping[str, Any]) -> str:
    known = {
        "deployment": "it is the state of a stack (pulumi stack export)",
        "manifest": "it is a plan (--save-plan)",
        "resourcePlans": "it is a plan (--save-plan)",
        "apiVersion": "it is a Kubernetes object, which `lws check` judges",
    }
    found = next((what for key, what in known.items() if key in document), "it is JSON, but no preview")
    return f"{found}; give what `pulumi preview --json` prints"


def _unreadable(file: str, reason: str) -> UnreadablePreviewError:
    return UnreadablePreviewError(f"{file_name(file)}: {reason}")
