"""The pack and ``lws check`` say the same of the same objects."""

import json
from pathlib import Path

import pytest

from lab.rule_samples import Sample, samples
from pulumi_lws.checking.judging import check
from pulumi_lws.rules.judging import registered
from tests.policies.pack_run import Registered, config_of, run_pack, sent

OF_KUBERNETES = [sample for sample in samples(None, "denied", "bound") if sample.manifests]


@pytest.mark.parametrize("sample", OF_KUBERNETES, ids=lambda sample: sample.name)
def test_the_pack_and_the_check_find_the_same(sample: Sample, tmp_path: Path) -> None:
    file = tmp_path / "objects.yaml"
    file.write_text("\n---\n".join(map(json.dumps, sample.manifests)))
    report = check([str(file)], sample.target)
    assert not report.errors
    checked = {
        (problem.rule, str(problem), str(index))
        for index, each in enumerate(report.objects)
        for problem in each.problems
        if problem.rule != "schema"
    }
    resources = [
        Registered(registered(manifest).type, str(index), sent(manifest))
        for index, manifest in enumerate(sample.manifests)
    ]
    config = {"pack": config_of(sample)["pack"]}
    assert {(each.policy, each.message, each.name) for each in run_pack(*resources, config=config)} == checked
