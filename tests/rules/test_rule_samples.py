"""Each rule against samples: objects as files, with the problems that the rule must find in them."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from pulumi_lws.planning.problems import Severity
from pulumi_lws.rules.catalogue import RULES
from pulumi_lws.rules.rule import RegisteredObject, Rule, Target
from pulumi_lws.rules.values import UNKNOWN

SAMPLES = Path(__file__).parent / "samples"
KINDS = ("allowed", "denied", "bound", "unseen", "foreign")
"""What the samples of a rule must show: taken, refused, just at the bound, not known yet, and of a strange shape."""


class _Loader(yaml.SafeLoader):
    """Reads ``!unknown`` as a value that is not known before the update."""


_Loader.add_constructor("!unknown", lambda _loader, _node: UNKNOWN)


def samples() -> list[Path]:
    return sorted(SAMPLES.rglob("*.yaml"))


def load(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), _Loader)  # noqa: S506 - a safe loader with one tag more
    return document


def target_of(sample: dict[str, Any]) -> Target:
    """The cluster that a sample is meant for; the newest where it names none."""
    named = sample.get("target", {})
    versions = {name: tuple(map(int, str(named[name]).split("."))) for name in ("lws", "kubernetes") if name in named}
    return Target(**versions, gangs=frozenset(named.get("gangs", ())))  # type: ignore[arg-type]  # two numbers each


def others_of(sample: dict[str, Any], subject: RegisteredObject) -> list[RegisteredObject]:
    """The other objects of the same program, the judged one among them."""
    return [subject, *(RegisteredObject(**other) for other in sample.get("others", ()))]


@pytest.mark.parametrize("path", samples(), ids=lambda path: str(path.relative_to(SAMPLES)))
def test_a_sample_has_the_problems_that_it_says(path: Path) -> None:
    sample = load(path)
    [rule] = [rule for rule in RULES if rule.name == path.parent.name]
    subject = RegisteredObject(**sample["subject"])
    found = rule.problems(subject, target_of(sample), sample.get("values"), others_of(sample, subject))
    assert [str(problem) for problem in found] == sample["problems"]
    assert all(problem.rule == rule.name for problem in found)
    if path.name.startswith("unseen"):
        assert {problem.severity for problem in found} == {Severity.UNSEEN}
    else:
        assert Severity.UNSEEN not in {problem.severity for problem in found}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_has_a_sample_of_every_kind(rule: Rule) -> None:
    shown = {path.name.partition("-")[0].removesuffix(".yaml") for path in (SAMPLES / rule.name).glob("*.yaml")}
    assert shown == set(KINDS)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_denied_samples_are_denied(rule: Rule) -> None:
    for path in (SAMPLES / rule.name).glob("denied*.yaml"):
        assert load(path)["problems"], path.name


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
@pytest.mark.parametrize("type_token", ["aws:s3/bucket:Bucket", "kubernetes:apps/v1:Deployment", "lws:index:Platform"])
def test_an_ordinary_resource_breaks_nothing(rule: Rule, type_token: str) -> None:
    assert rule.problems(RegisteredObject(type_token, {}, "web", provider_name="explicit"), Target()) == []


def test_names_of_rules_are_unique() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
