"""Previews as the engine writes them, made from what is said of their resources."""

import json
from pathlib import Path
from typing import Any

from pulumi_lws.reporting.report import Outcome, Report

URN = "urn:pulumi:prod::shop::"


def resource_event(op: str, kind: str, name: str, old: Any = None, new: Any = None) -> dict[str, Any]:
    urn = f"{URN}{kind}::{name}"
    states = {
        key: {"type": kind, "urn": urn, "parent": "", "inputs": inputs}
        for key, inputs in (("old", old), ("new", new))
        if inputs is not None
    }
    return {"resourcePreEvent": {"metadata": {"op": op, "urn": urn, "type": kind, **states}}}


def summary(result: str = "succeeded", **fields: Any) -> dict[str, Any]:
    return {"summaryEvent": {"isPreview": True, "result": result, "PolicyPacks": {}, **fields}}


def violation(policy: str, level: str, message: str, urn: str = "") -> dict[str, Any]:
    event = {"policyName": policy, "policyPackName": "pack", "enforcementLevel": level}
    return {"policyEvent": {**event, "message": f"What it is for.\n{message}\n", "resourceUrn": urn}}


def complaint(severity: str, message: str) -> dict[str, Any]:
    return {"diagnosticEvent": {"severity": severity, "prefix": f"{severity}: ", "message": message}}


def write(folder: Path, *events: dict[str, Any], name: str = "preview.json") -> str:
    path = folder / name
    lines = list(events) if any("summaryEvent" in event for event in events) else [*events, summary()]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return str(path)


def digest(folder: Path, *events: dict[str, Any], **fields: Any) -> str:
    """Write the same resources in the other form: one document of steps."""
    steps = [
        {"op": one["op"], "urn": one["urn"], "oldState": one.get("old"), "newState": one.get("new")}
        for one in (event["resourcePreEvent"]["metadata"] for event in events)
    ]
    path = folder / "digest.json"
    path.write_text(json.dumps({"steps": steps, "duration": 1, "changeSummary": {}, **fields}, indent=4))
    return str(path)


LWS = "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"


def pod(gpus: int = 8, image: str = "example.com/vllm:1", **spec: Any) -> dict[str, Any]:
    container = {"name": "engine", "image": image, "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}
    return {"spec": {"containers": [container], **spec}}


def groups(template: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "llm", "namespace": "models"},
        "spec": {"replicas": 3, "leaderWorkerTemplate": {"size": 2, "workerTemplate": template}, **spec},
    }


def deployment(template: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "web", "namespace": "models"},
        "spec": {"replicas": 4, "template": template, **spec},
    }


def outcome(found: Report) -> Outcome:
    """Return what a change comes to, where the preview saw it all."""
    assert found.outcome is not None
    return found.outcome
