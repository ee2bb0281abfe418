"""Finding and judging a kubeconfig before Pulumi meets it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from pulumi_lws.cluster.settings import ExistingCluster
from pulumi_lws.planning.problems import Problem


@dataclass(frozen=True)
class Kubeconfig:
    """A kubeconfig that was read and holds the wanted context.

    Attributes:
        content: The text of the file. It may hold credentials: keep it secret.
        context: The context to use.
    """

    content: str
    context: str

    def __repr__(self) -> str:
        """Name the context alone: the content is secret."""
        return f"Kubeconfig(context={self.context!r})"


def read(cluster: ExistingCluster, environment: Mapping[str, str]) -> Kubeconfig | Problem:
    """Read the kubeconfig that holds the context of ``cluster``, or say what keeps it from being used.

    ``KUBECONFIG`` may list several files; the first that holds the context is taken, whole.
    """
    found: dict[Path, set[str]] = {}
    unreadable: list[str] = []
    for path in _paths(cluster, environment):
        try:
            content = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            unreadable.append(f"{path} ({reason})")
            continue
        found[path] = _contexts(content)
        if cluster.context in found[path]:
            return Kubeconfig(content, cluster.context)
    if not any(found.values()):
        return Problem(
            "cluster.kubeconfig",
            "no context in " + ", ".join([*map(str, found), *unreadable]),
            "a kubeconfig file that can be read",
            "Set KUBECONFIG, or cluster.kubeconfig in the stack file.",
        )
    contexts = [f"{', '.join(sorted(names))} (of {path})" for path, names in found.items()]
    return Problem("cluster.context", repr(cluster.context), "; ".join(contexts), "Name one of these contexts.")


def _paths(cluster: ExistingCluster, environment: Mapping[str, str]) -> list[Path]:
    if cluster.kubeconfig is not None:
        return [Path(cluster.kubeconfig).expanduser()]
    listed = [Path(part) for part in environment.get("KUBECONFIG", "").split(os.pathsep) if part]
    return listed or [Path.home() / ".kube" / "config"]


def _contexts(content: str) -> set[str]:
    try:
        document = yaml.safe_load(content)
    except yaml.YAMLError:
        return set()
    entries = document.get("contexts") if isinstance(document, Mapping) else None
    if not isinstance(entries, list):
        return set()
    return {str(entry["name"]) for entry in entries if isinstance(entry, Mapping) and "name" in entry}
