"""Judging the arguments that a user adds to SGLang's command line."""

from collections.abc import Iterator, Mapping
from functools import partial

from pulumi_lws.declarations import whole_number
from pulumi_lws.facts.sglang_flags import SglangFlags, sglang_flags
from pulumi_lws.facts.vllm_flags import Version, version_of
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.serving.engines.arguments import Argument, Takes, arguments_of, shape_problem
from pulumi_lws.serving.engines.engine import Launch

_DECLARED: Mapping[str, str] = {
    "--model-path": "model",
    "--served-model-name": "servedModelName",
    "--tp-size": "parallelism.tensor",
    "--pp-size": "parallelism.pipeline",
    "--ep-size": "parallelism.expert",
    "--mem-fraction-static": "gpuMemoryUtilization",
    "--context-length": "maxModelLen",
    "--kv-cache-dtype": "kvCacheDtype",
    "--dist-timeout": "startBudgetMinutes",
    "--revision": "source.revision",
}
"""Where a declaration says what a flag says."""

_DECIDED = frozenset(
    {
        "--base-gpu-id",
        "--dist-init-addr",
        "--gated-launch-port",
        "--gpu-id-step",
        "--host",
        "--nnodes",
        "--node-rank",
        "--port",
        "--use-ray",
    }
)
"""Flags that follow from how a copy lies on its pods."""

_SECRETS = frozenset({"--admin-api-key", "--api-key", "--ssl-keyfile-password"})

_PLAIN_HTTP = "plain HTTP: probes, Services and routers speak it"
_ONE_ROLE = "an engine that answers whole requests: this library routes between roles of vLLM only"
_RANKS = "--attn-dp-size, which shares the GPUs of tensor: data-parallel replicas take GPUs that nothing here counts"
_RANKS_FIX = "Write --attn-dp-size instead for a model with experts; for any other raise replicas."

_REFUSED: Mapping[str, tuple[str, str]] = {
    "--config": (
        "the flags themselves: what stands in a file of the image is checked by nobody",
        "Write its flags here.",
    ),
    **dict.fromkeys(("--dp-size", "--enable-dp-attention"), (_RANKS, _RANKS_FIX)),
    **dict.fromkeys(
        ("--disaggregation-mode", "--encoder-only"), (_ONE_ROLE, "Remove it, or declare a disaggregated-vllm.")
    ),
    **dict.fromkeys(("--grpc-mode", "--grpc-port", "--smg-grpc-mode"), (_PLAIN_HTTP, "Remove it.")),
    **dict.fromkeys(
        ("--enable-ssl-refresh", "--ssl-ca-certs", "--ssl-certfile", "--ssl-keyfile"),
        (_PLAIN_HTTP, "Remove it, and let the gateway speak TLS with clients."),
    ),
}
"""Flags that break what stands around the engine: what is allowed instead, and what to do."""

_BESIDE_THE_PLAN: Mapping[str, str] = {
    "--cpu-offload-gb": "weights that stay in the memory of the host, of which the plan of memory knows nothing",
    "--max-total-tokens": "the tokens that fit, which the plan of memory goes by: the flag overrides them",
}
"""Flags that work and that the sizes in the plan know nothing of: what these go by."""


def argument_problems(launch: Launch, version: Version | None) -> list[Problem]:
    """Return what is wrong with the user's own arguments, each at its place.

    Args:
        launch: The launch.
        version: Version of SGLang in the image; None where nobody says it.
    """
    table = sglang_flags()
    ours = {table.find(word) for word in launch.loading_arguments if word.startswith("--")}
    found: list[Problem] = []
    for argument in arguments_of(launch.extra_arguments, partial(_takes, table)):
        name = table.find(argument.word)
        if not argument.is_flag:
            judged = []
        elif name is None:
            judged = [_unknown(table, argument, version)]
        else:
            judged = list(_flag(argument, name, ours))
        # What must go anyway need not be written well.
        if not judged:
            shape = shape_problem(argument)
            judged = [shape] if shape else list(_value(argument, name, launch))
        found += judged
    return found


def _takes(table: SglangFlags, word: str) -> Takes:
    name = table.find(word)
    return "many" if name is None else table.takes[name]


def _unknown(table: SglangFlags, argument: Argument, version: Version | None) -> Problem:
    """Refuse a flag that the version does not have; of another version only that is known which was read."""
    name, near = argument.word.partition("=")[0], table.nearest(argument.word)
    is_read = version == version_of(table.version)
    return Problem(
        argument.path,
        name,
        f"a flag of SGLang {table.version}" + ("" if is_read else ", the version that was read"),
        (f"Write {near}." if near else "Remove it.") if is_read else "Make sure that the SGLang of the image has it.",
        Severity.ERROR if is_read else Severity.WARNING,
    )


def _flag(argument: Argument, name: str, ours: set[str | None]) -> Iterator[Problem]:
    written = argument.word.partition("=")[0]
    if name in _SECRETS:
        allowed = "no secret: whoever may read pods reads arguments"
        yield Problem(argument.path, written, allowed, "Check keys at the gateway.")
    elif name in ours:
        allowed = "a flag that the source of the weights does not set"
        yield Problem(argument.path, written, allowed, "Remove it, or set source.")
    elif name in _REFUSED:
        yield Problem(argument.path, written, *_REFUSED[name])
    elif name in _DECLARED:
        setting = _DECLARED[name]
        allowed = f"a flag that the declaration does not own; {setting} says it"
        yield Problem(argument.path, written, allowed, f"Set {setting}.")
    elif name in _DECIDED:
        allowed = "a flag that does not follow from how a copy lies on its pods"
        yield Problem(argument.path, written, allowed, "Remove it; set parallelism, and the rest follows.")


def _value(argument: Argument, name: str | None, launch: Launch) -> Iterator[Problem]:
    """Judge what a flag asks of the split, and what it does to the plan."""
    path, tensor = argument.path, launch.parallelism.tensor
    if name is not None and name in _BESIDE_THE_PLAN:
        fix = "Remove it, or see for yourself that the model and its contexts fit."
        yield Problem(path, argument.word.partition("=")[0], _BESIDE_THE_PLAN[name], fix, Severity.WARNING)
    elif name in {"--attn-dp-size", "--dcp-size"}:
        size = whole_number(argument.values[0])
        if not size or tensor % size:
            sizes = [count for count in range(1, tensor + 1) if tensor % count == 0]
            allowed = f"{', '.join(map(str, sizes))}: what divides the {tensor} of parallelism.tensor"
            yield Problem(path, f"{name} {argument.values[0]}", allowed, "Write one of them.")
