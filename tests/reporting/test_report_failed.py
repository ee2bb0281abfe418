"""What a report says of a preview that failed: nothing that such a preview cannot tell."""

import json
from pathlib import Path
from typing import Any

import pytest

from pulumi_lws.reporting.findings import findings
from pulumi_lws.reporting.formats import json as as_json
from pulumi_lws.reporting.formats import md
from pulumi_lws.reporting.reading import read_preview
from pulumi_lws.reporting.report import report
from tests.reporting.events import (
    LWS,
    complaint,
    digest,
    groups,
    outcome,
    pod,
    resource_event,
    summary,
    violation,
    write,
)

FAILED = "The preview failed, so nothing is applied"
PACKS = {"PolicyPacks": {"pack": "1"}}
RUNS = resource_event("same", LWS, "llm", groups(pod()), groups(pod()))
GENERAL = complaint("error", "preview failed")
BROKEN = violation("leader-ready", "mandatory", "spec: found nothing.")
RESTARTS = resource_event("update", LWS, "llm", groups(pod(image="a:1")), groups(pod(image="a:2")))


ENDED_EARLY: dict[str, list[dict[str, Any]]] = {
    "the program failed": [RUNS, complaint("error", "no such field"), summary("failed", **PACKS)],
    "it was cancelled": [RUNS, summary("failed", **PACKS)],
    "a mandatory policy did not hold before that": [
        RUNS,
        BROKEN,
        complaint("error", "no such field"),
        summary("failed", **PACKS),
    ],
}


@pytest.mark.parametrize("case", ENDED_EARLY)
def test_of_a_preview_that_ended_early_no_totals_are_told(case: str, tmp_path: Path) -> None:
    found = report(read_preview(write(tmp_path, *ENDED_EARLY[case])))
    assert found.outcome is None
    assert FAILED in [finding.text for finding in findings(found)]
    text = md.render(found)
    assert "**Models, GPUs, nodes and cost: not known, since the preview ended early**" in text
    assert "1 unchanged, as far as the preview came. Whether " in text
    assert [word for word in ("as before", "$", "0 nodes", "All policies hold", "Nodes and cost") if word in text] == []
    said = json.loads(as_json.render(found))
    assert (said["complete"], said["models"], said["capacity"]) == (False, None, None)


def test_the_plain_form_of_a_failed_preview_tells_no_totals_either(tmp_path: Path) -> None:
    failed = digest(tmp_path, RUNS, diagnostics=[{"severity": "error", "message": "no such field"}])
    assert report(read_preview(failed)).outcome is None


def test_a_preview_whose_events_break_off_tells_no_totals(tmp_path: Path) -> None:
    path = tmp_path / "preview.json"
    path.write_text("".join(f"{json.dumps(event)}\n" for event in (RUNS, BROKEN)))
    assert report(read_preview(str(path))).outcome is None


def test_what_only_a_mandatory_policy_stops_is_told_whole(tmp_path: Path) -> None:
    found = report(read_preview(write(tmp_path, RUNS, BROKEN, GENERAL, summary("failed", **PACKS))))
    assert outcome(found).after.gpus == 48
    assert [finding.text for finding in findings(found)] == [
        "Mandatory policies do not hold, so nothing is applied: `leader-ready`"
    ]


def test_what_is_seen_to_be_lost_is_said_all_the_same(tmp_path: Path) -> None:
    lost = resource_event("replace", "aws:ec2/vpc:Vpc", "network", {"name": "network"}, {"name": "network"})
    found = report(read_preview(write(tmp_path, lost, complaint("error", "no"), summary("failed"))))
    assert [finding.text for finding in findings(found)] == [
        FAILED,
        "The VPC `network` is replaced: everything in it goes with it, the cluster included",
    ]


def test_a_base_that_ended_early_is_not_compared_with(tmp_path: Path) -> None:
    base = write(tmp_path, complaint("error", "no"), summary("failed"), name="base.json")
    found = report(read_preview(write(tmp_path, RESTARTS)), read_preview(base))
    assert [(change.fate, change.running) for change in outcome(found).models] == [("restarts", 3)]
    text = md.render(found)
    assert json.loads(as_json.render(found))["compared_with"] == "running"
    assert "⚠️ The preview of the base ended early, so this is compared with what runs now." in text
