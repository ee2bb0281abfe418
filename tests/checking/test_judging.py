import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

from pulumi_lws.checking.judging import RULES_OF_FILES, check
from pulumi_lws.checking.report import CheckedObject
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.rule import Context, RegisteredObject, Rule, Target

WriteManifest = Callable[[str], str]

GROUP = """\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: glm-5}
spec:
  leaderWorkerTemplate:
    size: 2
    workerTemplate:
      spec: {containers: [{name: vllm, image: vllm}]}
"""
SET = """\
apiVersion: disaggregatedset.x-k8s.io/v1
kind: DisaggregatedSet
metadata: {name: glm-5}
spec:
  roles:
"""


def role(name: str, template: str = "workerTemplate: {spec: {containers: []}}") -> str:
    return f"  - {{name: {name}, spec: {{leaderWorkerTemplate: {{{template}}}}}}}\n"


@pytest.fixture
def judged(write_manifest: WriteManifest) -> Callable[..., list[CheckedObject]]:
    """Checks a text by schemas alone, or by the rules that are given too."""

    def judge(text: str, *rules: Rule, **target: Any) -> list[CheckedObject]:
        return list(check([write_manifest(text)], Target(**target), rules).objects)

    return judge


Judged = Callable[..., list[CheckedObject]]


def said(objects: list[CheckedObject]) -> list[str]:
    return [str(problem) for checked in objects for problem in checked.problems]


@pytest.mark.parametrize(
    ("text", "schema"),
    {
        GROUP: "own",
        SET + role("prefill") + role("decode"): "own",
        "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n": "core",
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p5}\nspec: {any: thing}\n": "none",
        "apiVersion: apps.example.com/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {any: thing}\n": "none",
    }.items(),
)
def test_an_object_in_order_has_no_problems_and_says_what_judged_it(judged: Judged, text: str, schema: str) -> None:
    assert [(checked.schema, checked.problems) for checked in judged(text)] == [(schema, ())]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("size: 2", "size: 0", "spec.leaderWorkerTemplate.size: found 0; allowed: 1 or more. Change size."),
        (
            "size: 2",
            "sise: 2",
            (
                "spec.leaderWorkerTemplate.sise: found an unknown field with the value 2; allowed: leaderTemplate,"
                " workerTemplate, size, restartPolicy, subGroupPolicy, volumeClaimTemplates,"
                " persistentVolumeClaimRetentionPolicy. Write size instead."
            ),
        ),
        (
            "leaderWorkerTemplate:",
            "startup_policy: LeaderReady\n  leaderWorkerTemplate:",
            (
                "spec.startup_policy: found an unknown field with the value 'LeaderReady'; allowed: replicas,"
                " leaderWorkerTemplate, rolloutStrategy, startupPolicy, networkConfig. Write startupPolicy instead."
            ),
        ),
        (
            "spec:\n",
            "status: {replicas: 1}\nspecs: 1\nspec:\n",
            (
                "specs: found an unknown field with the value 1; allowed: apiVersion, kind, metadata, status, spec."
                " Write spec instead."
            ),
        ),
        (
            "{name: glm-5}",
            "{name: 5-glm}",
            (
                "metadata.name: found '5-glm'; allowed: at most 63 lower-case letters, digits and '-', starting with a"
                " letter, not ending with '-'. Choose a name of that form."
            ),
        ),
        ("{name: glm-5}", "{generateName: glm-}", ""),
        (
            "{name: glm-5}",
            "{namespace: models}",
            (
                "metadata.name: found nothing; allowed: at most 63 lower-case letters, digits and '-', starting with a"
                " letter, not ending with '-'. Add name, or generateName for a name that the server ends."
            ),
        ),
        (
            "{name: glm-5}",
            "{name: glm-5, namespace: My_Models}",
            (
                "metadata.namespace: found 'My_Models'; allowed: at most 63 lower-case letters, digits and '-',"
                " starting and ending with a letter or digit. Name a namespace."
            ),
        ),
        (
            "{name: glm-5}",
            "{name: glm-5, labels: {team: yes}}",
            'metadata.labels.team: found true; allowed: text. Quote it: "yes".',
        ),
        (
            "{name: glm-5}",
            "{name: glm-5, annotations: {version: 1.10}}",
            'metadata.annotations.version: found 1.1; allowed: text. Quote it: "1.10".',
        ),
        (
            "{name: vllm, image: vllm}",
            "{name: vllm, image: vllm, env: [{name: PORT, value: 010}]}",
            (
                "spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].env[0].value: found 8; allowed: text."
                ' Quote it: "010".'
            ),
        ),
        (
            "x-k8s.io/v1\n",
            "x-k8s.io/v1alpha1\n",
            (
                "apiVersion: found leaderworkerset.x-k8s.io/v1alpha1; allowed: leaderworkerset.x-k8s.io/v1. Write"
                " leaderworkerset.x-k8s.io/v1."
            ),
        ),
    ],
)
def test_a_group_is_held_to_our_models(judged: Judged, old: str, new: str, problem: str) -> None:
    assert old in GROUP
    [checked] = judged(GROUP.replace(old, new))
    assert said([checked]) == ([problem] if problem else [])
    assert all(p.rule == "schema" and p.refused and p.severity is Severity.ERROR for p in checked.problems)


