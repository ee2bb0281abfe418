import time

import pytest

from pulumi_lws.checking import composing, documents
from pulumi_lws.checking.documents import BrokenDocument, Document, documents_of
from pulumi_lws.checking.located import line_of, written_at


def values_of(text: str) -> list[object]:
    return [document.value for document in documents_of(text) if isinstance(document, Document)]


def test_documents_are_counted_with_the_empty_ones_and_know_their_lines() -> None:
    text = "# Source: chart/a.yaml\n---\na: 1\n---\n# nothing\n---\nb: 2\n...\n---\n"
    assert list(documents_of(text)) == [Document(0, 2, {"a": 1}), Document(2, 6, {"b": 2})]


def test_a_text_of_comments_has_no_documents() -> None:
    assert list(documents_of("# nothing\n---\n")) == []
    assert list(documents_of("")) == []


def test_directives_belong_to_the_document_after_them() -> None:
    assert values_of("%YAML 1.1\n---\na: 1\n") == [{"a": 1}]


def test_line_endings_of_windows_change_nothing() -> None:
    assert list(documents_of("a: 1\r\n---\r\nb: |\r\n  x\r\n")) == [
        Document(0, 1, {"a": 1}),
        Document(1, 2, {"b": "x\n"}),
    ]


def test_a_broken_document_does_not_hide_the_others() -> None:
    assert list(documents_of("a: 1\n---\nb: [\n---\nc: 3\n")) == [
        Document(0, 1, {"a": 1}),
        BrokenDocument(1, 4, "line 4: did not find expected node content"),
        Document(2, 4, {"c": 3}),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    {
        "a: 1\nb: 2\na: 3": "line 3: the key 'a' stands twice, first on line 1",
        "true: 1\non: 2": "line 2: the key 'true' stands twice, first on line 1",
        "a: &a [*a]": "line 1: the value of anchor 'a' contains itself",
        "a: *b": "line 1: no anchor 'b' stands before its alias",
        "? [a]\n: 1": "line 1: a mapping or a list as a key",
        "~: 1": "line 1: a key is empty",
        "<<: 1": "line 1: << merges something that is no mapping",
        "a: b: c": "line 1: mapping values are not allowed in this context",
        "a: \x07": "line 1: control characters are not allowed",
        "a: {{ .Values.a }}": "line 1: a mapping or a list as a key; it looks like a Helm template: check what"
        " `helm template` renders",
        "[" * 101 + "]" * 101: "line 1: more than 100 levels of nesting",
        "- " * 5000: "line 1: more than 100 levels of nesting",
    }.items(),
)
def test_an_unreadable_document_says_why(text: str, message: str) -> None:
    assert [d.message for d in documents_of(text) if isinstance(d, BrokenDocument)] == [message]


def test_merges_follow_the_kubernetes_tools_and_not_the_specification() -> None:
    base = "base: &base {a: 1, b: 1}\nother: &other {b: 2, c: 2}\n"
    assert values_of(base + "x: {b: 0, <<: *base, a: 9}") == [
        {"base": {"a": 1, "b": 1}, "other": {"b": 2, "c": 2}, "x": {"a": 9, "b": 1}}
    ]
    assert values_of(base + "x: {<<: [*base, *other]}")[0]["x"] == {"a": 1, "b": 1, "c": 2}  # type: ignore[index]  # a mapping
    assert values_of("{'<<': 1}") == [{"<<": 1}]


def test_aliases_stand_for_what_they_name() -> None:
    assert values_of("a: &x [1]\nb: *x\nc: &y z\nd: {*y : 1}") == [{"a": [1], "b": [1], "c": "z", "d": {"z": 1}}]


def test_a_bomb_of_aliases_is_refused_before_it_grows() -> None:
    lines = ["a: &a [" + "1," * 10 + "]"]
    lines += [f"{chr(98 + i)}: &{chr(98 + i)} [" + f"*{chr(97 + i)}," * 10 + "]" for i in range(20)]
    began = time.monotonic()
    assert [d.message for d in documents_of("\n".join(lines)) if isinstance(d, BrokenDocument)] == [
        "line 6: more than 1,000,000 values in one file, aliases written out"
    ]
    assert time.monotonic() - began < 60


def test_the_bound_on_values_is_of_the_whole_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composing, "MAXIMUM_VALUES", 5)
    found = list(documents_of("a: 1\n---\nb: 2\n---\nc: 3\n"))
    assert [type(document) for document in found] == [Document, BrokenDocument]


@pytest.mark.parametrize("text", ["a\n---\n" * 5, "{}" * 5])
def test_a_file_has_a_bounded_number_of_documents(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(documents, "MAXIMUM_DOCUMENTS", 2)
    found = list(documents_of(text))
    assert [type(document) for document in found] == [Document, Document, BrokenDocument]
    assert found[-1] == BrokenDocument(2, found[-1].line, "the file has more than 2 documents")


def test_json_that_is_no_yaml_is_read_too() -> None:
    assert list(documents_of('{"a": "\\ud83d\\ude00"}\n{"b":\n1}{"c": 1}')) == [
        Document(0, 1, {"a": "\N{GRINNING FACE}"}),
        Document(1, 2, {"b": 1}),
        Document(2, 3, {"c": 1}),
    ]
    assert values_of('{\n\t"a": "x\\/y"\n}') == [{"a": "x/y"}]


@pytest.mark.parametrize("text", ['{"a": "\\ud800"}', '{"a": 1, "a": 2}', '{"a": NaN}{}', '{"a": 1} x', "{" * 3000])
def test_json_that_an_api_server_could_not_take_is_unreadable(text: str) -> None:
    assert isinstance(list(documents_of(text))[-1], BrokenDocument)


def test_a_value_knows_where_it_stands_and_how_it_was_written() -> None:
    [document] = documents_of("a:\n  b.c/d: yes\n  e:\n  - 1\n  - f: 0x1F\n")
    value = document.value if isinstance(document, Document) else None
    lines = {
        path: line_of(value, path, 1) for path in ("a", "a.b.c/d", "a['b.c/d']", "a.e[1].f", "a.e[7].x", "a.g", "z")
    }
    assert lines == {"a": 1, "a.b.c/d": 2, "a['b.c/d']": 2, "a.e[1].f": 5, "a.e[7].x": 3, "a.g": 1, "z": 1}
    written = {path: written_at(value, path) for path in ("a.b.c/d", "a.e[0]", "a.e[1].f", "a.e", "a.g")}
    assert written == {"a.b.c/d": "yes", "a.e[0]": "1", "a.e[1].f": "0x1F", "a.e": None, "a.g": None}
