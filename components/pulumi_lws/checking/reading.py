"""Files, folders and standard input to Kubernetes objects."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from pulumi_lws.checking.documents import BrokenDocument, Document, documents_of
from pulumi_lws.checking.located import LocatedList, LocatedMapping
from pulumi_lws.checking.report import STANDARD_INPUT, LeftOut, ReadObject, Unreadable

LARGEST_FILE_MIB = 32
"""Larger files are not read; a manifest that an API server takes has at most 3 MiB."""

ENDINGS = (".yaml", ".yml", ".json")
"""Files of a folder that are read."""


Read = ReadObject | Unreadable | LeftOut


def read_objects(paths: Sequence[str]) -> Iterator[Read]:
    """Read every object of files, folders and standard input (``-``), each file once."""
    seen: set[str] = set()
    for path in paths:
        named = path == STANDARD_INPUT or not Path(path).is_dir()
        for file in _files(path):
            if isinstance(file, Unreadable):
                yield file
            elif (identity := os.path.realpath(file) if file != STANDARD_INPUT else file) not in seen:
                seen.add(identity)
                yield from (item if named else _left_out(item) for item in _objects_of(file))


def _left_out(read: ReadObject | Unreadable) -> Read:
    """Leave out what stands in a folder and does not even claim to be an object."""
    if isinstance(read, ReadObject) and not {"apiVersion", "kind"} & read.manifest.keys():
        return LeftOut(read.file)
    return read


def _files(path: str) -> Iterator[str | Unreadable]:
    """Yield what a path names: itself, or the files of a folder in order. Hidden folders are left out."""
    if path == STANDARD_INPUT or not Path(path).is_dir():
        yield path
        return
    found: list[Path] = []
    failed: list[OSError] = []
    for folder, folders, names in os.walk(path, onerror=failed.append):
        folders[:] = [name for name in folders if not name.startswith(".")]
        files = (Path(folder) / name for name in names if name.endswith(ENDINGS))
        # A pipe that nobody writes to would never end.
        found += [file for file in files if not file.is_fifo()]
    yield from (Unreadable(str(error.filename), None, None, _reason(error)) for error in failed)
    if not found and not failed:
        yield Unreadable(path, None, None, f"the folder has no {', '.join(f'*{ending}' for ending in ENDINGS)}")
    yield from map(str, sorted(found))


def read_documents(file: str) -> Iterator[Document | Unreadable]:
    """Read the documents of a file or of standard input (``-``), whatever they hold."""
    try:
        text = _text_of(file)
    except OSError as error:
        yield Unreadable(file, None, None, _reason(error))
        return
    except ValueError as error:
        yield Unreadable(file, None, None, str(error))
        return
    documents = list(documents_of(text))
    if file == STANDARD_INPUT and not documents:
        yield Unreadable(file, None, None, "there is nothing in it; did the command before it fail?")
    for document in documents:
        if isinstance(document, BrokenDocument):
            yield Unreadable(file, document.index, document.line, document.message)
        else:
            yield document


def _objects_of(file: str) -> Iterator[ReadObject | Unreadable]:
    for document in read_documents(file):
        if isinstance(document, Unreadable):
            yield document
        else:
            yield from _objects_in(file, document, document.value, document.line)


def _text_of(file: str) -> str:
    if file == STANDARD_INPUT:
        if sys.stdin is None:  # Python starts so where it is closed
            raise ValueError("it is closed")
        content = _bounded(sys.stdin.buffer)
    else:
        with Path(file).open("rb") as opened:
            content = _bounded(opened)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError("the file is UTF-16; save it as UTF-8")
    try:
        # A byte order mark may also stand where files were put together.
        return content.decode().removeprefix("\ufeff").replace("\n\ufeff", "\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"the file is no UTF-8 text: byte {error.start} is 0x{content[error.start]:02x}") from None


def _bounded(opened: BinaryIO) -> bytes:
    largest = LARGEST_FILE_MIB * 2**20
    content = opened.read(largest + 1)
    if len(content) > largest:
        raise ValueError(f"the file has more than {LARGEST_FILE_MIB} MiB; split it")
    return content


def _reason(error: OSError) -> str:
    return (error.strerror or "cannot be read")[0].lower() + (error.strerror or "cannot be read")[1:]


def _objects_in(file: str, document: Document, value: Any, line: int) -> Iterator[ReadObject | Unreadable]:
    """Yield an object, or those of a List, as ``kubectl apply`` takes them."""
    if not isinstance(value, Mapping):
        found = "a list" if isinstance(value, list) else "nothing" if value is None else "a single value"
        yield Unreadable(file, document.index, line, f"line {line}: expected a Kubernetes object, found {found}")
        return
    items = value.get("items")
    if isinstance(value, LocatedMapping):
        line = next(iter(value.lines.values()), line)
    if not (str(value.get("kind", "")).endswith("List") and isinstance(items, list)):
        yield ReadObject(file, document.index, line, value)
        return
    for number, item in enumerate(items):
        item_line = items.lines.get(number, line) if isinstance(items, LocatedList) else line
        yield from _objects_in(file, document, item, item_line)
