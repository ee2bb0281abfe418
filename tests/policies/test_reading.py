"""The SDK reads a resource once for all policies, and not again for each of them."""

from typing import Any

import pytest
from google.protobuf import json_format, struct_pb2
from pulumi.runtime import proto
from pulumi_policy import EnforcementLevel, ResourceValidationPolicy
from pulumi_policy import policy as sdk

from pulumi_lws.policies.pack import policies
from pulumi_lws.policies.reading import Readings, read_once
from pulumi_lws.rules.catalogue import RULES
from pulumi_lws.rules.scope import SETTINGS

LWS = "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet"
WRONG = {"metadata": {"name": "llm"}, "spec": {"leaderWorkerTemplate": {"size": 2}}}
RIGHT = {"metadata": {"name": "llm"}, "spec": {"leaderWorkerTemplate": {"size": 1}}}


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> Readings:
    """The SDK as the process of a pack has it; as it was again afterwards."""
    for name in ("json_format", "deserialize_properties", "unknown_checking_proxy"):
        monkeypatch.setattr(sdk, name, getattr(sdk, name))
    return read_once()


def answer(servicer: Any, properties: dict[str, Any]) -> list[str]:
    """The policies that a resource breaks, as the SDK answers the engine."""
    sent = struct_pb2.Struct()
    sent.update(properties)
    provider = proto.AnalyzerProviderResource(type="pulumi:providers:kubernetes", urn="urn", name="cluster")
    request = proto.AnalyzeRequest(
        type=LWS, properties=sent, urn="urn:pulumi:prod::p::LWS::llm", name="llm", provider=provider
    )
    return [diagnostic.policyName for diagnostic in servicer.Analyze(request, None).diagnostics]


def configured(servicer: Any) -> Any:
    """The servicer with every default, as the engine configures it."""
    defaults = {rule.name: {name: each.default for name, each in rule.parameters.items()} for rule in RULES}
    defaults["pack"] = {name: each.default for name, each in SETTINGS.items()}
    request = proto.ConfigureAnalyzerRequest()
    for name, values in defaults.items():
        request.policyConfig[name].properties.update(values)
    servicer.Configure(request, None)
    return servicer


def test_every_policy_is_shown_the_same_reading_and_the_next_resource_anew(readings: Readings) -> None:
    shown: list[Any] = []
    watching = [
        ResourceValidationPolicy(name, name, lambda args, _report: shown.append(args.props), EnforcementLevel.ADVISORY)
        for name in ("one", "two")
    ]
    servicer: Any = sdk._PolicyAnalyzerServicer("watching", "1", [*watching], EnforcementLevel.ADVISORY)
    answer(servicer, WRONG)
    readings.forget()
    answer(servicer, WRONG)
    assert shown[0] is shown[1]
    assert shown[1] is not shown[2]
    assert shown[2] is shown[3]


def test_the_pack_judges_each_resource_for_itself(readings: Readings) -> None:
    servicer: Any = sdk._PolicyAnalyzerServicer("pack", "1", policies(readings=readings), EnforcementLevel.ADVISORY)
    configured(servicer)
    for _ in range(3):
        assert "leader-ready" in answer(servicer, WRONG)
        assert "leader-ready" not in answer(servicer, RIGHT)


def test_what_is_asked_with_options_is_read_anew() -> None:
    calls: list[tuple[object, ...]] = []
    once = Readings().once("read", lambda *asked: calls.append(asked))
    source = object()
    for _ in range(2):
        once(source)
        once(source, True)
    assert calls == [(source,), (source, True), (source, True)]


def test_the_sdk_converts_messages_as_it_is_taken_to() -> None:
    assert sdk.json_format is json_format  # type: ignore[attr-defined]  # the SDK does not count it among what it exports
