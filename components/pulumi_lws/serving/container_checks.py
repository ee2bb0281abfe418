"""Whether what users put into the engine's container works with what we put there: image, environment, memory."""

import re
from collections.abc import Iterable, Iterator, Mapping

from pulumi_lws.declarations import whole_number
from pulumi_lws.facts.versions import PINS
from pulumi_lws.facts.vllm_flags import Version
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.serving import placement, transfer
from pulumi_lws.serving.engines.interconnect import interconnect
from pulumi_lws.serving.engines.settings import VllmEngine
from pulumi_lws.serving.engines.vllm_modes import version_in
from pulumi_lws.serving.engines.vllm_problems import shown
from pulumi_lws.serving.roles import Role

WITHOUT_EFA: Mapping[str, str] = {
    "vllm/vllm-openai": f"Leave it out for {PINS['vllm'].source}:{PINS['vllm'].version}",
    "lmsysorg/sglang": "Name an image with AWS's EFA installer on top of it",
}
"""Repositories of images without EFA's libfabric, each with what to do."""

_TRANSFERS_OVER_EFA: Version = (0, 12, 0)
"""First vLLM whose images had a NIXL that hands caches over by EFA.
https://github.com/vllm-project/vllm/issues/27055"""

_LEAST_SHARED_MEMORY_GIB = 2
"""What NCCL takes of ``/dev/shm`` for the GPUs of one pod (2.27)."""

_SIDECAR_KEEPS_SECONDS = 90
"""How long the routing sidecar keeps an idle connection."""

_POD_IP = "$(POD_IP)"
_HUGE_PAGES = "FI_EFA_USE_HUGE_PAGE"
_KEEP_ALIVE = "VLLM_HTTP_TIMEOUT_KEEP_ALIVE"
_OFF = {"", "0", "false"}
_SWITCHED = {*_OFF, "1", "true"}

_NO_SECRET = re.compile(
    r"(^|_)(BOS|EOS|FIRST|IMAGE|LAST|MASK|MAX|MIN|NEW|NUM|PAD|PER|SEP|SPECIAL|STOP|UNK)_TOKEN$", re.IGNORECASE
)
"""Tokens that are parts of texts, or their number."""

_SECRET = re.compile(r"(^|_)(TOKEN|API_KEY|ACCESS_KEY(_ID)?|SECRET|PASSWORD)$", re.IGNORECASE)

_INJECTED = "LWS_"
"""Prefix of the variables that LWS sets, before all others: none of the user's takes their place."""

_OWN_ADDRESS = "POD_IP"
"""Variable that the others follow: one that named itself would stay as it is written."""

_CONNECTOR = "NixlConnector"
_HOST = "VLLM_NIXL_SIDE_CHANNEL_HOST"

_ADDRESSES = ("SGLANG_HOST_IP", "VLLM_HOST_IP", _HOST)
"""Variables with the address of the pod itself."""

_DECLARED: Mapping[str, str] = {"VLLM_ENGINE_READY_TIMEOUT_S": "startBudgetMinutes"}
"""Where a declaration says what a variable says."""

_OF_TRANSFER: Mapping[str, tuple[str, str]] = {
    "VLLM_NIXL_SIDE_CHANNEL_PORT": (
        "a variable that the declaration does not own; transfer.sideChannelPort says it",
        "Set transfer.sideChannelPort.",
    ),
    # https://github.com/vllm-project/vllm/issues/41814
    "NIXL_BACKEND": ("nothing: vLLM ignores it, and is told LIBFABRIC where there is EFA", "Remove it."),
}
"""What is allowed, and what to do, of variables that follow from how prefill and decode hand caches over."""

_OVER_EFA: Mapping[str, str] = {
    # https://github.com/aws-samples/aws-do-eks/issues/53
    "NCCL_NVLS_ENABLE": "with it the first exchange between nodes has failed on EFA",
    "FI_PROVIDER": "any other goes over TCP",
    "FI_EFA_USE_DEVICE_RDMA": "without it GPU memory is copied through the host",
    "NCCL_SOCKET_IFNAME": "a list of what to use hides the EFA interfaces of a node, and NCCL takes TCP",
}
"""Why variables have the values that we give them over EFA."""


