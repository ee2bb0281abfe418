"""vLLM over several nodes by its own multi-process backend, without Ray.

Source: ``vllm/config/parallel.py`` and ``vllm/engine/arg_utils.py``; ``--nnodes`` since vLLM 0.12.
"""

from pulumi_lws.serving.settings import MultiNodeVllmSettings
from pulumi_lws.serving.timeouts import DRAIN_SECONDS, Timeouts

API_PORT = 8000
"""Port of the OpenAI API, ``/health`` and ``/metrics``; only the leader opens it."""

RENDEZVOUS_PORT = 29501
"""Port on which the leader gathers the other ranks (``--master-port``)."""


def leader_command(settings: MultiNodeVllmSettings, timeouts: Timeouts) -> list[str]:
    """Return the command of the leader: rank 0, with the API server."""
    serving = ["--host", "0.0.0.0", "--port", str(API_PORT), "--shutdown-timeout", str(DRAIN_SECONDS)]  # noqa: S104 - the Service and the probe reach it by the pod's address
    if settings.served_model_name is not None:
        serving += ["--served-model-name", settings.served_model_name]
    return [*_rank_command(settings, timeouts), *serving, *settings.extra_arguments]


def worker_command(settings: MultiNodeVllmSettings, timeouts: Timeouts) -> list[str]:
    """Return the command of a worker: a rank without an API server."""
    return [*_rank_command(settings, timeouts), "--headless", *settings.extra_arguments]


def environment(timeouts: Timeouts) -> dict[str, str]:
    """Return the environment of leader and workers that does not depend on the pod."""
    return {
        "VLLM_ENGINE_READY_TIMEOUT_S": str(timeouts.engine_ready),
        # Torch asks for the user's name; an arbitrary UID has none. https://github.com/vllm-project/vllm/issues/44548
        "USER": "vllm",
        "NCCL_SOCKET_IFNAME": "eth0",
        "GLOO_SOCKET_IFNAME": "eth0",
        # The first all-reduce between nodes failed on EFA with it. https://github.com/aws-samples/aws-do-eks/issues/53
        "NCCL_NVLS_ENABLE": "0",
    }


def _rank_command(settings: MultiNodeVllmSettings, timeouts: Timeouts) -> list[str]:
    """Return what every rank is told; Kubernetes fills in the variables that LWS injects."""
    return [
        "vllm",
        "serve",
        settings.model,
        "--distributed-executor-backend",
        "mp",
        "--tensor-parallel-size",
        str(settings.parallelism.tensor),
        "--pipeline-parallel-size",
        str(settings.parallelism.pipeline),
        "--nnodes",
        "$(LWS_GROUP_SIZE)",
        "--node-rank",
        "$(LWS_WORKER_INDEX)",
        "--master-addr",
        "$(LWS_LEADER_ADDRESS)",
        "--master-port",
        str(RENDEZVOUS_PORT),
        "--distributed-timeout-seconds",
        str(timeouts.distributed),
    ]
