"""Rule: caches that NIXL hands over go by EFA, where pods have it."""

from collections.abc import Iterable

from pulumi_lws.facts import labels
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.engine_starts import nixl_starts
from pulumi_lws.rules.pods import Pods, about_accelerated_pods, makes_pods
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import UNKNOWN, Unknown, unseen, value_at

_FIX = 'Add "kv_connector_extra_config": {"backends": ["LIBFABRIC"]} to --kv-transfer-config.'


def _check(pods: Pods, _context: Context) -> Iterable[Problem]:
    for path, container in pods.containers(before=False):
        interfaces, starts = value_at(container, "resources", "limits", labels.EFA), nixl_starts(path, container)
        if interfaces is None or starts == []:
            continue
        if interfaces is UNKNOWN or isinstance(starts, Unknown):
            yield unseen(path, "whether caches go by EFA")
            continue
        for start in starts:
            if start.is_whole and not start.command.mentions("LIBFABRIC"):
                allowed = "the backend LIBFABRIC, where the pod has EFA"
                yield Problem(start.path, "NixlConnector with its default backend UCX", allowed, _FIX)


NIXL_OVER_EFA = Rule(
    name="nixl-over-efa",
    title="vLLM with NixlConnector on EFA uses the backend LIBFABRIC.",
    why=(
        "NIXL takes UCX unless told otherwise, which does not know EFA: caches go by TCP, and handing one over takes"
        " longer than computing it again. Variables of the environment do not change it"
        " (https://github.com/vllm-project/vllm/issues/41814)."
    ),
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=makes_pods,
    check=about_accelerated_pods(_check),
)
