"""Reading which engine a container starts, and with which options."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal

from pulumi_lws.rules.engine_commands import Commands, commands_of
from pulumi_lws.rules.groups import HAS_GROUPS, groups_of
from pulumi_lws.rules.pods import Pods, pods_of
from pulumi_lws.rules.rule import RegisteredObject
from pulumi_lws.rules.values import Unknown, value_at

Engine = Literal["vllm", "sglang"]

_ENGINES: Final[tuple[Engine, ...]] = ("vllm", "sglang")
_MODULES: Final[dict[str, Engine]] = {"vllm.entrypoints.openai.api_server": "vllm", "sglang.launch_server": "sglang"}
_SERVING_KINDS: Final = ("apps/Deployment", "apps/StatefulSet")


@dataclass(frozen=True)
class Start:
    """A command that starts an engine.

    Attributes:
        engine: The engine.
        path: Where the command stands.
        command: The command alone, without what a shell runs before and after it.
    """

    engine: Engine
    path: str
    command: Commands

    @property
    def is_whole(self) -> bool:
        """Whether each option can be read: none comes from a file, or from a variable that may hold several."""
        (line,) = self.command.lines
        return "--config" not in line and not any(
            word.startswith("$") and not before.startswith("-") and before != "serve"
            for before, word in pairwise(("", *line))
        )


def starts_of(path: str, container: Any) -> list[Start] | Unknown:
    """Return the commands of a container that start an engine; by the image, where the command is the image's own.

    Args:
        path: Where the container stands.
        container: The container.
    """
    commands, image = commands_of(container), value_at(container, "image")
    if isinstance(commands, Unknown):
        return commands
    if value_at(container, "command"):
        found = ((_engine_of(line), line) for line in commands.lines)
        return [Start(engine, f"{path}.command", Commands((line,))) for engine, line in found if engine]
    if isinstance(image, Unknown):
        return image
    words = tuple(word for line in commands.lines for word in line)
    started = _engine_of(words) or next((engine for engine in _ENGINES if engine in _repository(image)), None)
    return [Start(started, f"{path}.args", Commands((words,)))] if started else []


def nixl_starts(path: str, container: Any) -> list[Start] | Unknown:
    """Return the commands of a container that start a vLLM which hands caches over by NixlConnector."""
    starts = starts_of(path, container)
    if isinstance(starts, Unknown):
        return starts
    return [start for start in starts if start.engine == "vllm" and start.command.has("NixlConnector")]


def _engine_of(line: Iterable[str]) -> Engine | None:
    words = tuple(line)
    for program, action in pairwise(words):
        for engine in _ENGINES:
            if program.rpartition("/")[2] == engine and action == "serve":
                return engine
    return next((engine for module, engine in _MODULES.items() if module in words), None)


def _repository(image: Any) -> str:
    """Return the last part of an image's name: folders of registries say who made it, not what it is."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")[0] if isinstance(image, str) else ""


def serving_pods(subject: RegisteredObject) -> Iterator[Pods]:
    """Yield the pods of an object that clients may talk to: leaders of groups, and pods of Deployments."""
    if HAS_GROUPS(subject):
        for groups in groups_of(subject):
            for template in groups.templates():
                if template.leads:
                    yield Pods(template.manifest, template.path)
    elif subject.kind in _SERVING_KINDS:
        yield from pods_of(subject)


def may_serve(subject: RegisteredObject) -> bool:
    """Tell whether an object is of a kind whose pods clients may talk to."""
    return HAS_GROUPS(subject) or subject.kind in _SERVING_KINDS
