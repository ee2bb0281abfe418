"""Reading which engine a container starts, and with which options."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from pulumi_lws.facts.sglang_flags import sglang_flags
from pulumi_lws.facts.vllm_flags import flag_table
from pulumi_lws.rules.engine_commands import Commands, Engine, commands_of, engine_of, engine_of_image
from pulumi_lws.rules.groups import HAS_GROUPS, groups_of
from pulumi_lws.rules.pods import Pods, pods_of
from pulumi_lws.rules.rule import RegisteredObject
from pulumi_lws.rules.values import Unknown, value_at

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
            word.startswith(("$", "`")) and before != "serve" and not self._takes_value(before)
            for before, word in pairwise(("", *line))
        )

    def _takes_value(self, option: str) -> bool:
        if self.engine == "sglang":
            name = sglang_flags().find(option)
            return name is not None and sglang_flags().takes[name] != "nothing"
        flag = flag_table().find(option)
        return flag is not None and flag.takes != "nothing"


def starts_of(path: str, container: Any) -> list[Start] | Unknown:
    """Return the commands of a container that start an engine; by the image, where the command is the image's own.

    Args:
        path: Where the container stands.
        container: The container.
    """
    commands, image = commands_of(container), value_at(container, "image")
    if isinstance(commands, Unknown):
        return commands
    field = "command" if value_at(container, "command") else "args"
    if field == "args" and isinstance(image, Unknown):
        return image
    own = engine_of_image(image) if field == "args" else None
    found = ((engine_of(line) or own, line) for line in commands.lines)
    return [Start(engine, f"{path}.{field}", Commands((line,))) for engine, line in found if engine]


def nixl_starts(path: str, container: Any) -> list[Start] | Unknown:
    """Return the commands of a container that start a vLLM which hands caches over by NixlConnector."""
    starts = starts_of(path, container)
    if isinstance(starts, Unknown):
        return starts
    return [start for start in starts if start.engine == "vllm" and start.command.mentions("NixlConnector")]


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
