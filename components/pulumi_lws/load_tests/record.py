"""What a load test was a test of, from the declaration: without it a result compares with no other."""

from typing import Any

from pulumi_lws.facts.versions import PINS
from pulumi_lws.load_tests.settings import LoadTestSettings
from pulumi_lws.load_tests.target import tokenizer_of, url_of
from pulumi_lws.planning.secrets import without_tokens
from pulumi_lws.serving.deciding import roles_of
from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.settings import DeploymentArgs
from pulumi_lws.serving.sizing import memory_of

Record = dict[str, Any]
"""A record, as JSON has it."""


def record_of(test: LoadTestSettings, args: DeploymentArgs) -> Record:
    """Return the record of a load test: model, engine, split, GPUs, network and load.

    Tokens that stand in arguments or variables by mistake are left out.
    """
    roles = roles_of(args)[0]
    architecture = roles[0].architecture
    return {
        "deployment": args.name,
        "kind": args.kind,
        "model": args.model,
        "weights": architecture.native_dtype if architecture else None,
        "engine": args.engine.kind,
        "image": roles[0].launch.image,
        "maxModelLen": args.max_model_len or (architecture.max_positions if architecture else None),
        "kvCacheDtype": args.kv_cache_dtype,
        "gpus": sum(role.settings.replicas * role.settings.parallelism.gpus for role in roles),
        "roles": {role.name: _role(role) for role in roles},
        "lws": args.lws_version,
        "kubernetes": args.kubernetes_version,
        "load": {
            "url": url_of(test, args),
            **test.load.model_dump(mode="json", by_alias=True),
            "inputTokens": test.input_tokens,
            "outputTokens": test.output_tokens,
            "seconds": test.seconds,
            "maxErrorRate": test.max_error_rate,
            "run": test.run,
            "tokenizer": tokenizer_of(test, args).name,
            "generator": generator_image(test),
        },
    }


def generator_image(test: LoadTestSettings) -> str:
    """Return the image of the generator."""
    pin = PINS["guidellm"]
    return test.image or f"{pin.source}:{pin.version}"


def _role(role: Role) -> Record:
    settings, pool, memory = role.settings, role.pool, memory_of(role)
    interfaces = pool.instance.efa_interfaces * role.shape.gpus_per_pod // pool.instance.gpus
    return {
        "replicas": settings.replicas,
        "parallelism": str(settings.parallelism),
        "gpusPerReplica": settings.parallelism.gpus,
        "nodesPerReplica": role.shape.size,
        "pool": settings.pool,
        "instanceType": pool.instance_type,
        "gpu": pool.instance.gpu,
        "network": {
            "efa": pool.efa_mode if role.launch.has_efa else "none",
            "efaInterfacesPerPod": interfaces if role.launch.has_efa else 0,
            "placementGroup": pool.is_placed,
        },
        "gpuMemoryUtilization": settings.gpu_memory_utilization,
        "kvCacheTokens": memory.kv_tokens * settings.replicas if memory else None,
        "extraArguments": [without_tokens(word) for word in settings.extra_arguments],
        "environment": {name: without_tokens(value) for name, value in settings.environment.items()},
    }
