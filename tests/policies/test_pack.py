"""The rules as policies, without an engine: what CrossGuard hands over, and what it is told."""

from dataclasses import replace
from typing import Any, NoReturn

import pulumi
import pytest
from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyCustomTimeouts,
    PolicyProviderResource,
    PolicyResource,
    PolicyResourceOptions,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, unknown_checking_proxy

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.policies.pack import UNSEEN_AROUND_POLICY, UNSEEN_POLICY, _Pack, _policy, plain, policies, run
from pulumi_lws.policies.reading import Readings
from pulumi_lws.rules.catalogue import RULES
from pulumi_lws.rules.levels import Preset
from pulumi_lws.rules.rule import Context, Program, RegisteredObject
from pulumi_lws.rules.scope import SCOPE_POLICY
from pulumi_lws.rules.values import UNKNOWN
from tests.policies.pack_run import Registered, run_pack

LWS = "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet"
PACK = {policy.name: policy for policy in policies()}


def reported(
    name: str | Policy,
    properties: dict[str, Any],
    *,
    type_token: str = LWS,
    provider: str = "cluster",
    config: dict[str, Any] | None = None,
) -> list[str]:
    policy = PACK[name] if isinstance(name, str) else name
    assert isinstance(policy, ResourceValidationPolicy)
    args = ResourceValidationArgs(
        type_token,
        unknown_checking_proxy(properties),
        "urn",
        "llm",
        PolicyResourceOptions(False, [], None, [], PolicyCustomTimeouts(0, 0, 0), [], ""),
        PolicyProviderResource("pulumi:providers:kubernetes", unknown_checking_proxy({}), "urn", provider),
        config,
        {},
    )
    messages: list[str] = []

    def report(message: str, _urn: str | None = None) -> None:
        messages.append(message)

    policy.validate(args, report)
    return messages


def test_errors_are_mandatory_policies_and_warnings_and_what_cannot_be_seen_advisory_ones() -> None:
    levels = {Severity.ERROR: EnforcementLevel.MANDATORY, Severity.WARNING: EnforcementLevel.ADVISORY}
    others = dict.fromkeys((SCOPE_POLICY, "exemptions", UNSEEN_POLICY, UNSEEN_AROUND_POLICY), EnforcementLevel.ADVISORY)
    expected = {rule.name: levels[rule.severity] for rule in RULES} | others
    assert {name: policy.enforcement_level for name, policy in PACK.items()} == expected


def test_presets_go_from_nothing_that_blocks_to_everything() -> None:
    def blocking(preset: Preset) -> set[str]:
        return {each.name for each in policies(preset) if each.enforcement_level is EnforcementLevel.MANDATORY}

    assert blocking(Preset.ADVISORY) == set()
    assert blocking(Preset.STANDARD) == {rule.name for rule in RULES if rule.severity is Severity.ERROR}
    assert blocking(Preset.STRICT) == {rule.name for rule in RULES} | {"exemptions"}


def test_a_preset_that_there_is_not_is_a_sentence() -> None:
    with pytest.raises(SystemExit, match=r"^There is no preset 'lenient'. Write one of advisory, standard, strict in"):
        run("lenient")


def test_a_rule_that_fails_is_said_and_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_subject: object, _context: object) -> NoReturn:
        raise TypeError("no")

    warnings: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", warnings.append)
    policy = _policy(replace(RULES[1], check=fail), Preset.STANDARD, _Pack(Readings()))
    assert reported(policy, {}) == []
    [warning] = warnings
    assert warning.startswith(
        "leader-ready on urn: found an object that the rule cannot judge (TypeError: no); allowed:"
    )


def test_proxies_become_plain_data_with_unknowns_marked() -> None:
    proxy = unknown_checking_proxy({"a": [{"b": UNKNOWN_STRING_VALUE}, UNKNOWN_STRING_VALUE, "text"], "c": 2.0})
    assert plain(proxy) == {"a": [{"b": UNKNOWN}, UNKNOWN, "text"], "c": 2.0}


def test_whole_numbers_are_whole_again() -> None:
    read = plain(unknown_checking_proxy({"gpus": 8.0, "share": 0.5, "most": float("inf"), "on": True}))
    assert read == {"gpus": 8, "share": 0.5, "most": float("inf"), "on": True}
    assert [type(value) for value in read.values()] == [int, float, float, bool]


def test_a_breach_is_reported_with_its_fix() -> None:
    assert reported("leader-ready", {"spec": {"leaderWorkerTemplate": {"size": 2.0}}}) == [
        (
            "spec.startupPolicy: found LeaderCreated (the server's default); allowed: LeaderReady,"
            " for a group of 2 pods. Set startupPolicy to LeaderReady, with a readiness of the leader that does"
            " not need its workers (MultiNodeVllm renders both)."
        )
    ]


