"""An environment of this repository on the lab: its stack file, its project, and what became of it."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import yaml

from lab.aws.cluster_access import UNKNOWN_AT_PREVIEW
from lab.aws.state import AccountFile
from lab.cluster import client, parts, record
from lab.cluster.layout import Layout
from lab.end_states import items
from lab.folders import PROJECT
from lab.project import Project
from pulumi_lws.addons.catalogue import ADD_ONS

Raw = dict[str, Any]
Key = tuple[str, str, str]
"""Kind, namespace and name of an object."""

_POLICIES = ("--policy-pack", str(PROJECT / "tests" / "lab" / "strict"))
_NAMESPACE = "models"
_NAMESPACES = {_NAMESPACE, *(facts.namespace for facts in ADD_ONS.values() if facts.namespace != "kube-system")}
_KUBECONFIG = "certificate-authority-data"
_SUBSTANCE = {"LeaderWorkerSet": "leaderWorkerTemplate", "DisaggregatedSet": "roles", "Deployment": "template"}
"""Part of the spec whose change moves pods."""
_NODES = ("NodePool", "NodeClass", "EC2NodeClass")


@dataclass(frozen=True)
class Environment(Project):
    """The project of one environment.

    Attributes:
        name: Name of its stack.
        layout: The lab that it lives on.
        seeded: What exists in its account before it.
    """

    name: str
    layout: Layout
    seeded: Mapping[str, set[str]] = field(default_factory=dict)

    @property
    def stack_file(self) -> Path:
        """The file of the stack's configuration."""
        return self.folder / "stacks" / f"Pulumi.{self.name}.yaml"

    @property
    def platform(self) -> Raw:
        """What the stack file declares."""
        declared: Raw = yaml.safe_load(self.stack_file.read_text())["config"]["pulumi-lws:platform"]
        return declared

    def change(self, edit: Callable[[Raw], object]) -> None:
        """Edit the stack file."""
        document = yaml.safe_load(self.stack_file.read_text())
        edit(document["config"]["pulumi-lws:platform"])
        self.stack_file.write_text(yaml.safe_dump(document))

    def succeeds(self, *arguments: str, **variables: str) -> str:
        """Run a command that must succeed, which never shows a kubeconfig, and give what it printed."""
        ended = self.pulumi(*arguments, **variables)
        assert ended.returncode == 0, ended.stdout
        assert arguments[:2] == ("stack", "export") or _KUBECONFIG not in ended.stdout
        return ended.stdout

    def fails(self, *arguments: str) -> str:
        """Run a command that must fail without a traceback and give what it printed."""
        ended = self.pulumi(*arguments)
        assert ended.returncode != 0, ended.stdout
        assert "Traceback" not in ended.stdout, ended.stdout
        return ended.stdout

    def planned(self, *, reachable: bool = True) -> dict[str, int]:
        """How many resources a preview would treat how; of a first one, whose cluster cannot be reached, too."""
        unknown = {} if reachable else {UNKNOWN_AT_PREVIEW: "1"}
        return changes(self.succeeds("preview", *_POLICIES, **unknown))

    def refused(self) -> str:
        """Preview something that must be refused."""
        return self.fails("preview", *_POLICIES)

    def up(self, *, judged: bool = True) -> dict[str, int]:
        """Update, by the policies or without them, and tell how many resources were treated how."""
        return changes(self.succeeds("up", "--yes", "--skip-preview", *(_POLICIES if judged else ())))

    def destroy(self) -> dict[str, int]:
        """Destroy."""
        return changes(self.succeeds("destroy", "--yes", "--skip-preview"))

    def ids(self, of: str = "") -> list[str]:
        """Ids of the resources in the state whose type begins so; components have none."""
        resources = json.loads(self.succeeds("stack", "export"))["deployment"].get("resources", [])
        return [one["id"] for one in resources if one["type"].startswith(of) and "id" in one]

    def account(self) -> dict[str, set[str]]:
        """What exists in its account, ids by type."""
        found: dict[str, set[str]] = {}
        for one in AccountFile(self.layout.aws, self.platform["cluster"]["account"]).read().objects:
            found.setdefault(one.type, set()).add(one.id)
        return found

    def objects(self) -> dict[Key, Raw]:
        """Every object in the API server that the engine manages."""
        known = record.load(self.layout)
        assert known
        with client.connect(self.layout, known.ports[parts.API_PORT]) as api:
            return {_key(one): one for one in _all_objects(api) if _is_managed(one)}

    def substance(self) -> dict[Key, Any]:
        """Identity of each object that nodes or pods are made from, and what of it moves them when it changes."""
        found = {}
        for key, one in self.objects().items():
            if key[0] in (*_SUBSTANCE, *_NODES):
                of_spec = one["spec"][_SUBSTANCE[key[0]]] if key[0] in _SUBSTANCE else one["spec"]
                found[key] = one["metadata"]["uid"], _without_rollout(of_spec)
        return found


def changes(printed: str) -> dict[str, int]:
    """What a command says about resources, such as ``{"created": 3, "unchanged": 74}``."""
    _, _, summary = printed.rpartition("\nResources:\n")
    found = re.findall(r"^ +(?:[-+~]+ ?)?(?:\d+ changes\. )?(\d+) (?:to )?(\w+)$", summary, re.MULTILINE)
    return {word: int(number) for number, word in found}


def principals(platform: Mapping[str, Any]) -> list[str]:
    """ARNs of those whom a stack file lets into its cluster."""
    return [access["principalArn"] for access in platform["cluster"].get("access", {}).values()]


def _all_objects(api: httpx.Client) -> Iterator[Raw]:
    groups = api.get("/apis").raise_for_status().json()["groups"]
    for path in ("/api/v1", *(f"/apis/{group['preferredVersion']['groupVersion']}" for group in groups)):
        for resource in api.get(path).raise_for_status().json()["resources"]:
            if "list" in resource["verbs"]:
                for item in items(api, f"{path}/{resource['name']}"):
                    yield {**item, "kind": resource["kind"]}


def _is_managed(one: Raw) -> bool:
    name, namespace = one["metadata"]["name"], one["metadata"].get("namespace")
    managers = [entry["manager"] for entry in one["metadata"].get("managedFields", ())]
    if not managers:
        # What is nothing but a name has no fields to manage; each namespace has one such account that is not ours.
        is_ours = (name if namespace is None else namespace) in _NAMESPACES
        return is_ours and name != "default"
    return any(manager.startswith("pulumi-kubernetes") for manager in managers)


def _key(one: Raw) -> Key:
    return one["kind"], one["metadata"].get("namespace", ""), one["metadata"]["name"]


def _without_rollout(value: Any) -> Any:
    """How a set rolls follows its spare islands, and moves nothing by itself."""
    if isinstance(value, dict):
        return {key: _without_rollout(item) for key, item in value.items() if key != "rolloutStrategy"}
    return [_without_rollout(item) for item in value] if isinstance(value, list) else value
