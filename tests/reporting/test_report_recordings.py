"""Ten kinds of change, as the real engine previewed them (``python -m lab.previews`` records them anew)."""

import json
from pathlib import Path
from typing import Any

import pytest

from pulumi_lws.reporting.findings import findings
from pulumi_lws.reporting.formats import json as as_json
from pulumi_lws.reporting.formats import md
from pulumi_lws.reporting.models import Fate
from pulumi_lws.reporting.reading import read_preview
from pulumi_lws.reporting.report import Report, report
from tests.reporting.events import outcome

RECORDINGS = Path(__file__).parent / "previews"


def of(name: str, base: str | None = None) -> Report:
    return report(*(read_preview(str(RECORDINGS / f"{each}.json")) if each else None for each in (name, base)))  # type: ignore[arg-type] # the first is always named


HEADLINES = {
    "no-change": ("fine", "Nothing changes"),
    "add-a-deployment": ("fine", "`llama` is added: 1 pod, 1 GPU"),
    "change-the-image": ("care", "`glm-5` restarts with 1 group on top: none is missing, in up to 120 min"),
    "change-the-parallelism": ("care", "`gpt-oss` restarts with 1 pod on top: none is missing, in up to 60 min"),
    "scale": ("fine", "`glm-5` scales from 2 to 3 groups"),
    "add-an-island": ("fine", "Pool `p5` may have up to 8 nodes, not 6"),
    "change-the-instance-type": ("care", "`glm-5` restarts with 1 group on top: none is missing, in up to 120 min"),
    "remove-a-deployment": ("stop", "`gpt-oss` is removed: 1 pod, 4 GPUs"),
    "upgrade-lws": ("care", "LWS goes from 0.9.0 to 0.10.0"),
    "change-the-vpc": ("stop", "The VPC `network` is replaced: everything in it goes with it, the cluster included"),
}


def test_every_recording_has_a_headline_that_is_tested() -> None:
    assert {path.stem for path in RECORDINGS.glob("*.json")} == set(HEADLINES)


@pytest.mark.parametrize("name", HEADLINES)
def test_the_headline_says_the_worst(name: str) -> None:
    first = findings(of(name))[0]
    assert (first.level, first.text) == HEADLINES[name]


@pytest.mark.parametrize("name", HEADLINES)
def test_the_report_is_as_reviewed(name: str, golden: Any) -> None:
    golden.compare_files(f"report/{name}", {"report.md": md.render(of(name))})


def test_the_json_is_as_reviewed(golden: Any) -> None:
    golden.compare_files("report/json", {"scale.json": as_json.render(of("scale"))})


def test_a_recording_names_nothing_of_the_machine_that_made_it() -> None:
    for path in RECORDINGS.glob("*.json"):
        text = path.read_text(encoding="utf-8")
        assert [word for word in ("/root", "/home", "/work", "/tmp", str(Path.home())) if word in text] == []


@pytest.mark.parametrize("name", HEADLINES)
def test_resources_are_counted_as_the_engine_counts_them(name: str) -> None:
    events = map(json.loads, (RECORDINGS / f"{name}.json").read_text(encoding="utf-8").splitlines())
    (counts,) = (each["summaryEvent"]["resourceChanges"] for each in events if "summaryEvent" in each)
    found = of(name)
    assert {str(each): count for each, count in found.counts().items()} | {"same": found.unchanged} == counts


def test_the_totals_before_are_those_of_every_recording() -> None:
    before = [outcome(of(name)).before for name in HEADLINES]
    totals = {(each.gpus, each.nodes, round(each.dollars, 2)) for each in before}
    # glm-5: 2 groups of 2 p5.48xlarge; gpt-oss: one g6e.12xlarge.
    assert totals == {(36, 5, round(4 * 55.04 + 10.49264, 2))}


def test_what_the_base_does_as_well_is_not_of_this_change() -> None:
    same = of("change-the-image", "change-the-image")
    assert (len(same.steps), same.pending, outcome(same).undone) == (0, 3, 0)
    assert {change.fate for change in outcome(same).models} == {Fate.UNCHANGED}
    assert [finding.text for finding in findings(same)] == ["This change adds nothing to what the base changes"]


def test_a_change_is_compared_with_the_base_where_there_is_one() -> None:
    found = of("scale", "add-an-island")
    # The base, whose fourth island this change does not have, is what it starts from.
    assert (outcome(found).before.most_nodes, outcome(found).after.most_nodes) == (10, 8)
    assert "| | base | after | change |" in md.render(found)


def test_the_json_carries_no_markdown() -> None:
    said = json.loads(as_json.render(of("remove-a-deployment")))
    assert said["findings"][0] == {"level": "stop", "text": "gpt-oss is removed: 1 pod, 4 GPUs", "why": ""}
    assert said["resources"] == {"delete": 5, "unchanged": 27, "pending_on_base": 0, "only_on_base": 0}
