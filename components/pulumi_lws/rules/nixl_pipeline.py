"""Rule: caches that NIXL hands over are not split over the layers of a model."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.engine_commands import PIPELINE
from pulumi_lws.rules.engine_starts import nixl_starts
from pulumi_lws.rules.pods import Pods, about_accelerated_pods, makes_pods
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import Unknown, unseen

_FIX = "Let prefill and decode span nodes by data and expert parallelism, and set pipeline parallelism to 1."


def _check(pods: Pods, _context: Context) -> Iterable[Problem]:
    for path, container in pods.containers(before=False):
        starts = nixl_starts(path, container)
        if isinstance(starts, Unknown):
            yield unseen(path, "whether NIXL can hand its caches over")
            continue
        for start in starts:
            stages = start.command.option(*PIPELINE) or "1"
            if stages.isdecimal() and stages != "1":
                yield Problem(start.path, f"NixlConnector with {stages} pipeline stages", "one stage", _FIX)


NIXL_PIPELINE = Rule(
    name="nixl-pipeline",
    title="vLLM with NixlConnector has no pipeline parallelism.",
    why=(
        "NixlConnector hands caches over between engines of one stage only; the first request ends with an error"
        " (https://github.com/vllm-project/vllm/issues/40674)."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=makes_pods,
    check=about_accelerated_pods(_check),
)
