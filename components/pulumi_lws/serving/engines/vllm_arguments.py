"""Judging the arguments that a user adds to vLLM's command line."""

import re
from collections.abc import Iterator, Mapping

from pulumi_lws.facts.vllm_flags import FlagTable, Takes, Version, flag_table
from pulumi_lws.planning.problems import Problem
from pulumi_lws.serving.engines.engine import Launch

_FLAG = re.compile(r"--?[A-Za-z]")

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

_SECRETS: Mapping[str, str] = {
    "--api-key": "Check keys at the gateway; vLLM leaves many of its paths open with it.",
    "--hf-token": "Put it into a Secret and name that in source.tokenSecret.",
}


def argument_problems(launch: Launch, version: Version) -> list[Problem]:
    """Return what is wrong with the user's own arguments, each at its place."""
    table = flag_table()
    ours = {table.name_of(word) for word in (*launch.loading_arguments, *launch.transfer_arguments)}
    found: list[Problem] = []
    takes: Takes = "nothing"
    for index, word in enumerate(launch.extra_arguments):
        path = f"extraArguments[{index}]"
        if _FLAG.match(word):
            found += _flag(table, path, word, version, ours)
            flag = table.find(word)
            takes = "many" if flag is None else "nothing" if "=" in word else flag.takes
        else:
            if takes == "nothing":
                allowed = "a flag, or the value of the flag before it, where that takes one"
                found.append(Problem(path, word, allowed, "Remove it."))
            takes = "many" if takes == "many" else "nothing"
    return found


def _flag(table: FlagTable, path: str, word: str, version: Version, ours: set[str]) -> Iterator[Problem]:
    flag = table.find(word)
    name = table.name_of(word)
    release = f"vLLM {'.'.join(map(str, version))}"
    base = name if name in table.flags else name.replace("--no-", "--", 1)
    if base in _SECRETS:
        yield Problem(path, name, "no secret: whoever may read pods reads arguments", _SECRETS[base])
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
        yield Problem(path, name, f"a flag of {release}", f"Remove it: vLLM {last} was the last to have it.")
