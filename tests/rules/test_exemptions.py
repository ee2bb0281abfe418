"""Which exemptions hold, and what is said of those that do not."""

from datetime import date
from typing import Any

import pytest

from pulumi_lws.planning.problems import Problem
from pulumi_lws.rules.exemptions import Exemption, Standing, exemption_names, standing
from pulumi_lws.rules.rule import RegisteredObject, Target
from pulumi_lws.rules.scope import Scope, mistakes_in, scope_of
from pulumi_lws.rules.values import UNKNOWN

DAY = date(2026, 6, 30)
KEY = "pulumi-lws/exempt.leader-ready"
LWS = "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet"
URN = f"urn:pulumi:prod::llm::{LWS}::glm-5"


def groups(annotations: Any = None, **metadata: Any) -> RegisteredObject:
    return RegisteredObject(
        LWS, {"metadata": {"name": "glm-5", "namespace": "models", **metadata, "annotations": annotations}}
    )


def annotated(value: Any, rule: str = "leader-ready") -> Standing:
    return standing(rule, groups({KEY: value}), (), DAY)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("starts by itself", "starts by itself"),
        ("2026-06-30 migration of team x", "until 2026-06-30: migration of team x"),
        ("2026-12-31: migration of team x", "until 2026-12-31: migration of team x"),
        ("  2026-12-31   migration ", "until 2026-12-31: migration"),
        ("24/7 operations take care", "24/7 operations take care"),
        ("3 replicas only", "3 replicas only"),
        ("by hand, since 2024", "by hand, since 2024"),
        ("INC-20260 of 2026-01-01", "INC-20260 of 2026-01-01"),
        ("2026-12-31\nmigration", "until 2026-12-31: migration"),
        ("2026-12-31\tmigration", "until 2026-12-31: migration"),
        ("2026-12-31\u00a0migration", "until 2026-12-31: migration"),
    ],
)
def test_an_annotation_with_a_reason_holds_up_to_its_last_day(value: str, reason: str) -> None:
    assert annotated(value) == Standing(exempt=True, why=reason)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("2026-06-29 migration", "lapsed after 2026-06-29"),
        ("2026-12-31", "gives no reason"),
        ("2026-12-31 ", "gives no reason"),
        ("", "gives no reason"),
        ("  ", "gives no reason"),
        ("2026-02-31 migration", "starts with 2026-02-31, which is no date such as 2026-12-31"),
        ("31.12.2026 migration", "starts with 31.12.2026, which is no date such as 2026-12-31"),
        ("12/31/2026: migration", "starts with 12/31/2026, which is no date such as 2026-12-31"),
        ("20261231 migration", "starts with 20261231, which is no date such as 2026-12-31"),
        ("2026-06-29\nmigration", "lapsed after 2026-06-29"),
        ("2026-06-29\tmigration", "lapsed after 2026-06-29"),
        ("2026-06-29\u00a0migration", "lapsed after 2026-06-29"),
        *(
            (f"{date} migration", f"starts with {date}, which is no date such as 2026-12-31")
            for date in (
                "2026-11-29T23:59:59-12:00",
                "2026-12-31-",
                "(2026-12-31)",
                "until:2026-12-31",
                "until 2026-12-31",
                "2026\u201312\u201331",
                "2026-12",
                "2026-01-01/2026-12-31",
                "31-Dec-2026",
            )
        ),
        (True, "is no text"),
        (None, "is no text"),
        (UNKNOWN, "is not known before the update"),
    ],
)
def test_an_annotation_that_does_not_hold_says_why(value: Any, why: str) -> None:
    assert annotated(value) == Standing(exempt=False, why=f"Not exempt: the annotation {KEY} {why}.")


def test_an_exemption_is_of_one_rule() -> None:
    assert annotated("migration", rule="exclusive-topology") == Standing(exempt=False)


@pytest.mark.parametrize("annotations", [None, [], "text", {1: "x"}, UNKNOWN, {KEY + "x": "migration"}])
def test_strange_annotations_exempt_from_nothing(annotations: Any) -> None:
    assert standing("leader-ready", groups(annotations), (), DAY) == Standing(exempt=False)


@pytest.mark.parametrize(
    ("pattern", "holds"),
    [
        (URN, True),
        ("urn:pulumi:prod::*::glm-*", True),
        ("LeaderWorkerSet/models/glm-5", True),
        ("*/models/*", True),
        ("*", True),
        ("glm-5", False),
        ("LeaderWorkerSet/glm-5", False),
        ("urn:pulumi:staging::*", False),
        ("LeaderWorkerSet/models/glm-?", False),
        ("LeaderWorkerSet/models/glm-[0-9]", False),
    ],
)
def test_the_configuration_names_resources_by_urn_or_by_kind_namespace_and_name(pattern: str, holds: bool) -> None:
    exemption = Exemption(("leader-*",), (pattern,), "starts by itself")
    assert standing("leader-ready", groups(), [exemption], DAY, URN).exempt is holds


def test_only_the_star_is_special_in_a_pattern() -> None:
    subject = groups(name="a?b[1]")
    assert standing("r", subject, [Exemption(("*",), ("*/a?b[1]",), "lab")], DAY) == Standing(exempt=True, why="lab")