def test_what_cannot_be_seen_is_no_breach_and_no_silence() -> None:
    properties = {
        "metadata": {"annotations": {"leaderworkerset.sigs.k8s.io/exclusive-topology": "pulumi-lws/island"}},
        "spec": {"startupPolicy": UNKNOWN_STRING_VALUE, "leaderWorkerTemplate": {"size": 2.0}},
    }
    assert reported("leader-ready", properties) == []
    assert reported(UNSEEN_POLICY, properties) == [
        (
            "leader-ready could not judge spec.startupPolicy: found a value not known before the update;"
            " allowed: a plain value. Make it plain, so that a preview can tell whether workers wait for their leader."
        )
    ]


def test_a_parameter_is_read_from_the_configuration() -> None:
    properties = {
        "metadata": {"annotations": {"leaderworkerset.sigs.k8s.io/exclusive-topology": "kubernetes.io/hostname"}},
        "spec": {"leaderWorkerTemplate": {"size": 2.0}},
    }
    assert reported("exclusive-topology", properties) == []
    assert len(reported("exclusive-topology", properties, config={"allowedKeys": ["pulumi-lws/island"]})) == 1


def test_objects_of_the_default_provider_are_refused() -> None:
    assert reported("server-side-apply", {}, type_token="kubernetes:core/v1:Service") == []
    assert len(reported("server-side-apply", {}, type_token="kubernetes:core/v1:Service", provider="default_1")) == 1


def test_a_rule_that_looks_around_judges_the_whole_stack_and_names_the_object() -> None:
    metadata = {"name": "llm", "namespace": "models"}
    service = a_resource("kubernetes:core/v1:Service", {"metadata": metadata, "spec": {"clusterIP": "None"}}, "svc")
    groups = a_resource(LWS, {"metadata": metadata, "spec": {}}, "lws")
    policy = PACK["shadowing-service"]
    assert isinstance(policy, StackValidationPolicy)
    reports: list[tuple[str | None, str]] = []

    def report(message: str, urn: str | None = None) -> None:
        reports.append((urn, message.partition(";")[0]))

    policy.validate(StackValidationArgs([service, groups], {}, {}), report)
    assert reports == [("svc", "metadata.name: found llm, the name of a LeaderWorkerSet of the same namespace")]


def test_a_rule_that_looks_around_blocks_nothing_that_it_cannot_see() -> None:
    metadata = {"name": UNKNOWN_STRING_VALUE, "namespace": "models"}
    service = a_resource("kubernetes:core/v1:Service", {"metadata": metadata}, "svc")
    groups = a_resource(LWS, {"metadata": {"name": "llm", "namespace": "models"}, "spec": {}}, "lws")
    policy = PACK["shadowing-service"]
    assert isinstance(policy, StackValidationPolicy)

    def report(message: str, _urn: str | None = None) -> None:
        raise AssertionError(message)

    policy.validate(StackValidationArgs([service, groups], {}, {}), report)


def test_what_a_rule_that_looks_around_cannot_see_is_said_of_the_object_once() -> None:
    service = Registered(
        "kubernetes:core/v1:Service", "svc", {"metadata": {"name": UNKNOWN_STRING_VALUE, "namespace": "models"}}
    )
    pod = {"spec": {"containers": [{"name": "engine", "command": ["vllm", "serve", "m"]}]}}
    spec = {"leaderWorkerTemplate": {"size": 1, "workerTemplate": pod}}
    groups = Registered(LWS, "lws", {"metadata": {"name": "llm", "namespace": "models"}, "spec": spec})
    said = sorted(
        (each.name, each.level, each.message.partition(":")[0])
        for each in run_pack(service, groups)
        if each.policy in (UNSEEN_POLICY, UNSEEN_AROUND_POLICY)
    )
    assert said == [
        ("svc", "advisory", f"{rule} could not judge metadata.name") for rule in ("service-links", "shadowing-service")
    ]


def test_what_a_rule_makes_of_all_objects_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []

    def look_around(_subject: RegisteredObject, context: Context) -> tuple[Problem, ...]:
        seen.append(context.others)
        return ()

    around = next(rule for rule in RULES if rule.looks_around)
    rule = replace(around, applies_to=lambda _: True, check=look_around)
    monkeypatch.setattr("pulumi_lws.policies.pack.RULES", (rule,))
    run_pack(Registered(LWS, "one", {}), Registered(LWS, "two", {}))
    together = [each for each in seen if isinstance(each, Program) and len(each) == 2]
    assert len(together) == 2
    assert together[0] is together[1]


def a_resource(type_token: str, properties: dict[str, Any], urn: str) -> PolicyResource:
    options = PolicyResourceOptions(False, [], None, [], PolicyCustomTimeouts(0, 0, 0), [], "")
    return PolicyResource(type_token, unknown_checking_proxy(properties), urn, urn, options, None, None, [], {})