def wants_huge_pages(environment: Mapping[str, str]) -> bool:
    """Tell whether libfabric is told to use huge pages, of which the pod then needs some."""
    return environment.get(_HUGE_PAGES, "") not in _OFF


def container_problems(role: Role) -> list[Problem]:
    """Return what users put into a role's container that cannot work; paths start at the role's settings."""
    return [*_environment(role), *_secret_environment(role), *_own_connector(role)]


def shared_problems(roles: Iterable[Role]) -> list[Problem]:
    """Return the same of what all roles share; paths start at the deployment."""
    return list(dict.fromkeys(problem for role in roles for problem in _shared(role)))


def _shared(role: Role) -> Iterator[Problem]:
    yield from _image(role)
    yield from _shared_memory(role)
    yield from _host_network(role)


def _environment(role: Role) -> Iterator[Problem]:
    for name, value in role.settings.environment.items():
        path = f"environment.{name}"
        if is_secret(name) and value.lower() not in _SWITCHED:
            fix = f"Put it into a Secret, and set secretEnvironment.{name} to its secret and key."
            yield Problem(path, "a value in plain text", "a Secret: whoever reads pods reads this", fix)
        elif name in _ADDRESSES:
            if value != _POD_IP:
                allowed = f"{_POD_IP}: it is the address of each pod, at which the others find it"
                yield Problem(path, value or "nothing", allowed, "Remove it.")
        elif (decided := _decided(role, name)) is not None:
            yield Problem(path, value or "nothing", *decided)
        else:
            yield from _value(role, path, name, value)


def is_secret(name: str) -> bool:
    """Tell whether a variable is called like one for a secret."""
    return _SECRET.search(name) is not None and _NO_SECRET.search(name) is None


def _decided(role: Role, name: str) -> tuple[str, str] | None:
    """Return what is allowed and what to do, for a variable that is not the user's to set."""
    if name.startswith(_INJECTED):
        return "a variable that LWS does not set", "Remove it."
    if name == _OWN_ADDRESS:
        return "a variable that is not ours: this one holds the address of each pod", "Remove it, or rename it."
    if name in _DECLARED:
        return f"a variable that the declaration does not own; {_DECLARED[name]} says it", f"Set {_DECLARED[name]}."
    if role.name != "serve" and name in _OF_TRANSFER:
        return _OF_TRANSFER[name]
    return None


def _value(role: Role, path: str, name: str, value: str) -> Iterator[Problem]:
    """Judge variables of which some values do not work."""
    if name == "VLLM_SERVER_DEV_MODE" and value.lower() not in _OFF:
        allowed = "0: with it whoever reaches the port can put the engine to sleep, or have it call its methods"
        yield Problem(path, value, allowed, "Remove it.")
    elif name == _KEEP_ALIVE and role.name == "prefill":
        if (whole_number(value) or 0) <= _SIDECAR_KEEPS_SECONDS:
            allowed = f"more than {_SIDECAR_KEEPS_SECONDS}: so long the routing sidecar keeps a connection to send on"
            yield Problem(path, value, allowed, f"Remove it: it is {transfer.KEEP_ALIVE_SECONDS} then.")
    elif name == _HUGE_PAGES and value not in _OFF and not placement.huge_pages(role.pool, role.shape.gpus_per_pod):
        pool = role.settings.pool
        allowed = f"0: pods get no huge pages, since pools.{pool} has none"
        yield Problem(path, value, allowed, f"Remove it, or set pools.{pool}.hugepages to true.")
    elif name in _OVER_EFA and _breaks_efa(role, name, value):
        yield Problem(
            path, value, f"{interconnect(role.launch)[name]}: {_OVER_EFA[name]}", "Remove it.", Severity.WARNING
        )


def _breaks_efa(role: Role, name: str, value: str) -> bool:
    if not role.launch.has_efa or interconnect(role.launch).get(name, value) == value:
        return False
    # In the pods' own network there is nothing to hide, and another exclusion hides nothing.
    return name != "NCCL_SOCKET_IFNAME" or (role.launch.host_network and not value.startswith("^"))


