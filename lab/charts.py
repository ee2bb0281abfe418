"""Folders with a chart for each add-on, which stand in for the registries that upstream's lie in.

A chart of ours brings the kinds of its add-on, controllers of the same names without a program in them, and a ConfigMap
with the values that it was given. So installing and destroying add-ons in order is real; what they do is not.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock

from lab.cluster.crds import Definitions
from lab.folders import PROJECT
from pulumi_lws.addons.addon import AddOnFacts
from pulumi_lws.addons.catalogue import ADD_ONS
from pulumi_lws.facts.versions import PINS

FOLDER = PROJECT / ".lab" / ".charts"
"""Where the local stack finds them."""

COMPONENTS = frozenset(
    {"envoy-gateway", "gateway-api", "inference-extension", "keda", "kuberay", "kueue", "lws", "prometheus-operator"}
)
"""Components whose kinds the charts bring, by their names in the table of kinds."""


def write(folder: Path, definitions: Definitions) -> None:
    """Write every chart, and one file for each add-on without one. Whoever reads meanwhile meets whole files.

    Args:
        folder: Where.
        definitions: What the kinds look like.

    Raises:
        LabError: A file of upstream is not YAML.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = _files(definitions)
    with FileLock(folder / ".lock"):
        for name, text in files.items():
            _write(folder, name, text)
        # What an earlier version wrote would be installed, too.
        for old in [path for path in folder.glob("*/**/*") if path.is_file()]:
            if old.relative_to(folder).as_posix() not in files:
                old.unlink()


def _files(definitions: Definitions) -> dict[str, str]:
    """Return every file by its path."""
    kinds = {definition["metadata"]["name"]: definition for definition in definitions.read()}
    files = {}
    for facts in ADD_ONS.values():
        own = [kinds[name] for name in facts.crds if name in kinds]
        if facts.manifests:
            files[f"{facts.release}.yaml"] = "\n---\n".join(map(json.dumps, own))
        else:
            files |= {f"{facts.chart}/{name}": text for name, text in _chart(facts, own).items()}
    return files


def _chart(facts: AddOnFacts, definitions: list[dict[str, Any]]) -> dict[str, str]:
    """Return the files of a chart by their paths in it."""
    description = {
        "apiVersion": "v2",
        "name": facts.chart,
        "version": PINS[facts.pin].version.removeprefix("v"),
        "description": f"Stands in for {facts.title}.",
    }
    controllers = [_controller(*controller.split("/")) for controller in facts.controllers]
    return {
        "Chart.yaml": json.dumps(description, indent=2),
        "values.yaml": "{}\n",
        **{f"crds/{one['metadata']['name']}.yaml": json.dumps(one) for one in definitions},
        "templates/controllers.yaml": "\n---\n".join(controllers),
        "templates/values.yaml": _VALUES.replace("RELEASE", facts.release),
    }


def _controller(kind: str, name: str) -> str:
    labels = {"app.kubernetes.io/name": name}
    pod: Mapping[str, Any] = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "main", "image": "none"}]},
    }
    document = {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "{{ .Release.Namespace }}"},
        "spec": {"selector": {"matchLabels": labels}, "template": pod},
    }
    # JSON is YAML, and what a template adds goes in where the containers end.
    return json.dumps(document).replace('"none"}]', '"none"}]' + _PLACEMENT)


_GIVEN = '{{ with .Values.FIELD }}, "FIELD": {{ toJson . }}{{ end }}'
_PLACEMENT = "".join(_GIVEN.replace("FIELD", field) for field in ("tolerations", "affinity"))

_VALUES = """apiVersion: v1
kind: ConfigMap
metadata:
  name: RELEASE-values
  namespace: {{ .Release.Namespace }}
data:
  values.yaml: {{ toYaml .Values | quote }}
"""


def _write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    # Not beside it: Helm installs whatever lies among the CRDs of a chart, half of a file too.
    draft = folder / ".draft"
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)
