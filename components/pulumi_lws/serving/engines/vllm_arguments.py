"""Judging the arguments that a user adds to vLLM's command line."""

from collections.abc import Iterator, Mapping
from functools import partial

from pulumi_lws.declarations import whole_number
from pulumi_lws.facts.vllm_flags import FlagTable, Version, flag_table
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.serving.engines.arguments import Argument, Takes, arguments_of, shape_problem
from pulumi_lws.serving.engines.engine import Launch

_DECLARED: Mapping[str, str] = {
    "--model": "model",
    "--served-model-name": "servedModelName",
    "--tensor-parallel-size": "parallelism.tensor",
    "--pipeline-parallel-size": "parallelism.pipeline",
    "--data-parallel-size": "parallelism.data",
    "--enable-expert-parallel": "parallelism.expert",
    "--all2all-backend": "engine.allToAll",
    "--distributed-executor-backend": "engine.backend",
    "--gpu-memory-utilization": "gpuMemoryUtilization",
    "--max-model-len": "maxModelLen",
    "--kv-cache-dtype": "kvCacheDtype",
    "--shutdown-timeout": "drainSeconds",
    "--distributed-timeout-seconds": "startBudgetMinutes",
    "--cpu-distributed-timeout-seconds": "startBudgetMinutes",
}
"""Where a declaration says what a flag says."""

_DECIDED = frozenset(
    {
        "--host",
        "--port",
        "--uds",
        "--nnodes",
        "--node-rank",
        "--master-addr",
        "--master-port",
        "--headless",
        "--prefill-context-parallel-size",
        "--data-parallel-rank",
        "--data-parallel-start-rank",
        "--data-parallel-size-local",
        "--data-parallel-address",
        "--data-parallel-rpc-port",
        "--data-parallel-backend",
        "--data-parallel-hybrid-lb",
        "--data-parallel-external-lb",
        "--data-parallel-multi-port-external-lb",
        "--data-parallel-supervisor-port",
    }
)
"""Flags that follow from how a copy lies on its pods."""

_PLAIN_HTTP = "plain HTTP: probes, Services and routers speak it"

_REFUSED: Mapping[str, tuple[str, str]] = {
    "--config": (
        "the flags themselves: what stands in a file of the image is checked by nobody",
        "Write its flags here.",
    ),
    "--grpc": (_PLAIN_HTTP, "Remove it."),
    **dict.fromkeys(
        (
            "--ssl-keyfile",
            "--ssl-certfile",
            "--ssl-ca-certs",
            "--ssl-cert-reqs",
            "--ssl-ciphers",
            "--enable-ssl-refresh",
        ),
        (_PLAIN_HTTP, "Remove it, and let the gateway speak TLS with clients."),
    ),
}
"""Flags that break what stands around the engine: what is allowed instead, and what to do."""

_BESIDE_THE_PLAN: Mapping[str, str] = {
    "--cpu-offload-gb": "weights that stay in the memory of the host, of which the plan of memory knows nothing",
    "--kv-cache-memory-bytes": "gpuMemoryUtilization, which the plan of memory goes by: the flag overrides it",
    "--num-gpu-blocks-override": "the blocks that fit, which the plan of memory goes by: the flag overrides them",
}
"""Flags that work and that the sizes in the plan know nothing of: what these go by."""

_SECRETS: Mapping[str, str] = {
    "--api-key": "Check keys at the gateway; vLLM leaves many of its paths open with it.",
    "--hf-token": "Put it into a Secret and name that in source.tokenSecret.",
}

API_SERVERS = "--api-server-count"
"""Flag that headless workers refuse."""


def argument_problems(launch: Launch, version: Version) -> list[Problem]:
    """Return what is wrong with the user's own arguments, each at its place."""
    table = flag_table()
    ours = {table.name_of(word) for word in (*launch.loading_arguments, *launch.transfer_arguments)}
    found: list[Problem] = []
    for argument in arguments_of(launch.extra_arguments, partial(_takes, table)):
        judged = list(_flag(table, argument, version, ours)) if argument.is_flag else []
        # What must go anyway need not be written well.
        if not judged:
            shape = shape_problem(argument)
            judged = [shape] if shape else list(_value(table, argument, launch))
        found += judged
    return found


