"""Whether prefill and decode can hand KV caches over: what must be alike, and what may differ.

Image, model, types and engine are declared once for both roles, so they never differ. Each pod answers on one port and
balances over its own data ranks, so the eight target ports of an InferencePool are never a limit.
Source: ``docs/features/nixl_connector_compatibility.md`` and the ``nixl`` connector of vLLM 0.26.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from pulumi_lws.declarations import whole_number
from pulumi_lws.facts.versions import PINS
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.serving import transfer
from pulumi_lws.serving.roles import API_PORT, Role
from pulumi_lws.serving.settings import DisaggregatedVllmArgs

_RANKS_RENDEZVOUS = range(29500, 29502)
"""Ports of torch's and vLLM's own rendezvous (``--master-port``), of any release."""

_DATA_RENDEZVOUS = range(29550, 29551)
"""Port of data-parallel ranks (``--data-parallel-rpc-port``)."""

_LAST_PORT = 65_535

_ROUTER_SINCE = (0, 10)
"""First version of the llm-d router that pairs revisions, and whose sidecar knows the flags that it is given."""

ALIKE = (
    "--attention-backend",
    "--dtype",
    "--hf-overrides",
    "--kv-cache-dtype",
    "--quantization",
    "--revision",
    "--speculative-config",
)
"""Arguments of the engine whose difference makes vLLM refuse the handshake, or read caches wrongly."""

_LAYOUT = "VLLM_KV_CACHE_LAYOUT"

ALIKE_ENVIRONMENT = ("VLLM_ATTENTION_BACKEND", _LAYOUT)
"""Variables of which the same holds."""


def transfer_problems(args: DisaggregatedVllmArgs, prefill: Role, decode: Role) -> list[Problem]:
    """Return what keeps decode from reading the caches of prefill; paths start at the deployment."""
    if args.engine.kind != "vllm":
        fix = "Set engine.kind to vllm, or declare a multi-node-vllm for this engine."
        return [Problem("engine.kind", args.engine.kind, "vllm: caches are handed over by its NixlConnector", fix)]
    pipelines = [problem for role in (prefill, decode) for problem in _pipeline(role)]
    return [
        *pipelines,
        *([] if pipelines else _tensor(prefill, decode)),
        *(problem for role in (prefill, decode) for problem in _tensor_over_nodes(role)),
        *_alike(prefill, decode),
        *_block_sizes(prefill, decode),
        *_alike_environment(prefill, decode),
        *_layout(prefill, decode),
        *_interconnect(prefill, decode),
        *_zones(prefill, decode),
        *_ports(args, prefill, decode),
        *_router_images(args),
    ]


def _pipeline(role: Role) -> Iterator[Problem]:
    """Refuse pipeline stages: the connector takes none on either side.

    https://github.com/vllm-project/vllm/issues/40674
    """
    split = role.settings.parallelism
    if split.pipeline == 1:
        return
    stages, architecture = split.pipeline, role.architecture
    if architecture is None or architecture.is_mixture_of_experts:
        way = f"data to {split.data * stages}"
    else:
        way = f"tensor to {min(split.tensor * stages, role.shape.gpus_per_node)}"
    yield Problem(
        f"{role.path}.parallelism.pipeline",
        str(stages),
        "1: NixlConnector does not hand over caches between pipeline stages",
        f"Set pipeline to 1, and {way} to use the GPUs.",
    )


def _tensor(prefill: Role, decode: Role) -> Iterator[Problem]:
    """Judge the two tensor sizes. With a latent (MLA) each rank holds all of the cache, so any two sizes fit."""
    architecture = prefill.architecture
    of_prefill, of_decode = prefill.settings.parallelism.tensor, decode.settings.parallelism.tensor
    if architecture is not None and architecture.has_latent_attention:
        return
    path = "prefill.parallelism.tensor"
    if architecture is not None and architecture.is_hybrid:
        if of_prefill != of_decode:
            allowed = f"{of_decode}, as in decode: the states of recurrent layers are not split anew"
            fix = f"Set it to {of_decode}, or decode.parallelism.tensor to {of_prefill}."
            yield Problem(path, str(of_prefill), allowed, fix)
        return
    if of_decode % of_prefill == 0:
        return
    fitting = [size for size in range(1, of_decode + 1) if of_decode % size == 0]
    nearest = max(size for size in fitting if size <= of_prefill)
    wider = -(-of_decode // of_prefill) * of_prefill
    yield Problem(
        path,
        str(of_prefill),
        f"{', '.join(map(str, fitting))}: what divides the {of_decode} of decode, since a decode rank reads from one"
        " prefill rank only",
        f"Set it to {nearest}, or decode.parallelism.tensor to {wider}.",
    )


def _tensor_over_nodes(role: Role) -> Iterator[Problem]:
    split, per_node = role.settings.parallelism, role.shape.gpus_per_node
    if split.tensor <= per_node:
        return
    data = split.data * split.tensor // per_node
    yield Problem(
        f"{role.path}.parallelism.tensor",
        str(split.tensor),
        f"at most the {per_node} GPUs of a node: nobody has published a deployment that hands caches over between"
        " tensor ranks of several nodes",
        f"Set tensor to {per_node} and data to {data}, or try it before you rely on it.",
        Severity.WARNING,
    )


def _alike(prefill: Role, decode: Role) -> Iterator[Problem]:
    """Compare what users added to the roles where vLLM compares it in the handshake."""
    drafted = r'"num_speculative_tokens"\s*:\s*\d+'  # may differ
    ours, theirs = _values(prefill), _values(decode)
    for flag in ALIKE:
        if re.sub(drafted, "", ours.get(flag, "")) != re.sub(drafted, "", theirs.get(flag, "")):
            value = ours.get(flag)
            fix = f"Write {flag} {value} there too." if value is not None else f"Remove {flag}, or write it in both."
            yield Problem(
                "decode.extraArguments",
                f"{flag} {theirs.get(flag, 'left out')}",
                f"the same as in prefill.extraArguments: {flag} {ours.get(flag, 'left out')}",
                fix,
            )


def _alike_environment(prefill: Role, decode: Role) -> Iterator[Problem]:
    ours, theirs = prefill.settings.environment, decode.settings.environment
    for name in ALIKE_ENVIRONMENT:
        if (value := ours.get(name)) != (other := theirs.get(name)):
            yield Problem(
                f"decode.environment.{name}",
                "nothing" if other is None else other,
                f"the same as in prefill.environment: {'nothing' if value is None else value}",
                f"Remove {name} from both." if value is None else f"Set it to {value} there too.",
            )


def _layout(prefill: Role, decode: Role) -> Iterator[Problem]:
    """Judge the layout of caches: only with heads outermost can ranks take a part of them."""
    layout = prefill.settings.environment.get(_LAYOUT, "HND")
    if prefill.architecture is not None and prefill.architecture.has_latent_attention:
        return
    tensors = [role.settings.parallelism.tensor for role in (prefill, decode)]
    if layout != "HND" and tensors[0] != tensors[1]:
        yield Problem(
            f"prefill.environment.{_LAYOUT}",
            layout,
            f"HND, with tensor {tensors[0]} in prefill and {tensors[1]} in decode",
            f"Remove {_LAYOUT} from both, or give both the same tensor.",
        )


def _block_sizes(prefill: Role, decode: Role) -> Iterator[Problem]:
    """Judge block sizes where both are declared: a decode block may hold several prefill blocks, not the reverse."""
    of_prefill, of_decode = (whole_number(_values(role).get("--block-size", "")) for role in (prefill, decode))
    if of_prefill is None or of_decode is None:
        return
    hybrid = prefill.architecture is not None and prefill.architecture.is_hybrid
    if of_prefill == of_decode or (of_prefill < of_decode and not hybrid):
        return
    allowed = str(of_prefill) if hybrid else f"{of_prefill} or more, as in prefill"
    fix = f"Set --block-size of decode to {of_prefill}."
    yield Problem("decode.extraArguments", f"--block-size {of_decode}", allowed, fix)


def _values(role: Role) -> Mapping[str, str]:
    """Read the arguments that users added; the last of a kind counts."""
    arguments: Sequence[str] = role.settings.extra_arguments
    found: dict[str, str] = {}
    for position, argument in enumerate(arguments):
        flag, separator, value = argument.partition("=")
        following = arguments[position + 1] if position + 1 < len(arguments) else ""
        found[flag.replace("_", "-")] = value if separator else ("" if following.startswith("--") else following)
    return found


def _interconnect(prefill: Role, decode: Role) -> Iterator[Problem]:
    if prefill.launch.has_efa == decode.launch.has_efa:
        return
    with_efa, without = (prefill, decode) if prefill.launch.has_efa else (decode, prefill)
    instance = without.pool.instance
    if instance.efa_interfaces and without.pool.efa_mode != "none":
        least = -(-instance.gpus // instance.efa_interfaces)
        way = f"Give its pods at least {least} GPUs, which come with an interface"
    else:
        way = f"Set it to {with_efa.settings.pool}"
    yield Problem(
        f"{without.path}.pool",
        f"{without.settings.pool}, whose pods get no EFA interface with {without.shape.gpus_per_pod} of its"
        f" {instance.gpus} GPUs",
        f"pods with EFA, as in {with_efa.path}: the two ends of NIXL need one backend",
        f"{way}, or take pods without EFA for both.",
    )


def _zones(prefill: Role, decode: Role) -> Iterator[Problem]:
    """Judge zones, which EFA does not leave: pods of both roles ask for one, and some would wait for it for ever."""
    ours, theirs = prefill.pool.zone, decode.pool.zone
    if ours == theirs or not (prefill.launch.has_efa and decode.launch.has_efa):
        return
    if not ours or not theirs:
        with_zone, without = (prefill, decode) if ours else (decode, prefill)
        pool, zone = without.settings.pool, with_zone.pool.zone
        yield Problem(
            f"{without.path}.pool",
            f"{pool}, in any zone",
            f"a pool in {zone}, where {with_zone.settings.pool} of {with_zone.path} is: EFA does not leave a zone, and"
            " the first pod of both would choose it",
            f"Set pools.{pool}.zone to {zone}.",
        )
    else:
        found = f"{decode.settings.pool}, in {theirs}"
        allowed = f"a pool in {ours}, where {prefill.settings.pool} of prefill is: EFA does not leave a zone"
        yield Problem("decode.pool", found, allowed, f"Set it to {prefill.settings.pool}, or give both pools one zone.")


def _router_images(args: DisaggregatedVllmArgs) -> Iterator[Problem]:
    declared = {
        "routerImage": (args.router_image, "llm-d-router"),
        "sidecarImage": (args.sidecar_image, "llm-d-sidecar"),
    }
    for path, (image, name) in declared.items():
        tag = re.search(r":v(\d+)\.(\d+)\.\d+", image or "")
        if tag and (int(tag[1]), int(tag[2])) < _ROUTER_SINCE:
            allowed = "v0.10.0 or newer: older ones do not keep the pods of two revisions apart"
            yield Problem(path, f"{image}", allowed, f"Leave it out for {PINS[name].version}, or take a newer one.")


def _ports(args: DisaggregatedVllmArgs, prefill: Role, decode: Role) -> Iterator[Problem]:
    """Judge whether the ports of the handshakes are free in the pods of both roles."""
    first = args.transfer.side_channel_port
    count = max(
        len(transfer.side_channel_ports(args.transfer, role.settings.parallelism)) for role in (prefill, decode)
    )
    taken = _taken(prefill, decode)
    clash = next((what for what, ports in taken.items() if _overlap(range(first, first + count), ports)), None)
    if clash is None and first + count - 1 <= _LAST_PORT:
        return
    free = [
        start
        for start in range(1024, _LAST_PORT - count + 2)
        if not any(_overlap(range(start, start + count), ports) for ports in taken.values())
    ]
    nearest = min(free, key=lambda start: abs(start - first), default=None)
    used = f"{clash} has {_shown(taken[clash])}" if clash else f"the last port is {_LAST_PORT}"
    yield Problem(
        "transfer.sideChannelPort",
        f"{first}, for {count} ports up to {first + count - 1}",
        f"{count} free ports: {used}",
        "Lower tensor times data: no port is free for so many ranks." if nearest is None else f"Set it to {nearest}.",
    )


def _taken(prefill: Role, decode: Role) -> dict[str, range]:
    taken = {
        "the API": range(API_PORT, API_PORT + 1),
        "the rendezvous of ranks": _RANKS_RENDEZVOUS,
        "the rendezvous of data ranks": _DATA_RENDEZVOUS,
    }
    for role in (prefill, decode):
        for what, (first, following) in role.behaviour.engine_ports.items():
            taken[f"{what} of {role.path}"] = range(first, first + following + 1)
    return taken


def _overlap(one: range, other: range) -> bool:
    return one.start < other.stop and other.start < one.stop


def _shown(ports: range) -> str:
    return str(ports.start) if len(ports) == 1 else f"{ports.start} to {ports.stop - 1}"
