"""Whether something on Ray can run on its pool, decided before anything is applied."""

from collections.abc import Iterator, Mapping

from pulumi_lws.facts.versions import PINS
from pulumi_lws.planning.counting import counted
from pulumi_lws.planning.problems import Problem, errors_of
from pulumi_lws.ray.deciding import Decided, decide, ray_of
from pulumi_lws.ray.manifests import render
from pulumi_lws.ray.model_checks import model_problems
from pulumi_lws.ray.settings import RayArgs, RayClusterPoolArgs, RayServiceVllmArgs
from pulumi_lws.ray.upgrades import IncrementalUpgrade, workers_on_top
from pulumi_lws.rules.judging import judge
from pulumi_lws.rules.rule import Target, major_and_minor
from pulumi_lws.serving.container_checks import is_secret

MOST_CHARACTERS: Mapping[type[RayArgs], int] = {RayClusterPoolArgs: 53, RayServiceVllmArgs: 47}
"""Characters of a name, as KubeRay has it: its Services add ``-serve-svc``, and a service's clusters six more."""

_TOKENS_SINCE = (2, 52)
_HEALTH_SINCE = (2, 53)

_OWN_VARIABLES: Mapping[str, str] = {
    "RAY_AUTH_MODE": "nothing: KubeRay sets it",
    "RAY_AUTH_TOKEN": "nothing: KubeRay sets it, from tokenSecret",
    "RAY_REDIS_ADDRESS": "nothing: faultTolerance says it",
    "RAY_ADDRESS": "nothing: KubeRay sets it",
    "RAY_enable_autoscaler_v2": "nothing: KubeRay sets it",
    "VLLM_HOST_IP": "nothing: it is the address of each pod",
    "RAYLLM_ENGINE_START_TIMEOUT_S": "nothing: startBudgetMinutes says it",
    "VLLM_ENGINE_READY_TIMEOUT_S": "nothing: startBudgetMinutes says it",
}
"""Variables of the workers that are not the user's, each with what is allowed."""


def check(args: RayArgs) -> list[Problem]:
    """Return what keeps it from running. Paths start at the declaration."""
    if args.pool not in args.pools:
        fix = "Name a pool of this stack, or declare it under pools."
        return [Problem("pool", args.pool, ", ".join(args.pools) or "none is declared", fix)]
    decided = decide(args)
    problems = [
        *_name(args),
        *_versions(decided),
        *_pool(decided),
        *_idle(decided),
        *_queue(decided),
        *_environment(args),
    ]
    if isinstance(args, RayServiceVllmArgs):
        problems += [*_upgrade(decided, args), *_gateway(args), *model_problems(decided, args)]
    if errors_of(problems):
        return problems
    # What is wrong with anybody's objects is wrong with these.
    return [*problems, *(problem for each in render(decided).manifests.values() for problem in judge(each, Target()))]


def _name(args: RayArgs) -> Iterator[Problem]:
    most = MOST_CHARACTERS[type(args)]
    if len(args.name) > most:
        found = f"{args.name}, of {len(args.name)} characters"
        yield Problem(
            "name", found, f"at most {most}: KubeRay makes names of Services and clusters from it", "Shorten it."
        )


def _versions(decided: Decided) -> Iterator[Problem]:
    args, version = decided.args, ray_of(decided)
    declared: list[tuple[str, str | None, str]] = [("rayVersion", args.ray_version, "ray-llm-ray")]
    if isinstance(args, RayServiceVllmArgs):
        declared.append(("vllmVersion", args.vllm_version, "ray-llm-vllm"))
    for path, said, pin in declared:
        in_default = PINS[pin].version
        if args.image is not None and said is None:
            allowed = f"the version in {args.image}: KubeRay and we go by it"
            yield Problem(path, "nothing", allowed, f"Set it, such as {in_default}.")
        elif args.image is None and said is not None and major_and_minor(said) != major_and_minor(in_default):
            yield Problem(path, said, f"{in_default}, the version in the default image", "Remove it, or set image.")
    if version < _HEALTH_SINCE:
        lacks = "token" if version < _TOKENS_SINCE else "address that tells whether a node is well"
        allowed = f"2.53 or newer: older ones have no {lacks}"
        yield Problem("rayVersion", decided.ray_version, allowed, "Use a newer image.")


