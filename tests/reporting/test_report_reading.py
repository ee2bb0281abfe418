import json
from pathlib import Path
from typing import Any

import pytest

from pulumi_lws.reporting.reading import UnreadablePreviewError, read_policies, read_preview
from tests.reporting.events import LWS, complaint, digest, groups, pod, resource_event, summary, violation, write

CREATED = resource_event("create", LWS, "llm", None, groups(pod()))


def test_both_forms_of_a_preview_say_the_same(tmp_path: Path) -> None:
    events = [CREATED, resource_event("delete", LWS, "old", groups(pod()))]
    assert read_preview(digest(tmp_path, *events)).steps == read_preview(write(tmp_path, *events)).steps


def test_only_events_carry_what_policies_found(tmp_path: Path) -> None:
    found = violation("leader-ready", "mandatory", "spec: found nothing.")
    preview = read_preview(write(tmp_path, CREATED, found, summary("failed", PolicyPacks={"pack|local|/x": "1"})))
    assert preview.policies
    assert [(each.policy, each.mandatory, each.message) for each in preview.policies] == [
        ("leader-ready", True, "spec: found nothing.")
    ]
    assert preview.packs == ("pack",)
    assert read_preview(digest(tmp_path, CREATED)).policies is None
    assert read_policies(write(tmp_path, found)) == (preview.policies, ())


def test_unchanged_resources_that_are_left_out_are_counted(tmp_path: Path) -> None:
    preview = read_preview(digest(tmp_path, CREATED, changeSummary={"same": 7, "create": 1}))
    assert (preview.missing, len(preview.steps)) == (7, 1)


def test_lines_that_are_no_events_are_passed_over(tmp_path: Path) -> None:
    path = Path(write(tmp_path, CREATED))
    path.write_text(f"warning: a newer version exists\n{path.read_text()}bye\n")
    assert len(read_preview(str(path)).steps) == 1


def test_complaints_are_said_once_and_the_general_one_not_at_all(tmp_path: Path) -> None:
    said = [complaint("error", "error: no\n"), complaint("error", "no"), complaint("error", "preview failed\n")]
    preview = read_preview(write(tmp_path, complaint("warning", "old"), *said, complaint("debug", "x"), CREATED))
    assert [(each.is_error, each.message) for each in preview.diagnostics] == [(True, "no"), (False, "old")]
    assert preview.failed


def test_what_an_earlier_update_left_to_delete_is_no_replacement(tmp_path: Path) -> None:
    kept = resource_event("same", LWS, "llm", groups(pod()), groups(pod()))
    gone = resource_event("delete", LWS, "llm", groups(pod()))
    assert [step.operation for step in read_preview(write(tmp_path, kept, gone)).steps] == ["same"]


def test_events_that_break_off_are_a_failed_preview(tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    path.write_text(json.dumps(CREATED) + "\n")
    assert read_preview(str(path)).failed


WRONG: dict[str, tuple[str, str]] = {
    "empty": ("", "it is empty; did `pulumi preview --json` fail?"),
    "text": ("Previewing update (prod):\n + LLM", "it is the preview as text; run `pulumi preview --json`"),
    "an error": (
        "error: no stack selected\n",
        "pulumi failed before it had a preview: error: no stack selected",
    ),
    "no JSON": ("hello", "it is no JSON: it starts with 'hello'. Give what `pulumi preview --json` prints"),
    "a list": ("[1]", "it is no JSON: it starts with '[1]'. Give what `pulumi preview --json` prints"),
    "other JSON": ('{"a": 1}', "it is JSON, but no preview; give what `pulumi preview --json` prints"),
    "a state": (
        '{"version": 3, "deployment": {}}',
        "it is the state of a stack (pulumi stack export); give what `pulumi preview --json` prints",
    ),
    "a manifest": (
        '{"apiVersion": "v1"}',
        "it is a Kubernetes object, which `lws check` judges; give what `pulumi preview --json` prints",
    ),
    "cut off": ('{"steps": [{"op"', "the JSON that starts on line 1 is cut off or broken"),
    "nested": ('{"a":' + "[" * 100_000, "it is nested too deeply"),
    "no step": ('{"steps": []}', "it is a preview without a single step; is the stack empty?"),
    "an update": (
        '{"summaryEvent": {"isPreview": false}}',
        "it is an update, not a preview: `pulumi preview --json` shows what would be done",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_preview_is_said_with_the_way_out(case: str, tmp_path: Path) -> None:
    text, reason = WRONG[case]
    path = tmp_path / "preview.json"
    path.write_text(text)
    with pytest.raises(UnreadablePreviewError) as raised:
        read_preview(str(path))
    assert str(raised.value) == f"{path}: {reason}"


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(UnreadablePreviewError, match="No such file or directory"):
        read_preview(str(tmp_path / "absent"))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_what_powershell_writes_is_read(encoding: str, tmp_path: Path) -> None:
    path = Path(write(tmp_path, CREATED))
    path.write_text(path.read_text(), encoding=encoding)
    assert len(read_preview(str(path)).steps) == 1


@pytest.mark.parametrize("value", [None, 3, "x", [], {"metadata": None}, {"metadata": {"op": 1, "urn": 2, "new": 3}}])
def test_strange_events_are_passed_over(value: Any, tmp_path: Path) -> None:
    strange = [{"resourcePreEvent": value}, {"policyEvent": value}, {"diagnosticEvent": value}]
    assert len(read_preview(write(tmp_path, CREATED, *strange, summary())).steps) == 1
