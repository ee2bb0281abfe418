"""Reading how a container starts an engine: whether one engine spans the pods of a group, and which ports it has."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal

from pulumi_lws.facts.vllm_flags import flag_table
from pulumi_lws.rules.command_lines import Line, lines_of
from pulumi_lws.rules.groups import Template, items
from pulumi_lws.rules.values import UNKNOWN, Unknown, value_at, whole_number

Engine = Literal["vllm", "sglang"]

ENGINES: Final[Mapping[Engine, int]] = {"vllm": 8000, "sglang": 30000}
"""Engines, with the port where each serves unless told otherwise."""

_MODULES: Final[Mapping[str, Engine]] = {"vllm.entrypoints.openai.api_server": "vllm", "sglang.launch_server": "sglang"}
_IMAGES: Final[Mapping[str, Engine]] = {
    "vllm": "vllm",
    "vllm-openai": "vllm",
    "vllm-openai-cpu": "vllm",
    "vllm-openai-rocm": "vllm",
    "vllm-tpu": "vllm",
    "sglang": "sglang",
}
"""Images that are an engine, by the last part of their name; routers and helpers of engines have names like theirs."""

_REFERENCE: Final = re.compile(r"(?<!\$)\$\(([\w.-]+)\)")
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
    """The commands that a container runs, as their words; options of engines by their long names."""

    lines: tuple[Line, ...]

    def option(self, *names: str) -> str | None:
        """Return the value of an option by any of its names."""
        return next((value for line in self.lines for word, value in pairwise(line) if word in names), None)

    def has(self, flag: str) -> bool:
        """Tell whether a flag stands in any of them."""
        return any(flag in line for line in self.lines)

    def mentions(self, text: str) -> bool:
        """Tell whether a text stands in a word of any of them: settings in JSON are one word."""
        return any(text in word for line in self.lines for word in line)

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
        """Tell whether workers are gathered on a port, or another process has it: then it opens before they come."""
        named = {(self.option(name) or "").rpartition(":")[2] for name in _RENDEZVOUS_OPTIONS}
        ray = next((line for line in self.lines if "ray" in line and "start" in line), ())
        gathering = {*named, Commands((ray,)).option("--port")}
        return port in _RENDEZVOUS_PORTS or str(port) in gathering or self.serves_beside(port)

    def serves_beside(self, port: int | Unknown) -> bool:
        """Tell whether a port is surely given to another process than an engine."""
        written, beside = str(port), False
        for line in self.lines:
            engine = engine_of(line)
            if engine is None:
                beside = beside or any(word.rpartition(":")[2] == written for word in line)
            elif (Commands((line,)).option("--port") or str(ENGINES[engine])) == written:
                return False
        return beside


def engine_of(line: Line) -> Engine | None:
    """Return the engine that a command starts; None where it starts none."""
    for program, action in pairwise(line):
        for engine in ENGINES:
            if program.rpartition("/")[2] == engine and action == "serve":
                return engine
    return next((engine for module, engine in _MODULES.items() if module in line), None)


def engine_of_image(image: Any) -> Engine | None:
    """Return the engine that an image is: folders of registries say who made it, not what it is."""
    name = image.partition("@")[0].rpartition("/")[2].partition(":")[0] if isinstance(image, str) else ""
    return _IMAGES.get(name)


def commands_of(container: Any) -> Commands | Unknown:
    """Return how a container starts, with the plain variables of its own that Kubernetes fills in."""
    words = [
        word for field in ("command", "args") for _, word in items(value_at(container, field), "") if word is not None
    ]
    entries = [entry for _, entry in items(value_at(container, "env"), "")]
    variables = {
        name: value_at(entry, "value")
        for entry in entries
        if isinstance(name := value_at(entry, "name"), str | Unknown)
    }
    filled = [UNKNOWN if word is UNKNOWN else _filled(str(word), variables) for word in words]
    known = [word for word in filled if not isinstance(word, Unknown)]
    if len(known) < len(filled):
        return UNKNOWN
    own = None if value_at(container, "command") else engine_of_image(value_at(container, "image"))
    return Commands(tuple(_in_full(line) if (engine_of(line) or own) == "vllm" else line for line in lines_of(known)))


def _filled(word: str, variables: Mapping[str | Unknown, Any]) -> str | Unknown:
    """Return a word with its variables filled in; as written, those that the container does not have as plain text."""
    for name in _REFERENCE.findall(word):
        # Those of LWS are in every pod of a group, whatever else is.
        elsewhere = name.startswith("LWS_") or UNKNOWN not in variables
        if isinstance(variables.get(name, None if elsewhere else UNKNOWN), Unknown):
            return UNKNOWN
    plain = {name: value for name, value in variables.items() if isinstance(value, str)}
    return _REFERENCE.sub(lambda found: plain.get(found[1], found[0]), word)


def _in_full(line: Line) -> Line:
    """Write the short options of vLLM out; in other commands, and before its own words, they mean something else."""
    short, start = flag_table().short, next((at for at, word in enumerate(line) if word in ("serve", *_MODULES)), 0)
    return (*line[:start], *(short.get(word, word) for word in line[start:]))


def gpus_of(container: Any, kinds: tuple[str, ...] = ("/gpu", "/tpu")) -> int | Unknown:
    """Return the accelerators of a container, by the ends of their resources' names; 0 where none are named."""
    limits = value_at(container, "resources", "limits", default=value_at(container, "resources", "requests"))
    if isinstance(limits, Unknown):
        return limits
    if not isinstance(limits, Mapping):
        return 0
    return sum(_number(str(count)) for name, count in limits.items() if str(name).endswith(kinds))


def _number(text: str | None) -> int:
    """Return a number, and 1 for anything else: an option that is not given splits nothing."""
    return int(text) if text is not None and re.fullmatch(r"[0-9]{1,6}", text) else 1
