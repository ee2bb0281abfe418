"""Files that ``lws plan`` reads: the stack file of Pulumi, and the file of one deployment with its pools."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from pulumi_lws.checking.documents import Document
from pulumi_lws.checking.formats.wording import file_name
from pulumi_lws.checking.reading import read_documents
from pulumi_lws.checking.report import STANDARD_INPUT, Unreadable
from pulumi_lws.planning.plan import Plan
from pulumi_lws.planning.problems import path_of
from pulumi_lws.platform.checks import read
from pulumi_lws.platform.plan import plan_of
from pulumi_lws.platform.secrets import SETTINGS_KEY, secret_at

_PLACED = ("name", "namespace", "pools")
"""What the file of one deployment says beside the deployment itself."""

_UNKNOWN_SECRET = "secret"  # noqa: S105 - stands for one that cannot be known
_STACK_FILE = re.compile(r"Pulumi\.(?P<stack>.+)\.ya?ml")


class UnreadableFileError(Exception):
    """A file is missing, is no YAML, or is neither a stack file nor a deployment."""


@dataclass(frozen=True)
class Declared:
    """What a file declares.

    Attributes:
        stack: Name of the stack, or of the deployment.
        settings: Settings of the platform, with a stand-in for secret values.
        secrets: Paths of secret values.
        prefix: What paths start with that the file itself does not have.
    """

    stack: str
    settings: Mapping[str, Any]
    secrets: frozenset[str]
    prefix: str = ""

    @property
    def deployments(self) -> frozenset[str]:
        """Names of the deployments, those on Ray among them."""
        sections = (self.settings.get(section) for section in ("deployments", "ray"))
        return frozenset(name for found in sections if isinstance(found, Mapping) for name in found)

    def plan(self, today: date) -> Plan:
        """Return the plan of it."""
        platform, problems = read(self.settings, today)
        plan = plan_of(platform, problems, self.stack, today)
        problems = [replace(problem, path=self._own_path(problem.path)) for problem in plan.problems]
        # What is said of the stand-in of a secret says nothing of the secret.
        others = [problem for problem in problems if problem.path not in self.secrets]
        return replace(plan, problems=(*map(secret_at, sorted(self.secrets)), *others))

    def _own_path(self, path: str) -> str:
        """Say a path as the file has it."""
        return "name" if f"{path}." == self.prefix else path.removeprefix(self.prefix)


def read_file(file: str) -> Declared:
    """Read a stack file, the file of one deployment, or either from standard input (``-``).

    Raises:
        UnreadableFileError: There is nothing that could be planned; its text names the file and the reason.
    """
    value = _only_document(file)
    if isinstance(value.get("config"), Mapping):
        return _stack(file, value["config"])
    if "pools" in value or str(value.get("kind", "")).endswith("-vllm"):
        return _deployment(value)
    raise _unreadable(
        file, f"neither a stack file (config: {SETTINGS_KEY}:) nor a deployment (kind: and pools:){_hint(value)}"
    )


def _only_document(file: str) -> Mapping[str, Any]:
    if file != STANDARD_INPUT and Path(file).is_dir():
        there = sorted(path.name for path in Path(file).iterdir() if _STACK_FILE.fullmatch(path.name))
        raise _unreadable(file, f"is a folder; name one stack file: {', '.join(there) or 'there is none in it'}")
    documents: list[Document] = []
    for document in read_documents(file):
        if isinstance(document, Unreadable):
            raise _unreadable(file, document.message)
        documents.append(document)
    if len(documents) != 1:
        several = f"more than one document{_hint(documents[0].value)}" if documents else ""
        raise _unreadable(file, several or "there is nothing in it")
    return _mapping(file, documents[0].value, "the file")


def _hint(value: Any) -> str:
    is_object = isinstance(value, Mapping) and "apiVersion" in value
    return "; lws check judges Kubernetes manifests" if is_object else ""


def _stack(file: str, config: Mapping[str, Any]) -> Declared:
    if SETTINGS_KEY not in config:
        raise _unreadable(file, f"config has no {SETTINGS_KEY}, only {', '.join(config) or 'nothing'}")
    raw = config[SETTINGS_KEY]
    if _is_secret(raw):
        raise _unreadable(file, f"{SETTINGS_KEY} is a secret as a whole; make only what is secret a secret")
    if isinstance(raw, str):
        # `pulumi config set` without --path writes JSON as text.
        try:
            raw = json.loads(raw)
        except (ValueError, RecursionError):
            raise _unreadable(file, f"{SETTINGS_KEY} is text and no JSON") from None
    found: set[str] = set()
    settings = _without_secrets(_mapping(file, raw, SETTINGS_KEY), (), found)
    match = _STACK_FILE.fullmatch(Path(file).name)
    stack = match["stack"] if match else "stdin" if file == STANDARD_INPUT else Path(file).stem
    return Declared(stack, settings, frozenset(found))


def _deployment(value: Mapping[str, Any]) -> Declared:
    found: set[str] = set()
    plain = _without_secrets(value, (), found)
    name = str(plain.get("name", "deployment"))
    settings = {key: plain[key] for key in ("namespace", "pools") if key in plain}
    deployment = {key: part for key, part in plain.items() if key not in _PLACED}
    # The cluster plays no part in a plan.
    cluster = {"kind": "existing", "name": "any", "context": "any"}
    section = "ray" if str(deployment.get("kind", "")).startswith("ray-") else "deployments"
    settings |= {"cluster": cluster, section: {name: deployment}}
    return Declared(name, settings, frozenset(found), prefix=f"{section}.{name}.")


def _without_secrets(value: Any, location: tuple[int | str, ...], found: set[str]) -> Any:
    """Put a stand-in where a secret is: it is set, but unknown."""
    if _is_secret(value):
        found.add(path_of(location))
        return _UNKNOWN_SECRET
    if isinstance(value, Mapping):
        return {key: _without_secrets(part, (*location, key), found) for key, part in value.items()}
    if isinstance(value, list):
        return [_without_secrets(part, (*location, number), found) for number, part in enumerate(value)]
    return value


def _is_secret(value: Any) -> bool:
    return isinstance(value, Mapping) and list(value) == ["secure"] and isinstance(value["secure"], str)


def _mapping(file: str, value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        found = "a list" if isinstance(value, list) else "nothing" if value is None else "a single value"
        raise _unreadable(file, f"{what} is {found}, not a mapping")
    return value


def _unreadable(file: str, reason: str) -> UnreadableFileError:
    return UnreadableFileError(f"{file_name(file)}: {reason}")