def without_api_servers(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the arguments of a process without an API: those about API servers left out."""
    table = flag_table()
    return tuple(
        part
        for argument in arguments_of(words, partial(_takes, table))
        if table.name_of(argument.word) != API_SERVERS
        for part in ([argument.word] if "=" in argument.word else [argument.word, *argument.values])
    )


def _takes(table: FlagTable, word: str) -> Takes:
    if word.startswith("-O") and len(word) > len("-O") and "." not in word:
        # The level stands in the word: -O3.
        return "nothing"
    flag = table.find(word)
    return "many" if flag is None else flag.takes


def _flag(table: FlagTable, argument: Argument, version: Version, ours: set[str]) -> Iterator[Problem]:
    path, word = argument.path, argument.word
    flag = table.find(word)
    name = table.name_of(word)
    release = f"vLLM {'.'.join(map(str, version))}"
    base = name if name in table.flags else name.replace("--no-", "--", 1)
    if base in _SECRETS:
        yield Problem(path, name, "no secret: whoever may read pods reads arguments", _SECRETS[base])
    elif base in _REFUSED:
        yield Problem(path, name, *_REFUSED[base])
    elif base in _DECLARED:
        setting = _DECLARED[base]
        yield Problem(path, name, f"a flag that the declaration does not own; {setting} says it", f"Set {setting}.")
    elif base in _DECIDED:
        allowed = "a flag that does not follow from how a copy lies on its pods"
        yield Problem(path, name, allowed, "Remove it; set parallelism, and the rest follows.")
    elif name in ours:
        allowed = "a flag that the source of the weights or the transfer does not set"
        yield Problem(path, name, allowed, "Remove it, or set source or transfer.")
    elif flag is None:
        # A version that nobody has read yet may know it.
        if version <= table.versions[-1]:
            near = table.nearest(word, version)
            yield Problem(path, name, f"a flag of {release}", f"Write {near}." if near else "Remove it.")
    elif table.is_too_new(flag, version):
        came = ".".join(map(str, flag.first))
        yield Problem(path, name, f"a flag of {release}", f"Use an image of vLLM {came} or newer, or remove it.")
    elif table.is_removed(flag, version):
        last = ".".join(map(str, flag.last or ()))
        way = f"Write {flag.instead} instead" if flag.instead else "Remove it"
        yield Problem(path, name, f"a flag of {release}", f"{way}: vLLM {last} was the last to have it.")


def _value(table: FlagTable, argument: Argument, launch: Launch) -> Iterator[Problem]:
    """Judge what a flag asks of the split, and what it does to the plan."""
    path, name, split = argument.path, table.name_of(argument.word), launch.parallelism
    if name in _BESIDE_THE_PLAN:
        fix = "Remove it, or see for yourself that the model and its contexts fit."
        yield Problem(path, name, _BESIDE_THE_PLAN[name], fix, Severity.WARNING)
    elif name == "--decode-context-parallel-size":
        size = whole_number(argument.values[0])
        if not size or split.tensor % size:
            sizes = [count for count in range(1, split.tensor + 1) if split.tensor % count == 0]
            allowed = f"{', '.join(map(str, sizes))}: what divides the {split.tensor} of parallelism.tensor"
            yield Problem(path, f"{name} {argument.values[0]}", allowed, "Write one of them.")
    elif name == "--enable-eplb" and (not split.expert or split.expert_ranks == 1):
        allowed = "a flag for experts on several GPUs, whose load it evens out"
        yield Problem(path, name, allowed, "Set parallelism.expert to true with tensor times data of 2 or more.")
    elif name == "--enable-elastic-ep" and split.pipeline > 1:
        fix = f"Remove it, or set parallelism.pipeline, which is {split.pipeline}, to 1."
        yield Problem(path, name, "a flag for one pipeline stage: vLLM refuses it with more", fix)
