"""What GuideLLM measured, in few words and with a verdict.

The reports are those of GuideLLM 0.8.1 against its own mock server, without what the summary does not read.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from pulumi_lws.load_tests.record import record_of
from pulumi_lws.load_tests.summary_program import REPORT, SUMMARY, main, summary
from tests.load_tests.tested import glm, load_test

REPORTS = Path(__file__).parent / "reports"
CONCURRENT = record_of(load_test(load={"kind": "concurrent", "requests": [1, 4]}, maxErrorRate=0.05), glm())
ARRIVING = record_of(load_test(load={"kind": "arriving", "perSecond": [2, 4.5]}, maxErrorRate=0.05), glm())


def report(name: str) -> Any:
    return json.loads((REPORTS / f"{name}.json").read_text(encoding="utf-8"))


def test_a_summary_has_latencies_throughput_per_gpu_and_what_it_was_measured_on() -> None:
    found = summary(CONCURRENT, report("answered"))
    assert found["record"] == CONCURRENT
    assert found["steps"][1] == {
        "streams": 4,
        "seconds": 3.6,
        "requests": {"successful": 227, "errored": 0, "incomplete": 2},
        "errorRate": 0.0,
        "requestSeconds": {"p50": 0.059, "p95": 0.063, "p99": 0.065},
        "ttftMs": {"p50": 23.421, "p95": 26.218, "p99": 28.077},
        "itlMs": {"p50": 2.309, "p95": 2.535, "p99": 2.643},
        "outputTokensPerSecond": 995.0,
        "outputTokensPerSecondPerGpu": 62.19,
        "warnings": ["generation_delay_ttft"],
    }
    assert found["failures"] == []


def test_a_step_with_more_errors_than_allowed_is_a_failure() -> None:
    found = summary(ARRIVING, report("failing"))
    assert [(step["rate"], step["errorRate"]) for step in found["steps"]] == [(2.0, 0.0), (4.5, 0.2941)]
    assert found["failures"] == ["29.41% of the requests of step 2 failed"]


def test_as_many_errors_as_allowed_are_none() -> None:
    allowed = {**ARRIVING, "load": {**ARRIVING["load"], "maxErrorRate": 0.2941}}
    assert summary(allowed, report("failing"))["failures"] == []


def test_a_test_that_ended_early_and_measured_nothing_is_a_failure() -> None:
    found = summary(CONCURRENT, report("unanswered"))
    assert found["failures"] == ["only 1 of 2 steps ran", "no request of step 1 was answered within its time"]


@pytest.mark.parametrize(("name", "record", "code"), [("answered", CONCURRENT, 0), ("failing", ARRIVING, 1)])
def test_the_program_writes_the_summary_and_fails_with_the_test(
    name: str, record: dict[str, Any], code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record_file = tmp_path / "record.json"
    record_file.write_text(json.dumps(record), encoding="utf-8")
    (tmp_path / REPORT).write_text(json.dumps(report(name)), encoding="utf-8")
    assert main(str(record_file), str(tmp_path)) == code
    expected = summary(record, report(name))
    assert json.loads((tmp_path / SUMMARY).read_text(encoding="utf-8")) == expected
    assert json.loads(capsys.readouterr().out) == expected
