"""Holding an object to the rules that are true of it whoever applies it."""

from collections.abc import Mapping
from typing import Any

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.catalogue import RULES
from pulumi_lws.rules.rule import RegisteredObject, Rule, Target


def registered(manifest: Mapping[str, Any]) -> RegisteredObject:
    """Return a manifest as rules look at it."""
    api_version = str(manifest.get("apiVersion", ""))
    group = api_version if "/" in api_version else f"core/{api_version}"
    return RegisteredObject(f"kubernetes:{group}:{manifest.get('kind', '')}", manifest)


def judge(manifest: Mapping[str, Any], target: Target) -> list[Problem]:
    """Return what is wrong with a single object; the library's own choices are left to policies.

    Args:
        manifest: The object.
        target: The cluster that it is meant for.
    """
    subject = registered(manifest)
    return [problem for rule in RULES if not rule.house for problem in rule.problems(subject, target)]


def could_not_judge(rule: Rule, error: Exception) -> Problem:
    """Return the report that a rule of ours failed on an object; nothing is known of the object then."""
    return Problem(
        path="",
        found=f"an object that the rule cannot judge ({type(error).__name__}: {error})",
        allowed="an object of any shape",
        fix="Report it to the authors of pulumi-lws, with the object.",
        severity=Severity.WARNING,
        rule=rule.name,
    )
