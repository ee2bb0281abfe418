"""Each rule against samples: objects as files, with the problems that the rule must find in them."""

import pytest

from lab.rule_samples import KINDS, Sample, samples
from pulumi_lws.planning.problems import Severity
from pulumi_lws.rules.catalogue import RULES
from pulumi_lws.rules.rule import RegisteredObject, Rule, Target


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.name)
def test_a_sample_has_the_problems_that_it_says(sample: Sample) -> None:
    [rule] = [rule for rule in RULES if rule.name == sample.rule]
    found = rule.problems(sample.subject, sample.target, sample.values, sample.together)
    assert tuple(map(str, found)) == sample.problems
    assert all(problem.rule == rule.name for problem in found)
    if sample.kind == "unseen":
        assert {problem.severity for problem in found} == {Severity.UNSEEN}
    else:
        assert Severity.UNSEEN not in {problem.severity for problem in found}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_has_a_sample_of_every_kind(rule: Rule) -> None:
    assert {sample.kind for sample in samples(rule)} == set(KINDS)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_denied_samples_are_denied(rule: Rule) -> None:
    assert [sample.name for sample in samples(rule, "denied") if not sample.problems] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
@pytest.mark.parametrize("type_token", ["aws:s3/bucket:Bucket", "kubernetes:apps/v1:Deployment", "lws:index:Platform"])
def test_an_ordinary_resource_breaks_nothing(rule: Rule, type_token: str) -> None:
    assert rule.problems(RegisteredObject(type_token, {}, "web", provider_name="explicit"), Target()) == []


def test_names_of_rules_are_unique() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
