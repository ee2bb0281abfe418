"""``lws check`` by the configuration of the policy pack."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pulumi_lws.checking.configuration import Configuration, ConfigurationError, read_configuration
from pulumi_lws.checking.judging import RULES_OF_FILES, check
from pulumi_lws.checking.report import Report
from pulumi_lws.planning.problems import Severity
from pulumi_lws.rules.catalogue import RULES
from pulumi_lws.rules.levels import Preset

WriteManifest = Callable[[str], str]
Read = Callable[..., Configuration]

GROUP = """\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: glm-5, namespace: models, annotations: {ANNOTATIONS}}
spec:
  leaderWorkerTemplate:
    size: 2
    restartPolicy: RecreateGroupAfterStart
    workerTemplate:
      spec: {containers: [{name: vllm, image: vllm}]}
"""


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Reads a configuration, given as what its file says."""

    def read_it(content: Any = None, preset: Preset = Preset.STANDARD) -> Configuration:
        file = tmp_path / "policies.json"
        file.write_text(content if isinstance(content, str) else json.dumps(content or {}))
        return read_configuration(str(file), preset, RULES_OF_FILES)

    return read_it


@pytest.fixture
def judged(read: Read, write_manifest: WriteManifest) -> Callable[..., Report]:
    """Checks a group of two pods by a configuration."""

    def judge(content: Any = None, annotations: str = "") -> Report:
        configuration = read(content)
        file = write_manifest(GROUP.replace("ANNOTATIONS", annotations))
        return check([file], configuration.scope.target, configuration.rules, configuration.scope)

    return judge


def severities(configuration: Configuration) -> dict[str, Severity]:
    return {rule.name: rule.severity for rule in configuration.rules}


def broken(report: Report) -> dict[str, Severity]:
    return {problem.rule: problem.severity for problem in report.problems}


def test_without_a_file_the_preset_counts() -> None:
    own = {rule.name: rule.severity for rule in RULES_OF_FILES}
    assert severities(read_configuration(None, Preset.STANDARD, RULES_OF_FILES)) == own
    for preset, severity in ((Preset.ADVISORY, Severity.WARNING), (Preset.STRICT, Severity.ERROR)):
        assert severities(read_configuration(None, preset, RULES_OF_FILES)) == dict.fromkeys(own, severity)


@pytest.mark.parametrize("wrapped", [False, True])
def test_levels_and_values_are_those_of_the_file(read: Read, wrapped: bool) -> None:
    policies = {
        "all": "advisory",
        "leader-ready": "mandatory",
        "service-links": "disabled",
        "exclusive-topology": {"enforcementLevel": "remediate", "allowedKeys": ["pulumi-lws/island"]},
        "server-side-apply": "mandatory",
        "values-not-seen": "disabled",
    }
    configuration = read({"version": 2, "policies": policies} if wrapped else {**policies, "environments": ["a"]})
    expected = {rule.name: Severity.WARNING for rule in RULES_OF_FILES if rule.name != "service-links"}
    assert severities(configuration) == expected | {
        "leader-ready": Severity.ERROR,
        "exclusive-topology": Severity.ERROR,
    }
    [topology] = [rule for rule in configuration.rules if rule.name == "exclusive-topology"]
    assert topology.parameters["allowedKeys"].default == ["pulumi-lws/island"]


@pytest.mark.parametrize(
    ("content", "message"),
    {
        "{": "is no JSON: ",
        "[]": "expected a mapping of policies to levels or settings",
        '{"leader-redy": "advisory"}': "leader-redy: there is no such policy. Write leader-ready.",
        '{"leader-ready": 1}': "leader-ready: expected a level or a mapping of settings",
        '{"leader-ready": "warn"}': "leader-ready: 'warn' is no level. Write one of mandatory, remediate, advisory,",
        '{"leader-ready": {"enforcementLevel": []}}': "leader-ready: [] is no level.",
        '{"leader-ready": {"allowedKeys": []}}': "leader-ready: Additional properties are not allowed",
        '{"exclusive-topology": {"allowedKeys": [1]}}': "exclusive-topology.allowedKeys.0: 1 is not of type",
        '{"pack": {"exemptions": [{"rules": ["*"], "resources": ["*"]}]}}': 'pack.exemptions.0: "reason" is a required',
        '{"pack": {"exemptions": [{"rules": ["leader-redy"], "resources": ["*"], "reason": "x"}]}}': (
            "pack.exemptions[0].rules: there is no rule leader-redy. Write leader-ready."
        ),
        '{"pack": {"lwsVersion": "ten"}}': "pack.lwsVersion: ",
    }.items(),
)
def test_what_a_file_cannot_mean_is_said(read: Read, content: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        read(content)
    assert message in str(raised.value)


def test_a_file_that_is_not_there_is_said() -> None:
    with pytest.raises(ConfigurationError, match=r"^none\.json: No such file or directory$"):
        read_configuration("none.json", Preset.STANDARD, RULES)


def test_an_exempted_problem_is_left_out_and_noted(judged: Callable[..., Report]) -> None:
    house = {"leader-ready": Severity.ERROR, "exclusive-topology": Severity.ERROR}
    assert broken(judged()) == house
    report = judged(annotations='pulumi-lws/exempt.leader-ready: "2999-12-31 starts by itself"')
    assert broken(report) == {"exclusive-topology": Severity.ERROR}
    assert report.notes == ("exempt from leader-ready: 1 problem (until 2999-12-31: starts by itself)",)
    exemption = {"rules": ["*"], "resources": ["LeaderWorkerSet/models/*"], "reason": "a lab"}
    report = judged({"pack": {"exemptions": [exemption]}})
    assert broken(report) == {}
    assert len(report.notes) == 2
    assert report.exit_code(Severity.WARNING) == 0


def test_an_exemption_that_lapsed_or_names_no_rule_is_said(judged: Callable[..., Report]) -> None:
    report = judged(annotations='pulumi-lws/exempt.leader-ready: "2020-12-31 moves", pulumi-lws/exempt.all: "mine"')
    assert broken(report) == {
        "leader-ready": Severity.ERROR,
        "exclusive-topology": Severity.ERROR,
        "exemptions": Severity.WARNING,
    }
    [problem] = [each for each in report.problems if each.rule == "leader-ready"]
    assert problem.fix.endswith("Not exempt: the annotation pulumi-lws/exempt.leader-ready lapsed after 2020-12-31.")


def test_a_namespace_out_of_scope_is_judged_by_schemas_alone(judged: Callable[..., Report]) -> None:
    report = judged({"pack": {"excludeNamespaces": ["models"]}}, annotations="team: 1")
    assert broken(report) == {"schema": Severity.ERROR}
