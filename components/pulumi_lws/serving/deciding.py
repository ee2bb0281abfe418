"""Deciding what a deployment's roles are, from what was declared."""

from collections.abc import Mapping
from dataclasses import dataclass

from pulumi_lws.facts import labels
from pulumi_lws.facts.models import ModelArchitecture
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.planning.architectures import architecture_of
from pulumi_lws.planning.parallelism import group_shape
from pulumi_lws.planning.problems import Problem
from pulumi_lws.serving import timeouts, transfer
from pulumi_lws.serving.engines.catalogue import engine_of
from pulumi_lws.serving.engines.engine import InferenceEngine, Launch, RoleName
from pulumi_lws.serving.roles import API_PORT, BEHIND_SIDECAR_PORT, Role
from pulumi_lws.serving.settings import (
    DeploymentArgs,
    DisaggregatedVllmArgs,
    RoleSettings,
    SingleNodeVllmArgs,
    gpus_of_copy,
    pool_use,
    roles_settings,
)
from pulumi_lws.serving.sources.loading import Loading, loading


def roles_of(args: DeploymentArgs) -> tuple[tuple[Role, ...], list[Problem]]:
    """Return the roles of a deployment, and why some cannot be told: no such pool, no image, unreadable sizes."""
    architecture = architecture_of(args.architecture, args.model)
    problems: list[Problem] = []
    if isinstance(architecture, Problem):
        problems.append(architecture)
        architecture = None
    engine = engine_of(args.engine)
    image = args.image or engine.default_image
    if image is None:
        fix = "Name the image of your engine, with a tag or a digest."
        return (), [*problems, Problem("image", "nothing", "an image: this kind of engine has no default", fix)]
    decided = _Decided(args, engine, image, architecture, loading(args.source, args.model, args.engine.kind))
    roles: list[Role] = []
    for name, settings in roles_settings(args).items():
        pool = args.pools.get(settings.pool)
        if pool is None:
            fix = "Name a pool of this stack, or declare it under pools."
            found = Problem("pool", settings.pool, _names(args), fix)
            problems.append(found.below(_path(name)) if _path(name) else found)
        else:
            roles.append(_role(decided, name, settings, pool))
    return tuple(roles), problems


def _names(args: DeploymentArgs) -> str:
    return ", ".join(args.pools) or "none is declared"


@dataclass(frozen=True)
class _Decided:
    """What is the same for all roles of a deployment."""

    args: DeploymentArgs
    engine: InferenceEngine
    image: str
    architecture: ModelArchitecture | None
    weights: Loading


def _role(decided: _Decided, name: RoleName, settings: RoleSettings, pool: GpuPool) -> Role:
    args, workload = decided.args, _workload(decided.args, name)
    launch = _launch(decided, name, settings, pool)
    return Role(
        name=name,
        path=_path(name),
        deployment_name=args.name,
        workload=workload,
        namespace=args.namespace,
        deployment=args,
        settings=settings,
        pool=pool,
        others_gpus=_others_gpus(args, settings, pool),
        siblings_surge_gpus=_siblings_surge_gpus(args, settings, pool),
        shape=launch.shape,
        engine=decided.engine,
        launch=launch,
        behaviour=decided.engine.behaviour(launch),
        loading=decided.weights,
        architecture=decided.architecture,
        is_deployment=isinstance(args, SingleNodeVllmArgs),
        selector=_selector(args, name, workload),
    )


def _launch(decided: _Decided, name: RoleName, settings: RoleSettings, pool: GpuPool) -> Launch:
    args, weights, architecture = decided.args, decided.weights, decided.architecture
    shape = group_shape(settings.parallelism, pool.instance.gpus)
    has_efa = pool.efa_mode != "none" and pool.instance.efa_interfaces * shape.gpus_per_pod >= pool.instance.gpus
    return Launch(
        model=weights.model,
        served_model_name=args.served_model_name or (args.model if weights.model != args.model else None),
        parallelism=settings.parallelism,
        shape=shape,
        timeouts=timeouts.derive(args.start_budget_minutes, args.drain_seconds),
        drain_seconds=args.drain_seconds,
        role=name,
        api_port=BEHIND_SIDECAR_PORT if name == "decode" else API_PORT,
        interface=args.host_network or "eth0",
        host_network=args.host_network is not None,
        has_efa=has_efa,
        image=decided.image,
        max_model_len=args.max_model_len,
        gpu_memory_utilization=settings.gpu_memory_utilization,
        kv_cache_dtype=args.kv_cache_dtype,
        loading_arguments=weights.arguments,
        transfer_arguments=transfer.transfer_arguments(args.transfer, has_efa=has_efa)
        if isinstance(args, DisaggregatedVllmArgs)
        else (),
        is_mixture_of_experts=architecture.is_mixture_of_experts if architecture else None,
        extra_arguments=settings.extra_arguments,
    )


def _path(name: RoleName) -> str:
    return "" if name == "serve" else name


def _workload(args: DeploymentArgs, name: RoleName) -> str:
    return args.name if name == "serve" else f"{args.name}-{name}"


def _others_gpus(args: DeploymentArgs, settings: RoleSettings, pool: GpuPool) -> int:
    own = settings.most_replicas * gpus_of_copy(settings, pool)
    return args.taken_gpus.get(settings.pool, 0) + pool_use(args, args.pools)[settings.pool] - own


def _siblings_surge_gpus(args: DeploymentArgs, settings: RoleSettings, pool: GpuPool) -> int:
    siblings = [role for role in roles_settings(args).values() if role is not settings]
    return sum(gpus_of_copy(role, pool) for role in siblings if role.pool == settings.pool and role.surge != 0)


def _selector(args: DeploymentArgs, name: RoleName, workload: str) -> Mapping[str, str]:
    if isinstance(args, SingleNodeVllmArgs):
        # Workers of groups that it replaces have the first of these too.
        return {labels.DEPLOYMENT: args.name, labels.SERVES: "true"}
    if isinstance(args, DisaggregatedVllmArgs) and args.backend == "disaggregated-set":
        return {labels.DS_NAME: args.name, labels.DS_ROLE: name}
    return {labels.LWS_NAME: workload}
