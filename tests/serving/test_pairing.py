"""Which pairs of prefill and decode can hand caches over."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulumi_lws.planning.problems import errors_of
from pulumi_lws.serving.pairing import ALIKE, transfer_problems
from tests.serving.disaggregations import GLM_5, args, role, roles


def problems(**changes: Any) -> list[str]:
    return [str(problem) for problem in transfer_problems(args(**changes), *roles(**changes))]


def with_arguments(*arguments: str, **split: Any) -> dict[str, Any]:
    return {**role(**split), "extraArguments": list(arguments)}


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "pipeline stages of a mixture of experts": (
        GLM_5 | {"prefill": role("islands", 1, tensor=8, pipeline=2)},
        (
            "prefill.parallelism.pipeline: found 2; allowed: 1: NixlConnector does not hand over caches between"
            " pipeline stages. Set pipeline to 1, and data to 2 to use the GPUs."
        ),
    ),
    "pipeline stages of a dense model": (
        {
            "model": "meta-llama/Llama-3.3-70B-Instruct",
            "prefill": role(tensor=2, pipeline=2),
            "decode": role(tensor=4),
        },
        (
            "prefill.parallelism.pipeline: found 2; allowed: 1: NixlConnector does not hand over caches between"
            " pipeline stages. Set pipeline to 1, and tensor to 4 to use the GPUs."
        ),
    ),
    "more tensor ranks in prefill": (
        {"prefill": role(tensor=4), "decode": role(tensor=2)},
        (
            "prefill.parallelism.tensor: found 4; allowed: 1, 2: what divides the 2 of decode, since a decode"
            " rank reads from one prefill rank only. Set it to 2, or decode.parallelism.tensor to 4."
        ),
    ),
    "tensor ranks over nodes": (
        GLM_5 | {"decode": role("islands", 1, tensor=16)},
        (
            "decode.parallelism.tensor: found 16; allowed: at most the 8 GPUs of a node: nobody has published a"
            " deployment that hands caches over between tensor ranks of several nodes. Set tensor to 8 and data to"
            " 2, or try it before you rely on it."
        ),
    ),
    "other cache types": (
        {"decode": with_arguments("--kv-cache-dtype", "fp8", tensor=4)},
        (
            "decode.extraArguments: found --kv-cache-dtype fp8; allowed: the same as in prefill.extraArguments:"
            " --kv-cache-dtype left out. Remove --kv-cache-dtype, or write it in both."
        ),
    ),
    "larger blocks in prefill": (
        {"prefill": with_arguments("--block-size=64"), "decode": with_arguments("--block-size", "16", tensor=4)},
        (
            "decode.extraArguments: found --block-size 16; allowed: 64 or more, as in prefill. Set --block-size"
            " of decode to 64."
        ),
    ),
    "pods too small for EFA on one side": (
        {"prefill": role("g6e", tensor=2)},
        (
            "prefill.pool: found g6e, whose pods get no EFA interface with 2 of its 4 GPUs; allowed: pods with"
            " EFA, as in decode: the two ends of NIXL need one backend. Give its pods at least 4 GPUs, which come"
            " with an interface, or take pods without EFA for both."
        ),
    ),
    "instances without EFA on one side": (
        {"prefill": role("without", tensor=1)},
        (
            "prefill.pool: found without, whose pods get no EFA interface with 1 of its 1 GPUs; allowed: pods"
            " with EFA, as in decode: the two ends of NIXL need one backend. Set it to p5, or take pods without"
            " EFA for both."
        ),
    ),
    "handshakes on the port of the API": (
        {"transfer": {"sideChannelPort": 7998}},
        (
            "transfer.sideChannelPort: found 7998, for 4 ports up to 8001; allowed: 4 free ports: the API has"
            " 8000. Set it to 7996."
        ),
    ),
    "handshakes on the port of the engine": (
        {"transfer": {"sideChannelPort": 8200}},
        (
            "transfer.sideChannelPort: found 8200, for 4 ports up to 8203; allowed: 4 free ports: http of decode"
            " has 8200. Set it to 8201."
        ),
    ),
    "a router that knows no revisions": (
        {"routerImage": "ghcr.io/llm-d/llm-d-router-endpoint-picker:v0.9.0"},
        (
            "routerImage: found ghcr.io/llm-d/llm-d-router-endpoint-picker:v0.9.0; allowed: v0.10.0 or newer:"
            " older ones do not keep the pods of two revisions apart. Leave it out for v0.10.0, or take a newer"
            " one."
        ),
    ),
    "another engine": (
        {"engine": {"kind": "sglang"}},
        (
            "engine.kind: found sglang; allowed: vllm: caches are handed over by its NixlConnector. Set"
            " engine.kind to vllm, or declare a multi-node-vllm for this engine."
        ),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_pair_that_cannot_hand_over_is_refused_with_the_nearest_that_can(name: str) -> None:
    changes, expected = WRONG[name]
    assert problems(**changes) == [expected]


RIGHT: dict[str, dict[str, Any]] = {
    "wider decode": {},
    "equal tensors": {"prefill": role(tensor=4)},
    "narrower decode with a latent": GLM_5 | {"decode": role("islands", 1, tensor=4, data=4, expert=True)},
    "data over nodes": GLM_5,
    "the same argument in both": {
        "prefill": with_arguments("--attention-backend", "FLASHINFER"),
        "decode": with_arguments("--attention-backend=FLASHINFER", tensor=4),
    },
    "larger blocks in decode": {
        "prefill": with_arguments("--block-size", "16"),
        "decode": with_arguments("--block-size", "64", tensor=4),
    },
    "another number of drafted tokens": {
        "prefill": with_arguments("--speculative-config", '{"method":"mtp","num_speculative_tokens":1}'),
        "decode": with_arguments("--speculative-config", '{"method":"mtp","num_speculative_tokens": 3}', tensor=4),
    },
    "no EFA at all": {"prefill": role("g6e", tensor=1), "decode": role("g6e", tensor=2)},
    "other free ports": {"transfer": {"sideChannelPort": 7996}},
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_pair_that_can_hand_over_passes(name: str) -> None:
    assert problems(**RIGHT[name]) == []


@pytest.mark.parametrize("flag", ALIKE)
def test_what_the_handshake_compares_must_be_alike(flag: str) -> None:
    different = {"prefill": with_arguments(flag, "a"), "decode": with_arguments(flag, "b", tensor=4)}
    found = f"found {flag} b; allowed: the same as in prefill.extraArguments: {flag} a"
    assert problems(**different) == [f"decode.extraArguments: {found}. Write {flag} a there too."]


@given(st.sampled_from([1, 2, 4, 8]), st.sampled_from([1, 2, 4, 8]))
def test_without_a_latent_each_prefill_rank_feeds_whole_decode_ranks(prefill: int, decode: int) -> None:
    found = errors_of(transfer_problems(args(), *roles(prefill=role(tensor=prefill), decode=role(tensor=decode))))
    assert bool(found) == (decode % prefill != 0)


@given(st.integers(1, 65_000))
def test_the_port_that_a_fix_names_is_free(port: int) -> None:
    found = transfer_problems(args(transfer={"sideChannelPort": port}), *roles())
    for problem in found:
        proposed = int(problem.fix.removeprefix("Set it to ").removesuffix("."))
        assert transfer_problems(args(transfer={"sideChannelPort": proposed}), *roles()) == []
