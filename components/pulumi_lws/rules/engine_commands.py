"""Reading how a container starts an engine: whether one engine spans the pods of a group, and which ports it has."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from pulumi_lws.rules.groups import Template, items
from pulumi_lws.rules.values import UNKNOWN, Unknown, value_at, whole_number

_SHELL_BREAKS = re.compile(r"[;&|\n]+")
_WORD_BREAKS = re.compile(r"[\s'\"=\\]+")

_NODES = ("--nnodes", "--ray-cluster-size")
TENSOR: Final = ("--tensor-parallel-size", "-tp", "--tp", "--tp-size")
PIPELINE: Final = ("--pipeline-parallel-size", "-pp", "--pp", "--pp-size")
DATA: Final = ("--data-parallel-size", "-dp")
_DATA_LOCAL = ("--data-parallel-size-local", "-dpl")
_DATA_RANK = ("--data-parallel-rank", "-dpn")

_RENDEZVOUS_OPTIONS = ("--master-port", "--data-parallel-rpc-port", "--ray-port", "--dist-init-addr")
_RENDEZVOUS_PORTS = frozenset({6379, 8265, 29500, 29501, 29550})
"""Where leaders of Ray and vLLM gather their workers unless told otherwise; they open before the workers come."""

READINESS: Final = ("readinessProbe", "startupProbe")
"""Probes without which a pod is never Ready."""

EVERY_PROBE: Final = (*READINESS, "livenessProbe")

PORT_ACTIONS: Final = ("httpGet", "tcpSocket", "grpc")
"""What a probe asks a port for."""


@dataclass(frozen=True)
class PortProbe:
    """A probe that connects to a port.

    Attributes:
        container: The probed container.
        path: Where the port stands; where the probe does, if nothing of it is known yet.
        port: The port; None where a name leads to none.
        is_known: Whether it is known that a port is asked.
    """

    container: Any
    path: str
    port: int | Unknown | None
    is_known: bool = True


def port_probes(template: Template, probes: tuple[str, ...]) -> Iterator[PortProbe]:
    """Yield the probes of a template that connect to a port of a container."""
    for path, container in template.containers():
        for probe in probes:
            if value_at(container, probe) is UNKNOWN:
                yield PortProbe(container, f"{path}.{probe}", UNKNOWN, is_known=False)
                continue
            for kind in PORT_ACTIONS:
                action = value_at(container, probe, kind)
                if action is not None:
                    yield PortProbe(container, f"{path}.{probe}.{kind}.port", port_of(container, action))


def port_of(container: Any, action: Any) -> int | Unknown | None:
    """Return the port that a probe asks; None where a name leads to none."""
    port = value_at(action, "port")
    if isinstance(port, str):
        declared = [one for _, one in items(value_at(container, "ports"), "")]
        names = [value_at(one, "name") for one in declared]
        if port in names:
            port = value_at(declared[names.index(port)], "containerPort")
        elif UNKNOWN in names:
            return UNKNOWN
    number = whole_number(port, default=-1)
    return None if number == -1 else number


@dataclass(frozen=True)
class Commands:
    """The command and the arguments of a container, as words of the commands that a shell would see."""

    lines: tuple[tuple[str, ...], ...]

    def option(self, *names: str) -> str | None:
        """Return the value of an option by any of its names, written with ``-`` or ``_``, with a space or ``=``."""
        for line in self.lines:
            for word, following in pairwise(line):
                if _spelling(word) in names:
                    return following
        return None

    def has(self, flag: str) -> bool:
        """Tell whether a flag stands in any of them."""
        return any(flag in line for line in self.lines)

    def spans_pods(self, gpus: int | Unknown) -> str | None:
        """Return why one engine spans the pods of a group: the options that say so; None where nothing does.

        Args:
            gpus: GPUs of the container.
        """
        for name in _NODES:
            if (nodes := self.option(name)) not in (None, "1"):
                return f"{name} {nodes}"
        tensor, pipeline = _number(self.option(*TENSOR)), _number(self.option(*PIPELINE))
        if isinstance(gpus, int) and 0 < gpus < tensor * pipeline:
            return f"{tensor * pipeline} GPUs for tensor and pipeline parallelism, {gpus} in the pod"
        # A command that says which rank it is starts that one alone.
        data, local = self.option(*DATA), "1" if self.option(*_DATA_RANK) else self.option(*_DATA_LOCAL)
        if data is not None and local is not None and ("LWS_GROUP_SIZE" in data or _number(data) > _number(local)):
            return f"--data-parallel-size {data}, {local} of it in the pod"
        return None

    def gathers_on(self, port: int) -> bool:
        """Tell whether workers are gathered on a port, which then opens before they come."""
        named = {(self.option(name) or "").rpartition(":")[2] for name in _RENDEZVOUS_OPTIONS}
        ray = next((line for line in self.lines if "ray" in line and "start" in line), ())
        return port in _RENDEZVOUS_PORTS or str(port) in {*named, Commands((ray,)).option("--port")}


def commands_of(container: Any) -> Commands | Unknown:
    """Return how a container starts."""
    words = [
        word for field in ("command", "args") for _, word in items(value_at(container, field), "") if word is not None
    ]
    if UNKNOWN in words:
        return UNKNOWN
    lines = _SHELL_BREAKS.split(" ".join(map(str, words)).replace("\\\n", " "))
    return Commands(tuple(tuple(_words(line)) for line in lines))


def _words(line: str) -> Iterator[str]:
    for word in filter(None, _WORD_BREAKS.split(line)):
        # The end of a subshell is no part of its last word.
        yield word if "(" in word else word.rstrip(")")


def gpus_of(container: Any) -> int | Unknown:
    """Return the accelerators of a container; 0 where none are named."""
    limits = value_at(container, "resources", "limits", default=value_at(container, "resources", "requests"))
    if isinstance(limits, Unknown):
        return limits
    if not isinstance(limits, Mapping):
        return 0
    return sum(_number(str(count)) for name, count in limits.items() if str(name).endswith(("/gpu", "/tpu")))


def _spelling(option: str) -> str:
    return option.replace("_", "-")


def _number(text: str | None) -> int:
    """Return a number, and 1 for anything else: an option that is not given splits nothing."""
    return int(text) if text is not None and re.fullmatch(r"[0-9]{1,6}", text) else 1
