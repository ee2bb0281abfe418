"""Rule: the pods of a group find each other."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from pulumi_lws.planning.counting import counted
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.engine_commands import DATA, PIPELINE, TENSOR, Engine
from pulumi_lws.rules.engine_starts import Start, starts_of
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, Template, about_groups
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import Unknown, unseen

_FIX = (
    "Give every pod the same --nnodes $(LWS_GROUP_SIZE), its own --node-rank $(LWS_WORKER_INDEX), and the leader's"
    " LWS_LEADER_ADDRESS: by --master-addr for vLLM, whose workers are --headless, or by --dist-init-addr for SGLang."
)
_RANK: Final = "--node-rank"
_ADDRESS: Final[dict[Engine, tuple[str, ...]]] = {
    "vllm": ("--master-addr", "--data-parallel-address"),
    "sglang": ("--dist-init-addr", "--nccl-init-addr"),
}
_OWN_HOST: Final = {"127.0.0.1", "localhost", "0.0.0.0", "::1"}  # noqa: S104 - addresses to refuse
_SERVES_ITSELF: Final = (
    "--data-parallel-hybrid-lb",
    "--data-parallel-external-lb",
    "--data-parallel-multi-port-external-lb",
    "--data-parallel-rank",
)
"""Flags of a vLLM every pod of which serves."""

_ALIKE: Final = (
    ("--nnodes",),
    ("--master-port",),
    ("--data-parallel-rpc-port",),
    TENSOR,
    PIPELINE,
    DATA,
)
"""Options, each with its names, that leader and workers have alike."""


@dataclass(frozen=True)
class _Pod:
    """How the pods of a template start their engine.

    Attributes:
        template: The template.
        start: The command.
    """

    template: Template
    start: Start

    def option(self, *names: str) -> str | None:
        """Return the value of an option."""
        return self.start.command.option(*names)

    def has(self, *flags: str) -> bool:
        """Tell whether one of some flags stands there."""
        return any(self.start.command.has(flag) for flag in flags)

    def lacks(self, *names: str) -> bool:
        """Tell whether an option surely is not given."""
        return self.start.is_whole and not self.has(*names) and self.option(*names) is None

    @property
    def spans(self) -> bool:
        """Whether one engine spans several pods by ranks of nodes."""
        return self.option("--nnodes") not in (None, "1")

    def wrong(self, found: str, allowed: str) -> Problem:
        """Return a problem of the command."""
        return Problem(self.start.path, found, allowed, _FIX)


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    size = groups.size
    if size == 1:
        return
    found = [(template, _starts(template)) for template in groups.templates()]
    for template, starts in found:
        if isinstance(starts, Unknown):
            yield unseen(template.path_to("containers"), "whether the pods of a group find each other")
    # Of several commands, a script decides which one a pod runs.
    pods = [_Pod(template, starts[0]) for template, starts in found if isinstance(starts, list) and len(starts) == 1]
    for pod in pods:
        yield from _rank(pod, size)
        yield from _address(pod)
        yield from _headless(pod)
    if len(pods) == len(found):
        yield from _together(pods[0], pods[-1], groups)


def _starts(template: Template) -> list[Start] | Unknown:
    found: list[Start] = []
    for path, container in template.containers():
        starts = starts_of(path, container)
        if isinstance(starts, Unknown):
            return starts
        found += starts
    return found


def _rank(pod: _Pod, size: int | Unknown) -> Iterator[Problem]:
    rank, workers = pod.option(_RANK), pod.template.works
    if not pod.spans:
        return
    if rank is None:
        if workers and pod.lacks(_RANK):
            yield pod.wrong("no --node-rank, which is 0 then, in every pod", "the pod's own: $(LWS_WORKER_INDEX)")
    elif rank.isdecimal():
        several = pod.template.leads or (isinstance(size, int) and size > 2)
        if workers and (several or rank == "0"):
            yield pod.wrong(f"--node-rank {rank} in every pod", "the pod's own: $(LWS_WORKER_INDEX)")
        elif not workers and rank != "0":
            yield pod.wrong(f"--node-rank {rank} in the leader", "0 in the leader")


def _address(pod: _Pod) -> Iterator[Problem]:
    joins = pod.template.works and (pod.spans or pod.has("--headless"))
    names = _ADDRESS[pod.start.engine]
    # The leader of SGLang without it listens on a port that nobody knows.
    if not joins and not (pod.spans and pod.start.engine == "sglang"):
        return
    address = pod.option(*names)
    if address is None:
        if pod.lacks(*names):
            lost = "it looks for the leader in its own pod" if joins else "its workers do not know its port"
            yield pod.wrong(f"no {names[0]}, so {lost}", "$(LWS_LEADER_ADDRESS)")
    elif joins and _OWN_HOST & {address, address.rpartition(":")[0]}:
        yield pod.wrong(f"{names[0]} {address}, which is the pod itself", "$(LWS_LEADER_ADDRESS)")


def _headless(pod: _Pod) -> Iterator[Problem]:
    if pod.start.engine != "vllm":
        return
    if pod.has("--headless") and pod.has("--data-parallel-hybrid-lb"):
        yield pod.wrong("--headless with --data-parallel-hybrid-lb", "one of them: vLLM ends with both")
    if not pod.spans:
        return
    if pod.option("--distributed-executor-backend") == "ray":
        yield pod.wrong("--nnodes with the backend ray", "mp with --nnodes: vLLM ends with both")
    elif pod.template.works and not pod.template.leads and not pod.has(*_SERVES_ITSELF) and pod.lacks("--headless"):
        yield pod.wrong("a worker without --headless", "--headless: it serves nobody by itself")


def _together(leader: _Pod, worker: _Pod, groups: Groups) -> Iterator[Problem]:
    """Judge what only both commands tell."""
    for one, other in ((leader, worker), (worker, leader)):
        if one.spans and other.lacks("--nnodes"):
            yield other.wrong("an engine of its own, while the others of its group wait for it", "the same --nnodes")
            return
    size, nodes = groups.size, leader.option("--nnodes") or "1"
    if nodes != "1" and nodes.isdecimal():
        if isinstance(size, Unknown):
            yield unseen(groups.template_path("size"), "whether as many pods come as the leader waits for")
        elif int(nodes[:9]) > size:
            yield leader.wrong(f"--nnodes {nodes}, in groups of {counted(size, 'pod')}", "$(LWS_GROUP_SIZE)")
    for names in _ALIKE if leader.start.engine == worker.start.engine else ():
        ours, theirs = leader.option(*names), worker.option(*names)
        if ours and theirs and ours.isdecimal() and theirs.isdecimal() and ours != theirs:
            yield worker.wrong(f"{names[0]} {theirs}, and {ours} in the leader", "the same in leader and workers")


RENDEZVOUS = Rule(
    name="rendezvous",
    title="The commands of leader and workers make one engine of them.",
    why=(
        "A worker with the wrong rank, or without the address of its leader, waits for itself; a leader waits for as"
        " many nodes as it was told. The pods run, hold their GPUs, and nothing is ever served. The rule judges"
        " commands that start vLLM or SGLang with plain options, and leaves scripts alone."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
)
