import io
import os
import sys
from pathlib import Path

import pytest

from pulumi_lws.checking import reading
from pulumi_lws.checking.reading import read_objects
from pulumi_lws.checking.report import LeftOut, ReadObject, Unreadable

OBJECT = "kind: A\n"


def found_in(*paths: Path | str) -> list[str]:
    return [item.file for item in read_objects([str(path) for path in paths])]


def errors_of(*paths: Path | str) -> list[str]:
    return [item.message for item in read_objects([str(path) for path in paths]) if isinstance(item, Unreadable)]


def test_folders_are_read_recursively_in_order_and_each_file_once(tmp_path: Path) -> None:
    for name in ("b.yaml", "a/z.yml", "a/y.json", "c.txt", ".hidden/x.yaml", ".d.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(OBJECT if not name.endswith("json") else '{"kind": "A"}')
    expected = [str(tmp_path / name) for name in (".d.yaml", "a/y.json", "a/z.yml", "b.yaml")]
    assert found_in(tmp_path) == expected
    assert found_in(tmp_path / "b.yaml", tmp_path, tmp_path / "a" / ".." / "b.yaml") == [expected[-1], *expected[:-1]]


def test_a_folder_without_manifests_is_said(tmp_path: Path) -> None:
    assert errors_of(tmp_path) == ["the folder has no *.yaml, *.yml, *.json"]


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(OBJECT.encode())))
    assert list(read_objects(["-"])) == [ReadObject("-", 0, 1, {"kind": "A"})]


def test_a_byte_order_mark_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"\xef\xbb\xbfkind: A\n\xef\xbb\xbf---\nkind: B\n")
    assert [item.manifest for item in read_objects([str(path)]) if isinstance(item, ReadObject)] == [
        {"kind": "A"},
        {"kind": "B"},
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    {
        b"\xff\xfea\x00": "the file is UTF-16; save it as UTF-8",
        b"kind: \x80": "the file is no UTF-8 text: byte 6 is 0x80",
        b"\x7fELF\x02\x01\x00": "line 1: control characters are not allowed",
        b"- a": "line 1: expected a Kubernetes object, found a list",
        b"a": "line 1: expected a Kubernetes object, found a single value",
    }.items(),
)
def test_what_is_no_manifest_is_said(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.yaml").write_bytes(content)
    assert errors_of(tmp_path / "a.yaml") == [message]


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    path = str(tmp_path / "none.yaml")
    assert list(read_objects([path])) == [Unreadable(path, None, None, "no such file or directory")]


def test_a_huge_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LARGEST_FILE_MIB", 1)
    (tmp_path / "a.yaml").write_bytes(b"#" * (2**20 + 1))
    assert errors_of(tmp_path / "a.yaml") == ["the file has more than 1 MiB; split it"]


def test_items_of_a_list_are_objects_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("---\n---\nkind: List\nitems:\n- kind: A\n- kind: PodList\n  items:\n  - kind: B\n- 5\n")
    assert list(read_objects([str(path)])) == [
        ReadObject(str(path), 1, 5, {"kind": "A"}),
        ReadObject(str(path), 1, 8, {"kind": "B"}),
        Unreadable(str(path), 1, 9, "line 9: expected a Kubernetes object, found a single value"),
    ]


def test_empty_standard_input_is_unreadable_for_the_command_before_it_may_have_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"# nothing\n")))
    [read] = read_objects(["-"])
    assert isinstance(read, Unreadable)
    assert read.message == "there is nothing in it; did the command before it fail?"


def test_values_of_a_chart_are_left_out_of_a_folder_and_judged_where_they_are_named(tmp_path: Path) -> None:
    values = tmp_path / "values.yaml"
    values.write_text("replicas: 2\n")
    assert list(read_objects([str(tmp_path)])) == [LeftOut(str(values))]
    [named] = read_objects([str(values)])
    assert isinstance(named, ReadObject)


def test_a_pipe_in_a_folder_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    [read] = read_objects([str(tmp_path)])
    assert isinstance(read, Unreadable)


def test_closed_standard_input_is_unreadable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    [read] = read_objects(["-"])
    assert isinstance(read, Unreadable)
    assert read.message == "it is closed"