def test_a_pod_template_has_the_fields_of_the_kubernetes_that_lws_was_made_with(judged: Judged) -> None:
    text = GROUP.replace("{containers:", "{resources: {}, containers:")
    assert said(judged(text, lws=(0, 10), kubernetes=(1, 30))) == []
    assert [problem.partition(":")[0] for problem in said(judged(text, lws=(0, 6)))] == []
    newer = GROUP.replace("{containers:", "{hostnameOverride: a, containers:")
    assert [problem.partition(":")[0] for problem in said(judged(newer, lws=(0, 7)))] == [
        "spec.leaderWorkerTemplate.workerTemplate.spec.hostnameOverride"
    ]
    assert said(judged(newer, lws=(0, 8))) == []


def test_roles_and_claims_are_judged_inside(judged: Judged) -> None:
    claims = "workerTemplate: {spec: {containers: []}}, volumeClaimTemplates: [{spec: {volumeName: 1}}]"
    text = SET + role("prefill", "workerTemplate: {spec: {containers: 5}}") + role("decode", claims)
    assert said(judged(text)) == [
        (
            "spec.roles[0].spec.leaderWorkerTemplate.workerTemplate.spec.containers: found 5; allowed: a list. Change"
            " containers."
        ),
        (
            "spec.roles[1].spec.leaderWorkerTemplate.volumeClaimTemplates[0].spec.volumeName: found 1; allowed: text."
            ' Quote it: "1".'
        ),
    ]


def test_a_null_counts_as_absent_unless_the_field_is_unknown(judged: Judged) -> None:
    nulls = "metadata: {labels: {a: , b: x}, annotations: }\n      spec: {nodeSelector: , containers:"
    assert said(judged(GROUP.replace("spec: {containers:", nulls).replace("size: 2", "size: "))) == []
    assert [problem.partition(":")[0] for problem in said(judged(GROUP.replace("size: 2", "sise: ")))] == [
        "spec.leaderWorkerTemplate.sise"
    ]


@pytest.mark.parametrize(
    ("text", "refused"),
    {
        GROUP.replace("      spec: {containers: [{name: vllm, image: vllm}]}", "      metadata: {}"): True,
        GROUP.replace("{containers: [{name: vllm, image: vllm}]}", "5"): True,
        GROUP.replace("size: 2", "size: 0"): True,
        SET + role("prefill") + role("decode", "size: 0, workerTemplate: {spec: {containers: []}}"): False,
        SET + role("prefill") + role("decode", "size: x, workerTemplate: {spec: {containers: []}}"): True,
        GROUP.replace("size: 2", "sizes: null"): True,
    }.items(),
)
def test_what_only_the_controller_trips_over_is_not_refused(judged: Judged, text: str, refused: bool) -> None:
    assert [problem.refused for checked in judged(text) for problem in checked.problems] == [refused]


@pytest.mark.parametrize(
    ("text", "problems"),
    {
        "a: 1": [
            "apiVersion: found nothing; allowed: text such as apps/v1. Add apiVersion; without it this is no object.",
            "kind: found nothing; allowed: text such as Deployment. Add kind; without it this is no object.",
        ],
        "{apiVersion: 1, kind: yes}": [
            'apiVersion: found no text; allowed: text such as apps/v1. Quote it: "1".',
            'kind: found no text; allowed: text such as Deployment. Quote it: "yes".',
        ],
        "{apiVersion: apps/v1beta1, kind: Deployment, metadata: {name: a}}": [
            "kind: found apps/v1beta1 Deployment; allowed: a kind that Kubernetes 1.35 has. Write apps/v1 Deployment."
        ],
        "{apiVersion: v1, kind: Servise, metadata: {name: a}}": [
            "kind: found v1 Servise; allowed: a kind that Kubernetes 1.35 has. Write v1 Service."
        ],
        "{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {password: hunter2}, stringData: {pin: 0777}}": [
            "data.password: found a value that is not shown here; allowed: text in base64. Change password.",
            "stringData.pin: found a value that is not shown here; allowed: text. Quote it.",
        ],
        "{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {labels: {a: 1, 'b c': x, d: -}}}": [
            'metadata.labels.a: found 1; allowed: text. Quote it: "1".',
            (
                "metadata.labels.d: found '-'; allowed: at most 63 letters, digits, '-', '_' and '.', starting and"
                " ending with a letter or digit. Choose a value of that form."
            ),
            (
                "metadata.labels['b c']: found 'b c'; allowed: a key such as team or example.com/team: an optional DNS"
                " name with '/', then at most 63 letters, digits, '-', '_' and '.'. Choose a key of that form."
            ),
        ],
        "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: 'system:a'}, rules: []}": [],
    }.items(),
)
def test_other_objects_are_held_to_what_holds_for_all(judged: Judged, text: str, problems: list[str]) -> None:
    assert said(judged(text)) == problems


