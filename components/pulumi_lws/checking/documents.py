"""YAML and JSON text to values, as the Kubernetes tools would read it, and bounded whatever the text is.

Documents are read one by one, so that a broken one does not hide the rest.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from pulumi_lws.checking.composing import (
    MAXIMUM_DEPTH,
    TOO_MANY_VALUES,
    Budget,
    CannotReadError,
    read_yaml,
)

MAXIMUM_DOCUMENTS = 50_000
"""Most documents of one file."""

_SEPARATOR = re.compile(r"^---(?=\s|\Z)", re.MULTILINE)
_VISIBLE = re.compile(r"\S")


@dataclass(frozen=True)
class Document:
    """One document of a text.

    Attributes:
        index: Its position, counted from 0; empty documents count too.
        line: The line on which it starts, counted from 1.
        value: What it holds.
    """

    index: int
    line: int
    value: Any


@dataclass(frozen=True)
class BrokenDocument:
    """A document that cannot be read.

    Attributes:
        index: Its position, counted from 0.
        line: The line on which reading failed, counted from 1.
        message: Why, in one sentence.
    """

    index: int
    line: int
    message: str


def documents_of(text: str) -> Iterator[Document | BrokenDocument]:
    """Read the documents of a text, without those that are empty."""
    budget = Budget()
    index = 0
    for first_line, chunk in _chunks(text):
        if _is_empty(chunk):
            index += 1
            continue
        for document in _read(chunk, index, first_line, budget):
            if document.index >= MAXIMUM_DOCUMENTS:
                yield BrokenDocument(index, document.line, f"the file has more than {MAXIMUM_DOCUMENTS:,} documents")
                return
            index = document.index + 1
            if isinstance(document, BrokenDocument) or document.value is not None:
                yield document
        if budget.is_spent:
            return


def _chunks(text: str) -> Iterator[tuple[int, str]]:
    """Split a text before each separator; yields the line on which a part starts, and the part."""
    starts = [match.start() for match in _SEPARATOR.finditer(text)]
    # What stands before the first separator belongs to its document if it is only comments and directives.
    if not starts or _has_content(text[: starts[0]]):
        starts.insert(0, 0)
    else:
        starts[0] = 0
    line = 1
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        chunk = text[start:end]
        yield line, chunk
        line += chunk.count("\n")


def _has_content(text: str) -> bool:
    return any(line.strip() and line.strip()[0] not in "#%" for line in text.split("\n"))


def _is_empty(chunk: str) -> bool:
    return not _has_content(_SEPARATOR.sub("", chunk, count=1))


def _read(chunk: str, index: int, first_line: int, budget: Budget) -> list[Document | BrokenDocument]:
    documents: list[Document | BrokenDocument] = []
    before = budget.values
    try:
        for line, value in read_yaml(chunk, first_line, budget):
            documents.append(Document(index + len(documents), line, value))
    except CannotReadError as error:
        documents.append(_broken(str(error), chunk, index + len(documents), error.line))
    except yaml.YAMLError as error:
        read, budget.values = budget.values, before
        if (as_json := _read_json(chunk, index, first_line, budget)) is not None:
            return as_json
        budget.values = read
        mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
        reason = getattr(error, "problem", None) or getattr(error, "reason", None) or "no YAML"
        line = first_line + (mark.line if mark else 0)
        documents.append(_broken(reason, chunk, index + len(documents), line))
    return documents


def _broken(reason: str, chunk: str, index: int, line: int) -> BrokenDocument:
    if "{{" in chunk:
        reason += "; it looks like a Helm template: check what `helm template` renders"
    return BrokenDocument(index, line, f"line {line}: {reason}")


def _read_json(chunk: str, index: int, first_line: int, budget: Budget) -> list[Document | BrokenDocument] | None:
    """Read what is JSON and yet no YAML, such as one object after the other; None if it is no JSON either."""
    decoder = json.JSONDecoder(object_pairs_hook=_without_duplicates, parse_constant=_refused_constant)
    documents: list[Document | BrokenDocument] = []
    line, position = first_line, len("---") if chunk.startswith("---") else 0
    if not chunk.startswith("{", _after_blanks(chunk, position)):
        return None
    try:
        while (start := _after_blanks(chunk, position)) < len(chunk):
            if budget.is_spent or len(documents) > MAXIMUM_DOCUMENTS:
                break
            line += chunk.count("\n", position, start)
            value, position = decoder.raw_decode(chunk, start)
            # Half of a surrogate pair is no text.
            json.dumps(value, ensure_ascii=False).encode()
            budget.values += _size(value)
            documents.append(Document(index + len(documents), line, value))
            line += chunk.count("\n", start, position)
    except (ValueError, RecursionError):
        return None
    if budget.is_spent:
        documents.append(BrokenDocument(index + len(documents), line, TOO_MANY_VALUES))
    return documents


def _after_blanks(text: str, position: int) -> int:
    return len(text) if (match := _VISIBLE.search(text, position)) is None else match.start()


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("duplicate keys")
    return value


def _refused_constant(text: str) -> None:
    raise ValueError(text)


def _size(value: Any, depth: int = 0) -> int:
    if depth > MAXIMUM_DEPTH:
        raise ValueError("too deep")
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(_size(part, depth + 1) for part in parts)
