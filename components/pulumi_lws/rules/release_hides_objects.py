"""Rule: what policies judge is not installed by a Helm release, which shows them nothing of it."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.exemptions import matches
from pulumi_lws.rules.rule import Context, Parameter, RegisteredObject, Rule, is_kind
from pulumi_lws.rules.values import UNKNOWN, unseen, value_at

_FIX = (
    "Use kubernetes.helm.v4.Chart, whose objects are resources of the stack, or judge the chart's output by lws check."
)


def _check(subject: RegisteredObject, context: Context) -> Iterable[Problem]:
    chart = value_at(subject.properties, "chart")
    if chart is UNKNOWN:
        yield unseen("chart", "whether the release hides deployments of models")
    elif isinstance(chart, str) and matches([str(one) for one in context.values["charts"]], _name(chart)):
        yield Problem("chart", chart, "a Chart: a Release is one resource, and its objects are never judged", _FIX)


def _name(chart: str) -> str:
    return chart.rstrip("/").rpartition("/")[2]


RELEASE_HIDES_OBJECTS = Rule(
    name="release-hides-objects",
    title="Deployments of models are not hidden in Helm releases.",
    why=(
        "The engine sees a release as one resource. Neither a preview nor a policy shows what it applies, so a broken"
        " group in it is found when it holds GPUs."
    ),
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=is_kind("helm.sh/Release"),
    check=_check,
    parameters={
        "charts": Parameter(
            {
                "type": "array",
                "items": {"type": "string", "minLength": 1},
                "description": "Names of charts, with * for any text, that deploy models.",
            },
            ["*vllm*", "*llm-d*", "*sglang*", "*ray-cluster*", "*rayservice*", "*inference*", "*modelservice*"],
        )
    },
    house=True,
)