def test_problems_are_sorted_by_severity_and_path(judged: Judged, size_rule: Rule) -> None:
    [checked] = judged(GROUP.replace("size: 2", "size: 0").replace("glm-5", "5"), size_rule)
    assert [(p.severity, p.path, p.rule) for p in checked.problems] == [
        ("error", "metadata.name", "schema"),
        ("error", "spec.leaderWorkerTemplate.size", "schema"),
        ("warning", "spec.leaderWorkerTemplate.size", "size-is-odd"),
    ]
    assert [checked.line_of(problem) for problem in checked.problems] == [3, 6, 6]


def test_rules_see_all_objects_and_the_cluster(judged: Judged, size_rule: Rule) -> None:
    seen: list[Any] = []

    def look(_subject: RegisteredObject, context: Context) -> list[Problem]:
        seen.append((context.target, [other.kind for other in context.others]))
        return []

    rule = replace(size_rule, check=look)
    service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\n"
    judged(GROUP + service, rule, lws=(0, 9), gangs=frozenset({"kueue"}))
    target = Target(lws=(0, 9), gangs=frozenset({"kueue"}))
    assert seen == [(target, ["leaderworkerset.x-k8s.io/LeaderWorkerSet", "core/Service"])]


def test_a_rule_that_fails_hides_nothing(judged: Judged, size_rule: Rule) -> None:
    def fail(_subject: object, _context: object) -> NoReturn:
        raise TypeError("no")

    [checked] = judged(GROUP, replace(size_rule, name="broken", check=fail), size_rule)
    assert [(p.rule, p.severity, p.found) for p in checked.problems] == [
        ("broken", "warning", "an object that the rule cannot judge (TypeError: no)"),
        ("size-is-odd", "warning", "2, which is even"),
    ]


def test_rules_about_pulumi_programs_do_not_judge_files() -> None:
    names = [rule.name for rule in RULES_OF_FILES]
    assert "server-side-apply" not in names
    assert "leader-ready" in names


def test_long_text_is_cut_and_problems_are_bounded(judged: Judged) -> None:
    [checked] = judged(f"apiVersion: v1\nkind: Service\nmetadata: {{name: {'x' * 10_000}}}\n")
    assert [len(problem.found) for problem in checked.problems] == [203]
    wrong = ", ".join(f"a{number}: 1" for number in range(1000))
    [checked] = judged(f"apiVersion: v1\nkind: Service\nmetadata: {{name: a}}\nspec: {{selector: {{{wrong}}}}}\n")
    assert len(checked.problems) == 100


def test_missing_schemas_are_noted(write_manifest: WriteManifest) -> None:
    file = write_manifest(GROUP)
    assert check([file], Target(kubernetes=(1, 35)), ()).notes == ()
    assert check([file], Target(kubernetes=(1, 20)), ()).notes == (
        "there are no schemas of Kubernetes 1.20; its own kinds were judged by those of 1.25",
    )


@pytest.mark.parametrize(("kind", "refused"), [("LeaderWorkerSet", False), ("DisaggregatedSet", True)])
def test_a_fraction_of_a_cpu_is_taken_where_a_webhook_rewrites_it(tmp_path: Path, kind: str, refused: bool) -> None:
    container = {"name": "a", "image": "b:1", "resources": {"limits": {"cpu": 0.5}}}
    spec: dict[str, Any] = {"leaderWorkerTemplate": {"workerTemplate": {"spec": {"containers": [container]}}}}
    if kind == "DisaggregatedSet":
        spec = {"roles": [{"name": name, "spec": spec} for name in ("prefill", "decode")]}
    api_version = f"{kind.lower()}.x-k8s.io/v1"
    file = tmp_path / "one.json"
    file.write_text(json.dumps({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, "spec": spec}))
    [judged] = check([str(file)], Target()).objects
    assert any(problem.path.endswith("limits.cpu") and problem.refused for problem in judged.problems) is refused


def test_what_a_rule_makes_of_all_objects_is_made_once(judged: Judged) -> None:
    seen: list[object] = []

    def look_around(_subject: RegisteredObject, context: Context) -> tuple[Problem, ...]:
        seen.append(context.others)
        return ()

    rule = replace(RULES_OF_FILES[0], applies_to=lambda _: True, check=look_around)
    judged(f"{GROUP}---\n{GROUP}", rule, rule)
    assert len(seen) == 4
    assert len(set(map(id, seen))) == 1
