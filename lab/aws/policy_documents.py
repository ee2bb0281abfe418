"""Writes the documents of ``aws.iam.getPolicyDocument``; pure."""

import json
from collections.abc import Mapping
from typing import Any


def document(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The policy document that the arguments describe, in the order in which the real provider writes it."""
    statements: list[dict[str, Any]] = []
    sources = arguments.get("sourcePolicyDocuments", [])
    overrides = arguments.get("overridePolicyDocuments", [])
    for source in sources:
        _merge(statements, json.loads(source).get("Statement", []))
    _merge(statements, [_statement(one) for one in arguments.get("statements", [])])
    for override in overrides:
        _merge(statements, json.loads(override).get("Statement", []))
    written: dict[str, Any] = {"Version": arguments.get("version", "2012-10-17")}
    if "policyId" in arguments:
        written["Id"] = arguments["policyId"]
    return {**written, "Statement": statements}


def _merge(statements: list[dict[str, Any]], more: list[dict[str, Any]]) -> None:
    """Add statements; one with the Sid of an earlier one takes its place."""
    for one in more:
        same = [number for number, other in enumerate(statements) if one.get("Sid") and other.get("Sid") == one["Sid"]]
        if same:
            statements[same[0]] = one
        else:
            statements.append(one)


def _statement(given: Mapping[str, Any]) -> dict[str, Any]:
    written: dict[str, Any] = {}
    if given.get("sid"):
        written["Sid"] = given["sid"]
    written["Effect"] = given.get("effect", "Allow")
    for name in ("actions", "notActions", "resources", "notResources"):
        if given.get(name):
            written[name[0].upper() + name[1:-1]] = _one_or_sorted(given[name])
    for name in ("principals", "notPrincipals"):
        if given.get(name):
            written[name[0].upper() + name[1:-1]] = _principals(given[name])
    if given.get("conditions"):
        conditions: dict[str, dict[str, Any]] = {}
        for one in given["conditions"]:
            values = one["values"]
            conditions.setdefault(one["test"], {})[one["variable"]] = values[0] if len(values) == 1 else values
        written["Condition"] = conditions
    return written


def _principals(given: list[Mapping[str, Any]]) -> Any:
    if [(one["type"], one["identifiers"]) for one in given] == [("*", ["*"])]:
        return "*"
    return {one["type"]: _one_or_sorted(one["identifiers"]) for one in given}


def _one_or_sorted(values: list[str]) -> Any:
    return values[0] if len(values) == 1 else sorted(values, reverse=True)
