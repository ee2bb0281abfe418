"""Each rule can be exempted from, on everything that it refuses, and only by what holds."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from lab.rule_samples import Sample, samples
from tests.policies.pack_run import Registered, config_of, program_of, run_pack

DENIED = samples(None, "denied")
ANNOTATED = [each for each in DENIED if each.subject.kind not in ("", "helm.sh/Release")]
"""Of objects that have annotations, which providers and releases have not."""


def annotated(sample: Sample, value: str) -> list[Registered]:
    subject, *others = program_of(sample)
    metadata = subject.properties.get("metadata") or {}
    annotations = {**(metadata.get("annotations") or {}), f"pulumi-lws/exempt.{sample.rule}": value}
    properties = {**subject.properties, "metadata": {**metadata, "annotations": annotations}}
    return [replace(subject, properties=properties), *others]


def said(sample: Sample, program: list[Registered], pack: Mapping[str, Any] | None = None) -> list[str]:
    """What the policy of the sample's rule says of the judged object."""
    config = config_of(sample)
    found = run_pack(*program, config={**config, "pack": {**config["pack"], **(pack or {})}})
    return [each.message for each in found if (each.policy, each.name) == (sample.rule, program[0].name)]


@pytest.mark.parametrize("sample", DENIED, ids=lambda sample: sample.name)
def test_the_pack_says_what_the_sample_says(sample: Sample) -> None:
    assert tuple(said(sample, program_of(sample))) == sample.problems


@pytest.mark.parametrize("sample", ANNOTATED, ids=lambda sample: sample.name)
def test_an_annotation_with_a_reason_exempts(sample: Sample) -> None:
    assert said(sample, annotated(sample, "2999-12-31 moves to another engine")) == []


@pytest.mark.parametrize(
    ("value", "why"), [("2020-12-31 moves to another engine", "lapsed after 2020-12-31"), ("", "gives no reason")]
)
@pytest.mark.parametrize("sample", ANNOTATED, ids=lambda sample: sample.name)
def test_an_annotation_that_lapsed_or_gives_no_reason_does_not(sample: Sample, value: str, why: str) -> None:
    addition = f" Not exempt: the annotation pulumi-lws/exempt.{sample.rule} {why}."
    assert said(sample, annotated(sample, value)) == [f"{problem}{addition}" for problem in sample.problems]


@pytest.mark.parametrize("sample", DENIED, ids=lambda sample: sample.name)
def test_the_configuration_exempts_whatever_it_is(sample: Sample) -> None:
    program = program_of(sample)
    exemption = {"rules": [sample.rule], "resources": [program[0].urn], "reason": "moves to another engine"}
    assert said(sample, program, {"exemptions": [exemption]}) == []
