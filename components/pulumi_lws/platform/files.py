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
from pulumi_lws.planning.problems import Problem, path_of
from pulumi_lws.platform.checks import read
from pulumi_lws.platform.plan import plan_of

SETTINGS_KEY = "pulumi-lws:platform"
"""Where a stack file has the settings of the platform, under ``config``."""

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
        """Names of the deployments."""
        found = self.settings.get("deployments")
        return frozenset(found) if isinstance(found, Mapping) else frozenset()

    def plan(self, today: date) -> Plan:
        """Return the plan of it."""
        platform, problems = read(self.settings)
        plan = plan_of(platform, problems, self.stack, today)
        return replace(plan, problems=tuple(self._own_words(problem) for problem in plan.problems))

    def _own_words(self, problem: Problem) -> Problem:
        """Say a problem as the file has it."""
        path = "name" if f"{problem.path}." == self.prefix else problem.path.removeprefix(self.prefix)
        if path in self.secrets:
            fix = "Write it in plain: only names of secrets and references may be secret."
            # What is said of a variable holds whatever its value is.
            fix = problem.fix if ".environment." in f".{path}" else fix
            return replace(problem, path=path, found="a secret, unknown without its passphrase", fix=fix)
        return replace(problem, path=path)


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
    hint = "; lws check judges Kubernetes objects" if "apiVersion" in value else ""
    raise _unreadable(file, f"neither a stack file (config: {SETTINGS_KEY}:) nor a deployment (kind: and pools:){hint}")


def _only_document(file: str) -> Mapping[str, Any]:
    documents: list[Document] = []
    for document in read_documents(file):
        if isinstance(document, Unreadable):
            raise _unreadable(file, document.message)
        documents.append(document)
    if len(documents) != 1:
        raise _unreadable(file, "there is nothing in it" if not documents else "more than one document")
    return _mapping(file, documents[0].value, "the file")


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
    settings |= {"cluster": cluster, "deployments": {name: deployment}}
    return Declared(name, settings, frozenset(found), prefix=f"deployments.{name}.")


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
