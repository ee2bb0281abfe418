"""Summary of a load test: runs in GuideLLM's image after it, as ``python3 summary.py RECORD FOLDER``.

Standard library only. It joins the record of the declaration with what was measured, writes both to ``summary.json``
beside the report and to standard output, and exits with 1 where the test did not measure what it was to measure:
GuideLLM itself exits with 0 when every request failed.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

REPORT = "benchmarks.json"
SUMMARY = "summary.json"

LATENCIES = {
    "requestSeconds": "request_latency",
    "ttftMs": "time_to_first_token_ms",
    # Between the tokens after the first, as vLLM's TPOT: what GuideLLM calls time per output token counts the first.
    "itlMs": "inter_token_latency_ms",
}
"""Names in the summary, and in a report of GuideLLM 0.8."""


def summary(record: Mapping[str, Any], report: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record, what was measured in each step, and what was wrong with it."""
    steps = [_step(benchmark, record["gpus"]) for benchmark in report["benchmarks"]]
    return {"record": dict(record), "steps": steps, "failures": _failures(record["load"], steps)}


def _step(benchmark: Mapping[str, Any], gpus: int) -> dict[str, Any]:
    metrics, strategy = benchmark["metrics"], benchmark["config"]["strategy"]
    requests = metrics["request_totals"]
    ended = requests["successful"] + requests["errored"]
    tokens = metrics["output_tokens_per_second"]["successful"]["mean"]
    return {
        **{name: strategy[name] for name in ("streams", "rate") if strategy.get(name) is not None},
        "seconds": round(benchmark["duration"], 1),
        "requests": {name: requests[name] for name in ("successful", "errored", "incomplete")},
        "errorRate": round(requests["errored"] / ended, 4) if ended else 1.0,
        **{name: _percentiles(metrics[key]["successful"]) for name, key in LATENCIES.items()},
        "outputTokensPerSecond": round(tokens, 1),
        "outputTokensPerSecondPerGpu": round(tokens / gpus, 2),
        "warnings": [warning["code"] for warning in benchmark["warnings"]],
    }


def _percentiles(distribution: Mapping[str, Any]) -> dict[str, float]:
    return {name: round(distribution["percentiles"][name], 3) for name in ("p50", "p95", "p99")}


def _failures(load: Mapping[str, Any], steps: list[dict[str, Any]]) -> list[str]:
    wanted = load.get("requests") or load["perSecond"]
    failures = []
    if len(steps) < len(wanted):
        failures.append(f"only {len(steps)} of {len(wanted)} steps ran")
    for number, step in enumerate(steps, 1):
        if not step["requests"]["successful"]:
            failures.append(f"no request of step {number} was answered within its time")
        elif step["errorRate"] > load["maxErrorRate"]:
            failures.append(f"{step['errorRate']:.2%} of the requests of step {number} failed")
    return failures


def main(record_file: str, folder: str) -> int:
    """Write the summary; return the exit code."""
    record = json.loads(Path(record_file).read_text(encoding="utf-8"))
    report = json.loads((Path(folder) / REPORT).read_text(encoding="utf-8"))
    found = summary(record, report)
    (Path(folder) / SUMMARY).write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(found))  # noqa: T201 - the log of the pod is where it is read
    return 1 if found["failures"] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