def _pool(decided: Decided) -> Iterator[Problem]:
    args, pool, name = decided.args, decided.pool, decided.args.pool
    least, most = ("minCopies", "maxCopies") if isinstance(args, RayServiceVllmArgs) else ("minWorkers", "maxWorkers")
    if pool.role is not None:
        fix = f"Name another pool, or remove pools.{name}.role."
        yield Problem("pool", f"{name}, a pool for {pool.role}", "a pool for any role", fix)
    if pool.islands > 1:
        fix = f"Name another pool, or remove islands and nodesPerIsland of pools.{name} and set its nodes."
        found = f"{name}, a pool with {pool.islands} islands"
        yield Problem("pool", found, "a plain pool: Ray does not know which nodes are close to one another", fix)
        return
    talks_over_efa = isinstance(args, RayServiceVllmArgs) and decided.spans_nodes and decided.launch.has_efa
    if talks_over_efa and pool.zone is None:
        yield Problem(
            "pool",
            f"{name}, without a zone",
            "a pool in one zone: its workers talk over EFA, which does not leave it",
            f"Set pools.{name}.zone.",
        )
    per_node, taken = pool.instance.gpus, args.taken_gpus.get(name, 0)
    wanted = decided.most * per_node
    if wanted + taken > pool.gpus:
        beside = f" beside the {taken} of other deployments" if taken else ""
        yield Problem(
            most if decided.is_autoscaled else least,
            f"{counted(decided.most, 'worker')} of a whole node, {wanted} GPUs{beside}",
            f"at most {max(pool.gpus - taken, 0)} GPUs: {name} has {counted(pool.most_nodes, 'node')} of {per_node}",
            f"Lower it, or raise pools.{name}.nodes to {-(-(wanted + taken) // per_node)}.",
        )


def _idle(decided: Decided) -> Iterator[Problem]:
    declared, start = decided.args.idle_timeout_seconds, decided.launch.timeouts.start
    if declared is not None and declared < start:
        yield Problem(
            "idleTimeoutSeconds",
            str(declared),
            f"at least {start}, the start budget: a worker is idle while the others of its copy boot",
            "Remove it, or raise it.",
        )


def _queue(decided: Decided) -> Iterator[Problem]:
    if decided.args.queue is None or not decided.is_autoscaled:
        return
    least, most = (
        ("minCopies", "maxCopies") if isinstance(decided.args, RayServiceVllmArgs) else ("minWorkers", "maxWorkers")
    )
    yield Problem(
        "queue",
        f"{decided.args.queue}, for {decided.least} to {decided.most} workers",
        "a number of workers that stays: Kueue refuses clusters that Ray's autoscaler changes, but for an alpha feature"
        " (ElasticJobsViaWorkloadSlices)",
        f"Set {most} to {least}, or remove queue.",
    )


def _environment(args: RayArgs) -> Iterator[Problem]:
    for field, names in (("environment", args.environment), ("secretEnvironment", args.secret_environment)):
        for name in names:
            if name in _OWN_VARIABLES:
                yield Problem(f"{field}.{name}", "a variable", _OWN_VARIABLES[name], "Remove it.")
    for name in args.environment:
        if name not in _OWN_VARIABLES and is_secret(name):
            fix = f"Put it into a Secret, and set secretEnvironment.{name} to its secret and key."
            yield Problem(
                f"environment.{name}", "a value in plain text", "a Secret: whoever reads pods reads this", fix
            )


def _upgrade(decided: Decided, args: RayServiceVllmArgs) -> Iterator[Problem]:
    """Judge whether old and new cluster fit the pool together: the new one would wait for GPUs for ever."""
    pool, upgrade, per_node = decided.pool, args.upgrade, decided.pool.instance.gpus
    if isinstance(upgrade, IncrementalUpgrade) and not decided.is_autoscaled:
        yield Problem(
            "upgrade.kind",
            "'incremental', without an autoscaler",
            "new-cluster or none: KubeRay moves requests step by step only with Ray's autoscaler",
            "Set maxCopies above minCopies, or upgrade.kind to new-cluster.",
        )
    taken = args.taken_gpus.get(args.pool, 0)
    wanted = decided.most * per_node + taken
    together = wanted + workers_on_top(upgrade, decided.least, decided.most) * per_node
    if wanted <= pool.gpus < together:
        yield Problem(
            "upgrade.kind",
            f"{upgrade.kind!r}, which needs {together} GPUs of {args.pool} while both clusters run",
            f"none, or a pool of {together} GPUs: it has {pool.gpus}",
            f"Raise pools.{args.pool}.nodes to {-(-together // per_node)}, or set upgrade.kind to none and bear that a"
            " change stops copies.",
        )


def _gateway(args: RayServiceVllmArgs) -> Iterator[Problem]:
    if args.gateway is not None and args.gateway.kind == "hpa":
        fix = "Set gateway.kind to keda."
        yield Problem("gateway.kind", "'hpa'", "keda: the adapter does not know the metrics of Ray", fix)
