"""Llama 3.1 405B over two nodes by Ray Serve: one copy, two under load, and GPUs for a second cluster at upgrades."""

import pulumi
import pulumi_kubernetes

from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.planning.parallelism import Parallelism
from pulumi_lws.ray.component import RayServiceVllm
from pulumi_lws.ray.settings import FaultTolerance, RayServiceVllmArgs
from pulumi_lws.serving.settings import SecretKey
from pulumi_lws.serving.sources.settings import VolumeSource

cluster = pulumi_kubernetes.Provider("cluster", context="production", enable_server_side_apply=True)
llama = RayServiceVllm(
    "llama",
    RayServiceVllmArgs(
        name="llama",
        namespace="models",
        model="meta-llama/Llama-3.1-405B-Instruct",
        source=VolumeSource(claim="models", path="llama-3.1-405b", stream=True),
        parallelism=Parallelism(tensor=8, pipeline=2),
        max_copies=2,
        max_model_len=16384,
        pool="p5",
        pools={"p5": GpuPool(instance_type="p5.48xlarge", nodes=6, zone="us-east-2a")},
        # A Redis of yours: with it the workers outlive their head.
        fault_tolerance=FaultTolerance(
            redis_address="redis.models.svc:6379",
            password=SecretKey(secret="redis", key="password"),  # noqa: S106 - the name of a Secret
        ),
    ),
    pulumi.ResourceOptions(providers=[cluster]),
)
pulumi.export("url", llama.url)
