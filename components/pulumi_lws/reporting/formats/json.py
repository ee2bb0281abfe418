"""The report as JSON, for scripts."""

import json
from typing import Any

from pulumi_lws.planning.secrets import without_tokens
from pulumi_lws.reporting.capacity import Capacity, PoolUse
from pulumi_lws.reporting.differences import paths
from pulumi_lws.reporting.findings import findings
from pulumi_lws.reporting.models import ModelChange
from pulumi_lws.reporting.preview import Step
from pulumi_lws.reporting.report import Report


def render(report: Report) -> str:
    """Write the report; keys are stable, and what is not known is null."""
    return json.dumps(_clean(_report(report)), indent=2, ensure_ascii=False) + "\n"


def _clean(value: Any) -> Any:
    """Take tokens out of every text: names of anybody's choice stand among them."""
    match value:
        case dict():
            return {key: _clean(part) for key, part in value.items()}
        case list():
            return [_clean(part) for part in value]
        case str():
            return without_tokens(value)
    return value


def _report(report: Report) -> dict[str, Any]:
    outcome = report.outcome
    upgrade = outcome.upgrade if outcome else None
    return {
        "stack": report.stack,
        "applicable": report.can_be_applied,
        "findings": [
            {"level": each.level, "text": each.text.replace("`", ""), "why": each.why.replace("`", "")}
            for each in findings(report)
        ],
        "complete": outcome is not None,
        "compared_with": "base" if report.has_base else "running",
        "models": [_model(change) for change in outcome.models] if outcome else None,
        "capacity": {"before": _capacity(outcome.before), "after": _capacity(outcome.after)} if outcome else None,
        "resources": {**report.counts()}
        | {"unchanged": report.unchanged, "pending_on_base": report.pending}
        | {"only_on_base": outcome.undone if outcome else None},
        "changes": [_step(step) for step in report.steps],
        "upgrade": None if upgrade is None else {"from": upgrade.old, "to": upgrade.new},
        "policies": None
        if report.policies is None
        else [
            {"policy": r.policy, "pack": r.pack, "mandatory": r.mandatory, "urn": r.urn, "message": r.message}
            for r in report.policies
        ],
        "problems": [
            {"severity": "error" if each.is_error else "warning", "urn": each.urn, "message": each.message}
            for each in report.diagnostics
        ],
        "left_out": report.missing,
    }


def _model(change: ModelChange) -> dict[str, Any]:
    old, new, workload = change.old, change.new, change.workload
    return {
        "name": workload.name,
        "kind": workload.kind,
        "what": change.fate,
        "replicas": {"before": old.replicas if old else 0, "after": new.replicas if new else 0},
        "gpus": {
            "before": old.replicas * old.gpus if old else 0,
            "after": new.replicas * new.gpus if new else 0,
        },
        "missing": change.missing,
        "minutes": change.minutes,
        "changed": list(change.reasons),
    }


def _capacity(capacity: Capacity) -> dict[str, Any]:
    return {
        "gpus": capacity.gpus,
        "most_gpus": capacity.most_gpus,
        "efa": capacity.efa,
        "nodes": capacity.nodes,
        "most_nodes": capacity.most_nodes,
        "dollars_per_hour": round(capacity.dollars, 4),
        "most_dollars_per_hour": None if capacity.most_dollars is None else round(capacity.most_dollars, 4),
        "unpriced": list(capacity.unpriced),
        "without_pool": list(capacity.homeless),
        "pools": [_pool(use) for use in capacity.pools],
    }


def _pool(use: PoolUse) -> dict[str, Any]:
    return {
        "name": use.pool.name,
        "instance_types": list(use.pool.instance_types),
        "bought": use.pool.bought,
        "nodes": use.nodes,
        "most_nodes": use.pool.most,
        "dollars_per_node": use.price,
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "operation": step.operation,
        "type": step.resource.type,
        "name": step.resource.own_name,
        "urn": step.resource.urn,
        "paths": paths(step.old.inputs, step.new.inputs) if step.old and step.new else [],
    }