def test_what_is_no_kubernetes_object_is_exempt_by_its_urn() -> None:
    bucket = RegisteredObject("aws:s3/bucket:Bucket", {})
    exemption = Exemption(("*",), ("urn:*::logs",), "not ours")
    assert standing("any", bucket, [exemption], DAY, "urn:pulumi:prod::llm::aws:s3/bucket:Bucket::logs").exempt
    assert not standing("any", bucket, [exemption], DAY, "urn:pulumi:prod::llm::aws:s3/bucket:Bucket::web").exempt


def test_one_exemption_that_holds_is_enough_and_else_each_says_why_not() -> None:
    lapsed = Exemption(("leader-ready",), ("*",), "migration", date(2026, 1, 1))
    subject = groups({KEY: "2026-06-01 migration"})
    assert standing("leader-ready", subject, [lapsed, Exemption(("*",), ("*",), "lab")], DAY) == Standing(True, "lab")
    assert standing("leader-ready", subject, [lapsed], DAY).why == (
        f"Not exempt: the annotation {KEY} lapsed after 2026-06-01."
        " Not exempt: an exemption of the configuration lapsed after 2026-01-01."
    )


def test_a_problem_with_an_exemption_that_does_not_hold_says_so_in_its_fix() -> None:
    problem = Problem("spec", "a", "b", "Write b.", rule="leader-ready")
    kept, exempted = Scope().heed([problem], groups({KEY: "2026-06-01 migration"}), DAY)
    assert [each.fix for each in kept] == [f"Write b. Not exempt: the annotation {KEY} lapsed after 2026-06-01."]
    assert exempted == []


def test_an_annotation_names_a_rule_that_there_is() -> None:
    rule = exemption_names(["leader-ready", "exclusive-topology"])
    subject = groups(
        {KEY: "x", "pulumi-lws/exempt.leader-redy": "x", "pulumi-lws/exempt.": "x", "pulumi-lws/pool": "p5"}
    )
    assert [str(problem) for problem in rule.problems(subject, Target())] == [
        (
            "metadata.annotations['pulumi-lws/exempt.leader-redy']: found leader-redy; allowed: the name of a rule."
            " Write leader-ready."
        ),
        (
            "metadata.annotations['pulumi-lws/exempt.']: found nothing; allowed: the name of a rule. Write the name as"
            " reports do, or remove it."
        ),
    ]


@pytest.mark.parametrize(
    ("scope", "namespace", "covered"),
    [
        (Scope(), "models", True),
        (Scope(excluded=("sandbox-*",)), "sandbox-7", False),
        (Scope(excluded=("sandbox-*",)), "models", True),
        (Scope(included=("models", "team-*")), "team-x", True),
        (Scope(included=("models",)), "web", False),
        (Scope(included=("*",), excluded=("web",)), "web", False),
        (Scope(included=("models",)), None, True),
        (Scope(included=("models",)), UNKNOWN, True),
        (Scope(included=("models",)), 7, True),
    ],
)
def test_objects_that_state_a_namespace_out_of_scope_are_not_judged(
    scope: Scope, namespace: Any, covered: bool
) -> None:
    assert scope.covers(groups(namespace=namespace)) is covered


def test_a_namespace_is_in_scope_by_its_own_name_and_what_is_not_of_kubernetes_always() -> None:
    scope = Scope(excluded=("sandbox",))
    assert not scope.covers(RegisteredObject("kubernetes:core/v1:Namespace", {"metadata": {"name": "sandbox"}}))
    assert scope.covers(RegisteredObject("aws:s3/bucket:Bucket", {"metadata": {"namespace": "sandbox"}}))


def test_the_configuration_is_read_whole() -> None:
    config = {
        "lwsVersion": "v0.9.1",
        "kubernetesVersion": "1.34",
        "gangs": ["kueue"],
        "includeNamespaces": ["a"],
        "excludeNamespaces": ["b"],
        "exemptions": [
            {"rules": ["c"], "resources": ["d"], "reason": "e", "until": "2026-12-31"},
            {"rules": ["c"], "resources": ["d"], "reason": "e", "until": "2026-02-31"},
            {"rules": ["c"], "resources": ["d"], "reason": "e"},
        ],
    }
    assert scope_of(config) == Scope(
        target=Target(lws=(0, 9), kubernetes=(1, 34), gangs=frozenset({"kueue"})),
        included=("a",),
        excluded=("b",),
        exemptions=(
            Exemption(("c",), ("d",), "e", date(2026, 12, 31)),
            Exemption(("c",), ("d",), "e"),
        ),
    )
    assert scope_of({}) == Scope()


def test_what_a_configuration_cannot_mean_is_said() -> None:
    config = {
        "excludeNamespace": ["a"],
        "exemptions": [
            {"rules": ["leader-redy", "leader-*"], "resources": ["*"], "reason": "e", "until": "2026-02-31"}
        ],
    }
    assert list(mistakes_in(config, ["leader-ready"])) == [
        (
            "excludeNamespace: there is no such setting. Write one of lwsVersion, kubernetesVersion, gangs,"
            " includeNamespaces, excludeNamespaces, exemptions."
        ),
        "exemptions[0].rules: there is no rule leader-redy. Write leader-ready.",
        "exemptions[0].until: 2026-02-31 is no day, so nothing is exempt by it. Correct it.",
    ]
