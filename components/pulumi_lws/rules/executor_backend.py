"""Rule: a vLLM that spans the pods of a group is told how."""

from collections.abc import Iterable

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.engine_commands import Commands, gpus_of
from pulumi_lws.rules.engine_starts import starts_of
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, about_groups
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import Unknown, unseen

_FIX = "Add --distributed-executor-backend ray where Ray starts the ranks, else --nnodes and --node-rank."


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    for template in groups.templates():
        for path, container in template.containers():
            starts, gpus = starts_of(path, container), gpus_of(container)
            if isinstance(starts, Unknown) or isinstance(gpus, Unknown):
                yield unseen(path, "whether vLLM spans pods")
                continue
            for start in starts:
                if start.engine == "vllm" and (why := _spans_untold(start.command, gpus)) is not None:
                    allowed = "a backend that spans pods: vLLM chooses none by itself"
                    yield Problem(start.path, f"vLLM with {why}", allowed, _FIX)


def _spans_untold(command: Commands, gpus: int) -> str | None:
    """Return why the ranks of one engine do not fit the pod; data-parallel ranks are engines of their own."""
    if command.option("--nnodes", "--distributed-executor-backend") is not None:
        return None
    why = command.spans_pods(gpus)
    return None if why is None or why.startswith("--data-parallel-size") else why


EXECUTOR_BACKEND = Rule(
    name="executor-backend",
    title="A vLLM that needs more GPUs than its pod has names the backend that spans pods.",
    why=(
        "Older versions took Ray where the GPUs of a pod were too few; newer ones end with the number of GPUs instead"
        " (https://github.com/vllm-project/vllm/issues/29173)."
    ),
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
)