def _secret_environment(role: Role) -> Iterator[Problem]:
    for name in role.settings.secret_environment:
        path, found = f"secretEnvironment.{name}", "a key of a Secret"
        if name in role.settings.environment:
            fix = f"Remove environment.{name} or this."
            yield Problem(path, found, "one of both: environment has a value for it too", fix)
        elif name in _ADDRESSES:
            yield Problem(path, found, "nothing: it is the address of each pod", "Remove it.")
        elif (decided := _decided(role, name)) is not None:
            yield Problem(path, found, *decided)


def _own_connector(role: Role) -> Iterator[Problem]:
    """Judge a NixlConnector that the user brings along instead of declaring the roles of a disaggregated-vllm."""
    if role.name != "serve" or not any(_CONNECTOR in word for word in role.settings.extra_arguments):
        return
    instead = "declare kind disaggregated-vllm, which sets up both ends."
    if (stages := role.settings.parallelism.pipeline) > 1:
        # https://github.com/vllm-project/vllm/issues/40674
        allowed = f"1, with {_CONNECTOR} in extraArguments: it does not hand over caches between pipeline stages"
        yield Problem("parallelism.pipeline", str(stages), allowed, f"Set it to 1, or {instead}")
    if _HOST not in role.settings.environment:
        # https://github.com/vllm-project/vllm/issues/27083
        allowed = f"{_POD_IP}, with {_CONNECTOR} in extraArguments: else it tells others that it is at localhost"
        yield Problem(f"environment.{_HOST}", "nothing", allowed, f"Set it to {_POD_IP}, or {instead}")


def _image(role: Role) -> Iterator[Problem]:
    """Judge what is known of images where pods talk over EFA."""
    if not role.launch.has_efa or (role.name == "serve" and role.shape.size == 1):
        return
    engine, image = role.deployment.engine, role.launch.image
    for repository, instead in WITHOUT_EFA.items():
        if repository in image:
            yield Problem(
                "image",
                image,
                "an image with EFA's libfabric: without it pods talk over TCP, many times slower",
                f"{instead}, or make sure that yours has it.",
                Severity.WARNING,
            )
    if role.name == "serve" or not isinstance(engine, VllmEngine):
        return
    version = version_in(engine, image)
    if version is not None and version < _TRANSFERS_OVER_EFA:
        allowed = f"{shown(_TRANSFERS_OVER_EFA)} or newer: the NIXL of older images fails over EFA"
        yield Problem("image", f"vLLM {shown(version)}", allowed, "Use a newer image.")


def _shared_memory(role: Role) -> Iterator[Problem]:
    """Judge ``/dev/shm``, of which a pod gets the share of its GPUs."""
    instance, gpus, declared = role.pool.instance, role.shape.gpus_per_pod, role.deployment.shared_memory_gib
    if gpus == 1 or placement.shared_memory_gib(instance, gpus, declared) >= _LEAST_SHARED_MEMORY_GIB:
        return
    least = -(-_LEAST_SHARED_MEMORY_GIB * instance.gpus // gpus)
    yield Problem(
        "sharedMemoryGib",
        f"{declared}, of which a pod with {gpus} of {instance.gpus} GPUs gets"
        f" {placement.shared_memory_gib(instance, gpus, declared)}",
        f"at least {least}: NCCL needs {_LEAST_SHARED_MEMORY_GIB} for several GPUs",
        f"Set it to {least}.",
    )


def _host_network(role: Role) -> Iterator[Problem]:
    """Judge pods that share a node and its ports: all but one would wait for another node for ever."""
    if role.launch.host_network and role.shape.is_packed:
        port, count = role.behaviour.ports["http"], role.shape.pods_per_node
        yield Problem(
            "hostNetwork",
            f"{role.deployment.host_network}, with {count} pods of {role.name} to a node",
            f"null where pods share a node: each opens port {port} of it",
            f"Set it to null, or give each copy the {role.pool.instance.gpus} GPUs of a node.",
        )
