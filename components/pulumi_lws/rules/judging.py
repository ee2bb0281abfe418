"""Holding an object to the rules that are true of it whoever applies it."""

from collections.abc import Mapping, Sequence
from typing import Any

from pulumi_lws.planning.problems import Problem
from pulumi_lws.rules.catalogue import RULES
from pulumi_lws.rules.rule import RegisteredObject, Target


def registered(manifest: Mapping[str, Any]) -> RegisteredObject:
    """Return a manifest as rules look at it."""
    api_version = str(manifest.get("apiVersion", ""))
    group = api_version if "/" in api_version else f"core/{api_version}"
    return RegisteredObject(f"kubernetes:{group}:{manifest.get('kind', '')}", manifest)


def judge(manifest: Mapping[str, Any], target: Target, *, house: bool = False) -> list[Problem]:
    """Return what is wrong with a single object.

    Args:
        manifest: The object.
        target: The cluster that it is meant for.
        house: Whether the library's own choices count too, which components leave to policies.
    """
    subject = registered(manifest)
    return [problem for rule in RULES if house or not rule.house for problem in rule.problems(subject, target)]


def judge_together(subject: RegisteredObject, others: Sequence[RegisteredObject], target: Target) -> list[Problem]:
    """Return everything that is wrong with an object among others: house rules, and what needs a look around."""
    return [problem for rule in RULES for problem in rule.problems(subject, target, others=others)]
